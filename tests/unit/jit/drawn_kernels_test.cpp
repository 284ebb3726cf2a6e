// SPDX-License-Identifier: Apache-2.0
//
// Kernels drawn at random for machines drawn at random, with more cores and other caches than any host has: a schedule
// is chosen and legal, the kernel is emitted, and equal class keys mean equal code, whatever was compiled before.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "jit/emit.hpp"
#include "tests/numeric/settings.hpp"

namespace tenfold::jit {
namespace {

using kernel::Function;
using kernel::KernelSpec;
using kernel::Monoid;
using kernel::Node;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  bool once_in(std::int64_t n) { return number(1, n) == 1; }
  template <class T>
  T one_of(std::initializer_list<T> all) {
    return all.begin()[number(0, static_cast<std::int64_t>(all.size()) - 1)];
  }

  target::Target machine() {
    target::Target target;
    target.isa = target.native = one_of(
        {target::Isa::avx2, target::Isa::avx512_core, target::Isa::avx512_core_bf16, target::Isa::avx512_core_fp16});
    target.cores = one_of({1, 2, 3, 8, 9, 16, 61, 256});
    target.l3 = one_of({target::L3::near, target::L3::far, target::L3::fast, target::L3::late});
    target.l1_bytes = one_of<std::int64_t>({32 << 10, 48 << 10});
    target.l2_bytes = one_of<std::int64_t>({256 << 10, 512 << 10, 1 << 20, 2 << 20});
    target.l3_bytes = one_of<std::int64_t>({4 << 20, 32 << 20, 260 << 20});
    return target;
  }

  KernelSpec spec() {
    spec_ = {};
    const std::int64_t levels = number(1, 4);
    for (std::int64_t level = 0; level < levels; ++level)
      spec_.levels.push_back({levels > 2 ? one_of<std::int64_t>({2, 3, 4, 7, 16, 33, 100, 256, 1000})
                                         : one_of<std::int64_t>({1, 2, 3, 5, 8, 9, 13, 16, 17, 33, 64, 100, 256, 1000,
                                                                 1024, 4096, 65536, 1 << 20}),
                              once_in(2)});
    const DType dtype =
        one_of({DType::f32, DType::bf16, DType::f16, DType::f64, DType::s8, DType::u8, DType::s32, DType::s64});
    const std::int64_t inputs = one_of({1, 1, 1, 2, 2, 3});
    for (std::int64_t input = 0; input < inputs; ++input) {
      std::vector<std::int64_t> strides = dense(true);
      if (input > 0)
        for (std::int64_t& stride : strides) stride *= once_in(3) ? 0 : 1;
      if (once_in(20))
        for (std::int64_t& stride : strides) stride *= 2;
      spec_.inputs.push_back({dtype, std::move(strides)});
    }
    add_body(dtype);
    return spec_;
  }

 private:
  /// Row-major, now and then with gaps; without a place for what is reduced where `all` is false.
  std::vector<std::int64_t> dense(bool all) {
    std::vector<std::int64_t> strides(spec_.levels.size(), 0);
    const bool gaps = once_in(4);
    std::int64_t step = 1;
    for (std::size_t level = spec_.levels.size(); level-- > 0;) {
      if (!all && spec_.levels[level].reduced) continue;
      strides[level] = step;
      step = step * spec_.levels[level].extent + (gaps && once_in(3) ? number(1, 9) : 0);
    }
    return strides;
  }

  int add(Node node) {
    spec_.body.push_back(std::move(node));
    return static_cast<int>(spec_.body.size()) - 1;
  }
  int load(int input) { return add({.kind = Node::Kind::load, .index = input, .args = {}}); }
  int apply(Function function, std::vector<int> args) {
    return add({.kind = Node::Kind::apply, .function = function, .args = std::move(args)});
  }
  int reduce(Monoid monoid, int of, bool last = false) {
    return add({.kind = Node::Kind::reduce, .monoid = monoid, .args = {of}, .last = last});
  }
  void store(int node, DType dtype, bool elements = false) {
    spec_.stores.push_back({static_cast<int>(spec_.outputs.size()), node});
    spec_.outputs.push_back({dtype, dense(elements)});
  }

  void add_body(DType dtype) {
    int x = load(0);
    for (int input = 1; input < static_cast<int>(spec_.inputs.size()); ++input)
      x = apply(one_of({Function::add, Function::mul, Function::max}), {x, load(input)});
    const std::int64_t kind = is_floating(dtype) ? number(0, 8) : number(0, 5);
    if (kind == 0) return store(reduce(one_of({Monoid::max, Monoid::min}), x), dtype);
    if (kind == 1) return store(reduce(one_of({Monoid::sum, Monoid::prod}), x), dtype);
    if (kind == 2) return store(reduce(one_of({Monoid::argmax, Monoid::argmin}), x, once_in(3)), DType::s64);
    if (kind == 3) {
      for (const Monoid monoid : {Monoid::max, Monoid::min, Monoid::sum}) store(reduce(monoid, x), dtype);
      return;
    }
    if (kind == 4) {
      for (kernel::Level& level : spec_.levels) level.reduced = false;
      return store(apply(Function::abs, {x}), dtype, true);
    }
    if (kind == 5) return store(apply(Function::mul, {x, reduce(Monoid::max, x)}), dtype, true);
    if (kind == 6) {
      const int sum = reduce(Monoid::sum, x), count = add({.kind = Node::Kind::count, .args = {}});
      const int difference = apply(Function::sub, {x, apply(Function::div, {sum, count})});
      return store(reduce(Monoid::sum, apply(Function::square, {difference})), dtype);
    }
    const int most = reduce(Monoid::max, x), e = apply(Function::exp, {apply(Function::sub, {x, most})});
    const int sum = reduce(Monoid::sum, e);
    if (kind == 7) return store(apply(Function::div, {e, sum}), dtype, true);
    store(apply(Function::add, {most, apply(Function::log, {sum})}), dtype);
  }

  std::mt19937_64 random_;
  KernelSpec spec_;
};

TEST(DrawnKernels, AreEmittedAndCodesOfOneKeyAreEqual) {
  const std::string name = "DrawnKernels.AreEmittedAndCodesOfOneKeyAreEqual";
  struct Known {
    std::vector<std::uint8_t> bytes;
    std::string said;
  };
  std::map<std::string, Known> known;
  std::int64_t emitted = 0;
  const auto cases = static_cast<std::uint64_t>(numeric::scaled_cases(6000));
  for (std::uint64_t index = 0; index < cases; ++index) {
    Draw draw(numeric::case_seed(name, index));
    const Result<KernelSpec> spec = kernel::collapse(draw.spec());
    if (!spec.ok() || !kernel::check(spec.value()).ok()) continue;
    const target::Target machine = draw.machine();
    const schedule::Schedule schedule = schedule::choose(spec.value(), machine);
    // What no kernel is for is refused; nothing else is.
    if (!schedule::check(spec.value(), schedule).ok() || !check_body(spec.value(), schedule).ok()) continue;
    const std::string said = kernel::print(spec.value()) + schedule::print(schedule);
    const Result<EmittedCode> code = emit(spec.value(), schedule);
    ASSERT_TRUE(code.ok()) << said << '\n' << code.status().message() << '\n' << numeric::repeat_line(name, index);
    ++emitted;
    const auto [at, is_new] = known.try_emplace(class_key(spec.value(), schedule), Known{code.value().bytes, said});
    ASSERT_TRUE(is_new || at->second.bytes == code.value().bytes)
        << "one key: " << at->first << "\n--- " << at->second.said << "\n--- " << said << '\n'
        << numeric::repeat_line(name, index);
  }
  RecordProperty("emitted", static_cast<int>(emitted));
  EXPECT_GT(emitted * 2, static_cast<std::int64_t>(cases)) << numeric::repeat_line(name, 0);
}

}  // namespace
}  // namespace tenfold::jit
