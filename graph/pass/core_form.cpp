// SPDX-License-Identifier: Apache-2.0
//
// See core_form.hpp: the steps that both dialects share.
#include "graph/pass/core_form.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace tenfold::graph {
namespace {

struct ElementPart {
  std::string_view reduction;
  std::string_view function;
};

/// What a reduction over no axes does to each element: sqrt(x * x) is abs, log(exp(x)) is x.
constexpr ElementPart kElementParts[] = {
    {"max", "identity"},  {"min", "identity"},        {"sum", "identity"}, {"prod", "identity"},
    {"mean", "identity"}, {"sum_square", "square"},   {"l1", "abs"},       {"l2", "abs"},
    {"log_sum", "log"},   {"log_sum_exp", "identity"}};

/// Empty, which is no function and found by the verifier, where a reduction has no row.
std::string element_part(std::string_view reduction) {
  const auto* row = std::find_if(std::begin(kElementParts), std::end(kElementParts),
                                 [&](const ElementPart& part) { return part.reduction == reduction; });
  return std::string(row == std::end(kElementParts) ? "" : row->function);
}

}  // namespace

void become(Op& op, std::string_view kind) {
  op.attributes.push_back({"source_kind", std::exchange(op.kind, std::string(kind))});
  op.dialect = Dialect::core;
  op.opset = 0;
}

void set_axes(Op& op, std::vector<std::int64_t> axes, EmptyAxes empty, std::size_t rank) {
  if (axes.empty() && empty == EmptyAxes::all) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
  }
  op.inputs.resize(1);
  if (!axes.empty() || empty == EmptyAxes::identity) {
    std::erase_if(op.attributes, [](const NamedAttribute& a) { return a.name == "noop_with_empty_axes"; });
    set_attribute(op, "axes", std::move(axes));
    return;
  }
  const std::string function = element_part(attribute_or<std::string>(op, "reduction", ""));
  std::erase_if(op.attributes, [](const NamedAttribute& a) { return !names_source(a); });
  op.attributes.insert(op.attributes.begin(), {"function", function});
  op.kind = "map";
}

}  // namespace tenfold::graph
