# SPDX-License-Identifier: Apache-2.0
#
# tenfold_room(NAME SOURCES a.cpp ... USES room ... LIBRARIES target ...)
#
# One room, one target: a static library `tenfold_NAME` with the project's warnings, that links only the rooms it may
# include (docs/design.md, section 3; tests/house checks the includes themselves).
function(tenfold_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;USES;LIBRARIES" ${ARGN})
  set(target tenfold_${name})
  if(ROOM_SOURCES)
    add_library(${target} STATIC ${ROOM_SOURCES})
    set(scope PUBLIC)
    tenfold_warnings(${target})
    list(LENGTH ROOM_SOURCES sources)
    if(sources GREATER 7)
      tenfold_precompiled(${target})
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(tenfold::${name} ALIAS ${target})
  target_include_directories(${target} ${scope} ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include
                                                ${PROJECT_SOURCE_DIR}/src)
  foreach(used IN LISTS ROOM_USES)
    target_link_libraries(${target} ${scope} tenfold_${used})
  endforeach()
  if(ROOM_LIBRARIES)
    if(ROOM_SOURCES)
      target_link_libraries(${target} PRIVATE ${ROOM_LIBRARIES})
    else()
      target_link_libraries(${target} INTERFACE ${ROOM_LIBRARIES})
    endif()
  endif()
endfunction()

# tenfold_late_module(NAME ROOM room SOURCE module.cpp)
#
# What few programs need of another library, libtenfold.so does not load with itself: the room NAME's door is in a module,
# libtenfold_NAME.so.0, that lies beside it, shows one symbol, tenfold_NAME_door, and is of one version with it.
# libtenfold.so has src/capi/late_NAME.cpp as that door's body, which loads the module when it is first called.
set_property(GLOBAL PROPERTY TENFOLD_LATE_MODULES "")
function(tenfold_late_module name)
  cmake_parse_arguments(LATE "" "ROOM;SOURCE" "" ${ARGN})
  set(file libtenfold_${name}.so.${PROJECT_VERSION_MAJOR})
  set(module tenfold_${name}_module)
  set(symbol_map ${CMAKE_CURRENT_BINARY_DIR}/${module}.map)
  file(CONFIGURE OUTPUT ${symbol_map} CONTENT "{\n  global: tenfold_${name}_door;\n  local: *;\n};\n")
  add_library(${module} MODULE ${LATE_SOURCE})
  tenfold_warnings(${module})
  target_compile_definitions(${module} PRIVATE TENFOLD_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${module} PRIVATE tenfold_${LATE_ROOM})
  target_link_options(${module} PRIVATE -Wl,--no-undefined -Wl,--version-script=${symbol_map})
  set_target_properties(${module} PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME ${file} LINK_DEPENDS ${symbol_map}
                                             LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/src/capi)
  set_property(GLOBAL APPEND PROPERTY TENFOLD_LATE_MODULES ${name})
endfunction()

# Warnings are errors here, but not in the tree of a project that builds Tenfold with a compiler of its own.
option(TENFOLD_WERROR "Warnings are errors" ${PROJECT_IS_TOP_LEVEL})
function(tenfold_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wshadow $<$<BOOL:${TENFOLD_WERROR}>:-Werror>)
endfunction()
