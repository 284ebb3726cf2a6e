// SPDX-License-Identifier: Apache-2.0
//
// Max and min of f64 where the machine has no extremes of 64-bit integers (else order.cpp has them too): its own
// max and min of numbers, with a sum beside them that any NaN spoils. Two facts are left to a second look at the
// elements: which sign a zero has, and which outputs have seen a NaN. As integers, by comparing and blending, ReduceMax
// [2048, 1024] took 407 us over rows and 486 over columns.
//
// Vectors: sets from 0, each the extreme, in rows the sum, and the facts; the sum of a sweep in 5, a loaded vector
// in 6.
#include "jit/vector/numbers.hpp"

#include "jit/state/kinds.hpp"
#include "jit/state/state.hpp"

namespace tenfold::jit {
namespace {

using Op = NumberVectors::Op;

constexpr Vec kExtreme = 0, kSum = 1, kFacts = 2, kParts = 3;
constexpr Op kOps[kParts] = {Op::extreme, Op::sum, Op::facts};
constexpr Vec kSweep = 5, kLoaded = 6;
constexpr int kVectorBytes = 64;
constexpr int kBits = 64;

class NumberState final : public ReduceState, public SweepPasses {
 public:
  NumberState(VectorLayer& layer, const kernel::KernelSpec& spec, const schedule::ReduceBody& body, schedule::Nest nest)
      : ReduceState(layer, spec, body,
                    {.lane_bits = kBits,
                     .free_sets = 2,
                     .record_planes = nest == schedule::Nest::columns ? 2 : 3,
                     .takes_twice = true,
                     .has_second_pass = true,
                     .has_quick_pass = nest == schedule::Nest::columns,
                     .settles_few_rows = true}),
        maximum_(body.monoid == kernel::Monoid::max),
        columns_(nest == schedule::Nest::columns),
        numbers_(layer.assembler(), maximum_) {
    roles_.sweep_passes = this;
  }

  void init_set(int set) override {
    each([&](Vec part) { v_.splat(kParts * set + part, start_of(part), 8); });
  }

  void step(int set, const Memory& from, Part part) override {
    v_.load_integers(kLoaded, from, kBits, part);
    if (part == Part::tail) v_.fill_past_tail(kLoaded, start_of(kExtreme), kBits);
    for (const Vec of_set : {kExtreme, kSum})
      if (updates(of_set)) numbers_.combine(kOps[of_set], kParts * set + of_set, kLoaded);
    if (columns_ && pass_ == Pass::first) numbers_.combine(Op::sum, kSweep, kLoaded);
    if (updates(kFacts)) numbers_.look(kParts * set + kFacts, kLoaded);
  }

  void merge(int into, int from) override {
    each([&](Vec part) { numbers_.combine(kOps[part], kParts * into + part, kParts * from + part); });
  }

  void init_totals() override {}
  void flush(int) override {}

  int record_bytes() const override { return kVectorBytes; }
  void init_record(const Memory& record) override {
    init_set(0);
    store_set(record);
  }
  void load_set(const Memory& record) override {
    each([&](Vec part) { v_.load_bytes(part, place(record, part)); });
  }
  void store_set(const Memory& record) override {
    each([&](Vec part) { v_.store_bytes(place(record, part), part); });
  }
  void flush_record(const Memory&) override {}
  void load_totals(const Memory& record) override { load_set(record); }

  void jump_if_settled(const Xbyak::Label& settled, Part) override {
    if (columns_) return numbers_.jump_if_no_zero(kExtreme, settled);
    v_.splat(kFacts, NumberVectors::kAllTrue, 8);
    numbers_.jump_if_settled(kExtreme, kSum, settled);
  }

  void start_sweep() override { v_.splat(kSweep, 0, 8); }
  void jump_if_clean(const Xbyak::Label& clean) override { numbers_.jump_if_numbers(kSweep, clean); }

  void fold() override {
    each([&](Vec part) { numbers_.fold(kOps[part], part); });
  }

  void finish(Part) override { numbers_.finish(kExtreme, kFacts); }
  void store(int, const Memory& to, Part part) override { v_.store_integers(to, kExtreme, kBits, part); }

 private:
  template <class Act>
  void each(const Act& act) const {
    for (Vec part = 0; part < kParts; ++part)
      if (updates(part)) act(part);
  }

  bool updates(Vec part) const {
    const bool looks = pass_ != Pass::first;
    switch (part) {
      case kExtreme: return !looks || pass_ == Pass::whole;
      case kSum: return !looks && !columns_;
      default: return looks;
    }
  }

  std::uint64_t start_of(Vec part) const {
    const FloatBits bits = float_bits(DType::f64);
    if (part == kExtreme) return maximum_ ? bits.negative_infinity : bits.infinity;
    return part == kFacts ? NumberVectors::kAllTrue : 0;
  }

  Memory place(const Memory& record, Vec part) const {
    return record + static_cast<std::size_t>(part == kFacts ? plane_bytes() : part == kSum ? 2 * plane_bytes() : 0);
  }

  bool maximum_;
  bool columns_;
  NumberVectors numbers_;
};

}  // namespace

std::unique_ptr<ReduceState> make_number_state(VectorLayer& layer, const kernel::KernelSpec& spec,
                                               const schedule::ReduceBody& body, schedule::Nest nest) {
  return std::make_unique<NumberState>(layer, spec, body, nest);
}

}  // namespace tenfold::jit
