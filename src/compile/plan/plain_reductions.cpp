// SPDX-License-Identifier: Apache-2.0
#include "compile/plan/plain_reductions.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compile/plan/body_rest.hpp"
#include "compile/plan/kernel_draft.hpp"
#include "kernel/passes.hpp"
#include "schedule/body.hpp"
#include "schedule/levels.hpp"
#include "schedule/packed.hpp"
#include "schedule/stage_traits.hpp"

namespace tenfold::compiler {
namespace {

using kernel::Function;
using kernel::KernelSpec;
using kernel::Node;

bool is_half(DType dtype) { return dtype == DType::bf16 || dtype == DType::f16; }

/// Less is read in about the time that a call takes; but rows of which there are some are read several at a time.
constexpr std::int64_t kLeastBytes = 8192, kLeastBytesOfRows = 1024, kSomeRows = 16;
constexpr std::int64_t kLeastBytesOfColumns = 4096;
/// Of fewer rows columns hardly read more than they write, and would write it once more.
constexpr std::int64_t kLeastRowsOfColumns = 16;
/// Up to so much, which the caches hold, several reductions may read what one kernel would read once, and one of wider
/// elements gains, too. Of more memory sets the pace.
constexpr std::int64_t kMostNearBytes = 8 << 20;
/// Packed rows that two reductions may read, and three; of narrow elements two.
constexpr std::int64_t kMostWidthOfTwo = 128, kMostWidthOfThree = 16, kMostNarrowWidthOfTwo = 512;
/// Rows of cells that two reductions may read, or three of narrow elements, lie near; of wider ones so near.
constexpr std::int64_t kMostBytesOfThreeOfCells = 1 << 20;
/// Two extremes of shorter rows of 16 bits wait for the ends of rows twice.
constexpr std::int64_t kLeastWidthOfExtremes = 512;

/// One reduction, with the division by the count and the root that follow it, if nothing else asks for what they take.
struct PlainReduction {
  int reduce = 0;                ///< its node
  int result = 0;                ///< the last of its nodes
  int input = 0;                 ///< of the spec
  std::vector<Function> before;  ///< of each element, in order
  bool is_mean = false, is_root = false;
};

class PlainCutter {
 public:
  explicit PlainCutter(const KernelSpec& spec)
      : spec_(spec), per_row_(kernel::per_row(spec)), users_(spec.body.size(), 0), rest_(spec) {
    for (const Node& node : spec.body)
      for (const int arg : node.args) ++users_[at(arg)];
    for (const kernel::Store& store : spec.stores) ++users_[at(store.node)];
  }

  KernelCut run() {
    if (!find_reductions()) return {};
    for (const PlainReduction& one : reductions_)
      if (!add_plain(one)) return {};
    return pays() && add_rest() ? made_.finish() : KernelCut();
  }

 private:
  /// A plain reduction that is a kernel, as the heuristic sees it.
  struct PlainKernel {
    std::int64_t bytes, width, element;  ///< that it reads; elements of a row; bytes of one
    bool narrow, exact, columns, packed, cells;
  };

  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  const Node& node(int index) const { return kernel::node(spec_, index); }
  bool is_count(int index) const { return node(index).kind == Node::Kind::count; }

  /// Whether it is one pass of plain reductions, and all that is stored is a row's.
  bool find_reductions() {
    const std::vector<int> passes = kernel::passes_of(spec_);
    for (const kernel::Store& store : spec_.stores)
      if (!per_row_[at(store.node)]) return false;
    for (int i = 0; i < static_cast<int>(spec_.body.size()); ++i) {
      if (node(i).kind != Node::Kind::reduce) continue;
      if (passes[at(i)] > 1 || kernel::row(node(i).monoid).state == kernel::State::arg) return false;
      std::optional<PlainReduction> found = read(i);
      if (!found) return false;
      reductions_.push_back(std::move(*found));
    }
    return !reductions_.empty();
  }

  std::optional<PlainReduction> read(int reduce) const {
    PlainReduction one{.reduce = reduce, .result = reduce, .before = {}};
    int element = node(reduce).args[0];
    for (; node(element).kind != Node::Kind::load; element = node(element).args[0]) {
      const Node& step = node(element);
      if (step.args.size() != 1 || (step.kind == Node::Kind::cast && !widens_load(step))) return std::nullopt;
      if (step.kind == Node::Kind::apply) one.before.insert(one.before.begin(), step.function);
    }
    one.input = node(element).index;
    take_what_follows(one);
    return one;
  }

  /// Kernels take 16-bit floats as f32 in any case.
  bool widens_load(const Node& cast) const {
    return cast.dtype == DType::f32 && node(cast.args[0]).kind == Node::Kind::load &&
           is_half(kernel::dtype_of(spec_, cast.args[0]));
  }

  /// Up to there sums are f64, and are rounded once.
  void take_what_follows(PlainReduction& one) const {
    if (!is_floating(kernel::dtype_of(spec_, one.reduce))) return;
    for (int i = one.reduce + 1; i < static_cast<int>(spec_.body.size()); ++i) {
      const Node& next = node(i);
      if (next.kind != Node::Kind::apply || next.args[0] != one.result || users_[at(one.result)] != 1 || one.is_root)
        continue;
      const bool is_mean = !one.is_mean && next.function == Function::div && is_count(next.args[1]);
      if (!is_mean && next.function != Function::sqrt) continue;
      (is_mean ? one.is_mean : one.is_root) = true;
      one.result = i;
    }
  }

  /// Whether the kernel of rows, which has the sum rounded, would take such a step.
  bool leaves_wide_steps(const PlainReduction& one) const {
    return !one.is_root && std::any_of(spec_.body.begin(), spec_.body.end(), [&](const Node& next) {
      return next.kind == Node::Kind::apply && next.args[0] == one.result &&
             (next.function == Function::sqrt || (next.function == Function::div && is_count(next.args[1])));
    });
  }

  /// The output that takes the result and nothing else does, if its dtype is one that plain reductions give.
  const kernel::Store* only_store(const PlainReduction& one, bool chained) const {
    if (users_[at(one.result)] != 1) return nullptr;
    const DType input = spec_.inputs[at(one.input)].dtype;
    for (const kernel::Store& store : spec_.stores)
      if (const DType dtype = spec_.outputs[at(store.output)].dtype; store.node == one.result)
        return dtype == input || (chained && is_floating(dtype) && is_floating(input)) ? &store : nullptr;
    return nullptr;
  }

  bool add_plain(const PlainReduction& one) {
    const kernel::Operand& input = spec_.inputs[at(one.input)];
    const bool chained = kernel::row(node(one.reduce).monoid).state == kernel::State::chained;
    if (chained && is_floating(input.dtype) && leaves_wide_steps(one)) return false;
    KernelDraft draft(spec_.levels);
    int value = draft.load(input, {Place::Kind::operand, one.input, 0});
    for (const Function function : one.before) value = draft.apply(function, {value});
    value = draft.reduce(node(one.reduce).monoid, value);
    if (one.is_mean) value = draft.apply(Function::div, {value, draft.count()});
    if (one.is_root) value = draft.apply(Function::sqrt, {value});
    if (const kernel::Store* store = only_store(one, chained); store != nullptr) {
      draft.store(value, spec_.outputs[at(store->output)], {Place::Kind::operand, store->output, 0});
      rest_.leave_out(store->output);
    } else {
      const DType dtype = chained && is_half(input.dtype) ? DType::f32 : input.dtype;
      const Place place = made_.new_buffer(kernel::kept_count(spec_), dtype);
      draft.store(value, {dtype, kernel::dense_kept_strides(spec_)}, place);
      rest_.find(one.result, dtype, place);
    }
    return add(draft);
  }

  bool add(KernelDraft& draft) {
    Result<CutKernel> kernel = draft.finish(static_cast<double>(kernel::reduced_count(spec_)));
    if (!kernel.ok()) return false;
    const KernelSpec& spec = kernel.value().spec;
    const Result<schedule::ReduceBody> body = schedule::read_body(spec);
    if (!body.ok()) return false;
    const schedule::Lanes lanes = schedule::lanes_of(spec, body.value());
    const int level = schedule::vector_level_of(spec, spec.inputs[0]);
    const bool packed = schedule::packs(spec, body.value());
    const schedule::PackedRows rows = packed ? schedule::packed_rows(spec) : schedule::PackedRows();
    const std::int64_t element = byte_size(spec.inputs[0].dtype);
    plain_.push_back({kernel::bytes_read(spec), packed ? rows.width() : kernel::level(spec, level).extent, element,
                      element <= 2, schedule::is_exact(lanes), !packed && !kernel::level(spec, level).reduced, packed,
                      rows.cell > 1});
    made_.add(std::move(kernel).value());
    return true;
  }

  bool pays() const {
    const auto all = [this](auto holds) { return std::all_of(plain_.begin(), plain_.end(), holds); };
    const PlainKernel& first = plain_[0];
    const std::size_t several = plain_.size();
    const bool rows = !first.columns && kernel::kept_count(spec_) >= kSomeRows;
    if (first.bytes < (rows ? kLeastBytesOfRows : first.columns ? kLeastBytesOfColumns : kLeastBytes)) return false;
    const bool near = first.bytes <= kMostNearBytes;
    if (several == 1) {
      const bool few_rows = first.columns && kernel::reduced_count(spec_) < kLeastRowsOfColumns;
      return first.narrow || first.packed || (near && !few_rows);
    }
    // One kernel would turn them.
    if (all([](const PlainKernel& one) { return one.cells; }))
      return several == 2 ? near : several == 3 && (first.narrow ? near : first.bytes <= kMostBytesOfThreeOfCells);
    const bool exact = all([](const PlainKernel& one) { return one.exact; });
    if (exact && near && all([](const PlainKernel& one) { return one.element == 1; })) return several <= 3;
    if (all([](const PlainKernel& one) { return one.packed; }))
      return several == 2 ? first.width <= (first.narrow ? kMostNarrowWidthOfTwo : kMostWidthOfTwo)
                          : several == 3 && first.width <= kMostWidthOfThree;
    if (!near || several > 2 || !all([](const PlainKernel& one) { return one.narrow && !one.columns; })) return false;
    return exact ? first.width >= kLeastWidthOfExtremes : plain_[0].exact || plain_[1].exact;
  }

  /// The kernel of rows, where anything is left for it. It reduces nothing, and has no count of elements, by which
  /// means of integers are divided.
  bool add_rest() {
    KernelDraft draft = rest_.draft(false);
    return !draft.stores() || (!rest_.counts(draft) && made_.add(draft, kernel::reduced_count(spec_), {}).ok());
  }

  const KernelSpec& spec_;
  std::vector<bool> per_row_;
  std::vector<int> users_;  ///< by node: how many ask for it
  std::vector<PlainReduction> reductions_;
  std::vector<PlainKernel> plain_;
  BodyRest rest_;  ///< the kernel of rows
  CutDraft made_;
};

}  // namespace

bool has_slow_extremes(const KernelSpec& spec) {
  if (kernel::pass_count(spec) != 1 || kernel::bytes_read(spec) > kMostNearBytes) return false;
  bool reduces = false;
  for (const Node& node : spec.body) {
    if (node.kind != Node::Kind::reduce) continue;
    const int value = node.args[0];
    if (kernel::row(node.monoid).state != kernel::State::order || byte_size(kernel::dtype_of(spec, value)) > 2 ||
        kernel::node(spec, value).kind == Node::Kind::load || !schedule::stores_value(spec, value))
      return false;
    reduces = true;
  }
  return reduces;
}

KernelCut cut_into_plain(const KernelSpec& spec) { return PlainCutter(spec).run(); }

}  // namespace tenfold::compiler
