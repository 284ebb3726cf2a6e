// SPDX-License-Identifier: Apache-2.0
#include "jit/packed/rule.hpp"

#include <algorithm>
#include <bit>

#include "jit/vector/integer_monoid.hpp"

namespace tenfold::jit {

PackedRule::PackedRule(const kernel::KernelSpec& spec, const schedule::ReduceBody& body, int width)
    : spec_(spec),
      body_(body),
      kind_(schedule::lanes_of(spec, body)),
      input_(spec.inputs[0].dtype),
      output_(spec.outputs[0].dtype),
      width_(width),
      element_(byte_size(input_)),
      lane_(schedule::packed_lane_bytes(kind_, input_, width)),
      lanes_(PackedVectors::kBytes / lane_),
      segment_(std::min(
          widens_in_halves() || keys() || (places() && (lane_ == 1 || width <= lanes_ / 2)) ? lanes_ / 2 : lanes_,
          static_cast<int>(std::bit_ceil(static_cast<unsigned>(width))))) {}

bool PackedRule::widens_in_halves() const {
  return input_ == DType::bf16 && kind_ == schedule::Lanes::chained_f32 && body_.monoid == kernel::Monoid::sum &&
         width_ > lanes_ / 2 && !all_levels_in_f64();
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
