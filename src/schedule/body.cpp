// SPDX-License-Identifier: Apache-2.0
#include "schedule/body.hpp"

#include "schedule/arg_body.hpp"

namespace tenfold::schedule {
namespace {

using kernel::Node;

Status unsupported(const char* what) {
  return {Code::unsupported_op, std::string("not a single plain reduction (one input, unary functions, the reduction, "
                                            "a division by the count, a square root, one output): it has ") +
                                    what};
}

/// Follows the single chain of nodes from the load to the store; `chain` is the last of it so far.
Status read_node(const kernel::KernelSpec& spec, std::size_t index, int& chain, bool& reduced, ReduceBody& body) {
  const Node& node = spec.body[index];
  if (!node.args.empty() && node.args[0] != chain) return unsupported("a value that is used twice");
  if (node.kind != Node::Kind::count) chain = static_cast<int>(index);
  switch (node.kind) {
    case Node::Kind::load: return index == 0 ? Status() : unsupported("several loads");
    case Node::Kind::count: return {};
    case Node::Kind::reduce:
      if (reduced) return unsupported("several reductions");
      reduced = true;
      body.monoid = node.monoid;
      return {};
    case Node::Kind::scan:
    case Node::Kind::rank: return unsupported("what goes by the order of the elements");
    case Node::Kind::constant:
    case Node::Kind::cast: return unsupported("a constant or a cast");
    case Node::Kind::apply: break;
  }
  if (!reduced) {
    if (node.function != kernel::Function::abs && node.function != kernel::Function::square)
      return unsupported("a function other than abs and square before the reduction");
    body.before.push_back(node.function);
    return {};
  }
  if (node.function == kernel::Function::sqrt) {
    if (body.square_root) return unsupported("two square roots");
    body.square_root = true;
    return {};
  }
  const bool by_count = node.function == kernel::Function::div && !body.square_root && !body.divide_by_count &&
                        kernel::node(spec, node.args[1]).kind == Node::Kind::count;
  if (!by_count) return unsupported("another function after the reduction");
  body.divide_by_count = true;
  return {};
}

}  // namespace

Result<ReduceBody> read_body(const kernel::KernelSpec& spec) {
  if (has_arg_reduction(spec)) return read_arg_body(spec);
  if (spec.inputs.size() != 1 || spec.outputs.size() != 1 || spec.stores.size() != 1)
    return unsupported("several inputs or outputs");
  ReduceBody body;
  bool reduced = false;
  int chain = -1;
  for (std::size_t index = 0; index < spec.body.size(); ++index) {
    Status status = read_node(spec, index, chain, reduced, body);
    if (!status.ok()) return status;
  }
  if (spec.stores[0].node != chain) return unsupported("a store of something else");
  if (!reduced) return unsupported("no reduction");
  const bool integers = !is_floating(spec.inputs[0].dtype);
  if (integers && spec.inputs[0].dtype != spec.outputs[0].dtype) return unsupported("a conversion of integers");
  if (integers && (body.divide_by_count || body.square_root))
    return unsupported("a division or a square root of integers");
  const bool order = kernel::row(body.monoid).state == kernel::State::order;
  if (spec.inputs[0].dtype == DType::boolean && !order) return unsupported("a sum or product of booleans");
  const bool magnitudes =
      body.before == std::vector{kernel::Function::abs} && (integers || body.monoid == kernel::Monoid::max);
  if (order && ((!body.before.empty() && !magnitudes) || body.divide_by_count || body.square_root))
    return unsupported("functions around max or min, but for a magnitude");
  if (order && spec.inputs[0].dtype != spec.outputs[0].dtype) return unsupported("max or min with a conversion");
  return body;
}

Lanes lanes_of(const kernel::KernelSpec& spec, const ReduceBody& body) {
  const DType dtype = spec.inputs[0].dtype;
  if (kernel::row(body.monoid).state == kernel::State::arg)
    return byte_size(dtype) <= 2 && !body.last && !body.stores_extreme ? Lanes::keys : Lanes::arg;
  if (!is_floating(dtype)) return Lanes::integer;
  if (kernel::row(body.monoid).state == kernel::State::order)
    return body.before.empty() ? Lanes::order : Lanes::integer;
  return dtype == DType::f64 ? Lanes::wide_f64 : Lanes::chained_f32;
}

bool remembers_groups(DType input, const ReduceBody& body) {
  return !body.last && !body.stores_extreme && (input == DType::f32 || input == DType::f64 || input == DType::s32);
}

bool remembers_sweeps(const kernel::KernelSpec& spec, Lanes lanes) {
  if (lanes != Lanes::arg) return lanes == Lanes::keys;
  const Result<ReduceBody> body = read_body(spec);
  return body.ok() && remembers_groups(spec.inputs[0].dtype, body.value());
}

int lanes_per_step(Lanes lanes, DType input) {
  if (lanes == Lanes::arg) return byte_size(input) == 8 ? 8 : 16;
  if (lanes == Lanes::keys) return 32 / byte_size(input);
  return is_exact(lanes) ? 64 / byte_size(input) : 16;
}

}  // namespace tenfold::schedule
