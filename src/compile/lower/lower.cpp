// SPDX-License-Identifier: Apache-2.0
#include "compile/lower/lower.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "compile/lower/body.hpp"
#include "compile/lower/copies.hpp"
#include "compile/lower/space.hpp"
#include "compile/lower/strided.hpp"
#include "graph/eval/eval.hpp"

namespace tenfold::compiler {
namespace {

using graph::Op;
using graph::OpId;
using graph::Value;
using graph::ValueId;
using kernel::KernelSpec;

Status unsupported_shape(const std::string& why) { return {Code::unsupported_shape, why}; }

/// A constant of one element that a double holds, which a kernel can have in its code.
std::optional<double> scalar_of(const Value& value) {
  if (!value.is_constant) return std::nullopt;
  const Result<std::int64_t> count = numel(value.shape);
  if (!count.ok() || count.value() != 1 || value.data.size() < static_cast<std::size_t>(byte_size(value.dtype)))
    return std::nullopt;
  if (value.dtype != DType::f32 && value.dtype != DType::s32 && value.dtype != DType::f64) return std::nullopt;
  return graph::load_real(value.dtype, value.data.data(), 0);
}

class Lowering {
 public:
  Lowering(const graph::Graph& graph, std::span<const OpId> ops, std::span<const ValueId> outputs)
      : graph_(graph), ops_(ops), space_(graph), body_(lowered_.spec) {
    for (const ValueId value : outputs) lowered_.outputs.push_back({value});
  }

  Result<Lowered> run() {
    Status status = find_space();
    if (status.ok()) status = add_inputs();
    if (status.ok()) status = write_ops();
    if (status.ok()) status = add_outputs();
    if (!status.ok()) return status;
    Result<KernelSpec> collapsed = kernel::collapse(std::move(lowered_.spec));
    if (!collapsed.ok()) return collapsed.status();
    lowered_.spec = std::move(collapsed).value();
    return std::move(lowered_);
  }

 private:
  Status find_space() {
    for (const OpId id : ops_) {
      if (is_slice(graph_.ops[id])) {
        if (made_.contains(graph_.ops[id].inputs[0]))
          return unsupported_shape("a slice of what the kernel itself makes");
        const OperandSource copied{graph_.ops[id].outputs[0]};
        if (std::find(lowered_.outputs.begin(), lowered_.outputs.end(), copied) != lowered_.outputs.end())
          return unsupported_shape("a slice of a slice that is copied");
        continue;
      }
      Status status = space_.add(graph_.ops[id]);
      if (!status.ok()) return status;
      for (const ValueId value : graph_.ops[id].outputs) made_.insert(value);
    }
    std::optional<std::set<int>> reduced;
    for (const OpId id : ops_) {
      if (!reduces(graph_.ops[id])) continue;
      const Result<std::set<int>> own = reduced_by(graph_.ops[id]);
      if (!own.ok()) return own.status();
      // Elements are numbered along one level, which factors in another order than memory's would not give.
      if (graph_.ops[id].kind == "arg_reduce" && own.value().size() != 1)
        return unsupported_shape("an arg-reduction along several dims of the other ops, or along a dim of one element");
      if (reduced && *reduced != own.value()) return unsupported_shape("reductions along other dims");
      reduced = own.value();
    }
    if (reduced) reduced_ = *reduced;
    levels_ = space_.all();
    // A reduction of less than the whole space would be done again for each element of the rest.
    for (const OpId id : ops_)
      if (reduces(graph_.ops[id]) && space_.factors(graph_.ops[id].inputs[0]).size() != levels_.size())
        return unsupported_shape("a reduction of fewer elements than the other ops have");
    for (const int factor : levels_) lowered_.spec.levels.push_back({space_.extent(factor), reduced_.contains(factor)});
    return {};
  }

  Result<std::set<int>> reduced_by(const Op& op) const {
    const Result<Dims> dims = reduced_dims(graph_, op);
    if (!dims.ok()) return dims.status();
    std::set<int> factors;
    for (const std::int64_t dim : dims.value()) {
      const std::vector<int>& of = space_.dimensions(op.inputs[0])[static_cast<std::size_t>(dim)];
      factors.insert(of.begin(), of.end());
    }
    return factors;
  }

  std::vector<std::int64_t> strides_along_levels(ValueId value) const {
    return strides_along_levels(value, strides_of(graph::desc_of(graph_.values[value])));
  }
  std::vector<std::int64_t> strides_along_levels(ValueId value, const Dims& own) const {
    std::vector<std::int64_t> strides(levels_.size(), 0);
    for (std::size_t dim = 0; dim < own.size(); ++dim) {
      std::int64_t stride = own[dim];
      const std::vector<int>& factors = space_.dimensions(value)[dim];
      for (std::size_t i = factors.size(); i-- > 0;) {
        const auto level = std::lower_bound(levels_.begin(), levels_.end(), factors[i]) - levels_.begin();
        strides[static_cast<std::size_t>(level)] = stride;
        stride *= space_.extent(factors[i]);
      }
    }
    return strides;
  }

  /// What the ops read and do not make, the one with most elements first: levels are sorted by it.
  Status add_inputs() {
    std::vector<ValueId> read;
    for (const OpId id : ops_) {
      if (is_slice(graph_.ops[id])) continue;
      for (const ValueId value : graph_.ops[id].inputs)
        if (!made_.contains(value) && std::find(read.begin(), read.end(), value) == read.end()) read.push_back(value);
    }
    std::stable_sort(read.begin(), read.end(),
                     [this](ValueId a, ValueId b) { return space_.factors(a).size() > space_.factors(b).size(); });
    for (const ValueId value : read) {
      const DType dtype = graph_.values[value].dtype;
      if (!has_kernels(dtype)) return {Code::unsupported_dtype, "no kernels for " + std::string(to_string(dtype))};
      const std::optional<double> scalar = scalar_of(graph_.values[value]);
      if (scalar && !lowered_.inputs.empty()) {
        nodes_[value] = body_.constant(dtype, *scalar);
        continue;
      }
      const StridedWalk walk = slice_walk(graph_, value, ops_);
      read_.push_back(value);
      lowered_.spec.inputs.push_back({dtype, strides_along_levels(value, walk.strides)});
      lowered_.inputs.push_back({walk.root, walk.first * byte_size(dtype)});
    }
    return {};
  }

  Status write_ops() {
    for (const OpId id : ops_)
      for (const ValueId value : graph_.ops[id].inputs) ++uses_[value];
    for (const OpId id : ops_) {
      const Op& op = graph_.ops[id];
      if (is_slice(op)) continue;
      const DType to = graph_.values[op.outputs[0]].dtype;
      if (!has_kernels(to)) return {Code::unsupported_dtype, "no kernels for " + std::string(to_string(to))};
      std::vector<int> args;
      for (const ValueId value : op.inputs)
        args.push_back(is_rounded_later(op, value) ? nodes_.at(value) : node_of(value));
      Result<int> made = args[0];
      if (op.kind == "reduce") {
        made = copies(op) ? Result<int>(args[0]) : write_reduction(body_, op, args[0]);
      } else if (op.kind == "arg_reduce") {
        made = write_arg_reduction(body_, op, args[0], to);
      } else if (!is_view(op) && !is_cast_later(op, args[0])) {
        const bool is_f32_yet = is_f32_of_words(args[0], graph_.values[op.inputs[0]].dtype);
        made = write_elementwise(body_, op, args, is_f32_yet ? DType::f32 : to);
      }
      if (!made.ok()) return made.status();
      nodes_[op.outputs[0]] = made.value();
    }
    return {};
  }

  /// A reduction along no axis, which gives its input back.
  bool copies(const Op& op) const {
    const Result<Dims> dims = reduced_dims(graph_, op);
    return dims.ok() && dims.value().empty() && graph::find_attribute(op, "noop_with_empty_axes") == nullptr;
  }

  /// Whether rounding a value, which nothing else takes, may wait until what this op makes of it is rounded: the bits
  /// are the same, by one rounding less.
  bool is_rounded_later(const Op& op, ValueId value) const {
    if (!made_.contains(value) || graph_.values[value].dtype != graph_.values[op.outputs[0]].dtype) return false;
    if (!is_view(op) && !commutes_with_rounding(op)) return false;
    return uses_.at(value) == 1 && (op.inputs.size() == 1 || !is_f32(nodes_.at(value)));
  }

  /// A cast from f32 to 16 bits rounds, no more: the value is f32 until then.
  bool is_cast_later(const Op& op, int node) const {
    return op.kind == "cast" && is_f32_of_words(node, graph_.values[op.outputs[0]].dtype);
  }
  bool is_f32_of_words(int node, DType dtype) const {
    return is_floating(dtype) && byte_size(dtype) == 2 && is_f32(node);
  }
  bool is_f32(int node) const { return kernel::dtype_of(lowered_.spec, node) == DType::f32; }

  /// As the value's dtype has it: what an op makes of 16-bit floats is rounded before the next op uses it, so that
  /// fused ops give the bits of ops that run apart.
  int node_of(ValueId value) {
    if (!made_.contains(value)) {
      const auto known = nodes_.find(value);
      if (known != nodes_.end()) return known->second;
      const auto input = std::find(read_.begin(), read_.end(), value) - read_.begin();
      return nodes_[value] = body_.load(static_cast<int>(input));
    }
    const int node = nodes_.at(value);
    const DType dtype = graph_.values[value].dtype;
    const bool rounds = byte_size(dtype) == 2 && is_floating(dtype) && (is_f32(node) || !is_exact(node));
    return rounds ? body_.cast(dtype, node) : node;
  }

  /// Whether a node gives numbers that its dtype holds without rounding, or truth values.
  bool is_exact(int index) {
    const auto known = exact_.find(index);
    if (known != exact_.end()) return known->second;
    const kernel::Node& node = kernel::node(lowered_.spec, index);
    bool exact = node.kind == kernel::Node::Kind::load || node.kind == kernel::Node::Kind::cast;
    if (node.kind == kernel::Node::Kind::reduce) exact = kernel::row(node.monoid).state == kernel::State::order;
    if (node.kind == kernel::Node::Kind::apply) exact = kernel::row(node.function).gives == kernel::Gives::exact;
    if (kernel::dtype_of(lowered_.spec, index) == DType::boolean) return exact_[index] = true;
    if (!node.args.empty() && node.kind != kernel::Node::Kind::cast)
      exact = exact && std::all_of(node.args.begin(), node.args.end(), [this](int arg) { return is_exact(arg); });
    return exact_[index] = exact;
  }

  Status add_outputs() {
    for (const OperandSource& output : lowered_.outputs) {
      int& node = nodes_.at(output.value);
      const DType dtype = graph_.values[output.value].dtype;
      if (is_f32_of_words(node, dtype)) node = body_.cast(dtype, node);
    }
    const std::vector<bool> per_row = kernel::per_row(lowered_.spec);
    for (std::size_t output = 0; output < lowered_.outputs.size(); ++output) {
      const ValueId value = lowered_.outputs[output].value;
      std::size_t kept = 0, reduced = 0;
      for (const int factor : space_.factors(value)) ++(reduced_.contains(factor) ? reduced : kept);
      if (kept + reduced_.size() != levels_.size() || (reduced != 0 && reduced != reduced_.size()))
        return unsupported_shape("a result of fewer elements than the other ops have");
      if (reduced != 0 && per_row[static_cast<std::size_t>(nodes_.at(value))])
        return unsupported_shape("a reduced value that is written to each element");
      lowered_.spec.outputs.push_back({graph_.values[value].dtype, strides_along_levels(value)});
      lowered_.spec.stores.push_back({static_cast<int>(output), nodes_.at(value)});
    }
    return {};
  }

  const graph::Graph& graph_;
  std::span<const OpId> ops_;
  IterationSpace space_;
  std::set<int> reduced_;    ///< factors
  std::vector<int> levels_;  ///< factors, before collapsing
  std::set<ValueId> made_;
  std::vector<ValueId> read_;    ///< by input: the value, which may be a slice of what the operand is
  std::map<ValueId, int> uses_;  ///< as inputs of the ops
  std::map<ValueId, int> nodes_;
  std::map<int, bool> exact_;  ///< by node, what is_exact() said
  Lowered lowered_;
  BodyWriter body_;
};

/// A reshape whose dims share no factors, of tensors without gaps: their elements lie in one order.
std::optional<Lowered> copied_as_it_lies(const graph::Graph& graph, const Op& op) {
  if (op.dialect != graph::Dialect::core || op.kind != "reshape") return std::nullopt;
  const TensorDesc from = graph::desc_of(graph.values[op.inputs[0]]), to = graph::desc_of(graph.values[op.outputs[0]]);
  const Result<std::int64_t> count = numel(to.shape);
  if (!count.ok() || !has_kernels(from.dtype) || strides_of(from) != row_major_strides(from.shape) ||
      strides_of(to) != row_major_strides(to.shape))
    return std::nullopt;
  Result<Lowered> made = lower_copy(graph, op.inputs[0], op.outputs[0], {{count.value()}, {1}, {1}});
  return made.ok() ? std::optional(std::move(made).value()) : std::nullopt;
}

}  // namespace

bool has_kernels(DType dtype) noexcept {
  return dtype != DType::undef && row(dtype).bits >= 8 && dtype != DType::f8_e5m2 && dtype != DType::f8_e4m3;
}

Result<Lowered> lower(const graph::Graph& graph, std::span<const graph::OpId> ops,
                      std::span<const graph::ValueId> outputs) {
  Result<Lowered> lowered = Lowering(graph, ops, outputs).run();
  if (!lowered.ok() && ops.size() == 1)
    if (std::optional<Lowered> copy = copied_as_it_lies(graph, graph.ops[ops[0]])) return std::move(*copy);
  return lowered;
}

}  // namespace tenfold::compiler
