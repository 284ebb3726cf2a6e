# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` puts where: libtenfold.so, its C and C++ headers, the CMake package `tenfold` (targets tenfold::c
# and tenfold::dnnl_graph_compat) and tenfold.pc. The static C++ door is not installed: its rooms are many libraries.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS tenfold_shared tenfold_dnnl_graph_compat EXPORT tenfold LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(headers ${PROJECT_SOURCE_DIR}/include/tenfold)
install(FILES ${headers}/tenfold.h ${headers}/types.h ${headers}/graph.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenfold)
install(DIRECTORY ${headers}/graph ${headers}/compat DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenfold)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tenfold)
set(version_file ${PROJECT_BINARY_DIR}/tenfoldConfigVersion.cmake)
write_basic_package_version_file(${version_file} COMPATIBILITY SameMinorVersion)
# libtenfold.so asks nothing of those who link it, so the list of targets is the whole package.
install(EXPORT tenfold NAMESPACE tenfold:: FILE tenfoldConfig.cmake DESTINATION ${package_dir})
install(FILES ${version_file} DESTINATION ${package_dir})

# Relative, so that the tree can be moved.
file(RELATIVE_PATH prefix_of_pkgconfig /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/tenfold.pc.in ${PROJECT_BINARY_DIR}/tenfold.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tenfold.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
