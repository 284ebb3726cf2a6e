# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` puts where, in three components: runtime (libtenfold.so.0), development (headers, the link
# libtenfold.so, the CMake package `tenfold`, tenfold.pc, examples) and tools (the command). The static C++ door is not
# installed: its rooms are many libraries.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Named as Debian names a library's package: after the SONAME, so that two of them can stand side by side.
set(TENFOLD_RUNTIME_PACKAGE libtenfold${PROJECT_VERSION_MAJOR})
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)

install(TARGETS tenfold_shared tenfold_dnnl_graph_compat EXPORT tenfold
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
get_property(late_modules GLOBAL PROPERTY TENFOLD_LATE_MODULES)
foreach(name IN LISTS late_modules)
  install(TARGETS tenfold_${name}_module LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
endforeach()
set(headers ${PROJECT_SOURCE_DIR}/include/tenfold)
install(FILES ${headers}/tenfold.h ${headers}/types.h ${headers}/graph.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenfold)
install(DIRECTORY ${headers}/graph ${headers}/compat DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenfold)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tenfold)
set(version_file ${PROJECT_BINARY_DIR}/tenfoldConfigVersion.cmake)
write_basic_package_version_file(${version_file} COMPATIBILITY SameMinorVersion)
install(EXPORT tenfold NAMESPACE tenfold:: FILE tenfoldTargets.cmake DESTINATION ${package_dir})
install(FILES ${version_file} ${CMAKE_CURRENT_LIST_DIR}/tenfoldConfig.cmake DESTINATION ${package_dir})

# Relative, so that the tree can be moved.
file(RELATIVE_PATH prefix_of_pkgconfig /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/tenfold.pc.in ${PROJECT_BINARY_DIR}/tenfold.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tenfold.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(docs ${CMAKE_INSTALL_DATAROOTDIR}/doc)
# The pages and examples, and what they link to, in the folders that they have in the source tree.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${docs}/libtenfold-dev
        FILES_MATCHING PATTERN "*.md" PATTERN "examples/*")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/schemas DESTINATION ${docs}/libtenfold-dev
        FILES_MATCHING PATTERN "*.schema.json" PATTERN "ops" EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/bench DESTINATION ${docs}/libtenfold-dev/tools
        FILES_MATCHING PATTERN "*.json" PATTERN "*.txt" PATTERN "CMakeLists.txt" EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright DESTINATION ${docs}/libtenfold-dev)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright DESTINATION ${docs}/${TENFOLD_RUNTIME_PACKAGE}
        COMPONENT runtime)
if(TENFOLD_TOOLS)
  install(TARGETS tenfold_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright DESTINATION ${docs}/tenfold-tools COMPONENT tools)
endif()
