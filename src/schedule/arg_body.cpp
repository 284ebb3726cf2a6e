// SPDX-License-Identifier: Apache-2.0
#include "schedule/arg_body.hpp"

#include <algorithm>
#include <limits>

namespace tenfold::schedule {
namespace {

using kernel::Monoid;
using kernel::Node;

Status unsupported(const char* what) {
  return {Code::unsupported_op,
          std::string("not an arg-reduction alone (the index of an extreme, and the extreme itself): it has ") + what};
}

}  // namespace

bool is_arg_reduction(const Node& node) noexcept {
  return node.kind == Node::Kind::reduce && kernel::row(node.monoid).state == kernel::State::arg;
}

bool has_arg_reduction(const kernel::KernelSpec& spec) noexcept {
  return std::any_of(spec.body.begin(), spec.body.end(), is_arg_reduction);
}

Result<ReduceBody> read_arg_body(const kernel::KernelSpec& spec) {
  const std::size_t results = spec.body.size() - 1;
  if (spec.inputs.size() != 1 || spec.outputs.size() != results || spec.stores.size() != results || results < 1 ||
      results > 2)
    return unsupported("other inputs or outputs");
  const Node& index = spec.body[1];
  if (spec.body[0].kind != Node::Kind::load || !is_arg_reduction(index) || spec.stores[0] != kernel::Store{0, 1})
    return unsupported("something before the reduction");
  if (results == 2) {
    const Node& extreme = spec.body[2];
    const Monoid same = index.monoid == Monoid::argmax ? Monoid::max : Monoid::min;
    if (extreme.kind != Node::Kind::reduce || extreme.monoid != same || extreme.args[0] != 0 ||
        spec.stores[1] != kernel::Store{1, 2} || spec.outputs[1].dtype != spec.inputs[0].dtype)
      return unsupported("another value beside the index");
  }
  if (spec.outputs[0].dtype != DType::s64 && spec.outputs[0].dtype != DType::s32)
    return unsupported("indices that are neither s64 nor s32");
  std::int64_t axes = 0;
  for (const kernel::Level& level : spec.levels) {
    if (!level.reduced) continue;
    ++axes;
    if (level.extent > std::numeric_limits<std::int32_t>::max())
      return Status(Code::unsupported_shape,
                    "an arg-reduction over " + std::to_string(level.extent) + " elements; kernels count to 2^31 - 1");
  }
  if (axes > 1) return Status(Code::unsupported_shape, "an arg-reduction over several axes");
  ReduceBody body;
  body.monoid = index.monoid;
  body.last = index.last;
  body.stores_extreme = results == 2;
  return body;
}

}  // namespace tenfold::schedule
