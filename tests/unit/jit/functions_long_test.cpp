// SPDX-License-Identifier: Apache-2.0
//
// The errors of the functions of one f32 argument, which docs/numerics.md publishes: of kernels, where the CPU runs
// any. TENFOLD_TEST_EXHAUSTIVE=1 runs them on every f32, =61 on each 61st (an odd step, so that all low bits occur);
// without it a sample must do. TENFOLD_TEST_FUNCTION names one function.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "function_cases.hpp"
#include "graph/eval/functions.hpp"
#include "jit/code.hpp"
#include "jit/emit.hpp"
#include "lane_interpreter.hpp"
#include "target/target.hpp"

namespace tenfold::jit {
namespace {

constexpr std::uint64_t kAll = std::uint64_t{1} << 32;
constexpr std::size_t kChunk = 1 << 14;

graph::Parameters parameters_of(const FunctionCase& c) {
  graph::Parameters parameters;
  parameters.dtype = DType::f32;
  if (c.constants.empty()) return parameters;
  (c.function == Function::softplus ? parameters.beta : parameters.alpha) = c.constants[0];
  if (c.function == Function::selu) parameters.gamma = c.constants[1];
  return parameters;
}

/// The f32 unit in the last place at a double's magnitude.
double unit_of(double x) {
  constexpr std::uint64_t kBias = 1023;
  const std::uint64_t exponent = std::bit_cast<std::uint64_t>(x) >> 52 & 0x7ff;
  return std::bit_cast<double>((std::clamp(exponent, kBias - 126, kBias + 127) - 23) << 52);
}

struct Worst {
  double ulps = 0;
  float at = 0;
  std::uint64_t wrong = 0;  ///< NaN against number, or another sign
  float wrong_at = 0;
  void add(const Worst& other) {
    if (other.ulps > ulps) ulps = other.ulps, at = other.at;
    if (wrong == 0) wrong_at = other.wrong_at;
    wrong += other.wrong;
  }
};

void judge(float x, float got, double exact, Worst& worst) {
  constexpr double kGreatest = 0x1.fffffep127;
  const double value = static_cast<double>(got);
  if (std::isnan(exact) != std::isnan(value) || (!std::isnan(exact) && std::signbit(exact) != std::signbit(value))) {
    if (worst.wrong++ == 0) worst.wrong_at = x;
    return;
  }
  if (std::isnan(exact) || value == exact) return;
  const auto clipped = [](double y) { return std::fabs(y) > kGreatest ? std::copysign(kGreatest, y) : y; };
  const double off = std::fabs(clipped(value) - clipped(exact)) / unit_of(exact);
  if (off > worst.ulps) worst.ulps = off, worst.at = x;
}

/// The function over f32, as a kernel of this CPU; where that has none, by the interpreter, which takes six times as
/// long.
class Function32 {
 public:
  explicit Function32(const FunctionCase& c) : program_(program_of(c, DType::f32)) {
    if (!target::host().ok() || target::host().value().isa == target::Isa::reference) return;
    kernel::KernelSpec spec;
    spec.levels = {{static_cast<std::int64_t>(kChunk), false}};
    spec.inputs = spec.outputs = {{DType::f32, {1}}};
    spec.body = {{.args = {}}};
    kernel::Node apply{.kind = kernel::Node::Kind::apply, .function = c.function, .args = {0}};
    for (const double value : c.constants) {
      apply.args.push_back(static_cast<int>(spec.body.size()));
      spec.body.push_back({.kind = kernel::Node::Kind::constant, .args = {}, .dtype = DType::f32, .value = value});
    }
    spec.stores = {{0, static_cast<int>(spec.body.size())}};
    spec.body.push_back(apply);
    const Result<EmittedCode> made = emit(spec, schedule::choose(spec, target::host().value()));
    EXPECT_TRUE(made.ok()) << made.status().message();
    if (!made.ok()) return;
    auto published = memory_.publish(made.value().bytes, made.value().scratch_bytes, "function");
    if (published.ok()) code_ = published.value();
  }

  void operator()(const std::vector<float>& x, std::vector<float>& y, std::size_t count) const {
    if (code_ == nullptr) {
      const void* const inputs[] = {x.data()};
      void* const results[] = {y.data()};
      return interpret(program_, count, inputs, results);
    }
    constexpr std::size_t kLine = 64;
    std::vector<std::byte> scratch(static_cast<std::size_t>(code_->scratch_bytes()) + kLine);
    std::int64_t strides[2 * kMaxLevels] = {};
    strides[stride_index(0, 0)] = strides[stride_index(1, 0)] = sizeof(float);
    const std::uintptr_t past = reinterpret_cast<std::uintptr_t>(scratch.data()) % kLine;
    KernelArgs args{};
    args.inputs[0] = x.data();
    args.outputs[0] = y.data();
    args.scratch = scratch.data() + (kLine - past) % kLine;
    args.extents[0] = static_cast<std::int64_t>(count);
    args.strides = strides;
    code_->function()(&args);
  }

 private:
  LaneProgram program_;
  CodeMemory memory_;
  std::shared_ptr<const KernelCode> code_;
};

Worst run(const FunctionCase& c, std::uint64_t step) {
  const Function32 function(c);
  const graph::FunctionRow* row = graph::find_function(kernel::row(c.function).name);
  const graph::Parameters parameters = parameters_of(c);
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  Worst worst;
  const auto work = [&] {
    std::vector<float> x(kChunk);
    std::vector<float> y(kChunk);
    Worst mine;
    for (std::uint64_t at = next.fetch_add(kChunk); at * step < kAll; at = next.fetch_add(kChunk)) {
      std::size_t count = 0;
      for (; count < kChunk && (at + count) * step < kAll; ++count)
        x[count] = std::bit_cast<float>(static_cast<std::uint32_t>((at + count) * step));
      function(x, y, count);
      for (std::size_t i = 0; i < count; ++i) {
        const double argument = static_cast<double>(x[i]);
        judge(x[i], y[i], row->real({&argument, 1}, parameters), mine);
      }
    }
    const std::lock_guard lock(mutex);
    worst.add(mine);
  };
  std::vector<std::thread> threads(std::max(1U, std::thread::hardware_concurrency()));
  for (std::thread& thread : threads) thread = std::thread(work);
  for (std::thread& thread : threads) thread.join();
  return worst;
}

TEST(Functions, ErrorsOverAllArguments) {
  const char* const flag = std::getenv("TENFOLD_TEST_EXHAUSTIVE");
  const char* const only = std::getenv("TENFOLD_TEST_FUNCTION");
  const std::uint64_t step = flag != nullptr ? static_cast<std::uint64_t>(std::max(1L, std::atol(flag))) : 20011;
  for (const FunctionCase& c : all_cases()) {
    const double bound = bound_of(c.function, DType::f32);
    const std::string name(kernel::row(c.function).name);
    if (c.tensors != 1 || bound == 0 || c.function == Function::pow || c.function == Function::hardsigmoid) continue;
    if (only != nullptr && name != only) continue;
    const Worst worst = run(c, step);
    std::printf("%-10s %8.4f ulp at %.9g (%#x)", name.c_str(), worst.ulps, static_cast<double>(worst.at),
                std::bit_cast<std::uint32_t>(worst.at));
    for (const double value : c.constants) std::printf(" %g", value);
    std::printf("\n");
    std::fflush(stdout);
    // Below the normal range half a unit more: a tie may go either way.
    EXPECT_LE(worst.ulps, bound + 0.5) << name;
    EXPECT_EQ(worst.wrong, 0U) << name << " of " << worst.wrong_at;
  }
}

}  // namespace
}  // namespace tenfold::jit
