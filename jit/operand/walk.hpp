// SPDX-License-Identifier: Apache-2.0
//
// The loops of kernels whose body is a lane program, and their operands: any number, each with its own strides. Every
// level of loops has a row of operand pointers in scratch; entering a level copies the row of the level around it, and
// each turn adds that level's strides. The vector level is the caller's: one index, in elements, serves all operands.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "jit/vector/vector.hpp"
#include "kernel/spec.hpp"

namespace tenfold::jit {

/// Most rows that over_rows() takes at once.
inline constexpr int kMostRows = 8;
/// What code knows of how many rows a level has: the number, or how many are left of groups of kMostRows.
constexpr std::int64_t known_rows(std::int64_t extent) {
  return extent < kMostRows ? extent : kMostRows + extent % kMostRows;
}

class OperandWalk {
 public:
  OperandWalk(Assembler& assembler, const kernel::KernelSpec& spec, int vector_level);

  /// Loads the scratch pointer (rbp) and row 0.
  void start();
  /// First byte of scratch that the walk leaves to others.
  int scratch_end() const;

  std::size_t inputs() const { return spec_.inputs.size(); }
  std::size_t count() const { return spec_.inputs.size() + spec_.outputs.size(); }
  /// Inputs first, then outputs.
  const kernel::Operand& operand(std::size_t k) const;
  const kernel::KernelSpec& spec() const { return spec_; }
  /// The innermost one; -1 for none.
  int last_kept_level() const;
  std::int64_t vector_stride(std::size_t k) const { return is_turned(k) ? 1 : operand(k).strides[vector_level_]; }

  void load_extent(const Xbyak::Reg64& d, int level);
  /// Of all of it, also within cut().
  void load_own_extent(const Xbyak::Reg64& d, int level) const;
  /// In bytes; inside the blocks of a turned operand those between places of scratch.
  void load_stride(const Xbyak::Reg64& d, std::size_t k, int level) const;
  void load_vector_extent(const Xbyak::Reg64& d) { load_extent(d, static_cast<int>(vector_level_)); }

  /// Before start(): what operand `k` has along level `inside` and those after it is found turned (turned_rows.hpp)
  /// from byte `place` of scratch on, elements `apart` bytes from one another, in whole vectors.
  void turn(std::size_t k, int inside, int place, int apart);
  bool is_turned(std::size_t k) const { return turned_[k].inside >= 0; }
  /// Makes row depth + 1 of pointers: those of `depth`, but for what is turned, which is in scratch from the vector
  /// level's index `first` on; within cut(), of the piece.
  void enter_turned(std::size_t depth, const Xbyak::Reg64& first);
  /// From now on loops over `level` take a piece of it alone: its first element and how many it has are in the frame,
  /// at these offsets. -1: all of it again.
  void cut(int level, int first = 0, int extent = 0) { cut_ = {level, first, extent}; }
  /// Along the vector level, in memory: a pointer, and the bytes from one to the next.
  void load_row(const Xbyak::Reg64& d, std::size_t k, std::size_t depth, const Xbyak::Reg64& index);
  void load_pitch(const Xbyak::Reg64& d, std::size_t k) const;
  /// In memory, whether it is turned or not: the bytes from one to the next along a level, and where row `depth`
  /// stands.
  void load_own_stride(const Xbyak::Reg64& d, std::size_t k, int level) const;
  void load_pointer(const Xbyak::Reg64& d, std::size_t k, std::size_t depth) { c_.mov(d, pointer_slot(depth, k)); }
  Xbyak::Address pointer_slot(std::size_t depth, std::size_t k) const;
  /// A register that has it: one that is kept, or else `spare`, which it is loaded to.
  Xbyak::Reg64 pointer_of(std::size_t k, std::size_t depth, std::optional<Gpr>& spare) const;

  /// The rows along `level` follow one another along the vector level: an index runs on from one to the next.
  void join_rows(int level) { joined_ = level; }
  /// Whether rows along it begin wherever its strides say.
  bool has_rows_along(int level) const { return level != static_cast<int>(vector_level_) && level != joined_; }

  /// From now on over() and over_rows() are emitted to take the last row first.
  void set_backwards(bool backwards) { backwards_ = backwards; }
  bool goes_backwards() const { return backwards_; }
  /// From a row to the one that is taken after it, in bytes.
  void load_step(const Xbyak::Reg64& d, std::size_t k, int level);

  /// Runs `body` for every index of `levels`, outermost first. `depth`: that of the row outside; the body gets its own.
  void over(std::span<const int> levels, std::size_t depth, const std::function<void(std::size_t depth)>& body);

  /// Runs `body` for the rows of one level, `at_once` of them at a time, a power of two, as long as so many are left
  /// and the qword at `limit` says that it may (the body counts it down), else half as many, and so on. `rows` is how
  /// many; the body finds those beyond the first at depth beside(1), beside(2), ...
  void over_rows(int level, std::size_t depth, int at_once, const Memory& limit,
                 const std::function<void(std::size_t depth, int rows)>& body);
  /// Runs `body` for the rows of one level in groups of `rows`, of which the last may have fewer. Each row of a group
  /// has a frame of scratch, `frame_bytes` after that of the row before, with its own pointers at the body's depth; the
  /// body starts and ends in the first row's frame.
  void over_groups(int level, std::size_t depth, int rows, int frame_bytes,
                   const std::function<void(std::size_t depth)>& body);
  /// Runs `body` for the rows of one level, a row of each of kRuns runs of consecutive rows in turn, and then for what
  /// makes no run, row by row. The body finds its row at depth + 2, that of the first run at depth + 1.
  void over_runs(int level, std::size_t depth, const std::function<void(std::size_t depth)>& body);
  /// Within over_runs(), for an operand with its elements side by side: what ask_for_runs() asks for from now on is the
  /// row's share of what each run has next.
  void start_asking(std::size_t k, int level, std::size_t depth);
  /// Asks for a line of each run.
  void ask_for_runs();
  static constexpr int kRuns = 4;
  /// Within a group: runs `body` for each row, in its frame.
  void each_of_group(int frame_bytes, const std::function<void()>& body);
  std::size_t beside(int row) const { return spec_.levels.size() + static_cast<std::size_t>(row); }

  /// The first pointers of a row, in registers as long as this lives.
  class KeptPointers {
   public:
    KeptPointers(OperandWalk& walk, std::size_t depth);
    ~KeptPointers();
    KeptPointers(const KeptPointers&) = delete;
    KeptPointers& operator=(const KeptPointers&) = delete;

   private:
    OperandWalk& walk_;
    std::vector<std::unique_ptr<Gpr>> registers_;
  };

  /// Where in row `depth` an access stands: `index` + `offset` elements along the vector level; of a tail, as many as
  /// `tail_count` (a qword) says, and without `masks` they are staged.
  struct At {
    std::size_t depth;
    const Xbyak::Reg64& index;
    Part part;
    Memory tail_count;
    int offset = 0;
    bool masks = true;
    bool around = false;  ///< whole steps are stored past the caches, where OperandAccess::may_go_around() says so
    bool claim = false;   ///< others ask for the lines that are stored to OperandAccess::kClaimed bytes further on
  };

  /// Emits `ask` for the place `distance` bytes on from where `at` stands.
  void ahead(std::size_t k, const At& at, const Xbyak::Reg64& distance,
             const std::function<void(const Memory& place)>& ask);
  /// Visits kVisit elements of each of kRuns runs in turn, of those along the vector level that lie before `end`, then
  /// jumps to `rest`, for what is left from `index` on. A visit asks, first of all, for what is `distance` elements
  /// further on than `index`, where the next one begins, and then takes its elements, which moves `index` to `end`.
  void over_visits(const Xbyak::Reg64& index, const Xbyak::Reg64& end, const Xbyak::Label& rest,
                   const std::function<void(const Xbyak::Reg64& distance)>& ask, const std::function<void()>& take);
  /// For an operand with its elements side by side: asks for the first lines of that next visit.
  void ask_for_visit(std::size_t k, const At& at, const Xbyak::Reg64& distance);
  static constexpr int kVisit = 128;

 private:
  Xbyak::Address slot(int offset) const;
  void enter(int level, std::size_t depth, const Xbyak::Label& done);
  void to_last_row(const Xbyak::Reg64& pointer, std::size_t k, int level);
  void advance(int level, std::size_t depth, int rows);
  void point_beside(int level, std::size_t depth, int rows);
  void advance_by(int level, std::size_t depth, const Xbyak::Address& rows);

  Assembler& a_;
  Xbyak::CodeGenerator& c_;
  const kernel::KernelSpec& spec_;
  std::size_t vector_level_;
  struct Turned {
    int inside = -1;  ///< the first such level; -1: it is not
    int place = 0, apart = 0;
  };
  std::vector<Turned> turned_;            ///< by operand
  std::vector<std::optional<int>> kept_;  ///< by operand: register of its pointer in row kept_depth_
  std::size_t kept_depth_ = 0;
  int joined_ = -1;
  struct Piece {
    int level = -1;  ///< -1: there is none
    int first = 0, extent = 0;
  };
  Piece cut_;
  bool backwards_ = false;
};

}  // namespace tenfold::jit
