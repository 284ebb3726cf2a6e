// SPDX-License-Identifier: Apache-2.0
//
// Elementwise ops as kernels: every function of core.map, casts and select in every dtype, with random shapes that
// broadcast, strides, data and attributes; natively on the levels of the machine and, one case of five, emulated on
// the others; against the reference evaluator within its stated bounds, and equal bits on all levels. Every case must
// be a kernel. Inputs of one shape and inputs that broadcast take turns.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>

#include "compile/compile.hpp"
#include "coverage.hpp"
#include "emulated_run.hpp"
#include "emulator/emulator.hpp"
#include "graph/eval/bound.hpp"
#include "graph/eval/eval.hpp"
#include "graph/eval/functions.hpp"
#include "graph/pass/pass.hpp"
#include "graph_value.hpp"
#include "guarded_buffer.hpp"
#include "prepared_case.hpp"
#include "settings.hpp"
#include "subjects.hpp"

namespace tenfold::numeric {
namespace {

constexpr DType kAllTypes[] = {DType::f32, DType::f64, DType::bf16, DType::f16, DType::s8,  DType::u8,     DType::s16,
                               DType::u16, DType::s32, DType::u32,  DType::s64, DType::u64, DType::boolean};
constexpr std::int64_t kSizes[] = {0, 1, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 65, 257};
constexpr std::int64_t kMostElements = 1200;
/// For each dtype: 42,878 in all. Seven of a kind at least are emulated, so that they cannot all be empty tensors.
constexpr std::int64_t kCasesPerFunction = 56, kCasesPerCast = 42, kCasesPerSelect = 60;
/// Their results are booleans, whatever goes in.
const std::set<std::string> kComparisons{"equal", "greater", "greater_equal", "less", "less_equal", "isnan", "isinf"};
const std::set<std::string> kLogic{"and", "or", "xor", "not"};

struct Operand {
  TensorDesc desc;
  std::unique_ptr<GuardedBuffer> data;
};

/// One op, its operands filled, and the reference's answer.
struct Drawn {
  graph::Graph graph;
  std::string text;
  std::vector<Operand> inputs;
  TensorDesc out;
  std::vector<std::byte> expected;
  std::vector<double> bounds;  ///< row-major; empty: all 0
};

std::string text_of(const TensorDesc& desc) {
  std::string text = std::string(to_string(desc.dtype)) + "[";
  for (const std::int64_t dim : desc.shape) text += std::to_string(dim) + " ";
  text += "]:[";
  for (const std::int64_t stride : desc.strides) text += std::to_string(stride) + " ";
  return text + "]";
}

/// Row-major; in one case of three with gaps, in one of six with the dims in another order.
Dims drawn_strides(const Dims& shape, std::mt19937_64& random) {
  std::vector<std::size_t> order(shape.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (random() % 6 == 0) std::shuffle(order.begin(), order.end(), random);
  const bool gaps = random() % 3 == 0;
  std::int64_t at = gaps ? 1 + static_cast<std::int64_t>(random() % 5) : 1;
  Dims strides(shape.size());
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = at;
    at = at * std::max<std::int64_t>(1, shape[order[i]]) + (gaps ? static_cast<std::int64_t>(random() % 3) : 0);
  }
  return strides;
}

Dims drawn_shape(std::mt19937_64& random) {
  Dims shape;
  std::int64_t elements = 1;
  for (std::uint64_t rank = random() % 5; rank > 0; --rank) {
    std::int64_t size = kSizes[random() % std::size(kSizes)];
    if (elements * size > kMostElements) size = 2;
    elements *= std::max<std::int64_t>(1, size);
    shape.push_back(size);
  }
  return shape;
}

/// A shape that broadcasts to `shape`: leading dims left out, others 1.
Dims drawn_part(const Dims& shape, std::mt19937_64& random) {
  Dims part(shape.begin() + static_cast<std::ptrdiff_t>(shape.empty() ? 0 : random() % (shape.size() + 1)),
            shape.end());
  for (std::int64_t& dim : part)
    if (random() % 3 == 0) dim = 1;
  return part;
}

void store_drawn(DType dtype, std::byte* data, std::int64_t at, std::mt19937_64& random) {
  const std::uint64_t bits = random();
  const int size = byte_size(dtype);
  if (dtype == DType::boolean) {
    data[at] = static_cast<std::byte>(bits & 1);
  } else if (!is_floating(dtype)) {
    static constexpr std::uint64_t kEdges[] = {0, 1, 2, ~0ULL, 0x80, 0x8000, 0x80000000, 1ULL << 63, ~0ULL >> 1, 7};
    const std::uint64_t value = bits % 5 == 0  ? kEdges[(bits >> 8) % std::size(kEdges)]
                                : bits % 5 < 3 ? bits % 201 - 100
                                               : bits;
    std::memcpy(data + at * size, &value, static_cast<std::size_t>(size));
  } else if (bits % 8 == 0) {
    static const double kSpecial[] = {0.0, -0.0, NAN,   INFINITY, -INFINITY, 0.5, -0.5,
                                      1.5, 2.5,  1e-40, -1e-320,  3e38,      1.0, -1.0};
    graph::store_real(dtype, data, at, kSpecial[(bits >> 8) % std::size(kSpecial)]);
  } else if (bits % 8 == 1) {
    const std::uint64_t pattern = random();
    std::memcpy(data + at * size, &pattern, static_cast<std::size_t>(size));
  } else {
    const double magnitude = std::ldexp(static_cast<double>(bits >> 11) * 0x1p-53, static_cast<int>(random() % 12) - 5);
    graph::store_real(dtype, data, at, (bits & 16) != 0 ? -magnitude : magnitude);
  }
}

/// An op of that kind: inputs of `dtypes`, of one shape or such that they broadcast together.
Result<Drawn> draw(graph::Op op, const std::vector<DType>& dtypes, DType to, bool broadcast, GuardedBuffer::Guard guard,
                   std::mt19937_64& random) {
  Drawn drawn;
  const Dims shape = drawn_shape(random);
  drawn.out = {to, shape, drawn_strides(shape, random)};
  const std::size_t whole = random() % dtypes.size();
  for (std::size_t i = 0; i < dtypes.size(); ++i) {
    TensorDesc desc{dtypes[i], i == whole || !broadcast ? shape : drawn_part(shape, random), {}};
    desc.strides = drawn_strides(desc.shape, random);
    op.inputs.push_back(add_value(drawn.graph, desc));
    drawn.text += text_of(desc) + " ";
    drawn.inputs.push_back(
        {desc, std::make_unique<GuardedBuffer>(static_cast<std::size_t>(span_bytes(desc).value()), guard)});
    std::fill_n(drawn.inputs.back().data->data(), drawn.inputs.back().data->size(), std::byte{0xff});
    for (const std::int64_t at : element_offsets(desc))
      store_drawn(dtypes[i], drawn.inputs.back().data->data(), at, random);
  }
  op.dialect = graph::Dialect::core;
  op.outputs = {add_value(drawn.graph, drawn.out)};
  drawn.graph.ops.push_back(std::move(op));
  graph::connect(drawn.graph);
  drawn.text += "-> " + text_of(drawn.out);

  std::vector<graph::ConstTensor> ins;
  for (const Operand& input : drawn.inputs) ins.push_back({input.desc, input.data->data()});
  drawn.expected.resize(static_cast<std::size_t>(span_bytes(drawn.out).value()));
  const graph::MutableTensor out{drawn.out, drawn.expected.data()};
  std::vector<std::vector<double>> bounds;
  Status status = graph::evaluate_with_bounds(drawn.graph, ins, {&out, 1}, bounds);
  if (!status.ok()) return status;
  if (!bounds.empty()) drawn.bounds = std::move(bounds[0]);
  return drawn;
}

/// Empty when `got` is right.
std::string judge(const Drawn& drawn, const std::byte* got) {
  const DType dtype = drawn.out.dtype;
  const auto size = static_cast<std::size_t>(byte_size(dtype));
  std::size_t position = 0;
  for (const std::int64_t at : element_offsets(drawn.out)) {
    const double bound = drawn.bounds.empty() ? 0 : drawn.bounds[position];
    ++position;
    const std::byte* const want = drawn.expected.data() + static_cast<std::size_t>(at) * size;
    const std::byte* const have = got + static_cast<std::size_t>(at) * size;
    if (std::memcmp(want, have, size) == 0) continue;
    const double a = graph::load_real(dtype, want, 0), b = graph::load_real(dtype, have, 0);
    std::byte nan[8] = {};
    if (is_floating(dtype)) graph::store_real(dtype, nan, 0, NAN);
    const bool canonical = !std::isnan(b) || std::memcmp(nan, have, size) == 0;
    // A power of whole numbers by reals is truncated, and has a bound.
    if ((is_floating(dtype) || bound > 0) && canonical && graph::agree(dtype, a, b, bound)) continue;
    char text[160];
    std::snprintf(text, sizeof text, "element %zu is %.17g, expected %.17g within %g", position - 1, b, a, bound);
    return text;
  }
  return "";
}

class Flat : public ::testing::TestWithParam<DType> {
 protected:
  /// In one way of two without a last cache, so that what may goes around the caches.
  static target::Target target_of(target::Isa isa, std::uint64_t index) {
    target::Target target = target::host().ok() ? target::host().value() : target::Target{};
    target.isa = isa;
    if ((index / 2 + static_cast<std::uint64_t>(isa)) % 2 == 0)
      target.l2_bytes = target.l3_bytes = 0, target.l3 = target::L3::far;
    return target;
  }

  static std::vector<std::byte> gathered(const TensorDesc& desc, const std::byte* data) {
    std::vector<std::byte> elements;
    const int size = byte_size(desc.dtype);
    for (const std::int64_t at : element_offsets(desc))
      elements.insert(elements.end(), data + at * size, data + (at + 1) * size);
    return elements;
  }

  /// Runs the op on every level. `label` is what the coverage counts it under.
  void check(graph::Op op, const std::vector<DType>& dtypes, DType to, const std::string& label,
             std::mt19937_64& random) {
    labels_.insert(label);
    const bool broadcast = turn_ % 2 == 1, emulate = turn_ / 2 % kEmulatedEvery == 0;
    const auto guard = random() % 2 == 0 ? GuardedBuffer::Guard::after : GuardedBuffer::Guard::before;
    const Result<Drawn> made = draw(std::move(op), dtypes, to, broadcast, guard, random);
    ASSERT_TRUE(made.ok()) << made.status().message() << "\n" << label;
    const Drawn& drawn = made.value();
    const std::string where = label + " " + drawn.text + "\n" + repeat_line(test_name(), index_);
    graph::Graph core = drawn.graph;
    const Status passes = graph::run_pipeline(core);
    ASSERT_TRUE(passes.ok()) << passes.message() << "\n" << where;
    std::vector<std::byte> first;
    std::vector<compiler::Compiled> ran;
    for (const target::Isa isa : all_levels()) {
      const bool native = std::ranges::count(native_levels(), isa) > 0;
      if (!native && !emulate) continue;
      Result<compiler::Compiled> compiled = compiler::compile(core, target_of(isa, index_));
      ASSERT_TRUE(compiled.ok()) << compiled.status().message() << "\n" << where;
      ASSERT_EQ(reason_of_reference(compiled.value()), "") << where;
      coverage_.count(label, broadcast ? kTurns[1] : kTurns[0], compiled.value(), isa);
      const auto same = [&](const compiler::Compiled& c) { return same_program(c.program, compiled.value().program); };
      if (!native && std::ranges::any_of(ran, same)) continue;
      const std::string at_level = std::string(target::to_string(isa)) + (native ? "\n" : " emulated\n") + where;
      GuardedBuffer output(static_cast<std::size_t>(span_bytes(drawn.out).value()), guard);
      ASSERT_EQ(run(compiled.value(), isa, drawn, output), "") << at_level;
      ASSERT_TRUE(output.canary_intact()) << "bytes beside the output were written on " << at_level;
      ASSERT_EQ(judge(drawn, output.data()), "") << at_level;
      const std::vector<std::byte> elements = gathered(drawn.out, output.data());
      if (ran.empty()) first = elements;
      ASSERT_EQ(elements, first) << "other bits on " << at_level;
      ran.push_back(std::move(compiled).value());
    }
  }

  static std::string reason_of_reference(const compiler::Compiled& compiled) {
    for (const compiler::RegionReport& region : compiled.regions)
      if (region.kind == compiler::RegionReport::Kind::reference) return "no kernel: " + region.reason;
    return "";
  }

  static std::string run(const compiler::Compiled& compiled, target::Isa isa, const Drawn& drawn,
                         GuardedBuffer& output) {
    std::vector<Bytes> ins;
    for (const Operand& input : drawn.inputs) ins.push_back({input.data->data(), input.data->size()});
    const Bytes out{output.data(), output.size()};
    const Status status = run_at(compiled.program, isa, ins, {&out, 1});
    return status.ok() ? "" : status.message();
  }

  /// Calls `act` for each case of its own random numbers, `count` (times TENFOLD_TEST_CASES) in all.
  template <class Act>
  void each(std::int64_t count, const Act& act) {
    for (turn_ = 0; turn_ < scaled_cases(count) && !HasFatalFailure(); ++turn_, ++index_) {
      if (only_case().value_or(index_) != index_) continue;
      std::mt19937_64 random(case_seed(test_name(), index_));
      act(random);
    }
  }

  void TearDown() override {
    const std::string title = std::to_string(index_) + " cases of " + std::string(to_string(GetParam())) + ", seed " +
                              std::to_string(test_seed());
    std::fputs(coverage_.table(title, all_levels()).c_str(), stdout);
    if (only_case() || scaled_cases(100) < 100 || HasFailure()) return;
    constexpr std::pair<std::string_view, std::string_view> kPlaces[] = {{kTurns[0], "flat"}, {kTurns[1], "flat"}};
    const std::vector<std::string> labels(labels_.begin(), labels_.end());
    EXPECT_EQ(coverage_.missing(labels, kPlaces, all_levels()), "");
  }

  static constexpr std::array<std::string_view, 2> kTurns{"one shape", "broadcast"};
  /// Emulation is slow: of the levels that the machine lacks, one case of five.
  static constexpr std::int64_t kEmulatedEvery = 5;
  std::uint64_t index_ = 0;
  std::int64_t turn_ = 0;  ///< among those of a label
  std::set<std::string> labels_;
  Coverage coverage_;
};

std::vector<graph::NamedAttribute> drawn_attributes(const std::string& function, DType dtype, std::mt19937_64& random) {
  static constexpr double kNumbers[] = {0.1F, 1, 0.5, 2, 1.5, 0.25, 3};
  const auto number = [&random] { return kNumbers[random() % std::size(kNumbers)]; };
  std::vector<graph::NamedAttribute> attributes{{"function", function}};
  attributes.push_back({"alpha", number()});
  // Pow of integers takes whole exponents.
  const bool whole = function == "pow" && !is_floating(dtype);
  attributes.push_back({"beta", whole ? static_cast<double>(random() % 9) : number()});
  attributes.push_back({"gamma", number()});
  // Clip with attributes is Clamp.
  if (function == "clamp") attributes.push_back({"min", -number()});
  if (function == "clamp") attributes.push_back({"max", number()});
  // ONNX has Mod of reals with fmod alone.
  if (function == "mod") attributes.push_back({"fmod", is_floating(dtype) || random() % 2 == 0});
  if (function == "bit_shift") attributes.push_back({"direction", std::string(random() % 2 == 0 ? "LEFT" : "RIGHT")});
  if (function == "isinf" && random() % 2 == 0) attributes.push_back({"detect_negative", false});
  if (function == "isinf" && random() % 2 == 0) attributes.push_back({"detect_positive", false});
  return attributes;
}

bool applies(const graph::FunctionRow& row, DType dtype) {
  const std::string name(row.name);
  if (kLogic.contains(name)) return dtype == DType::boolean;
  if (dtype == DType::boolean)
    return name == "equal" || name == "identity" || name == "bitwise_not" || name == "max" || name == "min";
  if (name == "bit_shift") return tenfold::row(dtype).kind == DTypeKind::unsigned_integer;
  return is_floating(dtype) ? row.real != nullptr : row.integer != nullptr;
}

TEST_P(Flat, FunctionsAgreeWithTheReference) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  const DType dtype = GetParam();
  for (const graph::FunctionRow& row : graph::all_functions()) {
    const std::string name(row.name);
    if (!applies(row, dtype)) continue;
    each(kCasesPerFunction, [&](std::mt19937_64& random) {
      graph::Op op;
      op.kind = "map";
      op.attributes = drawn_attributes(name, dtype, random);
      const std::size_t most = std::min<std::size_t>(row.arity.most, random() % 8 == 0 ? 9 : 3);
      const std::size_t count = row.arity.least + random() % (most - row.arity.least + 1);
      const DType to = kComparisons.contains(name) || kLogic.contains(name) ? DType::boolean : dtype;
      check(std::move(op), std::vector<DType>(count, dtype), to, name, random);
    });
  }
}

/// Up to what one kernel takes, one more, and several kernels that hand on.
TEST_P(Flat, AnyNumberOfTensorsAgreesWithTheReference) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  static constexpr std::size_t kCounts[] = {24, 25, 64, 65, 127, 128, 200};
  for (const char* const function : {"max", "min", "add", "mean_of"}) {
    if (!applies(*graph::find_function(function), GetParam())) continue;
    each(kCasesPerFunction, [&](std::mt19937_64& random) {
      const std::size_t count = kCounts[static_cast<std::size_t>(turn_) % std::size(kCounts)];
      graph::Op op;
      op.kind = "map";
      op.attributes = {{"function", std::string(function)}};
      check(std::move(op), std::vector<DType>(count, GetParam()), GetParam(), std::string(function) + " of many",
            random);
    });
  }
}

/// What ONNX's Pow takes as an exponent of `base`, but for what no kernel has.
std::vector<DType> exponents(DType base) {
  std::vector<DType> found;
  const bool has_sign = row(base).kind == DTypeKind::signed_integer;
  for (const DType dtype : kAllTypes)
    if (base != DType::u64 && base != DType::boolean && dtype != DType::boolean && !(has_sign && dtype == DType::u64))
      found.push_back(dtype);
  return found;
}

TEST_P(Flat, MixedTypesAgreeWithTheReference) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  const auto mixed = [&](const std::string& function, const std::vector<DType>& seconds, const std::vector<DType>& to) {
    if (seconds.empty()) return;
    each(2 * kCasesPerFunction, [&](std::mt19937_64& random) {
      graph::Op op;
      op.kind = "map";
      op.attributes = {{"function", function}};
      check(std::move(op), {GetParam(), seconds[random() % seconds.size()]}, to[random() % to.size()],
            "mixed " + function, random);
    });
  };
  mixed("pow", exponents(GetParam()), {GetParam()});
  const std::vector<DType> of_onednn{DType::f32, DType::bf16, DType::f16, DType::s32};
  if (std::ranges::count(of_onednn, GetParam()) == 0) return;
  for (const char* const function : {"add", "sub", "mul", "div"}) mixed(function, of_onednn, of_onednn);
}

TEST_P(Flat, CastsAndSelectsAgreeWithTheReference) {
  if (!emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
  for (const DType to : kAllTypes)
    each(kCasesPerCast, [&](std::mt19937_64& random) {
      graph::Op op;
      op.kind = "cast";
      check(std::move(op), {GetParam()}, to, "cast to " + std::string(to_string(to)), random);
    });
  each(kCasesPerSelect, [&](std::mt19937_64& random) {
    graph::Op op;
    op.kind = "select";
    check(std::move(op), {DType::boolean, GetParam(), GetParam()}, GetParam(), "select", random);
  });
}

INSTANTIATE_TEST_SUITE_P(Random, Flat, ::testing::ValuesIn(kAllTypes),
                         [](const auto& type) { return std::string(to_string(type.param)); });

}  // namespace
}  // namespace tenfold::numeric
