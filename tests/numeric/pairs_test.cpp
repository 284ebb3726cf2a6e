// SPDX-License-Identifier: Apache-2.0
//
// Maximum and minimum of pairs of 16-bit floats, each value with all 65536, against an order of integers: the flat nest
// (one tensor against a scalar), columns of two rows, and rows of two. TENFOLD_TEST_EXHAUSTIVE=1 takes every value, all
// 2^32 pairs (minutes); =N each Nth; without it a sample. Emulated levels take the special values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "compile/compile.hpp"
#include "graph/pass/pass.hpp"
#include "graph_value.hpp"
#include "prepared_case.hpp"
#include "settings.hpp"
#include "subjects.hpp"
#include "values.hpp"
#ifdef TENFOLD_EMULATED
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#endif

namespace tenfold::numeric {
namespace {

using Bits = std::vector<std::uint16_t>;
constexpr std::size_t kAll = 65536;
/// An odd step without the flag, so that all low bits occur.
constexpr std::uint64_t kSampleStep = 61;

enum class Way : std::uint8_t { flat, columns, rows };

struct Pairs {
  DType dtype;
  bool greatest;
  Way way;
};

std::string name_of(const Pairs& pairs) {
  constexpr const char* kWays[] = {"flat", "columns", "rows"};
  return std::string(pairs.greatest ? "max_" : "min_") + std::string(to_string(pairs.dtype)) + "_" +
         kWays[static_cast<int>(pairs.way)];
}

void PrintTo(const Pairs& pairs, std::ostream* out) { *out << name_of(pairs); }

/// The order of IEEE 754-2019 maximum, or of minimum: -0 below +0, NaNs beyond everything.
std::uint16_t key_of(const Pairs& pairs, std::uint16_t bits) {
  const unsigned infinity = pairs.dtype == DType::bf16 ? 0x7f80 : 0x7c00;
  if ((bits & 0x7fffU) > infinity) return 0xffff;
  const unsigned ascending = (bits & 0x8000U) != 0 ? 0xffffU & ~bits : bits | 0x8000U;
  return static_cast<std::uint16_t>(pairs.greatest ? ascending : 0xffffU - ascending);
}

std::uint16_t canonical(const Pairs& pairs, std::uint16_t bits) {
  return key_of(pairs, bits) == 0xffff ? (pairs.dtype == DType::bf16 ? 0x7fc0 : 0x7e00) : bits;
}

/// The graph of `count` pairs.
graph::Graph graph_of(const Pairs& pairs, std::int64_t count) {
  graph::Graph g;
  const auto add = [&](const Dims& shape) { return add_value(g, {pairs.dtype, shape, {}}); };
  const std::string name = pairs.greatest ? "max" : "min";
  graph::Op op;
  op.dialect = graph::Dialect::core;
  if (pairs.way == Way::flat) {
    op.kind = "map";
    op.attributes = {{"function", name}};
    op.inputs = {add({1}), add({count})};
  } else {
    const std::int64_t axis = pairs.way == Way::columns ? 0 : 1;
    op.kind = "reduce";
    op.attributes = {{"reduction", name}, {"axes", Dims{axis}}, {"keep_dims", false}};
    op.inputs = {add(axis == 0 ? Dims{2, count} : Dims{count, 2})};
  }
  op.outputs = {add({count})};
  g.ops.push_back(op);
  graph::connect(g);
  return g;
}

class PairsOf : public ::testing::TestWithParam<Pairs> {
 protected:
  Result<compiler::Compiled> compile(target::Isa isa) const {
    graph::Graph core = graph_of(GetParam(), static_cast<std::int64_t>(others_.size()));
    if (Status status = graph::run_pipeline(core); !status.ok()) return status;
    target::Target target = target::host().ok() ? target::host().value() : target::Target{};
    target.isa = isa;
    return compiler::compile(core, target);
  }

  /// The second elements of all pairs.
  void take_others(Bits others) {
    others_ = std::move(others);
    const std::size_t count = others_.size();
    keys_.resize(count), canonical_.resize(count), expected_.resize(count), got_.resize(count);
    std::ranges::transform(others_, keys_.begin(), [](std::uint16_t bits) { return key_of(GetParam(), bits); });
    std::ranges::transform(others_, canonical_.begin(), [](std::uint16_t bits) { return canonical(GetParam(), bits); });
    // Of rows the second elements stay, of columns the second row does.
    memory_.assign(2 * count, 0);
    for (std::size_t i = 0; i < count; ++i) memory_[GetParam().way == Way::rows ? 2 * i + 1 : count + i] = others_[i];
  }

  void put_first(std::uint16_t bits) {
    const std::size_t count = others_.size();
    if (GetParam().way == Way::flat) memory_[0] = bits;
    if (GetParam().way == Way::columns) std::fill_n(memory_.begin(), count, bits);
    for (std::size_t i = 0; GetParam().way == Way::rows && i < count; ++i) memory_[2 * i] = bits;
  }

  /// Runs all pairs that begin with `bits` by `run`, a function from inputs and output to a Status.
  template <class Run>
  void check(std::uint16_t bits, const Run& run) {
    put_first(bits);
    std::ranges::fill(got_, static_cast<std::uint16_t>(0x5a5a));
    const std::size_t count = others_.size();
    const bool flat = GetParam().way == Way::flat;
    const std::span<std::uint16_t> inputs[] = {std::span(memory_).first(flat ? 1 : 2 * count),
                                               std::span(memory_).subspan(count)};
    const Status status = run(std::span(inputs).first(flat ? 2 : 1));
    ASSERT_TRUE(status.ok()) << status.message();
    const std::uint16_t key = key_of(GetParam(), bits), own = canonical(GetParam(), bits);
    for (std::size_t i = 0; i < count; ++i) expected_[i] = keys_[i] > key ? canonical_[i] : own;
    if (got_ == expected_) return;
    const auto at = static_cast<std::size_t>(std::ranges::mismatch(got_, expected_).in1 - got_.begin());
    FAIL() << std::hex << "0x" << bits << " and 0x" << others_[at] << " give 0x" << got_[at] << ", expected 0x"
           << expected_[at];
  }

  Bits others_, memory_, got_;

 private:
  Bits keys_, canonical_, expected_;
};

TEST_P(PairsOf, OneValueWithAllOnEveryNativeLevel) {
  const std::uint64_t step =
      std::max<std::uint64_t>(1, number_from_environment("TENFOLD_TEST_EXHAUSTIVE").value_or(kSampleStep));
  Bits values;
  for (std::uint64_t bits = 0; bits < kAll; bits += step) values.push_back(static_cast<std::uint16_t>(bits));
  for (const std::uint32_t bits : special_bits(GetParam().dtype)) values.push_back(static_cast<std::uint16_t>(bits));
  Bits all(kAll);
  for (std::size_t i = 0; i < kAll; ++i) all[i] = static_cast<std::uint16_t>(i);
  take_others(std::move(all));
  for (const target::Isa isa : native_levels()) {
    const Result<compiler::Compiled> compiled = compile(isa);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    ASSERT_EQ(compiled.value().regions[0].kind, compiler::RegionReport::Kind::kernel);
    for (std::size_t i = 0; i < values.size() && !HasFatalFailure(); ++i)
      check(values[i], [&](std::span<const std::span<std::uint16_t>> inputs) {
        std::vector<const void*> in;
        for (const std::span<std::uint16_t> input : inputs) in.push_back(input.data());
        void* const out = got_.data();
        return runtime::run(compiled.value().program, in, {&out, 1}, nullptr, 1);
      });
  }
  std::printf("%zu values with all %zu\n", values.size(), kAll);
}

#ifdef TENFOLD_EMULATED
TEST_P(PairsOf, SpecialValuesOnEmulatedLevels) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  Bits values;
  for (const std::uint32_t bits : special_bits(GetParam().dtype)) values.push_back(static_cast<std::uint16_t>(bits));
  Bits others = values;
  for (std::uint64_t bits = 0; bits < kAll; bits += 257) others.push_back(static_cast<std::uint16_t>(bits));
  take_others(std::move(others));
  std::vector<compiler::Compiled> ran;
  for (const target::Isa isa : all_levels()) {
    Result<compiler::Compiled> compiled = compile(isa);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    const auto same = [&](const compiler::Compiled& c) { return same_program(c.program, compiled.value().program); };
    if (std::ranges::any_of(ran, same)) continue;
    for (std::size_t i = 0; i < values.size() && !HasFatalFailure(); ++i)
      check(values[i], [&](std::span<const std::span<std::uint16_t>> inputs) {
        std::vector<Bytes> in;
        for (const std::span<std::uint16_t> input : inputs) in.push_back({input.data(), input.size_bytes()});
        const Bytes out{got_.data(), got_.size() * sizeof(std::uint16_t)};
        return emulated_run(compiled.value().program, isa, in, {&out, 1});
      });
    ran.push_back(std::move(compiled).value());
  }
}
#endif

std::vector<Pairs> all_ways() {
  std::vector<Pairs> all;
  for (const DType dtype : {DType::bf16, DType::f16})
    for (const bool greatest : {true, false})
      for (const Way way : {Way::flat, Way::columns, Way::rows}) all.push_back({dtype, greatest, way});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Exhaustive, PairsOf, ::testing::ValuesIn(all_ways()),
                         [](const auto& pairs) { return name_of(pairs.param); });

}  // namespace
}  // namespace tenfold::numeric
