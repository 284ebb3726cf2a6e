// SPDX-License-Identifier: Apache-2.0
//
// What the module libtenfold_onnx.so shows to libtenfold.so: the functions of onnx.hpp, with the version that both must
// be of, as C++ types pass between them. Not a door for other rooms.
#pragma once

#include "graph/read/onnx.hpp"

namespace tenfold::graph {

struct OnnxDoor {
  const char* version;  ///< Tenfold's
  decltype(&graph::read_onnx) read_onnx;
  decltype(&graph::read_onnx_tensor) read_onnx_tensor;
  decltype(&graph::onnx_op_types) onnx_op_types;
};

/// The module's one symbol, an OnnxDoor.
inline constexpr char kOnnxDoorSymbol[] = "tenfold_onnx_door";

}  // namespace tenfold::graph
