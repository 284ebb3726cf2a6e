# SPDX-License-Identifier: Apache-2.0
#
# `cpack -G DEB` in a build tree makes three Debian packages, one of each install component (TenfoldInstall.cmake): the
# library, named after its SONAME so that two of them can be installed side by side; what programs are compiled with; and
# the command. What they depend on is what dpkg-shlibdeps finds in the binaries. tests/capi/check_packages.py looks inside.
#
# Configured with -DCMAKE_INSTALL_PREFIX=/usr, the library goes to Debian's folder for the architecture.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tenfold)
set(CPACK_PACKAGE_VENDOR Tenfold)
set(TENFOLD_PACKAGE_CONTACT "Tenfold <tenfold@localhost>" CACHE STRING "Maintainer that the packages name")
set(CPACK_PACKAGE_CONTACT ${TENFOLD_PACKAGE_CONTACT})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Compiles tensor graphs for x86-64 CPUs")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_COMPONENTS_ALL runtime development)
if(TENFOLD_TOOLS)
  list(APPEND CPACK_COMPONENTS_ALL tools)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${TENFOLD_RUNTIME_PACKAGE})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "The shared library: it takes graphs through a C API and writes kernels for them at run time.")
# What is built against this library asks for the package of its SONAME, and no older one.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY >=)

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libtenfold-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${TENFOLD_RUNTIME_PACKAGE} (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "The C and C++ headers, the CMake package, the pkg-config file, and examples.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME tenfold-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "The tenfold command: it runs, checks, converts, explains, measures and tunes graphs.")
include(CPack)
