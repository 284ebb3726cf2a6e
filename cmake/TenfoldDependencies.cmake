# SPDX-License-Identifier: Apache-2.0
#
# Everything that Tenfold takes from outside, as Debian packages (./setup installs them). Optional ones end in a line
# that says what is missing without them.
find_package(nlohmann_json 3.9 REQUIRED)
find_package(xbyak REQUIRED)
find_package(Threads REQUIRED)
find_package(TBB 2021 REQUIRED)
find_package(Python3 3.9 COMPONENTS Interpreter REQUIRED)
if(TENFOLD_TOOLS)
  find_package(CLI11 2.1 REQUIRED)
endif()
if(TENFOLD_TESTS)
  find_package(GTest 1.11 REQUIRED)
endif()

find_package(Zydis QUIET)
if(Zydis_FOUND)
  message(STATUS "Zydis: found; emitted code is disassembled and the emulated AVX-512 tests run")
else()
  message(STATUS "Zydis: NOT FOUND (libzydis-dev); no disassembly, no emulated AVX-512 tests")
endif()

# Not by its own CMake package: Debian's asks for OpenCL's headers, which nothing here uses.
find_library(TENFOLD_DNNL_LIBRARY dnnl)
find_path(TENFOLD_DNNL_INCLUDE oneapi/dnnl/dnnl.hpp)
if(TENFOLD_DNNL_LIBRARY AND TENFOLD_DNNL_INCLUDE)
  set(TENFOLD_DNNL_FOUND TRUE)
  add_library(DNNL::dnnl SHARED IMPORTED)
  set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION ${TENFOLD_DNNL_LIBRARY}
                                              INTERFACE_INCLUDE_DIRECTORIES ${TENFOLD_DNNL_INCLUDE})
  message(STATUS "oneDNN: found; `tenfold bench` compares with it")
else()
  set(TENFOLD_DNNL_FOUND FALSE)
  message(STATUS "oneDNN: NOT FOUND (libdnnl-dev); `tenfold bench` has nothing to compare with")
endif()

# ON fails where something is missing; AUTO goes without.
set(TENFOLD_WITH_ONNX AUTO CACHE STRING "Read ONNX models: AUTO, ON or OFF")
set_property(CACHE TENFOLD_WITH_ONNX PROPERTY STRINGS AUTO ON OFF)
set(TENFOLD_ONNX_FOUND FALSE)
if(TENFOLD_WITH_ONNX)
  find_package(Protobuf 3.12 QUIET)
  find_path(TENFOLD_ONNX_PROTO_ROOT onnx/onnx.proto)
  if(Protobuf_FOUND AND TARGET protobuf::protoc AND TARGET protobuf::libprotobuf-lite AND TENFOLD_ONNX_PROTO_ROOT)
    set(TENFOLD_ONNX_FOUND TRUE)
  endif()
endif()
if(TENFOLD_ONNX_FOUND)
  message(STATUS "ONNX: found; .onnx models are read and written")
elseif(NOT TENFOLD_WITH_ONNX)
  message(STATUS "ONNX: switched off (TENFOLD_WITH_ONNX); .onnx models are refused")
elseif(TENFOLD_WITH_ONNX STREQUAL "AUTO")
  message(STATUS "ONNX: NOT FOUND (libprotobuf-dev, protobuf-compiler, libonnx-dev); .onnx models are refused")
else()
  message(FATAL_ERROR "TENFOLD_WITH_ONNX is ON, but protobuf or onnx/onnx.proto is not found "
                      "(libprotobuf-dev, protobuf-compiler, libonnx-dev)")
endif()
