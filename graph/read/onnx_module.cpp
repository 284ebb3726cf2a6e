// SPDX-License-Identifier: Apache-2.0
#include "graph/read/onnx_door.hpp"

extern "C" {
extern const tenfold::graph::OnnxDoor tenfold_onnx_door __attribute__((visibility("default")));
const tenfold::graph::OnnxDoor tenfold_onnx_door = {TENFOLD_VERSION, tenfold::graph::read_onnx,
                                                    tenfold::graph::read_onnx_tensor, tenfold::graph::onnx_op_types};
}
