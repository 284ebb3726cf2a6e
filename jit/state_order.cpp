// SPDX-License-Identifier: Apache-2.0
//
// Max and min of floating types.
//
// The answer is one extreme if it has the sign that it settles with, and that extreme also shows NaNs of one sign.
// Those of the other one show in another extreme, which columns keep for a whole sweep, not per column: such NaNs are
// rare, and the sweep is then taken again.
//
// Vectors: sets from 0, the extreme of a sweep in 5, a loaded vector in 6.
#include "jit/state.hpp"
#include "jit/state_kinds.hpp"

namespace tenfold::jit {
namespace {

constexpr Vec kSweep = 5, kLoaded = 6;
constexpr int kVectorBytes = 64;

/// Max and min: three integer extremes of the raw bits.
class OrderState final : public ReduceState {
 public:
  OrderState(VectorLayer& layer, const kernel::KernelSpec& spec, const schedule::ReduceBody& body, schedule::Nest nest)
      : ReduceState(layer, spec, body),
        maximum_(body.monoid == kernel::Monoid::max),
        columns_(nest == schedule::Nest::columns) {}

  int lane_bits() const override { return 8 * byte_size(input_); }

  int free_sets() const override { return 2; }
  bool takes_twice() const override { return true; }
  bool has_second_pass() const override { return true; }

  /// The start value is in the data's own order: an infinity in all three extremes.
  void init_set(int set) override {
    each([&](Vec at) { v_.splat(3 * set + at, identity_bits(), byte_size(input_)); });
  }

  void step(int set, const Memory& from, Part part) override {
    v_.load_integers(kLoaded, from, lane_bits(), loads_tails() ? part : Part::full);
    if (part == Part::tail && loads_tails()) v_.fill_past_tail(kLoaded, identity_bits(), lane_bits());
    each([&](Vec at) { v_.integer(kExtremes[at], 3 * set + at, 3 * set + at, kLoaded, lane_bits()); });
    if (columns_ && pass_ == Pass::first) v_.integer(kExtremes[other()], kSweep, kSweep, kLoaded, lane_bits());
  }

  void merge(int into, int from) override {
    each([&](Vec at) { v_.integer(kExtremes[at], 3 * into + at, 3 * into + at, 3 * from + at, lane_bits()); });
  }

  void clear_staging(const Memory& staging) override {
    v_.splat(kLoaded, identity_bits(), byte_size(input_));
    v_.store_bytes(staging, kLoaded);
  }

  void init_totals() override {}
  void flush(int) override {}

  /// What every sweep touches lies side by side, for the caches' sake; the other extremes are planes of their own.
  int record_bytes() const override { return kVectorBytes; }
  int record_planes() const override { return 3; }
  void init_record(const Memory& record) override {
    init_set(0);
    store_set(record);
  }
  void load_set(const Memory& record) override {
    each([&](Vec at) { v_.load_bytes(at, place(record, at)); });
  }
  void store_set(const Memory& record) override {
    each([&](Vec at) { v_.store_bytes(place(record, at), at); });
  }
  void flush_record(const Memory&) override {}
  void load_totals(const Memory& record) override { load_set(record); }

  /// Max: settled by any element that is not negative, as the signed greatest. Min: by any that is, as the unsigned
  /// greatest. Only else the least unsigned is the answer.
  void jump_if_settled(const Xbyak::Label& settled, Part part) override {
    v_.jump_if_signs(own(), !maximum_, lane_bits(), settled, part);
  }

  /// Infinity of the sign in question, above which only its NaNs are.
  void start_sweep() override { v_.splat(kSweep, identity_bits(), byte_size(input_)); }
  void jump_if_clean(const Xbyak::Label& clean) override {
    v_.jump_if_equal(kSweep, identity_bits(), byte_size(input_), clean);
  }

  void fold() override {
    each([&](Vec at) { v_.fold_integer(kExtremes[at], at, lane_bits()); });
  }

  void finish(Part part) override { v_.finish_order(maximum_, input_, 0, 1, 2, part); }

  void store(int, const Memory& to, Part part) override { v_.store_integers(to, 0, lane_bits(), part); }

 private:
  static constexpr IntegerOp kExtremes[3] = {IntegerOp::greatest_signed, IntegerOp::greatest_unsigned,
                                             IntegerOp::least_unsigned};

  /// The extreme that settles most answers, and the one that shows the NaNs which that does not.
  Vec own() const { return maximum_ ? 0 : 1; }
  Vec other() const { return 1 - own(); }

  /// Calls `act` with 0, 1, 2 for the extremes that this pass updates.
  template <class Act>
  void each(const Act& act) const {
    for (Vec at = 0; at < 3; ++at)
      if (updates(at)) act(at);
  }

  bool updates(Vec at) const {
    switch (pass_) {
      case Pass::whole: return true;
      case Pass::first: return at == own() || (at == other() && !columns_);
      case Pass::second: return at == 2;
      case Pass::again: break;
    }
    return at == other();
  }

  Memory place(const Memory& record, Vec at) const {
    return record + static_cast<std::size_t>(at == own() ? 0 : at == other() ? plane_bytes_ : 2 * plane_bytes_);
  }

  std::uint64_t identity_bits() const {
    const FloatBits bits = float_bits(input_);
    return maximum_ ? bits.negative_infinity : bits.infinity;
  }

  bool maximum_;
  bool columns_;
};

}  // namespace

std::unique_ptr<ReduceState> make_order_state(VectorLayer& layer, const kernel::KernelSpec& spec,
                                              const schedule::ReduceBody& body, schedule::Nest nest) {
  return std::make_unique<OrderState>(layer, spec, body, nest);
}

}  // namespace tenfold::jit
