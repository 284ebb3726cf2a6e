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

function(tenfold_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wshadow -Werror)
endfunction()
