// SPDX-License-Identifier: Apache-2.0
//
// A builder of core ops, with the dtype and shape of each value that they make: what one composite op is decomposed
// into. It decides nothing: which ops those are, the decompose_*.cpp files say. Only for the pass room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/pass/fresh_ids.hpp"

namespace tenfold::graph {

/// Makes the core ops of one composite after the other: begin(), ops, give() for each output, finish(). All values that
/// it is handed must have a known rank and dtype. The ops carry the composite's name, and its kind as `source_kind`.
class Composer {
 public:
  /// `graph` gets the new values at once and the new ops from the caller, who may move its old ops away meanwhile.
  explicit Composer(Graph& graph) : graph_(graph) {}

  /// Begins with the ops that take the place of `source`, which must live until finish() or drop().
  void begin(const Op& source);

  /// The ops, sorted topologically; the one that makes output 0 has the composite's id.
  std::vector<Op> finish();

  /// Forgets all that was made since begin().
  void drop();

  DType dtype(ValueId value) const { return graph_.values[value].dtype; }
  /// May hold kUnknownDim. A copy, as values move while new ones are made.
  Dims shape(ValueId value) const { return graph_.values[value].shape; }
  const Graph& graph() const { return graph_; }

  /// core.map with NumPy's broadcasting; the result has the first input's dtype.
  ValueId map(std::string_view function, const std::vector<ValueId>& inputs,
              const std::vector<NamedAttribute>& parameters = {});
  /// core.map of a function that gives booleans.
  ValueId compare(std::string_view function, const std::vector<ValueId>& inputs);
  /// map() with a scalar constant, of the dtype of `x`, as second or as first operand.
  ValueId map(std::string_view function, ValueId x, double scalar);
  ValueId map(std::string_view function, double scalar, ValueId x);

  /// core.reduce with `keep_dims`; `axes` in [0, rank). No axes: `x` itself.
  ValueId reduce(std::string_view reduction, ValueId x, const std::vector<std::int64_t>& axes);

  /// core.cast, or `x` itself when it has that dtype.
  ValueId cast(ValueId x, DType to);

  /// core.cast whose result lies in memory as `x` does, gap by gap.
  ValueId cast_in_place(ValueId x, DType to);

  /// `x` as the dtype that its maths is done in: f64 stays, other dtypes become f32.
  ValueId widen(ValueId x);

  /// core.reshape, or `x` itself when it has that shape. One dim may be kUnknownDim.
  ValueId reshape(ValueId x, const Dims& shape);

  /// Whether a core.reshape can say `shape`, whatever its open dim turns out to be.
  static bool is_expressible(const Dims& shape);

  /// `x` of rank 1 so that it broadcasts along dim `axis` of a tensor of rank `rank`.
  ValueId along(ValueId x, std::size_t axis, std::size_t rank);

  /// core.select: `yes` where `condition` holds, else `no`.
  ValueId select(ValueId condition, ValueId yes, ValueId no);

  /// A constant of shape [].
  ValueId constant(double value, DType dtype);

  /// Several of them, of the given shape.
  ValueId list(const std::vector<double>& values, DType dtype, const Dims& shape);

  /// Any other core op of one output.
  ValueId add(std::string_view kind, const std::vector<ValueId>& inputs, const std::vector<NamedAttribute>& attributes,
              DType dtype, const Dims& shape);

  /// The composite itself over other values, its outputs of these dtypes: an op that only takes other dtypes than it
  /// was given. `in_other_words`: what is to take its place, with as many outputs.
  std::vector<ValueId> again(const std::vector<ValueId>& inputs, const std::vector<DType>& dtypes);
  std::vector<ValueId> again(const std::vector<ValueId>& inputs, const std::vector<DType>& dtypes, Op in_other_words);

  /// `value` is output `index` of the composite, cast to its dtype. Nothing happens when the op has not that many.
  void give(std::size_t index, ValueId value);

 private:
  ValueId add_value(DType dtype, const Dims& shape);
  bool is_own(ValueId value) const;

  Graph& graph_;
  const Op* source_ = nullptr;
  std::size_t first_ = 0;  ///< values from here on are this composite's
  std::vector<Op> ops_;
  std::vector<std::pair<ValueId, ValueId>> given_;  ///< own values, and the outputs that take their place
  std::optional<FreshIds> op_ids_;
  std::optional<FreshIds> value_ids_;
};

}  // namespace tenfold::graph
