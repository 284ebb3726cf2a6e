// SPDX-License-Identifier: Apache-2.0
//
// The windows of convolutions and pools as the judge reads them: what strides, dilations and pads are by the
// attributes, and how many windows there are. Dims may be unknown. Only for the check room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "graph/check/check.hpp"
#include "graph/ir/graph.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

/// What the attributes say of windows over so many spatial dims; refuses with window.W1 to W3. Kernel and pads that are
/// counted automatically are left to count_windows().
Result<WindowFacts> read_windows(const Op& op, std::size_t spatial);

/// Of an ONNX op, by its own names: window.W1 and W2 for the kernel of a pool, W1 where `pads` has not two entries for
/// each of its spatial dims (all that begin, then all ends), W6 where they stand beside auto_pad.
Status check_onnx_windows(const Op& op, std::size_t spatial);

/// How many windows of `facts`, whose kernel is set, lie along each of the dims that they slide over; sets the pads
/// where auto_pad does. `rounds_up`: a last one counts that only begins there. window.W4 when they reach beyond it.
Result<Dims> count_windows(const Op& op, const Dims& slid_over, bool rounds_up, WindowFacts& facts);

/// The other way round, for transposed convolutions: the dims that `windows` slide over, and output_padding more.
Result<Dims> spread_windows(const Op& op, const Dims& windows, WindowFacts& facts);

/// window_facts() of either family.
Result<WindowFacts> convolution_windows(const Graph& graph, const Op& op);
Result<WindowFacts> pool_windows(const Graph& graph, const Op& op);

/// A shape that is an attribute or the constant input `index`: nullopt when it is neither; an input that is not known
/// while compiling gives `rank` unknown dims. window.W5 when it is of another rank.
Result<std::optional<Dims>> shape_operand(const Graph& graph, const Op& op, std::string_view attribute,
                                          std::size_t index, std::size_t rank);

}  // namespace tenfold::graph
