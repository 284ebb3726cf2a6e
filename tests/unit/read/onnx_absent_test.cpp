// SPDX-License-Identifier: Apache-2.0
//
// The ONNX reader and writer of a build without protobuf say so.
#include <gtest/gtest.h>

#include "graph/read/onnx.hpp"
#include "graph/write/onnx.hpp"

namespace {

TEST(OnnxAbsent, ModelsAndTensorsAreRefused) {
  EXPECT_FALSE(tenfold::graph::can_read_onnx());
  EXPECT_FALSE(tenfold::graph::can_write_onnx());
  for (const tenfold::Status& status :
       {tenfold::graph::read_onnx("x").status(), tenfold::graph::read_onnx_tensor("x").status(),
        tenfold::graph::onnx_op_types("x").status(), tenfold::graph::write_onnx({}).status()}) {
    EXPECT_EQ(status.code(), tenfold::Code::unsupported_op);
    EXPECT_NE(status.message().find("built without ONNX"), std::string::npos) << status.message();
  }
}

}  // namespace
