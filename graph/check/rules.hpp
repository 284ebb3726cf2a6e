// SPDX-License-Identifier: Apache-2.0
//
// The doors between the judge's files: verify() calls these in order, infer() only infer_outputs(). Each refuses with
// the numbers that docs/rules.md lists. Only for the check room.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "graph/ir/dims.hpp"
#include "graph/ir/graph.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

/// graph.*: edges and ids. On success `order` holds the ops' topological order, the present one where it is legal.
Status check_structure(const Graph& graph, std::vector<OpId>& order);

/// tensor.*: rank, dims, sizes, strides, data and property of one value. `produced`: an op writes it.
Status check_tensor(const Value& value, bool produced);

/// op.O1: the tables know the op.
Status check_known(const Op& op);

/// The other op.*: one op that is known against its table. Indices of `op` must be good.
Status check_op(const Graph& graph, const Op& op);

/// What an op does with shapes; which rules below apply to it.
enum class Form : std::uint8_t {
  other,
  elementwise,
  reduction,
  arg_reduction,
  bias_add,
  prelu,
  select,
  clip,
  cast,
  constant,
  movement,      ///< elements move, none is computed: views, joins, parts
  quantization,  ///< and back
  backward,      ///< of elementwise ops
  axis_norm,     ///< softmax and Lp norms: one axis, or all from it on, and its backward ops
  layer_norm,    ///< over the last dims
  layer_norm_backward,
  group_norm,
  channel_norm,  ///< operands with one element a channel
  mean_variance_norm,
  global_pool,
  matmul,
  convolution,  ///< transposed ones and backward ops too
  pool,         ///< and backward
  interpolation,
  dropout
};
Form form_of(const Op& op);

/// reduce.C1: axes are not given twice, as an attribute and as a tensor. Asked before the op's counts, which in ONNX
/// would only say that there is one input too many.
Status check_one_axes_form(const Op& op);

/// reduce.C1 and reduce.C2: where a reduction has its axes from.
Status check_axes_form(const Graph& graph, const Op& op);

/// onnx.*: values of attributes that the tables cannot say, such as flags that are 0 or 1.
Status check_onnx_attributes(const Graph& graph, const Op& op);

/// The dtype that ONNX's Cast names, by number or (before version 6) by name; undef when there is none here.
DType onnx_cast_target(const Op& op);

/// cast.*, map.*: rules on dtypes and functions that the tables cannot say.
Status check_form(const Graph& graph, const Op& op);

/// A scalar function of core.map, as far as it matters to dtypes and counts.
struct FunctionFacts {
  std::string_view name;
  std::size_t least;  ///< number of inputs
  std::size_t most;
  bool truth = false;  ///< the result is boolean
};
inline constexpr std::size_t kAnyInputs = ~std::size_t{0};

/// Null when core.map has no function of that name.
const FunctionFacts* find_function_facts(std::string_view name) noexcept;

struct Inferred {
  DType dtype = DType::undef;  ///< undef: does not follow from the inputs
  bool ranked = false;
  Dims shape;
};

/// The shape of the first output of `op` by its inputs' (nullopt: not even the rank follows). Refuses as
/// infer_outputs().
Result<std::optional<Dims>> infer_shape(const Graph& graph, const Op& op, Form form);

/// Softmax, norms, global pools and their backward ops: infer_shapes() of those forms.
bool is_norm(Form form) noexcept;
Result<std::vector<std::optional<Dims>>> infer_norm_shapes(const Graph& graph, const Op& op, Form form);

/// norm.*: what dtypes, counts and attributes of those ops must hold that the tables cannot say.
Status check_norm(const Graph& graph, const Op& op, Form form);

/// The dtype of the stats of ONNX's LayerNormalization, by `stash_type`; undef for one that it cannot name.
DType onnx_stash_dtype(const Op& op);

/// infer_shapes() of those forms.
Result<std::vector<std::optional<Dims>>> infer_movement_shapes(const Graph& graph, const Op& op);
Result<std::vector<std::optional<Dims>>> infer_quantization_shapes(const Graph& graph, const Op& op);
Result<std::vector<std::optional<Dims>>> infer_backward_shapes(const Graph& graph, const Op& op);

Result<std::vector<std::optional<Dims>>> infer_matmul_shapes(const Graph& graph, const Op& op);

Result<std::vector<std::optional<Dims>>> infer_convolution_shapes(const Graph& graph, const Op& op);
Result<std::vector<std::optional<Dims>>> infer_pool_shapes(const Graph& graph, const Op& op);
Result<std::vector<std::optional<Dims>>> infer_interpolation_shapes(const Graph& graph, const Op& op);

/// matmul.A5: which dtype comes out.
Status check_matmul(const Graph& graph, const Op& op);

/// quant.Q4: which dtype comes out.
Status check_quantization(const Graph& graph, const Op& op);
/// The dtype that ONNX's QuantizeLinear or DequantizeLinear gives; undef: not one of these, or not known.
DType onnx_quantized_dtype(const Graph& graph, const Op& op);

/// True when `small` broadcasts to `big` as it is: no more dims, each equal or 1.
bool fits_one_way(const Dims& small, const Dims& big);

/// The same of every output, in order.
Result<std::vector<std::optional<Dims>>> infer_shapes(const Graph& graph, const Op& op, Form form);

/// What the outputs of `op` are by its inputs as they stand; empty when there is nothing to say (Form::other).
/// Refuses inputs that do not fit together (shape.*, reduce.C3, reduce.C4, reshape.*).
Result<std::vector<Inferred>> infer_outputs(const Graph& graph, const Op& op);

/// reduce.C5, shape.E3: `value` as declared agrees with what was inferred.
Status check_agreement(const Op& op, const Value& value, const Inferred& inferred);

}  // namespace tenfold::graph
