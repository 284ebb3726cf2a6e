// SPDX-License-Identifier: Apache-2.0
//
// How lane programs are spoken: one operation on virtual vectors of 64 bytes (one zmm or two ymm). A step has 16 lanes,
// 8 when the program has 64-bit lanes, 32 or 64 when all of them have 16 or 8 bits; of 8, lanes of 32 bits fill the
// lower half of a vector (one ymm), those of 64 bits the whole. Where but the first lanes count there are 4, in what
// one ymm has of a vector. What is past the lanes may hold anything. Only avx2.cpp and avx512.cpp know which
// ISA it is.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "jit/lane/lane.hpp"
#include "jit/lane/order.hpp"
#include "jit/vector/vector.hpp"

namespace tenfold::jit {

/// An argument of an operation: a vector, or a constant in all lanes.
struct LaneSource {
  Vec vec = -1;               ///< -1: the constant
  std::uint64_t pattern = 0;  ///< its bits
  int bytes = 4;              ///< of a lane; kRoots: the constant is the table that LaneOp::exp2_eighths looks up, and
                              ///< the pattern its scale
  bool is_constant() const { return vec < 0; }

  static constexpr int kRoots = 32;
  static LaneSource roots(std::uint64_t scale_bits) { return {-1, scale_bits, kRoots}; }
  bool is_roots() const { return bytes == kRoots; }
  friend bool operator==(const LaneSource&, const LaneSource&) = default;
};

class LaneLayer {
 public:
  /// `lanes`: 4, 8, 16, 32 or 64, for all operations. `order`: of 8 lanes, straight; it is what load() and store() keep
  /// to.
  static std::unique_ptr<LaneLayer> make(Assembler& assembler, target::Isa isa, int lanes,
                                         LaneOrder order = LaneOrder::straight);
  virtual ~LaneLayer() = default;
  LaneLayer(const LaneLayer&) = delete;
  LaneLayer& operator=(const LaneLayer&) = delete;

  int lanes() const { return lanes_; }
  LaneOrder order() const { return order_; }
  /// Vectors that programs may use: [0, vectors()). The layer's own registers are above.
  virtual int vectors() const = 0;
  /// Registers of the layer's own that are free between its operations.
  virtual SpareVectors spare() const = 0;

  /// Makes the mask for tails of `count` lanes (1 to lanes - 1).
  virtual void prepare_tail(const Xbyak::Reg64& count) = 0;
  /// Whether load(), and store(), take Part::tail for elements of this dtype; memory past the tail is not touched.
  virtual bool loads_tails(DType dtype) const = 0;
  virtual bool stores_tails(DType dtype) const = 0;

  /// Before prepare_tail(), for each dtype that is loaded or stored. Keeps in registers what that reads all the time.
  virtual void prepare(DType) {}

  /// Elements side by side in memory, widened exactly: f32, bf16, f16 to f32 lanes; s8, s16, s32 to i32 lanes, u8, u16,
  /// u32 and boolean (0 or 1) to i32 lanes with zeros above; f64, s64, u64 as they are, and so all of 8 or 16 bits in
  /// lanes as narrow. Past a tail: zeros.
  virtual void load(Vec d, DType dtype, const Memory& from, Part part) = 0;
  /// Of a layer of 8 lanes: a whole step of f32, as f64. What memory gives takes no shuffle to be spread.
  virtual void load_wide(Vec d, const Memory& from) = 0;
  /// One element into all lanes.
  virtual void broadcast(Vec d, DType dtype, const Memory& from) = 0;
  /// For each of the layer's lanes, as i32: the s32 at `first`, and so many more as its element is behind the first one
  /// of a step, and `ahead`.
  virtual void number(Vec d, const Memory& first, int ahead) = 0;
  /// The way back: f32 lanes round to nearest even; integers keep their low bits; a boolean is the low byte of its
  /// lane. NaNs must be canonical. Keeps `s`.
  virtual void store(const Memory& to, DType dtype, Vec s, Part part) = 0;
  /// Whether LaneOp::join_bf16 can be asked for.
  virtual bool joins() const { return false; }
  /// A vector that the next stores may clobber; -1: there is none.
  void lend(Vec spare) { lent_ = spare; }

  /// A full step of elements of 32 or 64 bits, or of narrow ones in lanes as narrow, in straight order, past the
  /// caches; `to` is at a line's start.
  virtual void store_around(const Memory& to, DType dtype, Vec s) = 0;

  /// Lanes of `type` side by side in scratch, in whatever order they are.
  virtual void load_lanes(Vec d, LaneType type, const Memory& from) = 0;
  virtual void store_lanes(const Memory& to, LaneType type, Vec s) = 0;
  /// One lane in scratch, to all lanes.
  void load_all(Vec d, LaneType type, const Memory& from);
  /// The lanes of a layer of 4: each is `distance` bytes behind the one before, and read by itself, as it may just have
  /// been stored.
  virtual void gather_lanes(Vec d, LaneType type, const Memory& from, int distance) = 0;
  /// Whole vectors to and from scratch.
  virtual void spill(const Memory& to, Vec s) = 0;
  virtual void reload(Vec d, const Memory& from) = 0;

  /// Lane i of `d` = lane i + `by` of `s`, where there is one; `by` is a power of two. Other lanes hold anything.
  virtual void shift_lanes(Vec d, Vec s, LaneType type, int by) = 0;

  /// Keeps constants in registers until the next call, so that operations read no memory for them: in those of vector
  /// `first` and of as many behind it as it takes, which programs must leave alone.
  void hold(std::span<const LaneSource> constants, Vec first);
  /// How many constants a vector has room for.
  virtual int constants_of_vector() const = 0;
  /// The register that holds `source`; -1 when none does.
  int held(const LaneSource& source) const;

  /// The entries as a memory operand, as often as a register has room for them.
  Xbyak::Address table(const std::array<std::uint32_t, 8>& entries);

  /// d = op(args). `d` may be any of the arguments. Constants may stand anywhere.
  virtual void operate(const LaneNode& node, Vec d, std::span<const LaneSource> args) = 0;

  /// Masks that comparisons, and the top bits of what is shifted left, may be left in for selections, [0, masks()), so
  /// that no vector has to hold them.
  virtual int masks() const { return 0; }
  virtual void compare_into(int /*mask*/, const LaneNode& /*node*/, std::span<const LaneSource> /*args*/) {}
  /// args[0] is in the mask.
  virtual void select_by(int /*mask*/, const LaneNode& /*node*/, Vec /*d*/, std::span<const LaneSource> /*args*/) {}

 protected:
  LaneLayer(Assembler& assembler, int lanes, LaneOrder order)
      : assembler_(assembler), code_(assembler.code()), lanes_(lanes), order_(order) {}
  /// 32 bits a lane: what its element's number is in a step that begins with `first`; from byte `at` on.
  Xbyak::Address numbers(int first, int at);
  /// Four lanes of 32 bits to `lower`; of 64 bits two there, and two to `upper`.
  void gather_pairs(const Xbyak::Xmm& lower, const Xbyak::Xmm& upper, LaneType type, const Memory& from, int distance);
  /// A constant into all lanes of the register `index`.
  virtual void load_constant(int index, const LaneSource& source) = 0;

  Assembler& assembler_;
  Xbyak::CodeGenerator& code_;
  int lanes_;
  LaneOrder order_;
  Vec lent_ = -1;

 private:
  std::vector<LaneSource> held_;
  int first_held_ = 0;
};

/// The operations that go one lane after the other (divide_signed, divide_unsigned), between 64-byte places in scratch:
/// arguments are read from `a` and `b`, results written to `d` (which may be `a` or `b`). Only `lanes` lanes are
/// touched. Addresses have neither an index nor rax, rcx, rdx or rsp. Saves what it clobbers but flags.
void emit_lane_by_lane(Assembler& assembler, const LaneNode& node, int lanes, const Memory& d, const Memory& a,
                       const Memory& b);

std::unique_ptr<LaneLayer> make_avx2_lanes(Assembler& assembler, int lanes, LaneOrder order);
std::unique_ptr<LaneLayer> make_avx512_lanes(Assembler& assembler, target::Isa isa, int lanes, LaneOrder order);

}  // namespace tenfold::jit
