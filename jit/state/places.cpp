// SPDX-License-Identifier: Apache-2.0
#include "jit/state/places.hpp"

#include <limits>
#include <memory>

#include "jit/vector/arg.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Label;
using Xbyak::Reg64;

constexpr Vec kBest = 0, kIndex = 1, kOther = 2, kOtherIndex = 3, kExtreme = 4, kRow = 5, kSigns = 6;
constexpr int kVectorBytes = 64;

class PlaceFold {
 public:
  PlaceFold(VectorLayer& layer, const PlaceRule& rule, int rows)
      : v_(layer), c_(layer.assembler().code()), rule_(rule), rows_(rows) {}

  /// A vector of columns; `from` is past the last row then.
  void vector(const Reg64& from, const Reg64& to, int row_bytes, int from_plane, int to_plane) {
    const std::uint64_t least = std::uint64_t{1} << (rule_.lane_bits - 1);
    Gpr left(v_.assembler());
    Label again;
    v_.splat(kBest, rule_.greatest ? least : least - 1, bytes());
    v_.splat(kIndex, static_cast<std::uint64_t>(none()), bytes());
    v_.splat(kSigns, rule_.sign_op == IntegerOp::greatest_signed ? least : least - 1, bytes());
    v_.splat(kRow, 0, bytes());
    c_.mov(left.r32(), rows_);
    c_.L(again);
    v_.load_bytes(kOther, from);
    v_.load_bytes(kOtherIndex, from + from_plane);
    meet();
    if (rule_.has_signs) {
      v_.load_bytes(kOther, from + 2 * from_plane);
      v_.integer(rule_.sign_op, kSigns, kSigns, kOther, rule_.lane_bits);
    }
    c_.add(from, row_bytes);
    c_.dec(left);
    c_.jnz(again);
    v_.store_bytes(to, kBest);
    v_.store_bytes(to + to_plane, kIndex);
    if (rule_.has_signs) v_.store_bytes(to + 2 * to_plane, kSigns);
  }

 private:
  int bytes() const { return rule_.lane_bits / 8; }
  std::int64_t none() const { return rule_.last ? -1 : std::numeric_limits<std::int32_t>::max(); }

  /// The more extreme of both; of those that have it the nearest index.
  void meet() {
    const std::unique_ptr<ArgVectors> arg = v_.arg_vectors();
    const IntegerOp extreme = rule_.greatest ? IntegerOp::greatest_signed : IntegerOp::least_signed;
    const IntegerOp nearest = rule_.last ? IntegerOp::greatest_signed : IntegerOp::least_signed;
    v_.splat(kExtreme, static_cast<std::uint64_t>(rows_), bytes());
    v_.integer(IntegerOp::multiply, kOtherIndex, kOtherIndex, kExtreme, rule_.lane_bits);
    v_.integer(IntegerOp::add, kOtherIndex, kOtherIndex, kRow, rule_.lane_bits);
    arg->add_constant(kRow, 1, rule_.lane_bits);
    v_.integer(extreme, kExtreme, kBest, kOther, rule_.lane_bits);
    arg->drop_unequal(kIndex, kBest, kExtreme, none(), rule_.lane_bits);
    arg->drop_unequal(kOtherIndex, kOther, kExtreme, none(), rule_.lane_bits);
    v_.integer(nearest, kIndex, kIndex, kOtherIndex, rule_.lane_bits);
    v_.integer(extreme, kBest, kBest, kOther, rule_.lane_bits);
  }

  VectorLayer& v_;
  Xbyak::CodeGenerator& c_;
  PlaceRule rule_;
  int rows_;
};

}  // namespace

void emit_place_fold(VectorLayer& layer, const PlaceRule& rule, int width, int rows, const Places& from,
                     const Places& to) {
  Xbyak::CodeGenerator& c = layer.assembler().code();
  const int lane_bytes = rule.lane_bits / 8, vectors = (width * lane_bytes + kVectorBytes - 1) / kVectorBytes;
  Gpr source(layer.assembler()), target(layer.assembler()), left(layer.assembler());
  Label again;
  c.lea(source, c.ptr[from.first]);
  c.lea(target, c.ptr[to.first]);
  c.mov(left.r32(), vectors);
  c.L(again);
  PlaceFold(layer, rule, rows).vector(source, target, width * lane_bytes, from.plane_bytes, to.plane_bytes);
  c.sub(source, rows * width * lane_bytes - kVectorBytes);
  c.add(target, kVectorBytes);
  c.dec(left);
  c.jnz(again);
}

}  // namespace tenfold::jit
