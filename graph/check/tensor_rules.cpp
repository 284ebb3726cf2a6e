// SPDX-License-Identifier: Apache-2.0
//
// The rules tensor.S1 to tensor.S9: what a tensor may be, whatever op it belongs to. Nothing here multiplies sizes
// itself; numel() and span_bytes() do.
#include <algorithm>
#include <utility>

#include "graph/check/report.hpp"
#include "graph/check/rules.hpp"
#include "tenfold/tensor.hpp"

namespace tenfold::graph {
namespace {

/// True when every dim above 1 steps over all that the dims of smaller stride span, so that no element is met twice.
bool steps_over_itself(const Dims& shape, const Dims& strides) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return true;
    if (shape[i] > 1) steps.emplace_back(strides[i], shape[i] - 1);
  }
  std::sort(steps.begin(), steps.end());
  std::int64_t reach = 0;
  for (const auto& [stride, count] : steps) {
    if (stride <= reach) return false;
    reach += stride * count;
  }
  return true;
}

Status check_strides(const Value& value, bool produced) {
  const std::string what = describe(value);
  if (value.strides.empty() || !is_known(value.strides)) return {};
  if (value.strides.size() != value.shape.size())
    return refuse(Code::invalid_shape, what,
                  std::to_string(value.strides.size()) + " strides for rank " + std::to_string(value.shape.size()),
                  "tensor.S4");
  for (std::size_t i = 0; i < value.strides.size(); ++i)
    if (value.strides[i] < 0)
      return refuse(Code::invalid_shape, what,
                    "stride " + std::to_string(value.strides[i]) + " of dim " + std::to_string(i) + " is negative",
                    "tensor.S5");
  if (const Result<std::int64_t> span = least_span_bytes(desc_of(value)); !span.ok())
    return refuse(
        Code::invalid_shape, what,
        "shape " + show_shape(value) + " with strides " + show_dims(value.strides) + ": " + span.status().message(),
        "tensor.S3");
  if (produced && is_known(value.shape) && !steps_over_itself(value.shape, value.strides))
    return refuse(Code::invalid_shape, what,
                  "it is written by an op, but strides " + show_dims(value.strides) + " for shape " +
                      show_shape(value) + " may put two elements in one place",
                  "tensor.S6");
  return {};
}

Status check_shape(const Value& value) {
  const std::string what = describe(value);
  if (value.shape.size() > static_cast<std::size_t>(kMaxRank))
    return refuse(Code::invalid_shape, what,
                  "rank " + std::to_string(value.shape.size()) + " exceeds " + std::to_string(kMaxRank), "tensor.S1");
  for (std::size_t i = 0; i < value.shape.size(); ++i)
    if (value.shape[i] < 0 && value.shape[i] != kUnknownDim)
      return refuse(Code::invalid_shape, what,
                    "dim " + std::to_string(i) + " is " + std::to_string(value.shape[i]) +
                        "; a dim that is not known is written as -9223372036854775808",
                    "tensor.S2");
  if (const Result<std::int64_t> span = least_span_bytes({value.dtype, value.shape, {}}); !span.ok())
    return refuse(Code::invalid_shape, what, "shape " + show_shape(value) + ": " + span.status().message(),
                  "tensor.S3");
  return {};
}

Status check_data(const Value& value) {
  const std::string what = describe(value);
  if (!is_static(value))
    return refuse(Code::invalid_shape, what, "a constant of shape " + show_shape(value) + "; its dims must be known",
                  "tensor.S7");
  const Result<std::int64_t> bytes = span_bytes({value.dtype, value.shape, {}});
  if (bytes.ok() && static_cast<std::uint64_t>(bytes.value()) == value.data.size()) return {};
  return refuse(Code::invalid_shape, what,
                "a constant of " + std::string(to_string(value.dtype)) + show_shape(value) + " has " +
                    std::to_string(bytes.ok() ? bytes.value() : 0) + " bytes, but data of " +
                    std::to_string(value.data.size()) + " are given",
                "tensor.S7");
}

}  // namespace

Status check_tensor(const Value& value, bool produced) {
  if (value.layout == Layout::opaque)
    return refuse(Code::unsupported_shape, describe(value),
                  "layout opaque belongs to the library that made the file; give strides", "tensor.S9");
  if (value.ranked) {
    if (Status s = check_shape(value); !s.ok()) return s;
    if (Status s = check_strides(value, produced); !s.ok()) return s;
  }
  if (value.is_constant)
    if (Status s = check_data(value); !s.ok()) return s;
  if (value.property == Property::host_scalar) {
    const bool scalar = value.ranked && value.shape.empty();
    if (!scalar || (value.dtype != DType::s32 && value.dtype != DType::s64 && value.dtype != DType::f32))
      return refuse(Code::invalid_graph, describe(value),
                    "a host_scalar has rank 0 and is s32, s64 or f32; this one is " +
                        std::string(to_string(value.dtype)) + show_shape(value),
                    "tensor.S8");
  }
  return {};
}

}  // namespace tenfold::graph
