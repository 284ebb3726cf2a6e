// SPDX-License-Identifier: Apache-2.0
//
// Convolutions, pools and interpolations in oneDNN's terms. Six convolutions are three: a transposed one computes what
// another's gradient with respect to its input is. Formats (NXC, NCX; XIO, OIX, XOI, IOX) are but strides.
#include <algorithm>
#include <string>
#include <utility>

#include "compile/heavy/heavy.hpp"
#include "compile/lower/strided.hpp"
#include "graph/check/check.hpp"
#include "graph/ir/data_format.hpp"

namespace tenfold::compiler {
namespace {

using onednn::Kind;

Dims permuted(const Dims& dims, const std::vector<std::size_t>& order) {
  Dims out;
  for (const std::size_t dim : order) out.push_back(dims[dim]);
  return out;
}

/// Where the dims of [first, second, spatial...] are in a tensor that has these two at `first` and `second`.
TensorDesc in_order(const TensorDesc& desc, std::size_t first, std::size_t second) {
  std::vector<std::size_t> order{first, second};
  for (std::size_t dim = 0; dim < desc.shape.size(); ++dim)
    if (dim != first && dim != second) order.push_back(dim);
  return {desc.dtype, permuted(desc.shape, order), permuted(desc.strides, order)};
}

class Reader {
 public:
  Reader(const graph::Op& op, const HeavyRow& row) : op_(op), row_(row) {}

  TensorDesc operand(const TensorDesc& desc, int index) const {
    const std::size_t last = desc.shape.size() - 1;
    if (index != row_.weights) return in_order(desc, 0, graph::channel_dim(op_, desc.shape.size()));
    const char* const spatial_first = row_.transposed ? "XOI" : "XIO";
    return graph::attribute_or<std::string>(op_, "weights_format", spatial_first) == spatial_first
               ? in_order(desc, last, last - 1)
               : desc;
  }

 private:
  const graph::Op& op_;
  const HeavyRow& row_;
};

bool is_pool(Kind kind) {
  return kind == Kind::average_pool || kind == Kind::average_pool_to_input || kind == Kind::max_pool ||
         kind == Kind::max_pool_to_input;
}

/// Where the number of windows was rounded up, the last one ends beyond the padded end, so that pads must reach
/// further.
Status reach_last_window(onednn::HeavySpec& spec) {
  const bool forward = spec.kind == Kind::average_pool || spec.kind == Kind::max_pool;
  const Dims& input = (forward ? spec.inputs[0] : spec.outputs[0]).shape;
  const Dims& output = (forward ? spec.outputs[0] : spec.inputs.back()).shape;
  onednn::Window& window = spec.window;
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    const std::int64_t end = (output[i + 2] - 1) * window.strides[i] + (window.kernel[i] - 1) * window.dilations[i] + 1;
    const std::int64_t pad = end - input[i + 2] - window.pads_begin[i];
    if (pad <= window.pads_end[i]) continue;
    if (spec.counts_pads)
      return {Code::unsupported_shape, "a mean that counts pads, of a window that ends beyond them"};
    window.pads_end[i] = pad;
  }
  return {};
}

bool repeats(const TensorDesc& desc) {
  for (std::size_t dim = 0; dim < desc.shape.size(); ++dim)
    if (desc.shape[dim] > 1 && desc.strides[dim] == 0) return true;
  return false;
}

}  // namespace

Result<HeavySource> windows_source(const graph::Graph& graph, const graph::Op& op, const HeavyRow& row,
                                   std::span<const graph::OpId> through) {
  const Reader reader(op, row);
  HeavySource source;
  source.spec.kind = row.as;
  const bool has_bias = op.kind == "Convolution" && op.inputs.size() > 2;
  for (std::size_t i = 0; i < row.inputs + (has_bias ? 1U : 0U); ++i) {
    const graph::ValueId input = op.inputs[row.first + i];
    const graph::Value& value = graph.values[input];
    Result<StridedWalk> walk = strided_walk(graph, input, through);
    if (!walk.ok()) return walk.status();
    const TensorDesc desc{value.dtype, value.shape, walk.value().strides};
    if (repeats(desc)) return Status(Code::unsupported_shape, "an operand that repeats elements");
    // oneDNN 2.6.3 takes a bias of any strides and reads it as a dense one.
    if (i == 2 && desc.shape[0] > 1 && desc.strides[0] != 1)
      return Status(Code::unsupported_shape, "a bias that is not dense");
    source.add_input(walk.value(), i == 2 ? desc : reader.operand(desc, static_cast<int>(i)));
  }
  TensorDesc out = graph::desc_of(graph.values[op.outputs[0]]);
  out.strides = strides_of(out);
  source.spec.outputs = {reader.operand(out, HeavyRow::kOutput)};
  source.outputs = {OperandSource{op.outputs[0]}};
  for (const std::vector<TensorDesc>* descs : {&source.spec.inputs, &source.spec.outputs})
    for (const TensorDesc& desc : *descs) {
      if (desc.dtype != DType::f32)
        return Status(Code::unsupported_dtype, "oneDNN is given f32, not " + std::string(to_string(desc.dtype)));
      if (std::find(desc.shape.begin(), desc.shape.end(), 0) != desc.shape.end())
        return Status(Code::unsupported_shape, "a tensor without elements");
    }
  if (row.swapped) source.swap_operands();
  if (row.as == Kind::resample || row.as == Kind::resample_to_input) {
    if (Status status = settle_resampling(op, source.spec); !status.ok()) return status;
    return source;
  }
  Result<graph::WindowFacts> facts = graph::window_facts(graph, op);
  if (!facts.ok()) return facts.status();
  graph::WindowFacts& window = facts.value();
  source.spec.groups = window.groups;
  if (is_pool(row.as)) {
    source.spec.window.kernel = std::move(window.kernel);
    source.spec.counts_pads = !graph::attribute_or<bool>(op, "exclude_pad", true);
  }
  source.spec.window.strides = std::move(window.strides);
  source.spec.window.dilations = std::move(window.dilations);
  source.spec.window.pads_begin = std::move(window.pads_begin);
  source.spec.window.pads_end = std::move(window.pads_end);
  if (is_pool(row.as))
    if (Status status = reach_last_window(source.spec); !status.ok()) return status;
  return source;
}

}  // namespace tenfold::compiler
