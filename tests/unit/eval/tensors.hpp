// SPDX-License-Identifier: Apache-2.0
//
// Tensors with their memory, for the tests of the evaluator. Elements are given and read as doubles.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "graph/eval/eval.hpp"

namespace tenfold::graph {

/// A tensor that owns its memory, which is filled with 0x5a where no element lies.
class Tensor {
 public:
  Tensor(DType dtype, Dims shape, const std::vector<double>& values = {}, Dims strides = {})
      : desc_{dtype, std::move(shape), std::move(strides)} {
    bytes_.assign(static_cast<std::size_t>(span_bytes(desc_).value()), std::byte{0x5a});
    for (std::size_t i = 0; i < values.size(); ++i) set(static_cast<std::int64_t>(i), values[i]);
  }
  ConstTensor in() const { return {desc_, bytes_.data()}; }
  MutableTensor out() { return {desc_, bytes_.data()}; }
  const TensorDesc& desc() const { return desc_; }
  const std::vector<std::byte>& bytes() const { return bytes_; }

  /// Element at a row-major position.
  double at(std::int64_t position) const { return load_real(desc_.dtype, bytes_.data(), offset(position)); }
  void set(std::int64_t position, double value) { store_real(desc_.dtype, bytes_.data(), offset(position), value); }
  std::vector<double> values() const {
    std::vector<double> out;
    for (std::int64_t i = 0; i < numel(desc_.shape).value(); ++i) out.push_back(at(i));
    return out;
  }

 private:
  std::int64_t offset(std::int64_t position) const {
    const Dims strides = strides_of(desc_);
    std::int64_t sum = 0;
    for (std::size_t i = strides.size(); i-- > 0; position /= desc_.shape[i])
      sum += position % desc_.shape[i] * strides[i];
    return sum;
  }
  TensorDesc desc_;
  std::vector<std::byte> bytes_;
};

inline Op make_op(Dialect dialect, std::string kind, std::vector<NamedAttribute> attributes = {}) {
  Op op;
  op.id = 7;
  op.name = "it";
  op.dialect = dialect;
  op.kind = std::move(kind);
  op.attributes = std::move(attributes);
  return op;
}

inline Op make_reduce(std::string reduction, std::vector<std::int64_t> axes, bool keep_dims = false) {
  return make_op(Dialect::core, "reduce",
                 {{"reduction", std::move(reduction)}, {"axes", std::move(axes)}, {"keep_dims", keep_dims}});
}

inline Status run_op(const Op& op, const std::vector<ConstTensor>& inputs, Tensor& output) {
  const MutableTensor outputs[] = {output.out()};
  return evaluate_op(op, inputs, outputs);
}

/// Equal numbers with equal signs of zero; any NaN equals any.
inline bool same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

inline ::testing::AssertionResult same_values(const std::vector<double>& got, const std::vector<double>& expected) {
  if (got.size() != expected.size())
    return ::testing::AssertionFailure() << got.size() << " values, expected " << expected.size();
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!same(got[i], expected[i]))
      return ::testing::AssertionFailure() << "value " << i << " is " << got[i] << ", expected " << expected[i];
  return ::testing::AssertionSuccess();
}

}  // namespace tenfold::graph
