// SPDX-License-Identifier: Apache-2.0
//
// Random graphs of 8 to 16 ops, compiled with fusion and without: against the reference evaluator, which runs them as
// drawn, before any pass, within its composed bounds; with equal bits on all levels and for 1, 2 and 3 threads, and,
// where no op reduces, with equal bits fused and unfused. A failure is shrunk, and printed as a graph file.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>

#include "compile/compile.hpp"
#include "dialect_form.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "fused_case.hpp"
#include "graph/eval/bound.hpp"
#include "graph/eval/eval.hpp"
#include "graph/pass/pass.hpp"
#include "graph/read/json.hpp"
#include "graph/text/text.hpp"
#include "guarded_buffer.hpp"
#include "prepared_case.hpp"
#include "settings.hpp"
#include "subjects.hpp"
#include "test_pool.hpp"

namespace tenfold::numeric {
namespace {

using compiler::Compiled;
using compiler::RegionReport;

/// Of the base shape, of the cases that are emulated too, and of the one case of kLargeEvery that threads share.
constexpr FusedSizes kUsual{600, false}, kEmulated{160, false}, kLarge{140'000, true};
constexpr std::uint64_t kLargeEvery = 250, kEmulatedEvery = 20, kPiecesEvery = 2;
constexpr std::int64_t kCasesPerTest = 2500;
constexpr int kMostFailures = 3;
/// A bound of this part of the greatest element says something.
constexpr double kUsefulBound = 0.125;

struct Output {
  TensorDesc desc;
  std::vector<std::int64_t> offsets;
  Elements expected;           ///< row-major, without gaps
  std::vector<double> bounds;  ///< the same; empty: all 0
};

/// A case with its data, the reference's answer, and what the passes make of its graph.
class Ready {
 public:
  static Result<Ready> make(const FusedCase& c, GuardedBuffer::Guard guard) {
    Ready ready(guard);
    ready.core_ = c.graph;
    if (const Status status = graph::run_pipeline(ready.core_); !status.ok()) return status;
    ready.input_places_ = places(ready.core_, ready.core_.inputs, c.graph, c.graph.inputs);
    ready.output_places_ = places(ready.core_, ready.core_.outputs, c.graph, c.graph.outputs);
    if (ready.output_places_.size() != c.graph.outputs.size())
      return Status(Code::internal_error, "the passes lost an output");
    std::vector<graph::ConstTensor> ins;
    for (const graph::ValueId id : c.graph.inputs) {
      const graph::Value& value = c.graph.values[id];
      const TensorDesc desc = graph::desc_of(value);
      ready.inputs_.push_back(std::make_unique<GuardedBuffer>(bytes_of(desc), guard));
      GuardedBuffer& data = *ready.inputs_.back();
      std::fill_n(data.data(), data.size(), std::byte{0xff});
      fill_input(c, value, data.data());
      ready.copies_.emplace_back(data.data(), data.data() + data.size());
      ins.push_back({desc, data.data()});
    }
    std::vector<graph::MutableTensor> outs;
    for (const graph::ValueId id : c.graph.outputs) {
      Output output{graph::desc_of(c.graph.values[id]), {}, {}, {}};
      output.offsets = element_offsets(output.desc);
      output.expected.resize(output.offsets.size() * static_cast<std::size_t>(byte_size(output.desc.dtype)));
      ready.outputs_.push_back(std::move(output));
    }
    for (Output& output : ready.outputs_)
      outs.push_back({{output.desc.dtype, output.desc.shape, {}}, output.expected.data()});
    std::vector<std::vector<double>> bounds;
    const Status status = graph::evaluate_with_bounds(c.graph, ins, outs, bounds);
    if (!status.ok()) return status;
    for (std::size_t i = 0; i < bounds.size(); ++i) ready.outputs_[i].bounds = std::move(bounds[i]);
    return ready;
  }

  static std::size_t bytes_of(const TensorDesc& desc) { return static_cast<std::size_t>(span_bytes(desc).value()); }
  const std::vector<Output>& outputs() const { return outputs_; }
  /// After the passes.
  const graph::Graph& core() const { return core_; }

  /// How `compiled` is run: natively on so many threads, or emulated on a level.
  struct Way {
    target::Isa isa;
    bool native = true;
    int threads = 1;
    ThreadPool* pool = nullptr;
  };

  /// All outputs' elements, or what is wrong.
  std::string run(const Compiled& compiled, const Way& way, Elements& elements) const {
    std::vector<const void*> ins;
    std::vector<void*> outs;
    std::vector<Bytes> in_bytes, out_bytes;
    std::vector<std::unique_ptr<GuardedBuffer>> outputs;
    for (const std::size_t place : input_places_) {
      ins.push_back(inputs_[place]->data());
      in_bytes.push_back({inputs_[place]->data(), inputs_[place]->size()});
    }
    for (const Output& output : outputs_) {
      outputs.push_back(std::make_unique<GuardedBuffer>(bytes_of(output.desc), guard_));
      std::fill_n(outputs.back()->data(), outputs.back()->size(), GuardedBuffer::kCanary);
    }
    for (const std::size_t place : output_places_) {
      outs.push_back(outputs[place]->data());
      out_bytes.push_back({outputs[place]->data(), outputs[place]->size()});
    }
    const Status status = !way.native       ? emulated_run(compiled.program, way.isa, in_bytes, out_bytes)
                          : way.threads > 1 ? runtime::run(compiled.program, ins, outs, way.pool, way.threads)
                                            : run_at(compiled.program, way.isa, in_bytes, out_bytes);
    if (!status.ok()) return status.message();
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (!std::equal(copies_[i].begin(), copies_[i].end(), inputs_[i]->data()) || !inputs_[i]->canary_intact())
        return "input " + std::to_string(i) + " was written";
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const std::string wrong = judge(i, *outputs[i], elements);
      if (!wrong.empty()) return "output " + std::to_string(i) + ": " + wrong;
    }
    return "";
  }

  /// Whether the bounds say anything about most elements of an output.
  static bool is_bounded(const Output& output) {
    if (output.bounds.empty()) return true;
    double greatest = 0;
    const DType dtype = output.desc.dtype;
    for (std::size_t i = 0; i < output.offsets.size(); ++i) {
      const double value = std::fabs(graph::load_real(dtype, output.expected.data(), static_cast<std::int64_t>(i)));
      if (std::isfinite(value)) greatest = std::max(greatest, value);
    }
    const double most = is_floating(dtype) ? kUsefulBound * greatest : dtype == DType::boolean ? 0 : 1;
    std::size_t useful = 0;
    for (const double bound : output.bounds) useful += bound <= most ? 1 : 0;
    return 2 * useful >= output.bounds.size();
  }

 private:
  explicit Ready(GuardedBuffer::Guard guard) : guard_(guard) {}

  /// Where each of `own` values stands among those of the graph as drawn; passes drop inputs that nothing needs.
  static std::vector<std::size_t> places(const graph::Graph& core, const std::vector<graph::ValueId>& own,
                                         const graph::Graph& drawn, const std::vector<graph::ValueId>& all) {
    std::vector<std::size_t> found;
    for (const graph::ValueId value : own)
      for (std::size_t i = 0; i < all.size(); ++i)
        if (drawn.values[all[i]].id == core.values[value].id) found.push_back(i);
    return found;
  }

  std::string judge(std::size_t index, const GuardedBuffer& got, Elements& elements) const {
    const Output& output = outputs_[index];
    const DType dtype = output.desc.dtype;
    const auto size = static_cast<std::size_t>(byte_size(dtype));
    if (!got.canary_intact()) return "bytes beside it were written";
    Elements rest(got.data(), got.data() + got.size());
    Elements nan(size);
    if (is_floating(dtype)) graph::store_real(dtype, nan.data(), 0, NAN);
    for (std::size_t position = 0; position < output.offsets.size(); ++position) {
      const double bound = output.bounds.empty() ? 0 : output.bounds[position];
      const std::size_t at = static_cast<std::size_t>(output.offsets[position]) * size;
      const std::byte* const want = output.expected.data() + position * size;
      const std::byte* const have = got.data() + at;
      elements.insert(elements.end(), have, have + size);
      std::fill_n(rest.data() + at, size, GuardedBuffer::kCanary);
      if (std::memcmp(want, have, size) == 0) continue;
      const double a = graph::load_real(dtype, want, 0), b = graph::load_real(dtype, have, 0);
      const bool canonical = !std::isnan(b) || std::memcmp(nan.data(), have, size) == 0;
      if (canonical && graph::agree(dtype, a, b, bound) && (dtype != DType::boolean || bound > 0)) continue;
      char text[200];
      std::snprintf(text, sizeof text, "element %zu is %.17g, expected %.17g within %g%s", position, b, a, bound,
                    canonical ? "" : " (not the canonical NaN)");
      return text;
    }
    for (const std::byte byte : rest)
      if (byte != GuardedBuffer::kCanary) return "bytes between its elements were written";
    return "";
  }

  GuardedBuffer::Guard guard_;
  graph::Graph core_;
  std::vector<std::size_t> input_places_, output_places_;  ///< by core_'s, in the graph as drawn
  std::vector<std::unique_ptr<GuardedBuffer>> inputs_;
  std::vector<Elements> copies_;
  std::vector<Output> outputs_;
};

struct FusedSubject {
  std::string name;
  DType main;
};
void PrintTo(const FusedSubject& subject, std::ostream* out) { *out << subject.name; }

class Fused : public ::testing::TestWithParam<FusedSubject> {
 protected:
  static bool is_emulated(std::uint64_t index) { return index % kEmulatedEvery == 0 && index % kLargeEvery != 0; }

  /// The last cache decides what is prefetched, kept, and stored around the caches, but no bit. One way of two has
  /// none, and it is far away for half the cases whatever the machine, fast or late for the others.
  static Result<Compiled> compile(const graph::Graph& graph, target::Isa isa, bool fuse, std::uint64_t index,
                                  const compiler::RowPieces& pieces = {}) {
    target::Target target = target::host().ok() ? target::host().value() : target::Target{};
    target.isa = isa;
    if ((index / 2 + static_cast<std::uint64_t>(isa) + (fuse ? 1 : 0)) % 2 == 0) target.l2_bytes = target.l3_bytes = 0;
    constexpr target::L3 kKinds[] = {target::L3::far, target::L3::fast, target::L3::far, target::L3::late};
    target.l3 = kKinds[index / 4 % std::size(kKinds)];
    return compiler::compile(graph, target, {.fuse = fuse, .pieces = pieces});
  }

  /// What is wrong with the case, or nothing. `counts` leaves its trace in the summary.
  std::string check(const FusedCase& c, std::uint64_t index, bool counts) {
    const auto guard = index % 2 == 0 ? GuardedBuffer::Guard::after : GuardedBuffer::Guard::before;
    const Result<Ready> made = Ready::make(c, guard);
    if (!made.ok()) return made.status().message();
    const Ready& ready = made.value();
    if (counts) count_outputs(ready);
    Elements first;
    const std::vector<target::Isa> native = native_levels();
    for (const target::Isa isa : all_levels()) {
      const bool is_native = std::ranges::count(native, isa) > 0;
      if (!is_native && !is_emulated(index)) continue;
      const std::string where = std::string(target::to_string(isa)) + (is_native ? "" : " emulated") + ", fused: ";
      const Result<Compiled> compiled = compile(ready.core(), isa, true, index);
      if (!compiled.ok()) return where + compiled.status().message();
      if (counts) count_regions(ready.core(), compiled.value(), isa);
      for (const int threads : {1, 2, 3}) {
        if (threads > 1 && (!is_native || index % kLargeEvery != 0)) continue;
        TestPool* const pool = threads == 2 ? &two_ : threads == 3 ? &three_ : nullptr;
        Elements got;
        const std::string wrong = ready.run(compiled.value(), {isa, is_native, threads, pool}, got);
        if (!wrong.empty()) return where + std::to_string(threads) + " threads: " + wrong;
        if (first.empty()) first = got;
        if (got != first) return where + std::to_string(threads) + " threads: other bits than the first way";
      }
    }
    if (const std::string wrong = check_pieces(ready, index, counts); !wrong.empty()) return wrong;
    if (native.empty()) return "";
    const target::Isa isa = native[index % native.size()];
    const Result<Compiled> apart = compile(ready.core(), isa, false, index);
    if (!apart.ok()) return "unfused: " + apart.status().message();
    Elements got;
    const std::string wrong = ready.run(apart.value(), {isa, true, 1, nullptr}, got);
    if (!wrong.empty()) return "unfused: " + wrong;
    const bool reduces = std::ranges::any_of(ready.core().ops, [](const graph::Op& op) { return op.kind == "reduce"; });
    return reduces || got == first ? "" : "fused gives other bits than unfused";
  }

  /// Rows of a few vectors in pieces of one or two, as rows that no cache holds would be, and narrow columns of a few
  /// rows in pieces that take them in turn.
  std::string check_pieces(const Ready& ready, std::uint64_t index, bool counts) {
    if (index % kPiecesEvery != 0) return "";
    const std::int64_t piece = index / kPiecesEvery % 2 == 0 ? 16 : 32;
    compiler::RowPieces pieces{piece, 2 * piece, 2 * piece, 16, 0, 0, 0};
    pieces.plain_apart = false;
    pieces.narrow_row = 64;
    pieces.narrow_from = pieces.moments_from = 4;
    pieces.moments_row = 64;
    pieces.narrow_columns = 3 * piece;
    pieces.narrow_least_rows = 2;
    pieces.apart_least = 2;
    pieces.apart_exponentials_rows = 1;
    Elements first;
    const std::vector<target::Isa> native = native_levels();
    for (const target::Isa isa : all_levels()) {
      const bool is_native = std::ranges::count(native, isa) > 0;
      if (!is_native && !is_emulated(index)) continue;
      const Result<Compiled> compiled = compile(ready.core(), isa, true, index, pieces);
      if (!compiled.ok()) return "in pieces: " + compiled.status().message();
      if (counts)
        for (const RegionReport& region : compiled.value().regions) in_pieces_ += region.kernels.size() > 2 ? 1 : 0;
      Elements got;
      std::string wrong = ready.run(compiled.value(), {isa, is_native, 1, nullptr}, got);
      if (first.empty()) first = got;
      if (wrong.empty() && got != first) wrong = "other bits than the first way";
      if (!wrong.empty()) return "in pieces, " + std::string(target::to_string(isa)) + ": " + wrong;
    }
    return "";
  }

  void count_outputs(const Ready& ready) {
    for (const Output& output : ready.outputs()) {
      ++outputs_;
      if (!Ready::is_bounded(output)) ++skipped_;
    }
  }

  void count_regions(const graph::Graph& graph, const Compiled& compiled, target::Isa isa) {
    for (const RegionReport& region : compiled.regions) {
      ++regions_;
      if (region.kind == RegionReport::Kind::reference) ++reasons_[region.reason];
      for (const compiler::KernelReport& kernel : region.kernels)
        ++nests_[std::string(schedule::to_string(kernel.schedule.nest))];
      if (region.ops.size() < 2 || isa != all_levels().front()) continue;
      ++fused_regions_;
      if (is_cut_into_plain(region)) ++plain_;
      for (const graph::Op& op : graph.ops)
        if (std::ranges::count(region.ops, graph::describe(op)) > 0) ++fused_ops_[op.kind];
    }
  }

  /// Its reductions are kernels of their own.
  static bool is_cut_into_plain(const RegionReport& region) {
    const auto is_staged = [](const compiler::KernelReport& kernel) {
      return schedule::is_staged(kernel.schedule.nest);
    };
    return region.kernels.size() > 1 && region.kernels.front().schedule.nest != schedule::Nest::flat &&
           std::ranges::none_of(region.kernels, is_staged);
  }

  void print(std::uint64_t cases) const {
    const auto list = [](const std::map<std::string, std::int64_t>& counts) {
      std::string line;
      for (const auto& [key, count] : counts) line += " " + key + " " + std::to_string(count) + ",";
      return line;
    };
    std::printf(
        "%llu graphs, %lld outputs (%lld without a useful bound), %lld regions;%s %lld of several ops, of:%s "
        "%lld regions of plain reductions, %lld of rows in pieces, pool used %lld times, seed %llu\n",
        static_cast<unsigned long long>(cases), static_cast<long long>(outputs_), static_cast<long long>(skipped_),
        static_cast<long long>(regions_), list(nests_).c_str(), static_cast<long long>(fused_regions_),
        list(fused_ops_).c_str(), static_cast<long long>(plain_), static_cast<long long>(in_pieces_),
        static_cast<long long>(two_.calls() + three_.calls()), static_cast<unsigned long long>(test_seed()));
    for (const auto& [reason, count] : reasons_)
      std::printf("  on the reference %lld times: %s\n", static_cast<long long>(count), reason.c_str());
  }

  TestPool two_{2}, three_{3};
  std::int64_t outputs_ = 0, skipped_ = 0, regions_ = 0, fused_regions_ = 0, plain_ = 0, in_pieces_ = 0;
  std::map<std::string, std::int64_t> nests_, fused_ops_, reasons_;
};

TEST_P(Fused, AgreesWithTheReferenceAndWithUnfused) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  const auto cases = static_cast<std::uint64_t>(scaled_cases(kCasesPerTest));
  int failures = 0;
  for (std::uint64_t index = 0; index < cases && failures < kMostFailures; ++index) {
    if (only_case().value_or(index) != index) continue;
    std::mt19937_64 random(case_seed(test_name(), index));
    const FusedSizes& sizes = index % kLargeEvery == 0 ? kLarge : is_emulated(index) ? kEmulated : kUsual;
    const FusedCase c = random_fused_case(GetParam().main, sizes, random);
    const std::string wrong = check(c, index, true);
    if (wrong.empty()) continue;
    ++failures;
    const FusedCase small = shrunk(c, [&](const FusedCase& smaller) { return !check(smaller, index, false).empty(); });
    ADD_FAILURE() << wrong << "\nshrunk to " << check(small, index, false) << "\n"
                  << small.text() << "\n"
                  << graph_file(small.graph) << "\n"
                  << repeat_line(test_name(), index);
  }
  print(cases);
  if (only_case() || failures > 0 || cases < 500) return;
  EXPECT_LE(skipped_ * 5, outputs_) << "too many outputs have no useful bound";
  for (const char* nest : {"flat", "rows", "columns", "staged_rows", "staged_columns"})
    EXPECT_GT(nests_[nest], 0) << nest;
  for (const char* kind : {"map", "cast", "select", "reduce", "arg_reduce", "reshape", "transpose", "broadcast"})
    EXPECT_GT(fused_ops_[kind], 0) << kind;
  EXPECT_GT(in_pieces_, 0) << "no rows in pieces";
  EXPECT_GT(plain_, 0) << "no reductions apart";
  if (native_levels().empty() || cases < 4 * kLargeEvery) return;
  EXPECT_GT(two_.calls() + three_.calls(), 0) << "no case was large enough for threads";
}

/// What is printed of a failing graph can be read: most graphs have a form in the dialects, and mean the same in it.
TEST_P(Fused, GraphsCanBeWrittenToFiles) {
  int written = 0;
  for (std::uint64_t index = 0; index < 100; ++index) {
    std::mt19937_64 random(case_seed(test_name(), index));
    const FusedCase c = random_fused_case(GetParam().main, kUsual, random);
    const std::string text = graph_file(c.graph);
    if (text.starts_with("no graph file")) continue;
    ++written;
    FusedCase again = c;
    const Result<graph::Graph> read = graph::read_json(text);
    ASSERT_TRUE(read.ok()) << read.status().message() << "\n" << text;
    again.graph = read.value();
    const Result<Ready> made = Ready::make(c, GuardedBuffer::Guard::after);
    const Result<Ready> same = Ready::make(again, GuardedBuffer::Guard::after);
    ASSERT_TRUE(made.ok() && same.ok()) << made.status().message() << same.status().message() << "\n" << text;
    ASSERT_EQ(again.graph.outputs.size(), c.graph.outputs.size()) << text;
    for (const Output& output : made.value().outputs())
      EXPECT_TRUE(std::ranges::any_of(same.value().outputs(),
                                      [&](const Output& other) { return other.expected == output.expected; }))
          << c.text() << "\n"
          << text;
  }
  EXPECT_GE(written, 20);
}

/// Rows with infinities and NaN in some pieces or in all: the same as whole rows give.
TEST(Pieces, WhatIsNoNumberGoesAsInWholeRows) {
  if (native_levels().empty()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  constexpr std::size_t kRows = 7, kColumns = 100;
  const std::string all = " : f32[7,100]\n", row = " : f32[7,1]\n", reduce = "keep_dims = true, axes = [1]}";
  const Result<graph::Graph> graph =
      graph::parse("graph {\n %0 = input" + all + " %1 = core.reduce (%0) {reduction = \"max\", " + reduce + row +
                   " %2 = core.map (%0, %1) {function = \"sub\"}" + all + " %3 = core.map (%2) {function = \"exp\"}" +
                   all + " %4 = core.reduce (%3) {reduction = \"sum\", " + reduce + row +
                   " %5 = core.map (%3, %4) {function = \"div\"}" + all + " output %4, %5\n}\n");
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x(kRows * kColumns);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 17) - 8;
  std::fill_n(x.begin(), kColumns, -kInfinity);                 // row 0 has no number
  std::fill_n(x.begin() + kColumns, kColumns - 1, -kInfinity);  // row 1 has one, the last
  std::fill_n(x.begin() + 2 * kColumns, 40, -kInfinity);        // row 2 has pieces without one
  x[3 * kColumns + 50] = kInfinity;
  x[4 * kColumns + 99] = kNan;
  std::fill_n(x.begin() + 5 * kColumns, kColumns, -kInfinity);
  x[5 * kColumns] = kNan;  // row 5: in a piece of -inf
  for (const target::Isa isa : native_levels()) {
    SCOPED_TRACE(std::string(target::to_string(isa)));
    target::Target target;
    target.isa = isa;
    std::vector<std::vector<float>> found;
    for (const compiler::RowPieces& pieces : {compiler::RowPieces{}, compiler::RowPieces{16, 32, 32}}) {
      const Result<Compiled> compiled = compiler::compile(graph.value(), target, {.pieces = pieces});
      ASSERT_TRUE(compiled.ok()) << compiled.status().message();
      EXPECT_EQ(compiled.value().regions[0].kernels.size() > 1, pieces.piece == 16);
      std::vector<float> sums(kRows), quotients(x.size());
      const void* const ins[] = {x.data()};
      void* const outs[] = {sums.data(), quotients.data()};
      ASSERT_TRUE(runtime::run(compiled.value().program, ins, outs, nullptr, 1).ok());
      sums.insert(sums.end(), quotients.begin(), quotients.end());
      found.push_back(std::move(sums));
    }
    for (std::size_t i = 0; i < found[0].size(); ++i) {
      EXPECT_EQ(std::isnan(found[0][i]), std::isnan(found[1][i])) << i;
      if (std::isnan(found[0][i])) continue;
      EXPECT_NEAR(found[0][i], found[1][i], 1e-5F * std::fabs(found[0][i])) << i;
    }
  }
}

/// The mean of pieces' sums is that of all elements, however few the pieces are: such rows are packed.
TEST(Pieces, MeansCountElements) {
  if (native_levels().empty()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  constexpr std::size_t kRows = 40, kColumns = 512;
  for (const DType type : {DType::f64, DType::f32, DType::s32, DType::s64}) {
    const std::string of = std::string(" : ").append(to_string(type)), all = of + "[40,512]\n", row = of + "[40,1]\n";
    const Result<graph::Graph> graph = graph::parse(
        "graph {\n %0 = input" + all + " %1 = core.reduce (%0) {reduction = \"mean\", keep_dims = true, axes = [1]}" +
        row + " %2 = core.map (%0) {function = \"neg\"}" + all + " output %1, %2\n}\n");
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const auto size = static_cast<std::size_t>(byte_size(type));
    Elements x(kRows * kColumns * size), means(kRows * size), negated(x.size());
    for (std::size_t i = 0; i < kRows; ++i)
      for (std::size_t k = 0; k < kColumns; ++k)
        graph::store_real(type, x.data(), static_cast<std::int64_t>(i * kColumns + k), static_cast<double>(i));
    for (const target::Isa isa : native_levels())
      for (const std::int64_t piece : {16, 32, 256}) {
        SCOPED_TRACE(std::string(target::to_string(isa)) + of + ", pieces of " + std::to_string(piece));
        target::Target target;
        target.isa = isa;
        const Result<Compiled> compiled =
            compiler::compile(graph.value(), target, {.pieces = {piece, 2 * piece, 2 * piece}});
        ASSERT_TRUE(compiled.ok()) << compiled.status().message();
        EXPECT_EQ(compiled.value().regions[0].kernels.size(), 3U);
        const void* const ins[] = {x.data()};
        void* const outs[] = {means.data(), negated.data()};
        ASSERT_TRUE(runtime::run(compiled.value().program, ins, outs, nullptr, 1).ok());
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(kRows); ++i)
          EXPECT_EQ(graph::load_real(type, means.data(), i), static_cast<double>(i)) << i;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Random, Fused,
                         ::testing::Values(FusedSubject{"f32_0", DType::f32}, FusedSubject{"f32_1", DType::f32},
                                           FusedSubject{"f32_2", DType::f32}, FusedSubject{"f32_3", DType::f32},
                                           FusedSubject{"f32_4", DType::f32}, FusedSubject{"bf16", DType::bf16},
                                           FusedSubject{"f16", DType::f16}, FusedSubject{"f64", DType::f64}),
                         [](const auto& subject) { return subject.param.name; });

}  // namespace
}  // namespace tenfold::numeric
