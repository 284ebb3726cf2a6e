// SPDX-License-Identifier: Apache-2.0
//
// KernelSpec: what a kernel computes, with no word on how. An iteration space of a few levels, operands with one
// element stride per level, and a body in single-assignment form. Printable, parsable, comparable; free of pointers.
//
//   kernel
//   space kept 4096, reduced 1024
//   in x0 f32 [1024, 1]
//   out y0 f32 [1, 0]
//   %0 = load x0
//   %1 = abs %0
//   %2 = reduce sum %1
//   %3 = sqrt %2
//   store y0 %3
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/tables.hpp"
#include "tenfold/dtype.hpp"
#include "tenfold/status.hpp"

namespace tenfold::kernel {

/// Most levels that a kernel's loop nest has after collapsing.
inline constexpr int kMaxLevels = 6;
/// As many streams as an L1 TLB has entries; bodies of more inputs are cut (src/compile/plan/kernel_sequence.hpp).
inline constexpr int kMaxInputs = 64;
/// More than a few streams of stores are no faster in one kernel: 16 products of f32 [512, 512] take twice as long with
/// 16 as with 8. Places of lines in order (is_ordered) are stored once a line.
inline constexpr int kMaxOutputs = 32, kMaxStreamedOutputs = 8;

/// One loop of the iteration space, outermost first.
struct Level {
  std::int64_t extent = 1;
  bool reduced = false;
  friend bool operator==(const Level&, const Level&) = default;
};

/// A tensor as the kernel walks it. `strides[l]` is the step in elements along level l; 0 repeats. Outputs have stride
/// 0 on reduced levels.
struct Operand {
  DType dtype = DType::f32;
  std::vector<std::int64_t> strides;
  friend bool operator==(const Operand&, const Operand&) = default;
};

/// One value of the body. Its arguments are indices of earlier nodes.
struct Node {
  enum class Kind : std::uint8_t {
    load,      ///< operand `index` of the inputs
    count,     ///< how many elements one output reduces (a run-time number)
    constant,  ///< `value`, as `dtype` has it
    cast,      ///< args[0] as `dtype`
    apply,     ///< `function` of `args`
    reduce,    ///< `monoid` over args[0], along all reduced levels
    scan,      ///< the sum of args[0] so far, along the one reduced level: a value of elements
    /// Of args[0] along the one reduced level, the element or index that has place `index` among all. An index may be
    /// what args[1], in s32 and growing along the level, says in its place.
    rank,
  };
  Kind kind = Kind::load;
  int index = 0;
  Function function = Function::abs;
  Monoid monoid = Monoid::sum;
  std::vector<int> args;
  DType dtype = DType::f32;  ///< of a constant or a cast
  double value = 0;          ///< of a constant
  bool last = false;         ///< of an arg-reduction: the last of equal elements, not the first
  /// Of a sum that a centred moment is beside (moments.hpp), and made with in one pass: follows from the moment's
  /// deviations, so that it is off by a share of these, not of the elements.
  bool centred = false;
  bool total = false;      ///< of a load: a reduction's result, which another kernel has made
  bool exclusive = false;  ///< of a scan: without its own element
  bool reverse = false;    ///< of a scan: from the last element on
  friend bool operator==(const Node&, const Node&) = default;
};
/// Whether it is a scan or a rank, which go by the order of the elements along the reduced level.
bool is_ordered(const Node& node) noexcept;
/// A function that takes a polynomial for each element.
bool is_expensive(const Node& node);

struct Store {
  int output = 0;
  int node = 0;
  friend bool operator==(const Store&, const Store&) = default;
};

struct KernelSpec {
  std::vector<Level> levels;
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  std::vector<Node> body;
  std::vector<Store> stores;
  friend bool operator==(const KernelSpec&, const KernelSpec&) = default;
};

inline const Level& level(const KernelSpec& spec, int index) { return spec.levels[static_cast<std::size_t>(index)]; }
inline const Node& node(const KernelSpec& spec, int index) { return spec.body[static_cast<std::size_t>(index)]; }

/// Whether any node is.
bool is_ordered(const KernelSpec& spec) noexcept;

/// How many outputs a kernel of such a body may have.
int most_outputs(const KernelSpec& spec) noexcept;

/// How many levels are reduced.
int reduced_levels(const KernelSpec& spec) noexcept;
/// The last, and the first level that is reduced or kept; -1 when there is none.
int innermost(const KernelSpec& spec, bool reduced) noexcept;
int outermost(const KernelSpec& spec, bool reduced) noexcept;

/// Drops levels of extent 1 and merges neighbours of the same kind that every operand walks as one. Levels are first
/// sorted by the first input's stride, widest outermost; without a reduced level, by the first output's. The result
/// computes the same thing; unsupported_shape when more than kMaxLevels remain.
Result<KernelSpec> collapse(KernelSpec spec);

/// Structural rules (operand ranks, node order, one load at least, stores of kept values, ...): internal_error if
/// broken.
Status check(const KernelSpec& spec);

/// The dtype of a value of the body: of a load its operand's, of a function its arguments' or boolean.
DType dtype_of(const KernelSpec& spec, int node);

/// Whether the operand has more than one element along the reduced levels.
bool moves_along_reduced(const KernelSpec& spec, const Operand& operand) noexcept;

/// By node: whether its value is the same along all reduced levels.
std::vector<bool> per_row(const KernelSpec& spec);

/// By node: whether it is an element's value that takes a polynomial to compute, behind what rows know of it; in an
/// elementwise spec, all values are elements'.
std::vector<bool> expensive_elements(const KernelSpec& spec);

/// True when nothing is reduced: neither a level nor a value.
bool is_elementwise(const KernelSpec& spec) noexcept;

/// Whether the function of a float follows from its bits, whatever their format: nothing is computed or rounded.
bool is_of_bits(Function function) noexcept;

/// The bytes of each value of the body where all of them have one width, 1 or 2, and are integers, booleans, or one
/// kind of floats of which no more than bits is asked; else 0.
int narrow_bytes(const KernelSpec& spec) noexcept;

/// Product of the kept, and of the reduced extents.
std::int64_t kept_count(const KernelSpec& spec) noexcept;
std::int64_t reduced_count(const KernelSpec& spec) noexcept;
/// Bytes of the elements that an operand has, each once however often it repeats.
std::int64_t operand_bytes(const KernelSpec& spec, const Operand& operand) noexcept;
/// Of all operands together.
std::int64_t bytes_moved(const KernelSpec& spec) noexcept;
/// Strides of a buffer without gaps over the kept levels, in their order; 0 on reduced ones.
std::vector<std::int64_t> dense_kept_strides(const KernelSpec& spec);
/// Bytes of the first input, an element counted each time it is read.
std::int64_t bytes_read(const KernelSpec& spec) noexcept;

std::string print(const KernelSpec& spec);
/// invalid_argument with the line number when `text` is not a spec.
Result<KernelSpec> parse(std::string_view text);

}  // namespace tenfold::kernel
