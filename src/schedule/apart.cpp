// SPDX-License-Identifier: Apache-2.0
//
// One kernel would take short rows far from one another for each output, and end each of them by itself. Of f32
// [16, 64, 64, 64] over {1, 3} these are rows of 256 bytes, 16 KiB apart: 0.28 of the roof. With {3} kept, the first
// kernel has columns of 4096 elements, which it reads in order, and the second one 1024 rows of 64 numbers: 0.66, which
// is what columns of that size reach. The other way round, {3} first, gains nothing: rows still end one by one.
#include "schedule/apart.hpp"

namespace tenfold::schedule {
namespace {

using kernel::KernelSpec;

/// Below this a second call, of 0.1 us, costs more than the order of reading gains.
constexpr std::int64_t kLeastBytes = 64 << 10;
/// Rows from this length on hide their ends: f32 [16, 16, 64, 256] over {1, 3} runs as fast in one kernel.
constexpr std::int64_t kLongRowBytes = 1024;
/// Each partial result stands for as many elements. With 16 the partial results of {0, 3} of f32 [16, 64, 64, 64],
/// which are written and read once, eat up what is gained.
constexpr std::int64_t kElementsOfPartial = 32;

}  // namespace

DType partial_dtype(const KernelSpec& spec, const ReduceBody& body) {
  return lanes_of(spec, body) == Lanes::chained_f32 ? DType::f64 : spec.outputs[0].dtype;
}

int level_apart(const KernelSpec& spec) {
  const Result<ReduceBody> body = read_body(spec);
  if (!body.ok() || lanes_of(spec, body.value()) == Lanes::arg) return -1;
  // Packed rows, which the second kernel of f64 may have, divide by their own width.
  if (body.value().divide_by_count && spec.inputs[0].dtype == DType::f64) return -1;
  const std::size_t last = spec.levels.size() - 1;
  const std::int64_t element = byte_size(spec.inputs[0].dtype), row = spec.levels[last].extent;
  const std::int64_t reduced = kernel::reduced_count(spec);
  if (!spec.levels[last].reduced || spec.inputs[0].strides[last] != 1 || row * element >= kLongRowBytes) return -1;
  if (kernel::kept_count(spec) * reduced * element < kLeastBytes || reduced / row < kElementsOfPartial) return -1;
  return static_cast<int>(last);
}

}  // namespace tenfold::schedule
