// SPDX-License-Identifier: Apache-2.0
#include "jit/packed/gathered_block.hpp"

#include <algorithm>

#include "schedule/packed.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Reg64;

/// Leaves 0 to 3 and what they come to, rows as they are, parts of a leaf, a zero, places of patterns and of results.
constexpr Vec kLeaves = 0, kSums = 4, kRead = 8, kParts = 10, kZero = 14, kPlaces = 16, kResults = 20;
constexpr int kLeastWidth = 3, kLeastWidthOfF32 = 4, kMostWidthOfF32 = 8;

}  // namespace

/// From memory, blocks of 8 rows are no slower, and blocks of 512 bytes are: f32 [2097152, 8] takes 3.5 ms in 8 rows
/// and 4.4 in 16, bf16 [2097152, 16] 3.8 and 4.1.
bool GatheredBlock::takes(const VectorLayer& layer, const kernel::KernelSpec& spec, const schedule::ReduceBody& body,
                          const schedule::Schedule& schedule) {
  if (!layer.gathers() || schedule::lanes_of(spec, body) != schedule::Lanes::chained_f32 ||
      body.monoid != kernel::Monoid::sum || spec.outputs[0].dtype == DType::f64 ||
      !schedule::packed_rows(spec).is_plain())
    return false;
  const int width = schedule.width;
  const bool from_memory = schedule.ahead;
  if (spec.inputs[0].dtype == DType::f32) return !from_memory && width >= kLeastWidthOfF32 && width <= kMostWidthOfF32;
  return spec.inputs[0].dtype == DType::bf16 && width >= kLeastWidth &&
         width <= schedule::kMostWidthInF32 - (from_memory ? 1 : 0);
}

GatheredBlock::GatheredBlock(VectorLayer& layer, const kernel::KernelSpec& spec, const schedule::ReduceBody& body,
                             int width)
    : v_(layer),
      gathers_(layer.gather_vectors()),
      body_(body),
      output_(spec.outputs[0].dtype),
      element_(byte_size(spec.inputs[0].dtype)),
      width_(width) {}

GatherVectors::Lanes GatheredBlock::part(int number) const {
  GatherVectors::Lanes lanes;
  lanes.fill(GatherVectors::kNowhere);
  for (int lane = 0; lane < kRows; ++lane) {
    const int row = lane / kTogether, element = number * kTogether + lane % kTogether;
    if (element >= width_) continue;
    const int start = has_one_load() ? row * width_ : row / 2 * (kBytes / element_) + row % 2 * width_;
    lanes[static_cast<std::size_t>(lane)] = start + element;
  }
  return lanes;
}

void GatheredBlock::load_kept() {
  for (int number = 0; number < parts(); ++number) gathers_->prepare(number, kPlaces + number, part(number), element_);
  GatherVectors::Lanes lanes{};
  for (int row = 0; row < kRows; ++row)
    lanes[static_cast<std::size_t>(row)] = row % kTogether * kTogether + row / kTogether;
  gathers_->prepare_store(kResults, output_, lanes);
  v_.splat(kZero, 0, 4);
}

void GatheredBlock::load_rows(Vec d, const Reg64& in, int row) {
  const int offset = row * row_bytes();
  overread_ = std::max(overread_, offset + kBytes - input_bytes());
  v_.load_bytes(d, in + offset);
}

void GatheredBlock::map(Vec v) {
  for (const kernel::Function function : body_.before) {
    if (function == kernel::Function::square) {
      v_.arithmetic32(Arithmetic::multiply, v, v, v);
    } else {
      v_.abs_float(v, 32);
    }
  }
}

/// Four rows: in each 16 bytes the four lanes of one that are left.
void GatheredBlock::leaf(const Reg64& in, int first_row, Vec result) {
  load_rows(kRead, in, first_row);
  if (!has_one_load()) load_rows(kRead + 1, in, first_row + 2);
  const Vec other = has_one_load() ? kRead : kRead + 1;
  const Vec first = parts() > 1 ? kParts : result;
  for (int number = 0; number < parts(); ++number) {
    gathers_->gather(first + number, kRead, other, number, kPlaces + number, element_);
    map(first + number);
  }
  for (int number = 2; number < parts(); ++number)
    v_.arithmetic32(Arithmetic::add, kParts + number - 2, kParts + number - 2, kParts + number);
  if (parts() > 1) v_.arithmetic32(Arithmetic::add, result, kParts, kParts + 1);
}

void GatheredBlock::emit(const Reg64& in, const Reg64& out) {
  for (int number = 0; number < kRows / kTogether; ++number) leaf(in, number * kTogether, kLeaves + number);
  for (const int pair : {0, 2}) {
    gathers_->shuffle_pair(kSums + pair, kLeaves + pair, kLeaves + pair + 1, {0, 1, 0, 1});
    gathers_->shuffle_pair(kSums + pair + 1, kLeaves + pair, kLeaves + pair + 1, {2, 3, 2, 3});
    v_.arithmetic32(Arithmetic::add, kLeaves + pair, kSums + pair, kSums + pair + 1);
  }
  const Vec sum = kSums;
  gathers_->shuffle_pair(kSums, kLeaves, kLeaves + 2, {0, 2, 0, 2});
  gathers_->shuffle_pair(kSums + 1, kLeaves, kLeaves + 2, {1, 3, 1, 3});
  v_.arithmetic32(Arithmetic::add, sum, kSums, kSums + 1);
  // A sum starts at +0: one of nothing but -0 is +0. Lanes that no element has are such a start.
  if (width_ % kTogether == 0) v_.arithmetic32(Arithmetic::add, sum, sum, kZero);
  if (body_.divide_by_count) gathers_->divide32(sum, static_cast<float>(width_));
  if (body_.square_root) v_.square_root32(sum);
  v_.canonical_nan32(sum, Part::full);
  gathers_->store(out, output_, sum, kResults);
}

}  // namespace tenfold::jit
