// SPDX-License-Identifier: Apache-2.0
//
// What onnx.hpp declares, with protobuf's lite runtime: bytes are scanned, then parsed, then assembled.
#include "graph/read/onnx.hpp"

#include <onnx/onnx.pb.h>

#include <exception>
#include <limits>
#include <new>
#include <set>
#include <utility>

#include "graph/read/onnx_model.hpp"
#include "graph/read/onnx_scan.hpp"
#include "graph/read/onnx_tensor.hpp"

namespace tenfold::graph {
namespace {

/// What `work` returns, or the Status that a throw from protobuf or std stands for.
template <class Work>
auto guarded(Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory, "out of memory while reading an ONNX file");
  } catch (const std::exception& error) {
    return Status(Code::internal_error, std::string("reading an ONNX file threw: ") + error.what());
  }
}

template <class Message>
Status parse(std::string_view bytes, OnnxRoot root, const OnnxLimits& limits, Message& message) {
  if (bytes.empty()) return Status(Code::invalid_file, "the file is empty");
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    return Status(Code::invalid_file, std::to_string(bytes.size()) + " bytes; protobuf files have at most 2^31 - 1");
  if (Status s = scan_onnx(bytes, root, limits); !s.ok()) return s;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return Status(Code::invalid_file, "protobuf cannot parse it; this may be no ONNX file");
  return {};
}

}  // namespace

bool can_read_onnx() noexcept { return true; }

Result<Graph> read_onnx(std::string_view bytes, const OnnxOptions& options) {
  return guarded([&]() -> Result<Graph> {
    onnx::ModelProto model;
    if (Status s = parse(bytes, OnnxRoot::model, options.limits, model); !s.ok()) return s;
    return OnnxAssembler(model, options).run();
  });
}

Result<Value> read_onnx_tensor(std::string_view bytes, const OnnxOptions& options) {
  return guarded([&]() -> Result<Value> {
    onnx::TensorProto tensor;
    if (Status s = parse(bytes, OnnxRoot::tensor, options.limits, tensor); !s.ok()) return s;
    OnnxBudget budget{options};
    Result<Value> value = onnx_constant(tensor, "tensor", budget);
    if (value.ok()) value.value().name = tensor.name();
    return value;
  });
}

Result<std::vector<std::string>> onnx_op_types(std::string_view bytes, const OnnxOptions& options) {
  return guarded([&]() -> Result<std::vector<std::string>> {
    onnx::ModelProto model;
    if (Status s = parse(bytes, OnnxRoot::model, options.limits, model); !s.ok()) return s;
    std::vector<std::string> types;
    std::set<std::string_view> seen;
    for (const auto& node : model.graph().node())
      if (seen.insert(node.op_type()).second) types.push_back(node.op_type());
    return types;
  });
}

}  // namespace tenfold::graph
