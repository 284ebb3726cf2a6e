// SPDX-License-Identifier: Apache-2.0
//
// Max pools and their gradients where oneDNN alone is not right: windows of nothing but -inf, NaN or pads, true least
// finite numbers, and for gradients NaN anywhere. Against plain loops, to the bit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "onednn/call.hpp"

namespace tenfold::onednn {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kLeast = std::numeric_limits<float>::lowest();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Images [N, C, H, W] in either order of memory, with `gap` elements between rows.
TensorDesc images(const Dims& shape, bool channels_last, std::int64_t gap = 0) {
  const std::int64_t c = shape[1], h = shape[2], w = shape[3];
  if (!channels_last) return {DType::f32, shape, {c * h * (w + gap), h * (w + gap), w + gap, 1}};
  return {DType::f32, shape, {h * (w * c + gap), 1, w * c + gap, c}};
}

struct Case {
  Dims input, output;
  Window window;
};

/// The one before the last has windows of pads alone; the last is several tasks where channels lie apart.
const Case kCases[] = {
    {{2, 3, 6, 8}, {2, 3, 3, 4}, {{2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}}},
    {{1, 16, 7, 6}, {1, 16, 4, 6}, {{3, 2}, {2, 1}, {1, 1}, {1, 0}, {1, 1}}},
    {{2, 8, 5, 5}, {2, 8, 5, 5}, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}},
    {{1, 8, 7, 3}, {1, 8, 3, 3}, {{1, 1}, {4, 1}, {1, 1}, {0, 0}, {3, 0}}},
    {{1, 96, 120, 120}, {1, 96, 120, 120}, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}},
};

std::vector<float> drawn(const TensorDesc& desc, std::initializer_list<float> from, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> data(static_cast<std::size_t>(span_bytes(desc).value()) / sizeof(float));
  for (float& x : data) x = from.begin()[random() % from.size()];
  return data;
}

std::int64_t at(const TensorDesc& desc, std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) {
  return n * desc.strides[0] + c * desc.strides[1] + y * desc.strides[2] + x * desc.strides[3];
}

/// see(offset of the maximum, offset and row-major position of its element or -1) for each window.
template <class See>
void for_each_winner(const Case& c, const TensorDesc& in, const TensorDesc& out, const std::vector<float>& data,
                     const See& see) {
  const Window& w = c.window;
  for (std::int64_t n = 0; n < c.output[0]; ++n)
    for (std::int64_t ch = 0; ch < c.output[1]; ++ch)
      for (std::int64_t y = 0; y < c.output[2]; ++y)
        for (std::int64_t x = 0; x < c.output[3]; ++x) {
          std::int64_t best = -1, row = 0, column = 0;
          for (std::int64_t i = 0; i < w.kernel[0]; ++i)
            for (std::int64_t j = 0; j < w.kernel[1]; ++j) {
              const std::int64_t v = y * w.strides[0] - w.pads_begin[0] + i;
              const std::int64_t u = x * w.strides[1] - w.pads_begin[1] + j;
              if (v < 0 || u < 0 || v >= c.input[2] || u >= c.input[3]) continue;
              const float found = data[static_cast<std::size_t>(at(in, n, ch, v, u))];
              const float so_far = best < 0 ? 0 : data[static_cast<std::size_t>(best)];
              if (best >= 0 && (std::isnan(so_far) || !(std::isnan(found) || found > so_far))) continue;
              best = at(in, n, ch, v, u), row = v, column = u;
            }
          see(static_cast<std::size_t>(at(out, n, ch, y, x)), best, n, ch, row, column);
        }
}

std::vector<float> run(const HeavySpec& spec, const std::vector<std::vector<float>>& inputs) {
  const Result<std::shared_ptr<const HeavyCall>> call = make_call(spec);
  EXPECT_TRUE(call.ok()) << call.status().message();
  if (!call.ok()) return {};
  std::vector<float> result = drawn(spec.outputs[0], {7}, 1);
  std::vector<const void*> in;
  for (const std::vector<float>& input : inputs) in.push_back(input.data());
  void* const out = result.data();
  std::vector<std::byte> room(static_cast<std::size_t>(call.value()->scratch_bytes()) + 64);
  void* const scratch = room.data() + (64 - reinterpret_cast<std::uintptr_t>(room.data()) % 64);
  for (std::int64_t task = 0; task < call.value()->tasks(); ++task)
    EXPECT_TRUE(call.value()->run(in, {&out, 1}, task, scratch).ok());
  return result;
}

void expect_same(const std::vector<float>& got, const std::vector<float>& want, const HeavySpec& spec) {
  ASSERT_EQ(got.size(), want.size());
  if (std::memcmp(got.data(), want.data(), sizeof(float) * want.size()) == 0) return;
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_EQ(std::memcmp(&got[i], &want[i], sizeof(float)), 0)
        << "element " << i << " is " << got[i] << ", not " << want[i] << ": " << print(spec);
}

void expect_maxima(const Case& c, bool channels_last, std::initializer_list<float> values) {
  const TensorDesc in = images(c.input, channels_last), out = images(c.output, channels_last);
  const HeavySpec spec{Kind::max_pool, {in}, {out}, c.window};
  const std::vector<float> data = drawn(in, values, 5);
  std::vector<float> want = drawn(out, {7}, 1);
  for_each_winner(c, in, out, data, [&](std::size_t to, std::int64_t from, auto...) {
    want[to] = from < 0 ? -kInf : data[static_cast<std::size_t>(from)];
  });
  expect_same(run(spec, {data}), want, spec);
}

/// Gradients are whole numbers, so that no order of their sums rounds.
void expect_gradient(const Case& c, bool channels_last, std::initializer_list<float> values, std::int64_t gap = 0) {
  const TensorDesc in = images(c.input, channels_last, gap), out = images(c.output, channels_last);
  const TensorDesc gradient = images(c.input, channels_last);
  const HeavySpec spec{Kind::max_pool_to_input, {in, out}, {gradient}, c.window};
  const std::vector<float> data = drawn(in, values, 5), upper = drawn(out, {1, 2, 3, 5}, 6);
  std::vector<float> want = drawn(gradient, {0}, 1);
  for_each_winner(c, in, out, data, [&](std::size_t at_maximum, std::int64_t from, auto... place) {
    if (from >= 0) want[static_cast<std::size_t>(at(gradient, place...))] += upper[at_maximum];
  });
  expect_same(run(spec, {data, upper}), want, spec);
}

template <class Expect>
void of_all(const Expect& expect) {
  for (const Case& c : kCases)
    for (const bool channels_last : {false, true}) expect(c, channels_last);
}

TEST(MaxPool, OneLargeImageIsForOneDnnToo) {
  const Case& c = *std::rbegin(kCases);
  for (const bool channels_last : {false, true}) {
    const TensorDesc in = images(c.input, channels_last), out = images(c.output, channels_last);
    const auto call = make_call({Kind::max_pool, {in}, {out}, c.window});
    ASSERT_TRUE(call.ok()) << call.status().message();
    EXPECT_EQ(call.value()->tasks(), channels_last ? 1 : 2);
  }
}

TEST(MaxPool, OfNothingButMinusInfinity) {
  of_all([](const Case& c, bool last) { expect_maxima(c, last, {-kInf}); });
}

TEST(MaxPool, TellsTheLeastNumberFromMinusInfinity) {
  of_all([](const Case& c, bool last) {
    expect_maxima(c, last, {-kInf, -kInf, -kInf, -kInf, -kInf, kLeast});
    expect_maxima(c, last, {-kInf, -kInf, -kInf, -kInf, kLeast, 1});
  });
}

TEST(MaxPool, OfNanAlone) {
  of_all([](const Case& c, bool last) {
    if (c.window.pads_end[0] < 3) expect_maxima(c, last, {kNan});
  });
}

TEST(MaxPoolGradient, OfMinusInfinity) {
  of_all([](const Case& c, bool last) {
    expect_gradient(c, last, {-kInf});
    expect_gradient(c, last, {-kInf, -kInf, -kInf, -kInf, -kInf, kLeast, 1});
  });
}

TEST(MaxPoolGradient, GoesToTheFirstNan) {
  of_all([](const Case& c, bool last) { expect_gradient(c, last, {kNan, 1, 2, 3, -kInf}); });
}

TEST(MaxPoolGradient, GoesToTheFirstOfEquals) {
  of_all([](const Case& c, bool last) { expect_gradient(c, last, {1, 2, 3}); });
}

TEST(MaxPoolGradient, TheInputLiesOtherwiseThanItsGradient) {
  of_all([](const Case& c, bool last) {
    expect_gradient(c, last, {1, 2, 3}, 3);
    expect_gradient(c, last, {1, 2, kNan}, 3);
  });
}

}  // namespace
}  // namespace tenfold::onednn
