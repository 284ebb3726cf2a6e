// SPDX-License-Identifier: Apache-2.0
#include "compile/lower/space.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "graph/check/check.hpp"

namespace tenfold::compiler {

bool is_view(const graph::Op& op) noexcept {
  return op.dialect == graph::Dialect::core &&
         (op.kind == "reshape" || op.kind == "transpose" || op.kind == "broadcast");
}

bool reduces(const graph::Op& op) noexcept {
  return op.dialect == graph::Dialect::core && (op.kind == "reduce" || op.kind == "arg_reduce");
}

Result<Dims> reduced_dims(const graph::Graph& graph, const graph::Op& op) {
  const std::size_t rank = graph.values[op.inputs[0]].shape.size();
  if (op.inputs.size() > 1) return Status(Code::unsupported_op, "axes that are known at run time only");
  if (op.kind == "arg_reduce")
    return graph::normalize_axes({graph::attribute_or<std::int64_t>(op, "axis", 0)}, static_cast<int>(rank),
                                 graph::describe(op));
  Result<Dims> axes =
      graph::normalize_axes(graph::attribute_or<Dims>(op, "axes", {}), static_cast<int>(rank), graph::describe(op));
  // ONNX's empty axes are all axes, or with the noop flag each element alone; without that attribute they copy.
  const graph::Attribute* const noop = graph::find_attribute(op, "noop_with_empty_axes");
  if (axes.ok() && axes.value().empty() && noop != nullptr &&
      !graph::attribute_or<bool>(op, "noop_with_empty_axes", false))
    for (std::size_t dim = 0; dim < rank; ++dim) axes.value().push_back(static_cast<std::int64_t>(dim));
  return axes;
}

Status IterationSpace::add(const graph::Op& op) {
  for (const graph::ValueId value : op.inputs) {
    if (value == graph::kNone) return {Code::unsupported_op, "an optional input is left out"};
    known(value);
  }
  for (const graph::ValueId value : op.outputs) known(value);
  if (op.dialect != graph::Dialect::core)
    return {Code::unsupported_op, "kernels run core ops, and none is made of " + op.kind};
  Status status(Code::unsupported_op, "kernels run reductions, elementwise ops and views; this is " + op.kind);
  if (op.kind == "map" || op.kind == "cast" || op.kind == "select" || op.kind == "broadcast")
    status = add_broadcast(op);
  if (reduces(op)) status = add_reduce(op);
  if (op.kind == "reshape") status = add_reshape(op);
  if (op.kind == "transpose") status = add_transpose(op);
  return status.ok() ? check_distinct() : status;
}

std::vector<int> IterationSpace::factors(graph::ValueId value) const {
  std::vector<int> all;
  for (const std::vector<int>& dim : dimensions(value)) all.insert(all.end(), dim.begin(), dim.end());
  return all;
}

std::vector<int> IterationSpace::all() const {
  std::set<int> found;
  for (const auto& [value, dims] : values_)
    for (const std::vector<int>& dim : dims) found.insert(dim.begin(), dim.end());
  return {found.begin(), found.end()};
}

IterationSpace::Dimensions& IterationSpace::known(graph::ValueId value) {
  const auto [at, is_new] = values_.try_emplace(value);
  if (!is_new) return at->second;
  for (const std::int64_t extent : graph_.values[value].shape) {
    at->second.emplace_back();
    if (extent == 1) continue;
    at->second.back().push_back(static_cast<int>(extents_.size()));
    extents_.push_back(extent);
  }
  return at->second;
}

Status IterationSpace::add_broadcast(const graph::Op& op) {
  const graph::ValueId out = op.outputs[0];
  const std::size_t rank = dimensions(out).size();
  for (const graph::ValueId in : op.inputs) {
    const std::size_t missing = rank - dimensions(in).size();
    for (std::size_t dim = missing; dim < rank; ++dim) {
      if (dimensions(in)[dim - missing].empty()) continue;
      Status status = unify(dimensions(in)[dim - missing], dimensions(out)[dim]);
      if (!status.ok()) return status;
    }
  }
  return {};
}

Status IterationSpace::add_reduce(const graph::Op& op) {
  const Result<Dims> reduced = reduced_dims(graph_, op);
  if (!reduced.ok()) return reduced.status();
  const std::size_t rank = dimensions(op.inputs[0]).size();
  const bool keeps = graph::attribute_or<bool>(op, "keep_dims", false);
  std::size_t out_dim = 0;
  for (std::size_t dim = 0; dim < rank; ++dim) {
    const bool is_reduced =
        std::binary_search(reduced.value().begin(), reduced.value().end(), static_cast<std::int64_t>(dim));
    if (!is_reduced) {
      Status status = unify(dimensions(op.inputs[0])[dim], dimensions(op.outputs[0])[out_dim]);
      if (!status.ok()) return status;
    }
    if (!is_reduced || keeps) ++out_dim;
  }
  return {};
}

Status IterationSpace::add_reshape(const graph::Op& op) { return unify(factors(op.inputs[0]), factors(op.outputs[0])); }

Status IterationSpace::add_transpose(const graph::Op& op) {
  const Dims permutation = graph::attribute_or<Dims>(op, "permutation", {});
  for (std::size_t dim = 0; dim < permutation.size(); ++dim) {
    Status status =
        unify(dimensions(op.inputs[0])[static_cast<std::size_t>(permutation[dim])], dimensions(op.outputs[0])[dim]);
    if (!status.ok()) return status;
  }
  return {};
}

Status IterationSpace::unify(std::vector<int> a, std::vector<int> b) {
  while (!a.empty() && !b.empty()) {
    const int left = a.back(), right = b.back();
    if (left == right) {
      a.pop_back();
      b.pop_back();
      continue;
    }
    const std::int64_t more = std::max(extent(left), extent(right)), less = std::min(extent(left), extent(right));
    if (more != less && (less == 0 || more % less != 0))
      return {Code::unsupported_shape, "a reshape whose dims of " + std::to_string(extent(left)) + " and " +
                                           std::to_string(extent(right)) + " share no factors"};
    const int cut = extent(left) > extent(right) ? left : right;
    const int by = cut == left ? right : left;
    std::vector<int> pieces{by};
    if (more != less) {
      pieces.insert(pieces.begin(), static_cast<int>(extents_.size()));
      extents_.push_back(more / less);
    }
    replace(cut, pieces);
    for (std::vector<int>* list : {&a, &b})
      for (std::size_t i = 0; i < list->size(); ++i) {
        if ((*list)[i] != cut) continue;
        list->erase(list->begin() + static_cast<std::ptrdiff_t>(i));
        list->insert(list->begin() + static_cast<std::ptrdiff_t>(i), pieces.begin(), pieces.end());
      }
  }
  if (a.empty() && b.empty()) return {};
  return {Code::unsupported_shape, "dims that do not walk together"};
}

void IterationSpace::replace(int factor, const std::vector<int>& by) {
  for (auto& [value, dims] : values_)
    for (std::vector<int>& dim : dims) {
      const auto at = std::find(dim.begin(), dim.end(), factor);
      if (at == dim.end()) continue;
      dim.insert(dim.erase(at), by.begin(), by.end());
    }
}

/// A value that walks one factor in two dims would be read along its diagonal only.
Status IterationSpace::check_distinct() const {
  for (const auto& [value, dims] : values_) {
    std::set<int> seen;
    for (const std::vector<int>& dim : dims)
      for (const int factor : dim)
        if (!seen.insert(factor).second)
          return {Code::unsupported_shape, "a tensor that would be read in two orders at once"};
  }
  return {};
}

}  // namespace tenfold::compiler
