// SPDX-License-Identifier: Apache-2.0
//
// Max and min of floating types.
#include "jit/state.hpp"
#include "jit/state_kinds.hpp"

namespace tenfold::jit {
namespace {

constexpr Vec kLoaded = 6;
constexpr int kVectorBytes = 64;

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
    v_.load_integers(kLoaded, from, lane_bits(), loads_tails() ? part : Part::full);
    if (part == Part::tail && loads_tails()) v_.fill_past_tail(kLoaded, identity_bits(), lane_bits());
    each([&](Vec at) { v_.integer(kExtremes[at], 3 * set + at, 3 * set + at, kLoaded, lane_bits()); });
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
    each([&](Vec at) { v_.fold_integer(kExtremes[at], at, lane_bits()); });
  }

  void finish(Part part) override { v_.finish_order(maximum_, input_, 0, 1, 2, part); }

  void store(int, const Memory& to, Part part) override { v_.store_integers(to, 0, lane_bits(), part); }

 private:
  static constexpr IntegerOp kExtremes[3] = {IntegerOp::greatest_signed, IntegerOp::greatest_unsigned,
                                             IntegerOp::least_unsigned};

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

std::unique_ptr<ReduceState> make_order_state(VectorLayer& layer, const kernel::KernelSpec& spec,
                                              const schedule::ReduceBody& body) {
  return std::make_unique<OrderState>(layer, spec, body);
}

}  // namespace tenfold::jit
