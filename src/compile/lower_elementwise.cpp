// SPDX-License-Identifier: Apache-2.0
//
// Elementwise ops as flat kernels: core.map by a table from its functions to those of kernels, core.cast, core.select.
// Operands of fewer or smaller dims repeat by stride 0 (NumPy's broadcasting).
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>

#include "compile/lower.hpp"

namespace tenfold::compiler {
namespace {

using kernel::Function;
using kernel::KernelSpec;
using kernel::Node;

/// How a function's arguments are put together.
enum class Form : std::uint8_t {
  plain,       ///< the inputs, then the attributes of the row that have a name
  fold,        ///< any number of inputs, from left to right
  fold_mean,   ///< the same, divided by their number
  bounds,      ///< max(x, low), min(.., high): one to three inputs
  infinities,  ///< by detect_positive and detect_negative
  remainder,   ///< by fmod
  shift,       ///< by direction
};

struct MapRow {
  std::string_view name;  ///< in core.map
  Function function;
  Form form = Form::plain;
  std::string_view first = "", second = "";  ///< attributes, as arguments after a single input
};

constexpr MapRow kMaps[] = {
    {"add", Function::add, Form::fold},
    {"and", Function::logical_and},
    {"bit_shift", Function::shift_left, Form::shift},
    {"celu", Function::celu, Form::plain, "alpha"},
    {"clamp", Function::clamp, Form::plain, "min", "max"},
    {"clip", Function::max, Form::bounds},
    {"elu", Function::elu, Form::plain, "alpha"},
    {"hardsigmoid", Function::hardsigmoid, Form::plain, "alpha", "beta"},
    {"isinf", Function::is_infinite, Form::infinities},
    {"leakyrelu", Function::leakyrelu, Form::plain, "alpha"},
    {"max", Function::max, Form::fold},
    {"mean_of", Function::add, Form::fold_mean},
    {"min", Function::min, Form::fold},
    {"mod", Function::mod, Form::remainder},
    {"not", Function::logical_not},
    {"or", Function::logical_or},
    {"pow", Function::pow, Form::plain, "beta"},
    {"selu", Function::selu, Form::plain, "alpha", "gamma"},
    {"softplus", Function::softplus, Form::plain, "beta"},
    {"thresholded_relu", Function::thresholded_relu, Form::plain, "alpha"},
    {"xor", Function::logical_xor},
};

/// The row, or one made for a function that both sides call the same.
Result<MapRow> find_row(const std::string& name) {
  const auto* const row =
      std::find_if(std::begin(kMaps), std::end(kMaps), [&](const MapRow& r) { return r.name == name; });
  if (row != std::end(kMaps)) return *row;
  const std::optional<Function> function = kernel::function_from_name(name);
  if (!function) return Status(Code::unsupported_op, "no kernel for function '" + name + "'");
  return MapRow{kernel::row(*function).name, *function};
}

class Builder {
 public:
  Builder(const graph::Graph& graph, const graph::Op& op) : graph_(graph), op_(op) {}

  Result<Lowered> run() {
    Status status = add_operands();
    if (status.ok()) status = add_body();
    if (!status.ok()) return status;
    lowered_.spec.stores.push_back({0, static_cast<int>(lowered_.spec.body.size()) - 1});
    Result<KernelSpec> collapsed = kernel::collapse(std::move(lowered_.spec));
    if (!collapsed.ok()) return collapsed.status();
    lowered_.spec = std::move(collapsed).value();
    return std::move(lowered_);
  }

 private:
  static Status usable(DType dtype) {
    if (dtype != DType::undef && row(dtype).bits >= 8 && dtype != DType::f8_e5m2 && dtype != DType::f8_e4m3) return {};
    return {Code::unsupported_dtype, "no kernels for " + std::string(to_string(dtype))};
  }

  Status add_operands() {
    const TensorDesc out = graph::desc_of(graph_.values[op_.outputs[0]]);
    Status status = usable(out.dtype);
    KernelSpec& spec = lowered_.spec;
    for (const std::int64_t extent : out.shape) spec.levels.push_back({extent, false});
    spec.outputs.push_back({out.dtype, strides_of(out)});
    lowered_.outputs = {op_.outputs[0]};
    for (const graph::ValueId value : op_.inputs) {
      if (value == graph::kNone) return {Code::unsupported_op, "an optional input is left out"};
      const TensorDesc in = graph::desc_of(graph_.values[value]);
      if (status.ok()) status = usable(in.dtype);
      // Equal operands are one: loads of it are the same node.
      const auto known = std::find(lowered_.inputs.begin(), lowered_.inputs.end(), value);
      loads_.push_back(
          add({.kind = Node::Kind::load, .index = static_cast<int>(known - lowered_.inputs.begin()), .args = {}}));
      if (known != lowered_.inputs.end()) continue;
      lowered_.inputs.push_back(value);
      spec.inputs.push_back({in.dtype, broadcast_strides(in, out.shape)});
    }
    return status;
  }

  static Dims broadcast_strides(const TensorDesc& in, const Dims& shape) {
    const Dims own = strides_of(in);
    Dims strides(shape.size(), 0);
    const std::size_t missing = shape.size() - in.shape.size();
    for (std::size_t dim = 0; dim < in.shape.size(); ++dim)
      if (in.shape[dim] != 1) strides[missing + dim] = own[dim];
    return strides;
  }

  Status add_body() {
    const DType to = lowered_.spec.outputs[0].dtype;
    if (op_.kind == "cast") {
      add({.kind = Node::Kind::cast, .args = {loads_[0]}, .dtype = to});
      return {};
    }
    if (op_.kind == "select") {
      apply(Function::select, loads_);
      return {};
    }
    const Result<MapRow> row = find_row(graph::attribute_or<std::string>(op_, "function", ""));
    if (!row.ok()) return row.status();
    for (const int load : loads_)
      if (dtype_of(load) != dtype_of(loads_[0]))
        return {Code::unsupported_op, "no kernel for arguments of mixed dtypes"};
    Status status = add_function(row.value());
    if (status.ok() && dtype_of(static_cast<int>(lowered_.spec.body.size()) - 1) != to)
      return {Code::unsupported_op, "no kernel for a result of another dtype"};
    return status;
  }

  Status add_function(const MapRow& row) {
    switch (row.form) {
      case Form::plain: return add_plain(row);
      case Form::fold: fold(row.function); return {};
      case Form::fold_mean: {
        fold(row.function);
        const int sum = static_cast<int>(lowered_.spec.body.size()) - 1;
        apply(Function::div, {sum, constant(static_cast<double>(loads_.size()))});
        return {};
      }
      case Form::bounds: {
        int value = loads_[0];
        if (loads_.size() > 1) value = apply(Function::max, {value, loads_[1]});
        if (loads_.size() > 2) value = apply(Function::min, {value, loads_[2]});
        if (loads_.size() == 1) apply(Function::identity, {value});
        return {};
      }
      case Form::infinities: {
        const bool negative = graph::attribute_or<bool>(op_, "detect_negative", true);
        const bool positive = graph::attribute_or<bool>(op_, "detect_positive", true);
        if (!negative && !positive) return {Code::unsupported_op, "no kernel for an isinf that detects nothing"};
        apply(!negative   ? Function::is_positive_infinity
              : !positive ? Function::is_negative_infinity
                          : Function::is_infinite,
              loads_);
        return {};
      }
      case Form::remainder:
        apply(graph::attribute_or<bool>(op_, "fmod", false) ? Function::remainder : Function::mod, loads_);
        return {};
      case Form::shift: break;
    }
    const bool left = graph::attribute_or<std::string>(op_, "direction", "") == "LEFT";
    apply(left ? Function::shift_left : Function::shift_right, loads_);
    return {};
  }

  Status add_plain(const MapRow& row) {
    std::vector<int> args = loads_;
    if (args.size() == 1) {
      for (const std::string_view name : {row.first, row.second}) {
        if (name.empty()) continue;
        const graph::Attribute* const given = graph::find_attribute(op_, name);
        if (given == nullptr) return {Code::unsupported_op, "attribute '" + std::string(name) + "' is missing"};
        const auto* const real = std::get_if<double>(given);
        const Result<double> value = attribute_value(real != nullptr ? *real : 0);
        if (real == nullptr || !value.ok())
          return {Code::unsupported_op, "no kernel for this value of attribute '" + std::string(name) + "'"};
        args.push_back(constant(value.value()));
      }
    }
    if (static_cast<int>(args.size()) != kernel::row(row.function).arity)
      return {Code::unsupported_op,
              "no kernel for " + std::to_string(args.size()) + " arguments of '" + std::string(row.name) + "'"};
    apply(row.function, std::move(args));
    return {};
  }

  /// Attributes are f32; beside integers they are cast to their dtype.
  Result<double> attribute_value(double value) const {
    const double written = static_cast<double>(static_cast<float>(value));
    const DType dtype = dtype_of(loads_[0]);
    if (is_floating(dtype)) return written;
    if (std::isnan(written)) return 0.0;
    if (byte_size(dtype) == 8) {
      if (std::fabs(written) >= 0x1p63) return Status(Code::unsupported_op, "beyond 64 bits");
      return row(dtype).kind == DTypeKind::signed_integer ? std::trunc(written) : std::max(0.0, std::trunc(written));
    }
    const int bits = dtype == DType::boolean ? 1 : 8 * byte_size(dtype);
    const bool is_signed = row(dtype).kind == DTypeKind::signed_integer;
    const double least = is_signed ? -std::ldexp(1.0, bits - 1) : 0;
    const double greatest = std::ldexp(1.0, is_signed ? bits - 1 : bits) - 1;
    return std::trunc(std::clamp(written, least, greatest));
  }

  void fold(Function function) {
    int value = loads_[0];
    for (std::size_t i = 1; i < loads_.size(); ++i) value = apply(function, {value, loads_[i]});
    if (loads_.size() == 1) apply(Function::identity, {value});
  }

  DType dtype_of(int node) const { return kernel::dtype_of(lowered_.spec, node); }
  int add(Node node) {
    lowered_.spec.body.push_back(std::move(node));
    return static_cast<int>(lowered_.spec.body.size()) - 1;
  }
  int apply(Function function, std::vector<int> args) {
    return add({.kind = Node::Kind::apply, .function = function, .args = std::move(args)});
  }
  int constant(double value) {
    return add({.kind = Node::Kind::constant, .args = {}, .dtype = dtype_of(loads_[0]), .value = value});
  }

  const graph::Graph& graph_;
  const graph::Op& op_;
  Lowered lowered_;
  std::vector<int> loads_;  ///< by input of the op
};

}  // namespace

Result<Lowered> lower_elementwise(const graph::Graph& graph, const graph::Op& op) { return Builder(graph, op).run(); }

}  // namespace tenfold::compiler
