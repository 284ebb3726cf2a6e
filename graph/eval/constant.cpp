// SPDX-License-Identifier: Apache-2.0
//
// See constant.hpp. Whole numbers are s64, others f32.
#include "graph/eval/constant.hpp"

#include <array>
#include <string>

#include "graph/eval/element.hpp"
#include "graph/eval/shapes.hpp"
#include "graph/eval/walk.hpp"

namespace tenfold::graph {
namespace {

struct Elements {
  std::vector<std::int64_t> whole;
  std::vector<double> real;
  bool is_list = false;

  std::size_t count() const { return whole.size() + real.size(); }
};

Result<Elements> elements_of(const Op& op) {
  if (op.attributes.size() != 1)
    return fail(op, Code::invalid_op,
                std::to_string(op.attributes.size()) + " attributes give its value, must be one (onnx.K2)");
  const Attribute& given = op.attributes[0].value;
  Elements out;
  if (const auto* one = std::get_if<std::int64_t>(&given))
    out.whole = {*one};
  else if (const auto* real = std::get_if<double>(&given))
    out.real = {*real};
  else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&given))
    out = {*list, {}, true};
  else if (const auto* reals = std::get_if<std::vector<double>>(&given))
    out = {{}, *reals, true};
  else
    return fail(op, Code::invalid_op, "its value is no number");
  return out;
}

}  // namespace

Result<std::vector<Dims>> constant_shapes(const Op& op, Inputs) {
  const Result<Elements> elements = elements_of(op);
  if (!elements.ok()) return elements.status();
  if (!elements.value().is_list) return std::vector<Dims>{Dims{}};
  return std::vector<Dims>{Dims{static_cast<std::int64_t>(elements.value().count())}};
}

Status evaluate_constant(const Op& op, Inputs, Outputs outputs) {
  const Result<Elements> elements = elements_of(op);
  if (!elements.ok()) return elements.status();
  const Elements& from = elements.value();
  const TensorDesc& to = outputs[0].desc;
  const DType dtype = from.real.empty() ? DType::s64 : DType::f32;
  if (to.dtype != dtype && from.count() > 0)
    return fail(op, Code::invalid_dtype, "its value is " + std::string(to_string(dtype)));
  std::size_t next = 0;
  walk(to.shape, std::array<Dims, 1>{strides_of(to)}, [&](const auto& at) {
    if (dtype == DType::s64)
      store_integer(dtype, outputs[0].data, at[0], from.whole[next++]);
    else
      store_rounded(dtype, outputs[0].data, at[0], Real{from.real[next++]});
  });
  return {};
}

Result<std::vector<Bounds>> bound_constant(const Op&, Inputs, std::span<const Bounds>, Outputs) {
  return std::vector<Bounds>(1);
}

}  // namespace tenfold::graph
