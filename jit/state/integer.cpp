// SPDX-License-Identifier: Apache-2.0
//
// Reductions of integers and booleans: one vector of lanes of the type's own width. Sums and products wrap there, which
// is what they are defined to do, so no order of them changes a bit. The greatest magnitude of floats is one too: of
// bits without a sign, among which NaNs are above all numbers.
#include "jit/state/kinds.hpp"
#include "jit/state/state.hpp"
#include "jit/vector/integer_monoid.hpp"

namespace tenfold::jit {
namespace {

constexpr Vec kLoaded = 6;
/// Are no set's.
constexpr Vec kFirstCopy = 4, kSecondCopy = 5;

bool is_idempotent(IntegerOp op) { return op != IntegerOp::add && op != IntegerOp::multiply; }

class IntegerState final : public ReduceState {
 public:
  IntegerState(VectorLayer& layer, const kernel::KernelSpec& spec, const schedule::ReduceBody& body)
      : ReduceState(layer, spec, body,
                    {.lane_bits = 8 * byte_size(spec.inputs[0].dtype),
                     .free_sets = 4,
                     .takes_twice = is_idempotent(integer_op(body.monoid, spec.inputs[0].dtype))}),
        signed_(row(input_).kind == DTypeKind::signed_integer),
        op_(integer_op(body.monoid, input_)) {}

  void init_set(int set) override { v_.splat(set, identity_bits(), byte_size(input_)); }

  void step(int set, const Memory& from, Part part) override {
    v_.load_integers(kLoaded, from, lane_bits(), part);
    for (const kernel::Function function : body_.before) {
      if (function == kernel::Function::abs && is_floating(input_)) v_.abs_float(kLoaded, lane_bits());
      if (function == kernel::Function::abs && signed_) v_.abs_integer(kLoaded, lane_bits());
      if (function == kernel::Function::square) v_.integer(IntegerOp::multiply, kLoaded, kLoaded, kLoaded, lane_bits());
    }
    // Lanes past the tail are loaded as zeros.
    if (part == Part::tail && identity_bits() != 0) v_.fill_past_tail(kLoaded, identity_bits(), lane_bits());
    v_.integer(op_, set, set, kLoaded, lane_bits());
  }

  void merge(int into, int from) override { v_.integer(op_, into, into, from, lane_bits()); }

  void init_totals() override {}
  void flush(int) override {}

  int record_bytes() const override { return 64; }
  void init_record(const Memory& record) override {
    init_set(0);
    store_set(record);
  }
  void load_set(const Memory& record) override { v_.load_bytes(0, record); }
  void store_set(const Memory& record) override { v_.store_bytes(record, 0); }
  void flush_record(const Memory&) override {}
  void load_totals(const Memory& record) override { load_set(record); }

  void fold() override { v_.fold_integer(op_, 0, lane_bits()); }
  void finish(Part part) override {
    if (!is_floating(input_)) return;
    if (lane_bits() == 32) return v_.canonical_nan32(0, part);
    if (lane_bits() == 64) return v_.canonical_nan64(0, part);
    // The three extremes of an order state, which tell NaNs from numbers, are this one.
    for (const Vec copy : {kFirstCopy, kSecondCopy}) v_.integer(op_, copy, 0, 0, lane_bits());
    v_.finish_order(true, input_, 0, kFirstCopy, kSecondCopy, part);
  }
  void store(int, const Memory& to, Part part) override { v_.store_integers(to, 0, lane_bits(), part); }

 private:
  std::uint64_t identity_bits() const { return integer_identity(body_.monoid, input_); }

  bool signed_;
  IntegerOp op_;
};

}  // namespace

std::unique_ptr<ReduceState> make_integer_state(VectorLayer& layer, const kernel::KernelSpec& spec,
                                                const schedule::ReduceBody& body) {
  return std::make_unique<IntegerState>(layer, spec, body);
}

}  // namespace tenfold::jit
