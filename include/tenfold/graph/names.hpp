// SPDX-License-Identifier: Apache-2.0
//
// The names that oneDNN Graph gives to kinds of ops and to attributes, and ours beside them: one list each, from which
// the enumerators of op::kind and op::attr, their texts, and what the C API takes for a kind are made.
#ifndef TENFOLD_GRAPH_NAMES_HPP
#define TENFOLD_GRAPH_NAMES_HPP

#include <cstddef>

/// oneDNN Graph's 88 kinds, all of which an op may have. Which of them this version runs, partitions say.
#define TENFOLD_ONEDNN_KINDS(X)   \
  X(Abs)                          \
  X(AbsBackward)                  \
  X(Add)                          \
  X(AvgPool)                      \
  X(AvgPoolBackward)              \
  X(BatchNormForwardTraining)     \
  X(BatchNormInference)           \
  X(BatchNormTrainingBackward)    \
  X(BiasAdd)                      \
  X(BiasAddBackward)              \
  X(Clamp)                        \
  X(ClampBackward)                \
  X(Concat)                       \
  X(Convolution)                  \
  X(ConvolutionBackwardData)      \
  X(ConvolutionBackwardWeights)   \
  X(ConvTranspose)                \
  X(ConvTransposeBackwardData)    \
  X(ConvTransposeBackwardWeights) \
  X(Dequantize)                   \
  X(Divide)                       \
  X(DynamicDequantize)            \
  X(DynamicQuantize)              \
  X(Elu)                          \
  X(EluBackward)                  \
  X(End)                          \
  X(Exp)                          \
  X(GELU)                         \
  X(GELUBackward)                 \
  X(HardSwish)                    \
  X(HardSwishBackward)            \
  X(Interpolate)                  \
  X(InterpolateBackward)          \
  X(LayerNorm)                    \
  X(LayerNormBackward)            \
  X(LeakyReLU)                    \
  X(Log)                          \
  X(LogSoftmax)                   \
  X(LogSoftmaxBackward)           \
  X(MatMul)                       \
  X(Maximum)                      \
  X(MaxPool)                      \
  X(MaxPoolBackward)              \
  X(Minimum)                      \
  X(Mish)                         \
  X(MishBackward)                 \
  X(Multiply)                     \
  X(PReLU)                        \
  X(PReLUBackward)                \
  X(Quantize)                     \
  X(Reciprocal)                   \
  X(ReduceL1)                     \
  X(ReduceL2)                     \
  X(ReduceMax)                    \
  X(ReduceMean)                   \
  X(ReduceMin)                    \
  X(ReduceProd)                   \
  X(ReduceSum)                    \
  X(ReLU)                         \
  X(ReLUBackward)                 \
  X(Reorder)                      \
  X(Round)                        \
  X(Sigmoid)                      \
  X(SigmoidBackward)              \
  X(SoftMax)                      \
  X(SoftMaxBackward)              \
  X(SoftPlus)                     \
  X(SoftPlusBackward)             \
  X(Sqrt)                         \
  X(SqrtBackward)                 \
  X(Square)                       \
  X(SquaredDifference)            \
  X(StaticReshape)                \
  X(StaticTranspose)              \
  X(Subtract)                     \
  X(Tanh)                         \
  X(TanhBackward)                 \
  X(TypeCast)                     \
  X(Wildcard)                     \
  X(HardSigmoid)                  \
  X(HardSigmoidBackward)          \
  X(Select)                       \
  X(Pow)                          \
  X(GroupNorm)                    \
  X(GenIndex)                     \
  X(GreaterEqual)                 \
  X(RMSNorm)                      \
  X(Dropout)

/// Kinds of ONNX's that oneDNN Graph has nothing of that name for. Those whose names both have, and older opsets, are
/// given as text: op(0, "onnx.ReduceMax@13").
#define TENFOLD_ONNX_KINDS(X)  \
  X(ArgMax)                    \
  X(ArgMin)                    \
  X(And)                       \
  X(Cast)                      \
  X(Ceil)                      \
  X(Celu)                      \
  X(Clip)                      \
  X(CumSum)                    \
  X(Div)                       \
  X(DequantizeLinear)          \
  X(DynamicQuantizeLinear)     \
  X(Equal)                     \
  X(Erf)                       \
  X(Expand)                    \
  X(Flatten)                   \
  X(Floor)                     \
  X(GlobalAveragePool)         \
  X(GlobalMaxPool)             \
  X(Greater)                   \
  X(Hardmax)                   \
  X(Identity)                  \
  X(InstanceNormalization)     \
  X(IsInf)                     \
  X(IsNaN)                     \
  X(LayerNormalization)        \
  X(Less)                      \
  X(LessOrEqual)               \
  X(LpNormalization)           \
  X(Max)                       \
  X(Mean)                      \
  X(MeanVarianceNormalization) \
  X(Min)                       \
  X(Mod)                       \
  X(Mul)                       \
  X(Neg)                       \
  X(Not)                       \
  X(Or)                        \
  X(QuantizeLinear)            \
  X(ReduceLogSum)              \
  X(ReduceLogSumExp)           \
  X(ReduceSumSquare)           \
  X(Reshape)                   \
  X(RMSNormalization)          \
  X(Selu)                      \
  X(Sign)                      \
  X(Slice)                     \
  X(Softsign)                  \
  X(Split)                     \
  X(Squeeze)                   \
  X(Sub)                       \
  X(Sum)                       \
  X(Swish)                     \
  X(ThresholdedRelu)           \
  X(TopK)                      \
  X(Transpose)                 \
  X(Unsqueeze)                 \
  X(Where)                     \
  X(Xor)

/// oneDNN Graph's attributes, with its numbers.
#define TENFOLD_ONEDNN_ATTRIBUTES(X)      \
  X(alpha, 0x1)                           \
  X(beta, 0x2)                            \
  X(epsilon, 0x3)                         \
  X(max, 0x4)                             \
  X(min, 0x5)                             \
  X(momentum, 0x6)                        \
  X(scales, 0x20)                         \
  X(axis, 0x30)                           \
  X(begin_norm_axis, 0x31)                \
  X(groups, 0x32)                         \
  X(axes, 0x40)                           \
  X(dilations, 0x41)                      \
  X(dst_shape, 0x42)                      \
  X(kernel, 0x43)                         \
  X(order, 0x44)                          \
  X(output_padding, 0x45)                 \
  X(pads_begin, 0x46)                     \
  X(pads_end, 0x47)                       \
  X(shape, 0x48)                          \
  X(sizes, 0x49)                          \
  X(src_shape, 0x4a)                      \
  X(strides, 0x4b)                        \
  X(weights_shape, 0x4c)                  \
  X(zps, 0x4d)                            \
  X(group_shape, 0x4e)                    \
  X(exclude_pad, 0x60)                    \
  X(keep_dims, 0x61)                      \
  X(keep_stats, 0x62)                     \
  X(per_channel_broadcast, 0x63)          \
  X(special_zero, 0x64)                   \
  X(transpose_a, 0x65)                    \
  X(transpose_b, 0x66)                    \
  X(use_affine, 0x67)                     \
  X(use_dst, 0x68)                        \
  X(auto_broadcast, 0x80)                 \
  X(auto_pad, 0x81)                       \
  X(coordinate_transformation_mode, 0x82) \
  X(data_format, 0x83)                    \
  X(mode, 0x84)                           \
  X(qtype, 0x85)                          \
  X(rounding_type, 0x86)                  \
  X(weights_format, 0x87)                 \
  X(accumulation_mode, 0x88)

/// ONNX's attributes of the kinds above that oneDNN Graph has no name for. Any other is given as text.
#define TENFOLD_ONNX_ATTRIBUTES(X) \
  X(exclusive, 0x1000)             \
  X(keepdims, 0x1001)              \
  X(largest, 0x1002)               \
  X(reverse, 0x1003)               \
  X(select_last_index, 0x1004)     \
  X(sorted, 0x1005)                \
  X(to, 0x1006)

namespace tenfold {
namespace graph {
namespace names {

/// Kinds of ONNX's begin here, so that oneDNN Graph's may grow.
enum : int { first_onnx_kind = 0x1000 };

inline const char* const* onednn_kinds(std::size_t& count) {
#define TENFOLD_TEXT(name) #name,
  static const char* const texts[] = {TENFOLD_ONEDNN_KINDS(TENFOLD_TEXT)};
#undef TENFOLD_TEXT
  count = sizeof texts / sizeof *texts;
  return texts;
}

/// With the dialect in front, as the C API wants it.
inline const char* const* onnx_kinds(std::size_t& count) {
#define TENFOLD_TEXT(name) "onnx." #name,
  static const char* const texts[] = {TENFOLD_ONNX_KINDS(TENFOLD_TEXT)};
#undef TENFOLD_TEXT
  count = sizeof texts / sizeof *texts;
  return texts;
}

/// The text of that number, or null.
inline const char* kind_text(int number) {
  std::size_t count = 0;
  const bool is_onnx = number >= first_onnx_kind;
  const char* const* const texts = is_onnx ? onnx_kinds(count) : onednn_kinds(count);
  const int place = is_onnx ? number - first_onnx_kind : number;
  return place >= 0 && static_cast<std::size_t>(place) < count ? texts[place] : nullptr;
}

inline const char* attribute_text(int number) {
  switch (number) {
#define TENFOLD_CASE(name, value) \
  case value: return #name;
    TENFOLD_ONEDNN_ATTRIBUTES(TENFOLD_CASE)
    TENFOLD_ONNX_ATTRIBUTES(TENFOLD_CASE)
#undef TENFOLD_CASE
    default: return nullptr;
  }
}

}  // namespace names
}  // namespace graph
}  // namespace tenfold

#endif  // TENFOLD_GRAPH_NAMES_HPP
