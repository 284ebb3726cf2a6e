// SPDX-License-Identifier: Apache-2.0
//
// A pass over the rows of a tensor: its dims are parted into those that a row spans and those that tell rows apart, and
// every operand is laid over them. Numbers are Real, then outputs are stored; or Doubt, then their bounds are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/eval/composite.hpp"
#include "graph/eval/doubt.hpp"
#include "graph/eval/shapes.hpp"
#include "graph/eval/walk.hpp"

namespace tenfold::graph {

/// What a composite op reads and writes; `input_bounds` and `bounds` (of the outputs, one an element) matter to Doubt
/// alone.
struct Operands {
  Inputs inputs;
  Outputs outputs;
  std::span<const Bounds> input_bounds;
  std::vector<Bounds>* bounds = nullptr;
};

template <class T>
class RowPass {
 public:
  using Offsets = std::vector<std::int64_t>;

  RowPass(const Operands& operands, const Dims& shape, const std::vector<bool>& reduced)
      : operands_(operands), shape_(shape), reduced_(reduced) {
    for (std::size_t i = 0; i < shape.size(); ++i) (reduced[i] ? inner_ : outer_).push_back(shape[i]);
    for (const std::int64_t dim : inner_) length_ *= static_cast<std::size_t>(dim);
  }

  /// Lays input (or output) `index` over the dims: dim i of `desc`, its description or a split one, over dims[i]. Dims
  /// of 1 are repeated. An operand that is left out becomes a field that has none.
  std::size_t input(std::size_t index, const TensorDesc& desc, const std::vector<std::size_t>& dims) {
    if (!has_input(operands_.inputs, index)) return absent();
    return add({operands_.inputs[index].desc.dtype, index, false}, desc, dims);
  }
  std::size_t output(std::size_t index, const TensorDesc& desc, const std::vector<std::size_t>& dims) {
    if (index >= operands_.outputs.size()) return absent();
    return add({operands_.outputs[index].desc.dtype, index, true}, desc, dims);
  }
  bool has(std::size_t field) const { return fields_[field].dtype != DType::undef; }

  /// Calls fn(offsets) for each row, and for each element of one.
  template <class Fn>
  void rows(Fn fn) const {
    walk(outer_, outer_strides_, fn);
  }
  template <class Fn>
  void elements(const Offsets& row, Fn fn) const {
    walk_from(inner_, inner_strides_, row, fn);
  }

  T get(std::size_t field, const Offsets& at) const {
    const Field& f = fields_[field];
    const Real value = load_exact(f.dtype, operands_.inputs[f.index].data, at[2 * field]);
    if constexpr (std::is_same_v<T, Real>) {
      return value;
    } else {
      if (operands_.input_bounds.size() <= f.index) return T(value);
      const double error =
          stored_bound(operands_.input_bounds[f.index], at[2 * field + 1], f.dtype, static_cast<double>(value));
      return T(value, error);
    }
  }

  void put(std::size_t field, const Offsets& at, const T& number) const {
    const Field& f = fields_[field];
    if constexpr (std::is_same_v<T, Real>) {
      store_rounded(f.dtype, operands_.outputs[f.index].data, at[2 * field], number);
    } else {
      (*operands_.bounds)[f.index][static_cast<std::size_t>(at[2 * field + 1])] = number.error;
    }
  }

  /// All numbers of one field in a row.
  std::vector<T> row(std::size_t field, const Offsets& at) const {
    std::vector<T> numbers;
    numbers.reserve(length_);
    elements(at, [&](const Offsets& element) { numbers.push_back(get(field, element)); });
    return numbers;
  }

 private:
  struct Field {
    DType dtype = DType::undef;
    std::size_t index = 0;
    bool writes = false;
  };

  std::size_t absent() { return add({}, {}, {}); }

  /// Each field has two strides a dim: in memory, and among its elements in row-major order.
  std::size_t add(Field field, const TensorDesc& desc, const std::vector<std::size_t>& dims) {
    const Dims strides[] = {strides_of(desc), row_major_strides(desc.shape)};
    for (const Dims& stride : strides) {
      Dims over(shape_.size(), 0);
      for (std::size_t i = 0; i < dims.size(); ++i) over[dims[i]] = desc.shape[i] == 1 ? 0 : stride[i];
      Dims outer, inner;
      for (std::size_t i = 0; i < shape_.size(); ++i) (reduced_[i] ? inner : outer).push_back(over[i]);
      outer_strides_.push_back(std::move(outer));
      inner_strides_.push_back(std::move(inner));
    }
    fields_.push_back(field);
    return fields_.size() - 1;
  }

  Operands operands_;
  Dims shape_;
  std::vector<bool> reduced_;
  Dims outer_, inner_;
  std::size_t length_ = 1;  ///< of a row
  std::vector<Dims> outer_strides_, inner_strides_;
  std::vector<Field> fields_;
};

/// Dims 0 to n - 1.
std::vector<std::size_t> all_dims(std::size_t n);

/// Runs `pass`, a functor of a number type over Operands, for the outputs' bounds: Pass{op}.template run<T>(operands).
template <class Pass>
Result<std::vector<Bounds>> bounds_of(const Pass& pass, Inputs inputs, std::span<const Bounds> input_bounds,
                                      Outputs outputs) {
  std::vector<Bounds> bounds;
  for (const MutableTensor& output : outputs) {
    const Result<std::int64_t> count = numel(output.desc.shape);
    if (!count.ok()) return count.status();
    bounds.emplace_back(static_cast<std::size_t>(count.value()), 0.0);
  }
  const Operands operands{inputs, outputs, input_bounds, &bounds};
  if (inputs[0].desc.dtype == DType::f64)
    pass.template run<Doubt<true>>(operands);
  else
    pass.template run<Doubt<false>>(operands);
  return bounds;
}

}  // namespace tenfold::graph
