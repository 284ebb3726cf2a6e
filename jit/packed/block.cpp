// SPDX-License-Identifier: Apache-2.0
#include "jit/packed/block.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include "jit/state/state.hpp"
#include "jit/vector/integer_monoid.hpp"

namespace tenfold::jit {
namespace {

using Xbyak::Reg64;

/// Blocks of places whose bits leave rows open: so many one after another mean that elements have one sign, and then so
/// many are not tried. Of random signs few blocks are open, and hardly ever two of them side by side.
constexpr int kLeastOpen = 2, kOpenBlocks = 16;

/// As PackedVectors::order_key().
std::uint64_t order_key(std::uint64_t bits, int bytes) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * bytes - 1);
  return (bits & sign) == 0 ? bits : bits ^ (sign - 1);
}

}  // namespace

PackedBlock::PackedBlock(Assembler& assembler, const kernel::KernelSpec& spec, const schedule::ReduceBody& body)
    : PackedRule(spec, body), assembler_(assembler), code_(assembler.code()), v_(assembler) {}

PackedBlock::Register PackedBlock::take() {
  const Register reg = free_.back();
  free_.pop_back();
  taken_ = std::max(taken_, reg + 1);
  return reg;
}

Memory PackedBlock::at(const Reg64& in, int offset, int bytes) {
  const int last_turn = std::max(0, turns_ - 1) * row_bytes();
  overread_ = std::max(overread_, offset + last_turn + bytes + gap_bytes() - input_bytes());
  return in + offset;
}

// ---- the block

void PackedBlock::keep_constants(const Reg64& in, const Reg64& out) {
  Assembler assembler(assembler_.encoding());
  PackedBlock sketch(assembler, spec_, body_);
  sketch.emit(in, out);
  std::vector<PackedVectors::Constant> constants = sketch.v_.constants();
  sketch.emit_out_of_line(in);  // which may take more registers
  std::ranges::stable_sort(constants, std::greater<>(), &PackedVectors::Constant::uses);
  const Register end = kLosers + 1 - std::max(1, watches());
  for (Register reg = sketch.taken_; reg < end && !constants.empty(); ++reg) {
    v_.keep(reg, constants.front().bytes);
    constants.erase(constants.begin());
  }
}

void PackedBlock::load_kept() {
  v_.load_kept();
  if (finds_bits()) code_.mov(code_.dword[code_.rbp + kOpen], 0);
  if (trails()) v_.splat(kTrailing, 0, 4);
}

void PackedBlock::emit(const Reg64& in, const Reg64& out) {
  if (trails()) return emit_trailing(in, out);
  const Xbyak::Address open = code_.dword[code_.rbp + kOpen];
  if (has_slow_way()) start_watch();
  if (finds_bits()) {
    code_.cmp(open, kLeastOpen);
    code_.jge(unsettled_, Xbyak::CodeGenerator::T_NEAR);
  }
  const Register result = block(in);
  if (finds_bits()) code_.mov(open, 0);
  if (has_slow_way() && !finds_bits()) jump_if_watched(result);
  if (bits()) {
    v_.jump_unless_signs(result, !maximum(), lane_, unsettled_);
  } else if (settles()) {
    v_.jump_if_zero64(result, unsettled_);
  }
  code_.L(result_);
  finish(result);
  if (keys()) return v_.store_codes(out, result, lane_, inverts_codes(key_rule()), output_);
  if (places() && pads_cells()) return store_places_of_cells(out, result);
  if (places()) return v_.store_places(out, result, lane_, output_);
  if (pads_cells()) return store_cells(out, result);
  if (hands_on_f64()) {
    v_.store(out, result);
    v_.store(out + kBytes, upper_);
  } else if (kind_ == schedule::Lanes::chained_f32) {
    v_.store32(out, output_, result);
  } else {
    v_.store(out, result);
  }
}

void PackedBlock::emit_out_of_line(const Reg64& in) {
  if (!has_slow_way()) return;
  code_.L(slow_);
  exact_ = true;
  const Register result = block(in);
  exact_ = false;
  if (numbers()) finish_order(result);
  code_.jmp(result_);
  if (!settles() && !finds_bits()) return;
  code_.L(unsettled_);
  // What the first extreme has settled waits in a register that no block uses.
  if (bits()) v_.copy(kLosers, result);
  if (finds_bits()) {
    // After two of these, so many blocks do not try bits first.
    const Xbyak::Address open = code_.dword[code_.rbp + kOpen];
    Xbyak::Label stays;
    code_.inc(open);
    code_.cmp(open, kLeastOpen + kOpenBlocks);
    code_.jl(stays);
    code_.mov(open, kLeastOpen - 1);
    code_.L(stays);
    start_watch();
  }
  other_ = true;
  const Register other = block(in);
  other_ = false;
  if (finds_bits()) jump_if_watched(other);
  if (bits()) v_.choose_by_sign(result, kLosers, maximum() ? other : kLosers, maximum() ? kLosers : other, lane_);
  code_.jmp(result_);
}

PackedBlock::Register PackedBlock::block(const Reg64& in) {
  // The same registers each time, so that both ways to a result leave it in the same one.
  free_.clear();
  for (Register reg = kLosers + 1 - std::max(1, watches()); reg-- > 0;) free_.push_back(reg);
  if (has_rows_of_three() && lane_ == 4) return rows_of_three(in);
  if (loops_over_leaves()) store_leaves(in);
  if (cell_ > 1 && ends_in_f64()) return cells_in_f64(in);
  if (!ends_in_f64()) {
    const Value value = places()              ? find(in)
                        : has_rows_of_three() ? rows_of_three_words(in)
                        : has_rows_of_pairs() ? rows_of_pairs(in)
                                              : tree(in, 0, leaves());
    if (!has_rows_in_turn()) sort(value);
    return value.reg;
  }
  const Register low = long_sums(in, 0), high = long_sums(in, lanes_ / 2);
  if (hands_on_f64()) {
    upper_ = high;
  } else {
    v_.narrow(low, low, high);
  }
  return low;
}

/// `count` leaves from `first` on: each level halves the distance of the lanes that meet, which ends at that of cells.
PackedBlock::Value PackedBlock::tree(const Reg64& in, int first, int count) {
  if (count == 1) {
    const Value value = loops_over_leaves() ? stored_leaf(first) : leaf(in, first);
    trail(first + 1, leaves());
    return value;
  }
  if (count == 2 && has_rows_of_halves()) return rows_of_halves(in, first);
  Value x = tree(in, first, count / 2);
  return merge(std::move(x), tree(in, first + count / 2, count / 2), segment_ / count * lane_);
}

PackedBlock::Value PackedBlock::merge(Value x, const Value& y, int bytes) {
  combine(x.reg, v_.meet(x.reg, y.reg, bytes), lane_);
  give(y.reg);
  for (int lane = 0; lane < lanes_; ++lane)
    if ((lane & (bytes / lane_)) != 0) x.rows[static_cast<std::size_t>(lane)] = y.rows[static_cast<std::size_t>(lane)];
  return x;
}

/// Four rows' sums in f64 lanes. Rows are read in their order, as whoever fetches ahead guesses best so.
PackedBlock::Register PackedBlock::long_sums(const Reg64& in, int first) {
  const auto [even, odd] = four_rows_in_f64(in, first);
  combine(even, v_.meet(even, odd, 8), 8);
  give(odd);
  finish_sums(even, 8);
  return even;
}

/// Two f64 lanes of each row, of the even rows and of the odd ones: what is four lanes apart meets in f32, as no more
/// than kChain terms come to it so, and what is two apart in f64.
std::array<PackedBlock::Register, 2> PackedBlock::four_rows_in_f64(const Reg64& in, int first) {
  if (widens_in_halves()) {
    const Register low = rows_in_halves(in, first, first + 1).reg;
    return pairs_in_f64(low, rows_in_halves(in, first + 2, first + 3).reg);
  }
  std::array<Register, 4> rows{};
  for (int number = 0; number < 4; ++number) {
    Register& to = rows[static_cast<std::size_t>(number)];
    to = three_levels_in_f64() ? row_in_f64(in, first + number) : row(in, first + number);
  }
  if (three_levels_in_f64()) return halves_in_f64(rows);
  const auto [low, second, high, fourth] = rows;
  combine(low, v_.meet(low, second, kHalf), 4);
  combine(high, v_.meet(high, fourth, kHalf), 4);
  give(second);
  give(fourth);
  return pairs_in_f64(low, high);
}

/// Of registers of two rows each.
std::array<PackedBlock::Register, 2> PackedBlock::pairs_in_f64(Register low, Register high) {
  const Register second = take(), fourth = take();
  v_.shuffle_pair(second, low, high, {0, 1, 0, 1});
  v_.shuffle_pair(high, low, high, {2, 3, 2, 3});
  v_.widen(low, second, second);
  v_.widen(high, fourth, high);
  combine(low, high, 8);
  combine(second, fourth, 8);
  give(high);
  give(fourth);
  return {low, second};
}

/// A row whose lanes four apart meet in f64 as well, and those eight apart where it is one of the longest.
PackedBlock::Register PackedBlock::row_in_f64(const Reg64& in, int number) {
  std::vector<Register> lanes;
  if (all_levels_in_f64()) {
    lanes = lanes_of_row(in, number);
  } else {
    lanes = {row(in, number)};
  }
  for (const Register reg : lanes) {
    const Register upper = take();
    v_.widen(reg, upper, reg);
    combine(reg, upper, 8);
    give(upper);
  }
  if (lanes.size() > 1) {
    combine(lanes[0], lanes[1], 8);
    give(lanes[1]);
  }
  return lanes[0];
}

/// Of four rows in f64 lanes, a register each.
std::array<PackedBlock::Register, 2> PackedBlock::halves_in_f64(const std::array<Register, 4>& rows) {
  for (const std::size_t at : {0, 1}) {
    combine(rows[at], v_.meet(rows[at], rows[at + 2], kHalf), 8);
    give(rows[at + 2]);
  }
  return {rows[0], rows[1]};
}

/// Brings each row's lanes to their places, which cells do not leave empty: of narrow lanes, each half's to its start.
void PackedBlock::sort(const Value& value) {
  LaneNumbers from{};
  for (int lane = 0; lane < lanes_; ++lane) from[static_cast<std::size_t>(lane)] = lane;
  const int half = lanes_ / 2, rows_of_half = lane_ < 4 ? rows() / 2 : 0;
  bool sorted = true, in_halves = true;
  for (int lane = 0; lane < lanes_; ++lane) {
    const int row = value.rows[static_cast<std::size_t>(lane)], column = lane % cell_lanes_;
    if (column >= cell_) continue;
    const int start = rows_of_half > 0 ? row / rows_of_half * half : 0;
    const int to = start + (rows_of_half > 0 ? row % rows_of_half : row) * cell_ + column;
    from[static_cast<std::size_t>(to)] = lane;
    sorted = sorted && to == lane;
    in_halves = in_halves && to / half == lane / half;
  }
  if (sorted) return;
  if (!in_halves && lane_ < 4) {
    PackedVectors::Bytes bytes{};
    for (int byte = 0; byte < kBytes; ++byte)
      bytes[static_cast<std::size_t>(byte)] =
          static_cast<std::uint8_t>(from[static_cast<std::size_t>(byte / lane_)] * lane_ + byte % lane_);
    return v_.permute_bytes(value.reg, bytes);
  }
  if (!in_halves) {
    std::array<std::uint32_t, 8> dwords{};
    const std::size_t of_lane = static_cast<std::size_t>(lane_) / 4;
    for (std::size_t dword = 0; dword < dwords.size(); ++dword)
      dwords[dword] =
          static_cast<std::uint32_t>(static_cast<std::size_t>(from[dword / of_lane]) * of_lane + dword % of_lane);
    v_.permute_dwords(value.reg, dwords);
    return;
  }
  PackedVectors::Bytes bytes{};
  for (int byte = 0; byte < kBytes; ++byte)
    bytes[static_cast<std::size_t>(byte)] =
        static_cast<std::uint8_t>((from[static_cast<std::size_t>(byte / lane_)] * lane_ + byte % lane_) % kHalf);
  v_.shuffle_in_halves(value.reg, bytes);
}

// ---- lanes

/// By byte: the start value in lanes of each segment from number `elements` on.
PackedVectors::Bytes PackedBlock::identity_past(int elements, int segment) const {
  PackedVectors::Bytes bytes{};
  for (int byte = 0; byte < kBytes; ++byte)
    if (byte / lane_ % segment >= elements)
      bytes[static_cast<std::size_t>(byte)] = static_cast<std::uint8_t>(identity() >> (8 * (byte % lane_)));
  return bytes;
}

void PackedBlock::fill(Register reg, int elements, int segment) {
  if (lane_ >= 4) {
    int dwords = 0;
    for (int dword = 0; dword < kBytes / 4; ++dword)
      if (dword * 4 / lane_ % segment >= elements) dwords |= 1 << dword;
    v_.fill_dwords(reg, dwords, identity(), lane_);
    return;
  }
  PackedVectors::Bytes inside{};
  for (int byte = 0; byte < kBytes; ++byte)
    inside[static_cast<std::size_t>(byte)] = byte / lane_ % segment < elements ? 0xff : 0;
  v_.keep_inside(reg, inside, identity_past(elements, segment));
}

/// The first `elements` lanes become the start value.
void PackedBlock::fill_first(Register reg, int elements) {
  if (lane_ >= 4) return v_.fill_dwords(reg, (1 << (elements * lane_ / 4)) - 1, identity(), lane_);
  PackedVectors::Bytes inside{}, outside{};
  for (int byte = 0; byte < kBytes; ++byte) {
    const bool is_first = byte < elements * lane_;
    inside[static_cast<std::size_t>(byte)] = is_first ? 0 : 0xff;
    outside[static_cast<std::size_t>(byte)] =
        is_first ? static_cast<std::uint8_t>(identity() >> (8 * (byte % lane_))) : std::uint8_t{0};
  }
  v_.keep_inside(reg, inside, outside);
}

void PackedBlock::start_watch() {
  // Zero is no NaN, whichever extreme looks for one.
  const std::uint64_t start = order() && !numbers() ? order_key(identity(), lane_) : 0;
  for (int watch = 0; watch < watches(); ++watch) v_.splat(kLosers - watch, start, lane_);
}

/// To the slow way, where a block has a NaN that the fast one does not deal with.
void PackedBlock::jump_if_watched(Register result) {
  for (int watch = 1; watch < watches(); ++watch) watch_into(kLosers, kLosers - watch);
  if (bits() && lane_ == 2) return v_.jump_if_nan_of_16(kLosers, result, float_bits(input_).infinity, slow_);
  if (numbers()) return v_.jump_if_nan(kLosers, bits() ? result : kLosers, lane_, slow_);
  if (order()) return v_.jump_if_beyond(kLosers, !maximum(), order_key(identity(), lane_), lane_, slow_);

  v_.jump_if_beyond(kLosers, true, float_bits(input_).infinity, element_, slow_);
}

void PackedBlock::watch_into(Register watch, Register reg) {
  if (bits()) {
    v_.integer(watched_extreme(), watch, watch, reg, 8 * lane_);
  } else {
    v_.arithmetic(Arithmetic::add, watch, watch, reg, lane_);
  }
}

/// What has just been loaded, for a NaN. Before lanes past a row are filled with an infinity, which would spoil a sum
/// of the other one.
void PackedBlock::watch(Register reg) {
  if (numbers() && !exact_ && !other_) watch_into(kLosers - watched_++ % watches(), reg);
}

void PackedBlock::map(Register reg) {
  if (order() && (!numbers() || exact_)) {
    v_.order_key(reg, lane_);
    if (exact_) {
      const std::uint64_t beyond_all = (std::uint64_t{1} << (8 * lane_ - 1)) - (maximum() ? 1 : 0);
      v_.replace_beyond(reg, !maximum(), order_key(identity(), lane_), beyond_all, lane_);
    } else {
      v_.integer(maximum() ? IntegerOp::least_signed : IntegerOp::greatest_signed, kLosers, kLosers, reg, 8 * lane_);
    }
  }
  for (const kernel::Function function : body_.before) {
    const bool square = function == kernel::Function::square;
    if (floats()) {
      square ? v_.arithmetic(Arithmetic::multiply, reg, reg, reg, lane_) : v_.abs_float(reg, lane_);
    } else if (is_floating(input_)) {
      v_.abs_float(reg, lane_);
    } else if (square) {
      v_.integer(IntegerOp::multiply, reg, reg, reg, 8 * lane_);
    } else if (tenfold::row(input_).kind == DTypeKind::signed_integer) {
      v_.abs_integer(reg, 8 * lane_);
    }
  }
}

void PackedBlock::combine(Register into, Register from, int lane_bytes) {
  if (floats()) {
    v_.arithmetic(body_.monoid == kernel::Monoid::prod ? Arithmetic::multiply : Arithmetic::add, into, into, from,
                  lane_bytes);
  } else if (bits() && !exact_) {
    v_.integer(other_ ? IntegerOp::least_unsigned : own_extreme(), into, into, from, 8 * lane_bytes);
  } else if (settles() && !exact_ && !other_) {
    v_.extreme64(into, into, from, maximum());
  } else if (numbers() && !exact_) {
    v_.extreme_number(into, into, from, maximum(), lane_bytes);
  } else {
    const IntegerOp op = kind_ == schedule::Lanes::integer ? integer_op(body_.monoid, input_)
                         : maximum()                       ? IntegerOp::greatest_signed
                                                           : IntegerOp::least_signed;
    v_.integer(op, into, into, from, 8 * lane_bytes);
  }
}

void PackedBlock::finish_sums(Register reg, int lane_bytes) {
  // A sum starts at +0: one of nothing but -0 is +0.
  if (body_.monoid == kernel::Monoid::sum) v_.add_zero(reg, lane_bytes);
  if (body_.divide_by_count) divide_by_count(reg, lane_bytes);
  if (body_.square_root) v_.square_root(reg, lane_bytes);
}

/// Rows of f64 may be what pieces of longer ones have given, whose elements are the ones that count.
void PackedBlock::divide_by_count(Register reg, int lane_bytes) {
  lane_bytes == 8 ? v_.divide64(reg, count_argument()) : v_.divide32(reg, static_cast<float>(count_));
}

void PackedBlock::finish(Register reg) {
  if (hands_on_f64()) {
    if (ends_in_f64()) return;
    upper_ = take();
    return v_.widen(reg, upper_, reg);
  }
  if (floats()) {
    if (!ends_in_f64()) finish_sums(reg, lane_);
    v_.canonical_nan(reg, lane_);
  }
  if (order() && !numbers()) finish_order(reg);
  if (kind_ == schedule::Lanes::integer && is_floating(input_)) {
    const FloatBits bits = float_bits(input_);
    v_.replace_beyond(reg, true, bits.infinity, bits.canonical_nan, lane_);
  }
}

/// Keys to floats.
void PackedBlock::finish_order(Register reg) {
  const FloatBits bits = float_bits(input_);
  const std::uint64_t last = maximum() ? bits.infinity : bits.negative_infinity;
  v_.replace_beyond(reg, maximum(), order_key(last, lane_), order_key(bits.canonical_nan, lane_), lane_);
  v_.order_key(reg, lane_);
}

}  // namespace tenfold::jit
