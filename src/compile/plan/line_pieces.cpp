// SPDX-License-Identifier: Apache-2.0
#include "compile/plan/line_pieces.hpp"

#include <algorithm>
#include <span>

#include "compile/plan/kernel_draft.hpp"
#include "kernel/nodes.hpp"
#include "schedule/ordered.hpp"

namespace tenfold::compiler {
namespace {

using kernel::KernelSpec;
using kernel::Level;
using kernel::Monoid;
using kernel::Node;
using kernel::Operand;

using Strides = std::vector<std::int64_t>;

constexpr std::int64_t kFewLines = 8, kLeastElements = 512;
/// Pieces of a line: those that fill vectors first. Each has some elements more than there are pieces.
constexpr std::int64_t kSummedPieces[] = {64, 32, 48, 16}, kPlacedPieces[] = {32, 16};
constexpr std::int64_t kMostPieces = 63, kLeastPieces = 8, kLeastOfPiece = 16;
/// Of lines along which lanes run, so that pieces are for threads alone.
constexpr std::int64_t kLeastOfPieceInLanes = 1024;

/// 0: no number of pieces does. The first of all may be among what pieces leave.
std::int64_t pieces_of(const KernelSpec& spec) {
  const bool ranks = schedule::places_of(spec) > 0;
  const std::int64_t extent = kernel::reduced_count(spec);
  if (kernel::kept_count(spec) > kFewLines || extent < kLeastElements) return 0;
  const std::int64_t least = schedule::scans_in_lanes(spec) ? kLeastOfPieceInLanes : kLeastOfPiece;
  const auto does = [&](std::int64_t pieces) { return extent % pieces == 0 && extent / pieces >= least; };
  const std::span<const std::int64_t> preferred =
      ranks ? std::span<const std::int64_t>(kPlacedPieces) : std::span<const std::int64_t>(kSummedPieces);
  for (const std::int64_t pieces : preferred)
    if (does(pieces)) return pieces;
  for (std::int64_t pieces = kMostPieces; pieces >= kLeastPieces; --pieces)
    if (does(pieces)) return pieces;
  return ranks ? kLeastPieces * 2 : 0;
}

class LineCutter {
 public:
  LineCutter(const KernelSpec& spec, std::int64_t pieces)
      : spec_(spec),
        line_(static_cast<std::size_t>(kernel::innermost(spec, true))),
        pieces_(pieces),
        length_(kernel::reduced_count(spec) / pieces),
        rest_(kernel::reduced_count(spec) % pieces) {}

  Result<KernelCut> run() {
    const Status status = schedule::places_of(spec_) > 0 ? cut_ranks() : cut_scan();
    if (!status.ok()) return status;
    return cut_.finish();
  }

 private:
  /// The levels with the line's as two: a kept one of pieces, and that of a piece.
  std::vector<Level> levels_of_pieces() const {
    std::vector<Level> levels = spec_.levels;
    levels[line_] = {pieces_, false};
    levels.insert(levels.begin() + static_cast<std::ptrdiff_t>(line_) + 1, {length_, true});
    return levels;
  }
  /// With one of so many elements of each line.
  std::vector<Level> levels_of(std::int64_t elements) const {
    std::vector<Level> levels = spec_.levels;
    levels[line_] = {elements, true};
    return levels;
  }
  Operand in_pieces(const Operand& operand) const {
    Operand made = operand;
    const std::int64_t stride = operand.strides[line_];
    made.strides[line_] = stride * length_;
    made.strides.insert(made.strides.begin() + static_cast<std::ptrdiff_t>(line_) + 1, stride);
    return made;
  }
  /// A tensor of ours with so many elements a line, one after another, of levels as the spec has them.
  Strides dense(std::int64_t elements) const {
    Strides strides(spec_.levels.size(), 1);
    std::int64_t at = elements;
    for (std::size_t level = spec_.levels.size(); level-- > 0;) {
      if (level == line_) continue;
      strides[level] = at;
      at *= spec_.levels[level].extent;
    }
    return strides;
  }
  /// The same where levels are those of pieces: `apart` elements from one piece to the next.
  Operand by_piece(DType dtype, std::int64_t apart) const {
    Strides strides = dense(pieces_ * apart + rest_);
    strides[line_] = apart;
    strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(line_) + 1, 0);
    return {dtype, strides};
  }

  Status cut_scan() {
    const auto scan = std::ranges::find(spec_.body, Node::Kind::scan, &Node::kind);
    const DType dtype = spec_.inputs[0].dtype, wide = kernel::dtype_of(spec_, scan->args[0]);
    const std::int64_t count = kernel::kept_count(spec_) * pieces_;
    const Place totals = cut_.new_buffer(count, wide), before = cut_.new_buffer(count, wide);
    const Place x{Place::Kind::operand, 0, 0}, y{Place::Kind::operand, 0, 0};

    KernelDraft sums(levels_of_pieces());
    const int summed = sums.cast(wide, sums.load(in_pieces(spec_.inputs[0]), x));
    sums.store(sums.reduce(Monoid::sum, summed), by_piece(wide, 1), totals);
    if (Status status = cut_.add(sums, length_, {}); !status.ok()) return status;

    KernelDraft scans(levels_of(pieces_));
    const Operand by_line{wide, dense(pieces_)};
    scans.store(scans.add(kernel::scan_node(scans.load(by_line, totals), true, scan->reverse)), by_line, before);
    if (Status status = cut_.add(scans, pieces_, {}); !status.ok()) return status;

    KernelDraft whole(levels_of_pieces());
    const int element = whole.cast(wide, whole.load(in_pieces(spec_.inputs[0]), x));
    const int within = whole.add(kernel::scan_node(element, scan->exclusive, scan->reverse));
    const int sum = whole.apply(kernel::Function::add, {within, whole.load(by_piece(wide, 1), before)});
    whole.store(whole.cast(dtype, sum), in_pieces(spec_.outputs[0]), y);
    return cut_.add(whole, length_, {});
  }

  Status cut_ranks() {
    const std::int64_t places = schedule::places_of(spec_);
    const DType dtype = spec_.inputs[0].dtype;
    const std::int64_t candidates = pieces_ * places + rest_, count = kernel::kept_count(spec_) * candidates;
    const Place firsts = cut_.new_buffer(pieces_, DType::s32), values = cut_.new_buffer(count, dtype),
                indices = cut_.new_buffer(count, DType::s32);
    const Place x{Place::Kind::operand, 0, 0};

    // The index that each piece begins with: so many lengths before it.
    KernelDraft begins({{pieces_, true}});
    begins.load({dtype, {0}}, x);
    const int length = begins.constant(DType::s32, static_cast<double>(length_));
    begins.store(begins.add(kernel::scan_node(length, true, false)), {DType::s32, {1}}, firsts);
    if (Status status = cut_.add(begins, pieces_, {}); !status.ok()) return status;

    KernelDraft pieces(levels_of_pieces());
    const int element = pieces.load(in_pieces(spec_.inputs[0]), x);
    Operand first = by_piece(DType::s32, 1);
    for (std::size_t level = 0; level < first.strides.size(); ++level)
      if (level != line_) first.strides[level] = 0;
    const int begin = pieces.cast(DType::s64, pieces.load(first, firsts));
    const bool least = std::ranges::any_of(
        spec_.body, [](const Node& node) { return node.monoid == Monoid::min || node.monoid == Monoid::argmin; });
    for (int place = 0; place < places; ++place) {
      const int found = pieces.add(kernel::rank_node(least ? Monoid::min : Monoid::max, place, element));
      pieces.store(found, by_piece(dtype, places), {values.kind, values.index, place * byte_size(dtype)});
      const int number = pieces.add(kernel::rank_node(least ? Monoid::argmin : Monoid::argmax, place, element));
      pieces.store(pieces.apply(kernel::Function::add, {number, begin}), by_piece(DType::s32, places),
                   {indices.kind, indices.index, place * byte_size(DType::s32)});
    }
    if (Status status = cut_.add(pieces, length_, {}); !status.ok()) return status;

    if (rest_ > 0)
      if (Status status =
              add_rest({dtype, dense(candidates)}, values, {DType::s32, dense(candidates)}, indices, pieces_ * places);
          !status.ok())
        return status;
    KernelDraft whole(levels_of(candidates));
    const int value = whole.load({dtype, dense(candidates)}, values);
    const int index = whole.load({DType::s32, dense(candidates)}, indices);
    for (const kernel::Store& store : spec_.stores) {
      Node node = kernel::node(spec_, store.node);
      node.args = {value};
      if (gives_index(node)) node.args.push_back(index);
      whole.store(whole.add(std::move(node)), spec_.outputs[static_cast<std::size_t>(store.output)],
                  {Place::Kind::operand, store.output, 0});
    }
    return cut_.add(whole, candidates, {});
  }

  /// What lies behind the last piece, element by element, with its indices, from candidate `first` on.
  Status add_rest(const Operand& values, Place to_values, const Operand& indices, Place to_indices,
                  std::int64_t first) {
    const Operand& x = spec_.inputs[0];
    const std::int64_t taken = pieces_ * length_;
    const auto behind = [first](Place place, DType dtype) {
      return Place{place.kind, place.index, first * byte_size(dtype)};
    };
    std::vector<Level> kept = levels_of(rest_);
    kept[line_].reduced = false;
    KernelDraft copies(kept);
    copies.store(copies.load(x, {Place::Kind::operand, 0, taken * x.strides[line_] * byte_size(x.dtype)}), values,
                 behind(to_values, x.dtype));
    if (Status status = cut_.add(copies, 1, {}); !status.ok()) return status;
    // One element has no order.
    const bool several = rest_ > 1;
    KernelDraft numbers(several ? levels_of(rest_) : kept);
    numbers.load({x.dtype, Strides(spec_.levels.size(), 0)}, {Place::Kind::operand, 0, 0});
    int number = numbers.constant(DType::s32, static_cast<double>(taken));
    if (several) {
      const int before = numbers.add(kernel::scan_node(numbers.constant(DType::s32, 1), true, false));
      number = numbers.apply(kernel::Function::add, {before, number});
    }
    numbers.store(number, indices, behind(to_indices, DType::s32));
    return cut_.add(numbers, rest_, {});
  }

  static bool gives_index(const Node& node) { return kernel::row(node.monoid).state == kernel::State::arg; }

  const KernelSpec& spec_;
  std::size_t line_;
  std::int64_t pieces_, length_, rest_;  ///< elements of a piece, and behind the last one
  CutDraft cut_;
};

}  // namespace

Result<KernelCut> cut_lines(const KernelSpec& spec) {
  const std::int64_t pieces = kernel::is_ordered(spec) ? pieces_of(spec) : 0;
  if (pieces == 0) return KernelCut{};
  return LineCutter(spec, pieces).run();
}

}  // namespace tenfold::compiler
