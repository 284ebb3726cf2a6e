// SPDX-License-Identifier: Apache-2.0
#include "jit/packed/rule.hpp"

#include <algorithm>
#include <bit>

#include "jit/vector/integer_monoid.hpp"

namespace tenfold::jit {

PackedRule::PackedRule(const kernel::KernelSpec& spec, const schedule::ReduceBody& body)
    : spec_(spec),
      body_(body),
      kind_(schedule::lanes_of(spec, body)),
      input_(spec.inputs[0].dtype),
      output_(spec.outputs[0].dtype),
      count_(schedule::packed_rows(spec).count),
      cell_(schedule::packed_rows(spec).cell),
      pitch_(schedule::packed_rows(spec).pitch),
      cell_lanes_(schedule::lanes_of_cell(cell_)),
      width_(count_ * cell_lanes_),
      element_(byte_size(input_)),
      lane_(schedule::packed_lane_bytes(kind_, input_, schedule::packed_rows(spec))),
      lanes_(PackedVectors::kBytes / lane_),
      segment_(choose_segment()) {}

/// Of rows with gaps as many lanes as reach the next one, or else a half of a register for itself, as rows share no
/// load that does not reach them.
int PackedRule::choose_segment() const {
  const bool in_halves = widens_in_halves() || keys() ||
                         (places() && ((cell_ == 1 && lane_ == 1) || width_ <= lanes_ / 2)) ||
                         (!are_dense() && !widened() && width_ <= lanes_ / 2);
  const int most = in_halves ? lanes_ / 2 : lanes_;
  const int wanted = are_dense() ? width_ : std::max(width_, std::min(pitch_, most));
  return std::min(most, static_cast<int>(std::bit_ceil(static_cast<unsigned>(wanted))));
}

bool PackedRule::widens_in_halves() const {
  return input_ == DType::bf16 && kind_ == schedule::Lanes::chained_f32 && body_.monoid == kernel::Monoid::sum &&
         cell_ == 1 && width_ > lanes_ / 2 && !all_levels_in_f64();
}

bool PackedRule::stays_in_f32() const {
  if (count_ <= schedule::kMostWidthInF32) return true;
  const bool is_narrow_sum = body_.monoid == kernel::Monoid::sum && byte_size(output_) == 2;
  return is_narrow_sum && schedule::additions_in_f32(width_, cell_lanes_) <= schedule::kMostAdditionsOfNarrowSum;
}

std::uint64_t PackedRule::identity() const {
  const FloatBits bits = float_bits(input_);
  switch (kind_) {
    case schedule::Lanes::integer: return integer_identity(body_.monoid, input_);
    case schedule::Lanes::order: return maximum() ? bits.negative_infinity : bits.infinity;
    default: break;
  }
  const double value = kernel::row(body_.monoid).identity;
  return lane_ == 8 ? std::bit_cast<std::uint64_t>(value) : std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

}  // namespace tenfold::jit
