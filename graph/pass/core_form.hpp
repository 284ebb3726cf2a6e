// SPDX-License-Identifier: Apache-2.0
//
// How ops are turned into other ops; what canonicalize.cpp, onnx_form.cpp, fold_axes.cpp and to_onnx.cpp share. Only
// for the pass room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/ir/graph.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

/// Makes `op` the core op of that kind; its old kind goes to the attribute `source_kind`.
void become(Op& op, std::string_view kind);

/// Gives a core.reduce its axes as an attribute, in place of an axes tensor. Where no axes remain and that is not the
/// identity, it becomes the core.map of what the reduction does to each element. `rank` is that of the first input.
void set_axes(Op& op, std::vector<std::int64_t> axes, EmptyAxes empty, std::size_t rank);

/// The core form of an op of ONNX's dialect other than Constant, if it has one that can be known yet.
void onnx_to_core(const Graph& graph, Op& op);

/// onnx.Clip: core.map of clamp where the bounds are attributes or constants that f32 holds exactly, else of clip, max
/// or min, as bounds are given.
void clip_to_map(const Graph& graph, Op& op);

/// The core form of an op that only moves elements, if it has one that can be known yet: reshape, transpose, broadcast,
/// slice, concat, iota.
void move_to_core(const Graph& graph, Op& op);

/// Makes `value` the constant that an onnx.Shape or onnx.Size gives, where the input's dims are known; false: it is not
/// one of these, or not yet.
bool become_shape(const Graph& graph, const Op& op, Value& value);

/// unsupported_op for to_onnx(), which must name the op and say why.
Status no_onnx_form(const Op& op, const std::string& why);

/// Gives all ops, of ONNX's dialect, the one opset of a model. `turned`, by op: whether to_onnx() made it of oneDNN's.
Status choose_onnx_opset(Graph& graph, const std::vector<bool>& turned);

/// The value that onnx.Constant gives, whose rank and dtype are inferred.
void become_constant(const Op& op, Value& value);

}  // namespace tenfold::graph
