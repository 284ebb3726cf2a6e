// SPDX-License-Identifier: Apache-2.0
//
// Passes over the graph IR. Each is one function in one .cpp; pipeline.cpp is the ordered list of all.
#pragma once

#include <functional>
#include <string_view>

#include "graph/ir/graph.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

/// Called after each pass with its name and the graph as it then is, for dumps.
using PassObserver = std::function<void(std::string_view pass, const Graph& graph)>;

/// verify -> infer -> ... -> verify (pipeline.cpp): turns a graph as read into one of core ops with every shape that
/// can be known. `graph` is left half-way on failure.
Status run_pipeline(Graph& graph, const PassObserver& observer = {});

/// ONNX's Shape and Size of known dims, and small lists of integers that are computed from constants, become constants;
/// what follows from them is inferred.
Status fold_shapes(Graph& graph);

/// Dialect ops become core ops: onednn.ReduceL1 -> core.reduce {reduction = "l1"}, onednn.Abs -> core.map {function =
/// "abs"}, onednn.TypeCast -> core.cast, onednn.Select -> core.select; BiasAdd and PReLU -> core.map, with a
/// core.reshape where the channels are not the last dim; End goes, its input leaves the graph. ONNX's ops likewise
/// (onnx_form.cpp), by the version that their opset sees: onnx.ArgMax -> core.arg_reduce, onnx.Max of three tensors ->
/// one core.map, onnx.Constant -> a constant. Attributes that say
/// nothing any more go; id, name and (in `source_kind`) kind of the op that the user wrote stay. Ops without a core
/// form stay as they are and will be run by the reference evaluator or refused there.
Status canonicalize(Graph& graph);

/// Composite ops of the dialects (softmax, norms, ...), and core.iota, become several core ops, each with the
/// composite's name and (in `source_kind`) kind: 16-bit floats are cast to f32 first, all maths is in f32 (f64 for
/// f64), and one cast ends it. Ops whose ranks or dtypes are not known, or whose attributes core ops cannot express,
/// stay as they are.
Status decompose(Graph& graph);

/// core.reduce with a constant axes tensor as second input -> core.reduce with the attribute `axes`, or, where ONNX's
/// axes are empty and nothing is reduced, core.map of what the reduction does to each element. Constants that nobody
/// uses go.
Status fold_axes(Graph& graph);

/// Core ops that change nothing go, and pairs that are one op become it: casts there and back, views of views, extremes
/// of extremes. Results keep their bits.
Status simplify(Graph& graph);

/// Core ops of constants become constants, by the reference evaluator.
Status fold_constants(Graph& graph);

/// Of ops that compute the same from the same, one stays; ops and values that no output needs go.
Status eliminate(Graph& graph);

/// Not of the pipeline: oneDNN's ops become ONNX's of exactly the same meaning, all ops get one opset, and `End` goes.
/// For writers of models, after infer(). unsupported_op names an op that has no such form. `graph` is left half-way on
/// failure.
Status to_onnx(Graph& graph);

}  // namespace tenfold::graph
