// SPDX-License-Identifier: Apache-2.0
//
// What arg-max and arg-min ask of an instruction set beyond the vector layer: elements widened to lanes of 32 or 64
// bits, so that an index fits beside each, the step that takes the more extreme one with its index, and what turns
// lanes into an answer. Works on the layer's vectors and masks; clobbers the layer's own registers only.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "jit/vector/vector.hpp"
#include "tenfold/dtype.hpp"

namespace tenfold::jit {

/// Which element an arg-reduction wants. A NaN beats every number, and -0 equals +0.
struct ExtremeRule {
  DType dtype = DType::f32;  ///< of the elements
  bool greatest = true;
  bool last = false;  ///< of equal ones (and of NaNs), not the first
};

/// Where the index of each lane is: in a vector, or in memory, the same in all lanes.
struct IndexSource {
  Vec vec = 0;
  const Memory* memory = nullptr;
};

/// The vectors of a set, and one that is free.
struct ArgPlaces {
  Vec best = 0, index = 0, sum = 0, loaded = 0;
};

/// Lanes of 64 bits for elements of as many, of 32 for all narrower ones.
inline int arg_lane_bits(DType dtype) { return byte_size(dtype) == 8 ? 64 : 32; }

class ArgVectors {
 public:
  explicit ArgVectors(VectorLayer& layer, Assembler& assembler)
      : v_(layer), assembler_(assembler), code_(assembler.code()) {}
  virtual ~ArgVectors() = default;
  ArgVectors(const ArgVectors&) = delete;
  ArgVectors& operator=(const ArgVectors&) = delete;

  /// One vector of lanes, exact: floats as f32 or f64, integers as signed ones in the same order (so unsigned elements
  /// as wide as their lane have their top bit flipped). Lanes past a tail may hold anything.
  virtual void load(Vec d, DType dtype, const Memory& from, Part part) = 0;
  /// Where x beats best: best = x and index = at. Lanes past a tail never do.
  virtual void take(const ExtremeRule& rule, Vec best, Vec index, Vec x, const IndexSource& at, Part part) = 0;
  /// The same of floats, without a care for NaNs in x: right if there is none, and cheaper by a third. Adds x to `sum`,
  /// which tells.
  virtual void take_number(const ExtremeRule& rule, Vec best, Vec index, Vec x, const IndexSource& at, Vec sum) = 0;
  /// The same of two rows in memory, whole vectors, for what takes_pairs() allows: of the earlier one, and of the later
  /// one, whose index is in `at`, one more. Clobbers `loaded`.
  virtual bool takes_pairs(DType) const { return false; }
  virtual void take_pair(const ExtremeRule&, const ArgPlaces&, const Memory& /*early*/, const Memory& /*late*/,
                         Vec /*at*/) {}
  /// The same of several whole steps, one after another in memory, of f32, f64 or s32: only the extreme of each lane
  /// goes against `best`; of integers nothing is summed. Clobbers `loaded`.
  virtual void take_group(const ExtremeRule& rule, const ArgPlaces& set, const std::vector<Memory>& steps, Vec at) = 0;
  /// Jumps when no lane of such a sum is a NaN, and so no x was.
  virtual void jump_if_numbers(Vec sum, int lane_bits, const Xbyak::Label& target) = 0;

  /// Adds `value` to each lane.
  virtual void add_constant(Vec d, int value, int lane_bits) = 0;
  /// Lane i becomes i.
  virtual void count_lanes(Vec d, int lane_bits) = 0;
  virtual void flip_signs(Vec d, int lane_bits) = 0;
  /// Bits of floats to integers in the same order (+0 above -0), and back.
  virtual void order_as_integers(Vec d, int lane_bits) = 0;
  /// Lane 0 of `s` in all lanes.
  virtual void spread(Vec d, Vec s, int lane_bits) = 0;
  /// Lanes of `index` where a and b differ become `none`.
  virtual void drop_unequal(Vec index, Vec a, Vec b, std::int64_t none, int lane_bits) = 0;
  /// A bit for each lane of x that equals that of `extreme` or is a NaN, the first lane's the lowest.
  virtual void find_equal(const Xbyak::Reg64& bits, const ExtremeRule& rule, Vec x, Vec extreme) = 0;
  /// Lane 0 of an index.
  virtual void get_index(const Xbyak::Reg64& d, Vec index, int lane_bits) = 0;
  virtual void set_index(Vec index, const Xbyak::Reg64& s, int lane_bits) = 0;
  /// Float lanes that are zeros get the signs of `signs`.
  virtual void sign_zeros(Vec d, Vec signs, int lane_bits) = 0;

  /// Indices as `dtype` (s32 or s64), the lanes of one vector side by side; full or one.
  virtual void store_index(const Memory& to, Vec s, int lane_bits, DType dtype, Part part) = 0;
  /// Integer lanes as elements of `dtype`; what load() flipped must have been flipped back. Full or one.
  virtual void store_integers(const Memory& to, Vec s, DType dtype, Part part) = 0;

 protected:
  VectorLayer& v_;
  Assembler& assembler_;
  Xbyak::CodeGenerator& code_;
};

std::unique_ptr<ArgVectors> make_avx2_arg_vectors(VectorLayer& layer, Assembler& assembler);
std::unique_ptr<ArgVectors> make_avx512_arg_vectors(VectorLayer& layer, Assembler& assembler);

/// VCMPPS and VCMPPD predicates, quiet ones: false, or where named so true, when an operand is a NaN.
namespace predicate {
inline constexpr std::uint8_t kEqual = 0x00;
inline constexpr std::uint8_t kUnordered = 0x03;
inline constexpr std::uint8_t kOrdered = 0x07;
inline constexpr std::uint8_t kGreaterEqual = 0x1d;
inline constexpr std::uint8_t kLessEqual = 0x12;
inline constexpr std::uint8_t kGreater = 0x1e;
inline constexpr std::uint8_t kLess = 0x11;
inline constexpr std::uint8_t kGreaterOrUnordered = 0x16;
inline constexpr std::uint8_t kLessOrUnordered = 0x19;
}  // namespace predicate

}  // namespace tenfold::jit
