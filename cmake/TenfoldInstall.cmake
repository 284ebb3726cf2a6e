# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` puts where: libtenfold.so with its C header, the CMake package `tenfold` (target tenfold::c) and
# tenfold.pc. The C++ API is not installed: its rooms are many static libraries.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS tenfold_shared EXPORT tenfold LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/include/tenfold/tenfold.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenfold)

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
