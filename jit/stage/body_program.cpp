// SPDX-License-Identifier: Apache-2.0
#include "jit/stage/body_program.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "jit/function/functions.hpp"
#include "jit/stage/nan_flow.hpp"

namespace tenfold::jit {
namespace {

using kernel::KernelSpec;
using kernel::Node;

Status no_kernel(const std::string& what, DType dtype, Code code) {
  return {code, "no kernel for " + what + " of " + std::string(to_string(dtype))};
}

class Body {
 public:
  /// `narrow`: the type of all lanes; nothing for lane_type().
  explicit Body(const KernelSpec& spec, std::optional<LaneType> narrow = {}) : spec_(spec), narrow_(narrow) {}

  Result<LaneProgram> run() {
    for (std::size_t i = 0; i < spec_.body.size(); ++i) {
      Status status = add(spec_.body[i], static_cast<int>(i));
      if (!status.ok()) return status;
    }
    for (const kernel::Store& store : spec_.stores) {
      const Lane value = unrounded(store.node);
      builder_.result(is_real(value.type) ? canonical_nan(value) : value);
    }
    return builder_.finish();
  }

 private:
  DType dtype(int node) const { return kernel::dtype_of(spec_, node); }
  Lane value(int node) const { return values_[static_cast<std::size_t>(node)]; }
  LaneType lanes_of(DType dtype) const { return narrow_.value_or(lane_type(dtype)); }

  /// What is stored in 16 bits is rounded by the store.
  Lane unrounded(int stored) const {
    const Node& node = spec_.body[static_cast<std::size_t>(stored)];
    const bool rounds = node.kind == Node::Kind::cast && is_floating(node.dtype) && byte_size(node.dtype) == 2;
    if (narrow_ || !rounds || !is_floating(dtype(node.args[0]))) return value(stored);
    const Lane from = value(node.args[0]);
    return from.type == LaneType::f64 ? narrow_before_rounding(node.dtype, from) : from;
  }

  Status add(const Node& node, int index) {
    switch (node.kind) {
      case Node::Kind::load: values_.push_back(loaded(node.index, dtype(index))); return {};
      case Node::Kind::constant: values_.push_back(builder_.constant(lanes_of(node.dtype), node.value)); return {};
      case Node::Kind::cast: return add_cast(node);
      case Node::Kind::apply: return add_function(node, index);
      case Node::Kind::count:
      case Node::Kind::scan:
      case Node::Kind::rank:
      case Node::Kind::reduce: break;
    }
    return {Code::internal_error, "an elementwise body has a reduction"};
  }

  /// Floats that are bits have canonical NaNs from here on.
  Lane loaded(int input, DType of) {
    const Lane lane = builder_.input(input, lanes_of(of));
    return narrow_ && is_floating(of) ? canonical_nan_of_bits(of, lane) : lane;
  }

  Status add_cast(const Node& node) {
    const DType from = dtype(node.args[0]);
    if (!has_cast(from, node.dtype))
      return no_kernel("a cast to " + std::string(to_string(node.dtype)), from, Code::unsupported_dtype);
    values_.push_back(node.dtype == DType::bf16 && has_short_nans(spec_, node.args[0])
                          ? bf16_of_short_nan(value(node.args[0]))
                          : cast_lane(from, node.dtype, value(node.args[0])));
    return {};
  }

  /// Integers that another function goes on with must be whole again.
  Status add_function(const Node& node, int index) {
    const DType of = dtype(node.function == kernel::Function::select ? node.args.back() : node.args.front());
    if (narrow_ && is_floating(of)) {
      values_.push_back(function_of_bits(node.function, of, value(node.args[0])));
      return {};
    }
    if (!has_function(node.function, of))
      return no_kernel(std::string(kernel::row(node.function).name), of, Code::unsupported_op);
    std::vector<Lane> args;
    for (const int arg : node.args) args.push_back(value(arg));
    const Lane result = apply_function(node.function, of, args);
    values_.push_back(is_real(result.type) || dtype(index) == DType::boolean ? result : normalized(of, result));
    return {};
  }

  const KernelSpec& spec_;
  std::optional<LaneType> narrow_;
  LaneBuilder builder_;
  std::vector<Lane> values_;
};

/// In lanes of `bytes`, where these have all operations that it takes.
std::optional<LaneProgram> narrow_program(const KernelSpec& spec, int bytes) {
  const LaneType type = bytes == 1 ? LaneType::i8 : LaneType::i16;
  Result<LaneProgram> made = Body(spec, type).run();
  const auto is_there = [type](const LaneNode& node) { return node.type == type && has_operation(node.op, type); };
  if (!made.ok() || !std::ranges::all_of(made.value().nodes, is_there)) return std::nullopt;
  return std::move(made).value();
}

}  // namespace

Result<LaneProgram> body_program(const kernel::KernelSpec& spec) {
  if (const int bytes = kernel::narrow_bytes(spec); bytes > 0)
    if (std::optional<LaneProgram> narrow = narrow_program(spec, bytes)) return *std::move(narrow);
  return Body(spec).run();
}

}  // namespace tenfold::jit
