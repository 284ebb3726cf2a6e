// SPDX-License-Identifier: Apache-2.0
//
// See window.hpp.
#include "graph/check/window.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "graph/check/movement.hpp"
#include "graph/check/report.hpp"
#include "graph/check/rules.hpp"

namespace tenfold::graph {
namespace {

/// So that no product of two such numbers overflows.
constexpr std::int64_t kMostEntry = std::int64_t{1} << 30;
constexpr std::int64_t kMostDim = std::int64_t{1} << 31;

struct ListRow {
  std::string_view name;
  std::int64_t least, fallback;
  std::vector<std::int64_t> WindowFacts::*list;
};
constexpr ListRow kLists[] = {
    {"strides", 1, 1, &WindowFacts::strides},
    {"dilations", 1, 1, &WindowFacts::dilations},
    {"pads_begin", -kMostEntry, 0, &WindowFacts::pads_begin},
    {"pads_end", -kMostEntry, 0, &WindowFacts::pads_end},
    {"kernel", 1, 1, &WindowFacts::kernel},
    {"output_padding", 0, 0, &WindowFacts::output_padding},
};

/// oneDNN's writer fills in defaults of 12 entries, and pads may be empty.
Result<std::vector<std::int64_t>> read_list(const Op& op, const ListRow& row, std::size_t spatial) {
  const std::vector<std::int64_t> fallback(spatial, row.fallback);
  const auto list = attribute_or(op, row.name, fallback);
  const bool is_filled_in = list.size() == static_cast<std::size_t>(kMaxRank) &&
                            std::all_of(list.begin(), list.end(), [&](auto x) { return x == row.fallback; });
  const bool is_default = is_filled_in || (list.empty() && row.fallback == 0);
  if (is_default) return fallback;
  if (list.size() != spatial)
    return refuse(Code::invalid_op, op,
                  "attribute '" + std::string(row.name) + "' has " + std::to_string(list.size()) + " entries for " +
                      std::to_string(spatial) + " spatial dims",
                  "window.W1");
  for (const std::int64_t entry : list)
    if (entry < row.least || entry > kMostEntry)
      return refuse(Code::invalid_op, op,
                    "attribute '" + std::string(row.name) + "' has an entry of " + std::to_string(entry) +
                        ", must be in [" + std::to_string(row.least) + ", " + std::to_string(kMostEntry) + "]",
                    "window.W2");
  return list;
}

std::int64_t reach(const WindowFacts& facts, std::size_t dim) {
  return (facts.kernel[dim] - 1) * facts.dilations[dim] + 1;
}

/// auto_pad: so many pads in all, the odd one at the end, or under SAME_LOWER at the beginning.
void pad_automatically(const Op& op, std::size_t dim, std::int64_t total, WindowFacts& facts) {
  const auto mode = attribute_or<std::string>(op, "auto_pad", "None");
  if (mode == "None") return;
  if (mode == "VALID") total = 0;
  facts.pads_begin[dim] = mode == "SAME_LOWER" ? (total + 1) / 2 : total / 2;
  facts.pads_end[dim] = total - facts.pads_begin[dim];
}

/// window.W3: dims that this version can count with.
Status check_dims(const Op& op, const Dims& dims, std::string_view what) {
  for (const std::int64_t dim : dims)
    if (dim != kUnknownDim && dim > kMostDim)
      return refuse(Code::invalid_shape, op,
                    std::string(what) + " " + show_dims(dims) + " has a dim above " + std::to_string(kMostDim),
                    "window.W3");
  return {};
}

}  // namespace

Result<WindowFacts> read_windows(const Op& op, std::size_t spatial) {
  WindowFacts facts;
  for (const ListRow& row : kLists) {
    Result<std::vector<std::int64_t>> list = read_list(op, row, spatial);
    if (!list.ok()) return list.status();
    facts.*row.list = std::move(list).value();
  }
  return facts;
}

Status check_onnx_windows(const Op& op, std::size_t spatial) {
  const bool pools = op.kind == "MaxPool" || op.kind == "AveragePool";
  if (pools)
    if (const auto kernel = read_list(op, {"kernel_shape", 1, 1, nullptr}, spatial); !kernel.ok())
      return kernel.status();
  const auto pads = attribute_or<std::vector<std::int64_t>>(op, "pads", {});
  if (!pads.empty() && pads.size() != 2 * spatial)
    return refuse(Code::invalid_op, op,
                  "attribute 'pads' has " + std::to_string(pads.size()) + " entries for " + std::to_string(spatial) +
                      " spatial dims, two for each",
                  "window.W1");
  const auto mode = attribute_or<std::string>(op, "auto_pad", "NOTSET");
  if (mode == "NOTSET" || std::ranges::all_of(pads, [](std::int64_t pad) { return pad == 0; })) return {};
  return refuse(Code::invalid_op, op,
                "attribute 'auto_pad' is " + mode + ", which sets the pads, but 'pads' is " + show_dims(pads),
                "window.W6");
}

Result<Dims> count_windows(const Op& op, const Dims& slid_over, bool rounds_up, WindowFacts& facts) {
  if (Status s = check_dims(op, slid_over, "the spatial dims"); !s.ok()) return s;
  if (Status s = check_dims(op, facts.kernel, "the kernel"); !s.ok()) return s;
  Dims windows;
  for (std::size_t i = 0; i < slid_over.size(); ++i) {
    windows.push_back(kUnknownDim);
    if (slid_over[i] == kUnknownDim || facts.kernel[i] == kUnknownDim) continue;
    const std::int64_t stride = facts.strides[i];
    const std::int64_t same = (slid_over[i] + stride - 1) / stride;
    pad_automatically(op, i, std::max<std::int64_t>(0, (same - 1) * stride + reach(facts, i) - slid_over[i]), facts);
    const std::int64_t room = slid_over[i] + facts.pads_begin[i] + facts.pads_end[i] - reach(facts, i);
    if (room < 0)
      return refuse(Code::invalid_shape, op,
                    "a window of " + std::to_string(reach(facts, i)) + " elements does not fit into spatial dim " +
                        std::to_string(i) + ", which is " + std::to_string(slid_over[i]) + " with pads of " +
                        std::to_string(facts.pads_begin[i]) + " and " + std::to_string(facts.pads_end[i]),
                    "window.W4");
    windows[i] = (room + (rounds_up ? stride - 1 : 0)) / stride + 1;
  }
  return windows;
}

Result<Dims> spread_windows(const Op& op, const Dims& windows, WindowFacts& facts) {
  if (Status s = check_dims(op, windows, "the spatial dims"); !s.ok()) return s;
  if (Status s = check_dims(op, facts.kernel, "the kernel"); !s.ok()) return s;
  Dims spread;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    spread.push_back(kUnknownDim);
    if (windows[i] == kUnknownDim || facts.kernel[i] == kUnknownDim) continue;
    pad_automatically(op, i, reach(facts, i) - facts.strides[i], facts);
    spread[i] = facts.strides[i] * (windows[i] - 1) + reach(facts, i) - facts.pads_begin[i] - facts.pads_end[i] +
                facts.output_padding[i];
    if (spread[i] < 0)
      return refuse(Code::invalid_shape, op,
                    "pads of " + std::to_string(facts.pads_begin[i]) + " and " + std::to_string(facts.pads_end[i]) +
                        " leave " + std::to_string(spread[i]) + " elements of spatial dim " + std::to_string(i),
                    "window.W4");
  }
  return spread;
}

Result<std::optional<Dims>> shape_operand(const Graph& graph, const Op& op, std::string_view attribute,
                                          std::size_t index, std::size_t rank) {
  Dims shape = attribute_or<Dims>(op, attribute, {});
  const bool is_default = std::all_of(shape.begin(), shape.end(), [](std::int64_t dim) { return dim == 0; });
  if (has_input(op, index)) {
    Result<std::optional<Integers>> known = known_integers(graph, op, index);
    if (!known.ok()) return known.status();
    shape = known.value() ? std::move(*known.value()) : Dims(rank, kUnknownDim);
  } else if (is_default) {
    return std::optional<Dims>();
  }
  if (shape.size() == rank) return std::optional(std::move(shape));
  return refuse(Code::invalid_shape, op,
                std::string(attribute) + " " + show_dims(shape) + " has not the " + std::to_string(rank) +
                    " dims that the data have",
                "window.W5");
}

Result<WindowFacts> window_facts(const Graph& graph, const Op& op) {
  return form_of(op) == Form::pool ? pool_windows(graph, op) : convolution_windows(graph, op);
}

}  // namespace tenfold::graph
