// SPDX-License-Identifier: Apache-2.0
//
// Graphs as an integrator makes them: read from JSON text or an ONNX model, or built op by op. A Graph is an immutable,
// cheaply copied handle; compile() (compiled_partition.hpp) makes it runnable.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenfold/attribute.hpp"
#include "tenfold/status.hpp"
#include "tenfold/tensor.hpp"

namespace tenfold {

namespace graph {
struct Graph;
}

/// Names a tensor of a graph: the `id` of graph files.
using TensorId = std::int64_t;

/// Gives `length` bytes (-1: all that follow) at `offset` of the file `location`, as a model names it: a path that the
/// reader must not trust.
using ExternalDataReader =
    std::function<Result<std::string>(const std::string& location, std::int64_t offset, std::int64_t length)>;

/// A verified graph.
class Graph {
 public:
  /// Reads a oneDNN Graph JSON file's text and verifies it. Errors carry line, column and JSON pointer, or op and rule.
  static Result<Graph> from_json(std::string_view text);

  /// Reads an ONNX model's bytes and verifies it. `external_data` gives what the model keeps in files of its own; when
  /// it is null, such models are refused. unsupported_op when Tenfold was built without ONNX, and for ops, domains,
  /// functions and control flow that it does not know, each by its name.
  static Result<Graph> from_onnx(std::string_view bytes, const ExternalDataReader& external_data = {});

  /// The graph in the IR's text form, for people.
  std::string to_text() const;

  /// The graph as the text of a oneDNN Graph JSON file. unsupported_* for what such files cannot hold.
  Result<std::string> to_json() const;

  /// For Tenfold's own rooms.
  const graph::Graph& ir() const noexcept { return *ir_; }
  explicit Graph(std::shared_ptr<const graph::Graph> ir) : ir_(std::move(ir)) {}

 private:
  std::shared_ptr<const graph::Graph> ir_;
};

/// Builds a graph op by op. Mistakes are kept and reported by finish(), so that calls can be chained.
class GraphBuilder {
 public:
  GraphBuilder();
  ~GraphBuilder();
  GraphBuilder(GraphBuilder&&) noexcept;
  GraphBuilder& operator=(GraphBuilder&&) noexcept;

  /// A graph input. Dims may be kUnknownDim; they are bound by CompileOptions::input_shapes.
  TensorId input(TensorDesc desc);

  /// A constant of `desc`, whose dims are all known. `data` is copied: row-major whatever the strides say, span_bytes()
  /// of the shape without strides; of s4 and u4 two elements a byte, the first in the low half.
  TensorId constant(TensorDesc desc, const void* data);

  /// An op of oneDNN Graph's set, such as op("ReduceMax", {x}, {{"axes", std::vector<std::int64_t>{1}}}). Returns its
  /// (first) output, whose dtype and shape are inferred; `output_dtype` is needed where they cannot be (TypeCast).
  TensorId op(std::string kind, std::vector<TensorId> inputs,
              std::vector<std::pair<std::string, AttributeValue>> attributes = {}, DType output_dtype = DType::undef);

  /// Verifies and returns the graph; `outputs` leave it, or, when empty, whatever no op consumes.
  Result<Graph> finish(std::vector<TensorId> outputs = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold
