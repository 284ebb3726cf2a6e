# SPDX-License-Identifier: Apache-2.0
#
# oneDNN (libdnnl-dev) as target DNNL::dnnl, with DNNL_VERSION. Not by its own CMake package: Debian's asks for OpenCL's
# headers, which nothing here uses. Debian's library runs on OpenMP, which is asked to keep to one thread, so that is
# part of what must be found.
find_library(DNNL_LIBRARY dnnl)
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
find_package(OpenMP QUIET COMPONENTS CXX)

if(DNNL_INCLUDE_DIR AND EXISTS ${DNNL_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h)
  set(DNNL_VERSION "")
  foreach(part MAJOR MINOR PATCH)
    file(STRINGS ${DNNL_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h line REGEX "#define DNNL_VERSION_${part} ")
    string(REGEX MATCH "[0-9]+" number "${line}")
    list(APPEND DNNL_VERSION ${number})
  endforeach()
  list(JOIN DNNL_VERSION "." DNNL_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(DNNL
  REQUIRED_VARS DNNL_LIBRARY DNNL_INCLUDE_DIR OpenMP_CXX_FOUND VERSION_VAR DNNL_VERSION HANDLE_VERSION_RANGE)
if(DNNL_FOUND AND NOT TARGET DNNL::dnnl)
  add_library(DNNL::dnnl SHARED IMPORTED)
  set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION ${DNNL_LIBRARY}
                                              INTERFACE_INCLUDE_DIRECTORIES ${DNNL_INCLUDE_DIR})
endif()
mark_as_advanced(DNNL_LIBRARY DNNL_INCLUDE_DIR)
