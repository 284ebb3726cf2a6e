// SPDX-License-Identifier: Apache-2.0
#include "jit/state.hpp"

#include <bit>
#include <cstddef>

#include "jit/abi.hpp"

namespace tenfold::jit {
namespace {

constexpr Vec kLow = 4, kHigh = 5, kLoaded = 6;
constexpr int kVectorBytes = 64;

/// Sums and products: f64 totals, 16 lanes in two vectors.
class WideState : public ReduceState {
 public:
  WideState(VectorLayer& layer, const kernel::KernelSpec& spec, const schedule::ReduceBody& body)
      : ReduceState(layer, spec, body),
        op_(body.monoid == kernel::Monoid::prod ? Arithmetic::multiply : Arithmetic::add),
        identity_(kernel::row(body.monoid).identity) {}

  int lane_bits() const override { return 32; }

  void init_set(int) override {}
  void step(int, const Memory& from, Part) override {
    v_.load_bytes(0, from);
    v_.load_bytes(1, from + kVectorBytes);
    v_.arithmetic64(op_, kLow, kLow, 0);
    v_.arithmetic64(op_, kHigh, kHigh, 1);
  }
  void merge(int, int) override {}

  void init_totals() override {
    v_.splat(kLow, std::bit_cast<std::uint64_t>(identity_), 8);
    v_.splat(kHigh, std::bit_cast<std::uint64_t>(identity_), 8);
  }
  void flush(int) override {}

  int record_bytes() const override { return 2 * kVectorBytes; }
  void init_record(const Memory& record) override {
    init_totals();
    store_totals(record);
  }
  void load_set(const Memory& record) override { load_totals(record); }
  void store_set(const Memory& record) override { store_totals(record); }
  void flush_record(const Memory&) override {}
  void load_totals(const Memory& record) override {
    v_.load_bytes(kLow, record);
    v_.load_bytes(kHigh, record + kVectorBytes);
  }

  void fold() override { v_.fold64(op_, kLow, kHigh); }

  void finish(Part part) override {
    finish_half(kLow, part);
    if (part != Part::one) finish_half(kHigh, part);
    if (output_ == DType::f64) return;
    v_.narrow(kLoaded, kLow, kHigh, part);
    v_.canonical_nan32(kLoaded, part);
  }

  void store(const Memory& to, Part part) override {
    if (output_ != DType::f64) {
      v_.store32(to, output_, kLoaded, part);
    } else if (part == Part::one) {
      v_.store64_one(to, kLow);
    } else {
      store_totals(to);
    }
  }

 protected:
  void store_totals(const Memory& record) {
    v_.store_bytes(record, kLow);
    v_.store_bytes(record + kVectorBytes, kHigh);
  }

  Arithmetic op_;
  double identity_;

 private:
  void finish_half(Vec v, Part part) {
    if (body_.divide_by_count) v_.divide64(v, count_argument(), part);
    if (body_.square_root) v_.square_root64(v, part);
  }
};

/// The same with chains of f32 in front: a set is one vector of 16 chains.
class ChainedState final : public WideState {
 public:
  using WideState::WideState;

  void init_set(int set) override { v_.splat(set, identity_bits(), 4); }

  void step(int set, const Memory& from, Part part) override {
    if (input_ == DType::f32 && body_.before.empty() && part == Part::full) {
      v_.arithmetic32(op_, set, set, from);
      return;
    }
    v_.load32(kLoaded, input_, from, part);
    for (const kernel::Function function : body_.before) {
      if (function == kernel::Function::abs) v_.abs32(kLoaded);
      if (function == kernel::Function::square) v_.arithmetic32(Arithmetic::multiply, kLoaded, kLoaded, kLoaded);
    }
    if (part == Part::tail) v_.fill_past_tail(kLoaded, identity_bits(), 32);
    v_.arithmetic32(op_, set, set, kLoaded);
  }

  void merge(int into, int from) override { v_.arithmetic32(op_, into, into, from); }

  void flush(int set) override {
    // Sets 1 to 3 are free by now: the chains of a block were merged into set 0.
    constexpr Vec kSpare = 3;
    v_.widen(set, kSpare, set);
    v_.arithmetic64(op_, kLow, kLow, set);
    v_.arithmetic64(op_, kHigh, kHigh, kSpare);
  }

  int record_bytes() const override { return 3 * kVectorBytes; }
  void init_record(const Memory& record) override {
    init_set(0);
    v_.store_bytes(record, 0);
    WideState::init_record(record + kVectorBytes);
  }
  void load_set(const Memory& record) override { v_.load_bytes(0, record); }
  void store_set(const Memory& record) override { v_.store_bytes(record, 0); }
  void flush_record(const Memory& record) override {
    load_set(record);
    load_totals(record);
    flush(0);
    store_totals(record + kVectorBytes);
    init_set(0);
    store_set(record);
  }
  void load_totals(const Memory& record) override { WideState::load_totals(record + kVectorBytes); }

 private:
  std::uint64_t identity_bits() const { return std::bit_cast<std::uint32_t>(static_cast<float>(identity_)); }
};

/// Max and min: three integer extremes of the raw bits.
class OrderState final : public ReduceState {
 public:
  OrderState(VectorLayer& layer, const kernel::KernelSpec& spec, const schedule::ReduceBody& body)
      : ReduceState(layer, spec, body), maximum_(body.monoid == kernel::Monoid::max) {}

  int lane_bits() const override { return 8 * byte_size(input_); }

  bool has_second_pass() const override { return true; }

  /// The start value is in the data's own order: an infinity in all three extremes.
  void init_set(int set) override {
    each([&](Vec at) { v_.splat(3 * set + at, identity_bits(), byte_size(input_)); });
  }

  void step(int set, const Memory& from, Part part) override {
    if (lane_bits() == 16) {
      v_.load16(kLoaded, from, part);
    } else {
      v_.load32(kLoaded, input_, from, part);
    }
    if (part == Part::tail) v_.fill_past_tail(kLoaded, identity_bits(), lane_bits());
    each([&](Vec at) { v_.extreme(kExtremes[at], 3 * set + at, 3 * set + at, kLoaded, lane_bits()); });
  }

  void merge(int into, int from) override {
    each([&](Vec at) { v_.extreme(kExtremes[at], 3 * into + at, 3 * into + at, 3 * from + at, lane_bits()); });
  }

  void init_totals() override {}
  void flush(int) override {}

  int record_bytes() const override { return 3 * kVectorBytes; }
  void init_record(const Memory& record) override {
    init_set(0);
    store_set(record);
  }
  void load_set(const Memory& record) override {
    each([&](Vec at) { v_.load_bytes(at, record + kVectorBytes * at); });
  }
  void store_set(const Memory& record) override {
    each([&](Vec at) { v_.store_bytes(record + kVectorBytes * at, at); });
  }
  void flush_record(const Memory&) override {}
  void load_totals(const Memory& record) override { load_set(record); }

  /// Max: settled by any element that is not negative, as the signed greatest. Min: by any that is, as the unsigned
  /// greatest. Only else the least unsigned is the answer.
  void jump_if_settled(const Xbyak::Label& settled, Part part) override {
    v_.jump_if_signs(maximum_ ? 0 : 1, !maximum_, lane_bits(), settled, part);
  }
  void fold() override {
    each([&](Vec at) { v_.fold_extreme(kExtremes[at], at, lane_bits()); });
  }

  void finish(Part part) override { v_.finish_order(maximum_, input_, 0, 1, 2, part); }

  void store(const Memory& to, Part part) override {
    if (lane_bits() == 16) {
      v_.store16(to, 0, part);
    } else {
      v_.store32(to, output_, 0, part);
    }
  }

 private:
  static constexpr Extreme kExtremes[3] = {Extreme::greatest_signed, Extreme::greatest_unsigned,
                                           Extreme::least_unsigned};

  /// Calls `act` with 0, 1, 2 for the extremes that this pass updates.
  template <class Act>
  void each(const Act& act) const {
    for (Vec at = pass_ == Pass::second ? 2 : 0; at < (pass_ == Pass::first ? 2 : 3); ++at) act(at);
  }

  std::uint64_t identity_bits() const {
    const FloatBits bits = float_bits(input_);
    return maximum_ ? bits.negative_infinity : bits.infinity;
  }

  bool maximum_;
};

}  // namespace

std::unique_ptr<ReduceState> ReduceState::make(VectorLayer& layer, const kernel::KernelSpec& spec,
                                               const schedule::ReduceBody& body) {
  switch (schedule::lanes_of(spec, body)) {
    case schedule::Lanes::chained_f32: return std::make_unique<ChainedState>(layer, spec, body);
    case schedule::Lanes::wide_f64: return std::make_unique<WideState>(layer, spec, body);
    default: return std::make_unique<OrderState>(layer, spec, body);
  }
}

bool ReduceState::stores_tails() const { return output_ != DType::f64 && v_.stores_tails_of(output_bytes()); }

Memory count_argument() { return Xbyak::util::rdi + offsetof(KernelArgs, count); }

}  // namespace tenfold::jit
