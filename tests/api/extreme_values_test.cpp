// SPDX-License-Identifier: Apache-2.0
//
// Attributes and elements at the ends of f32's range, where a form that is right in the middle over- or underflows, or
// cancels: each function against its formula in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "tenfold/tenfold.hpp"

namespace tenfold {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::string tensor(std::size_t id, std::size_t count) {
  return R"({"id":)" + std::to_string(id) + R"(,"dtype":"f32","shape":[)" + std::to_string(count) + "]}";
}

std::string real_attribute(const std::string& name, float value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", static_cast<double>(value));
  return "\"" + name + R"(":{"type":"f32","value":)" + text.data() + "}";
}

/// What an op makes of f32 elements; of all `inputs`, which have as many elements each.
std::vector<float> run(const std::string& dialect, const std::string& kind, const std::string& attributes,
                       const std::vector<std::vector<float>>& inputs) {
  const std::size_t count = inputs[0].size();
  std::string ports;
  std::vector<const void*> in;
  for (const std::vector<float>& input : inputs) {
    ports += (ports.empty() ? "" : ",") + tensor(in.size(), count);
    in.push_back(input.data());
  }
  const Result<Graph> graph =
      Graph::from_json(R"({"dialect":")" + dialect + R"(","graph":[{"id":0,"kind":")" + kind + R"(","attrs":{)" +
                       attributes + R"(},"inputs":[)" + ports + R"(],"outputs":[)" + tensor(9, count) + "]}]}");
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  const Result<CompiledPartition> compiled = compile(graph.value());
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  std::vector<float> out(count);
  void* const outs[] = {out.data()};
  const Status status = compiled.value().execute(in.data(), in.size(), outs, 1);
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

/// Within so many units in the last place of f32.
void expect_near(float got, double exact, double ulps, const std::string& where) {
  const float nearest = static_cast<float>(exact);
  if (std::isinf(nearest) || nearest == 0) {
    EXPECT_EQ(got, nearest) << where;
    return;
  }
  const double ulp = std::nextafter(std::fabs(nearest), kInfinity) - std::fabs(nearest);
  EXPECT_NEAR(got, exact, ulps * ulp) << where;
}

TEST(ExtremeValues, SoftPlusOfASmallBeta) {
  const std::vector<float> xs{-kInfinity, -3.008e37F, -1e30F, -1, 0, 1, 1e30F, kInfinity};
  for (const float beta : {1e-38F, 5.856e-36F, 1e-30F, 1e-20F, -1e-38F}) {
    const std::vector<float> got = run("onednn", "SoftPlus", real_attribute("beta", beta), {xs});
    for (std::size_t i = 0; i < xs.size(); ++i) {
      const double z = static_cast<double>(beta) * xs[i];
      const double exact = (std::max(z, 0.0) + std::log1p(std::exp(-std::fabs(z)))) / beta;
      expect_near(got[i], std::isinf(xs[i]) && z < 0 ? 0 / static_cast<double>(beta) : exact, 4,
                  "beta " + std::to_string(beta) + ", x " + std::to_string(xs[i]));
    }
  }
}

TEST(ExtremeValues, SeluWhoseFactorsOverflowTogether) {
  const std::vector<float> xs{-1e-30F, -1e-38F, -1e-20F, -1, 0, 1e-10F, 1};
  for (const auto& [alpha, gamma] : {std::pair{1e25F, 1e20F}, {1e-30F, 1e-30F}, {1.6732632F, 1.0507010F}}) {
    const std::vector<float> got =
        run("onnx", "Selu", real_attribute("alpha", alpha) + "," + real_attribute("gamma", gamma), {xs});
    for (std::size_t i = 0; i < xs.size(); ++i) {
      const double x = xs[i];
      const double exact = static_cast<double>(gamma) * (x < 0 ? static_cast<double>(alpha) * std::expm1(x) : x);
      expect_near(got[i], exact, 4, "x " + std::to_string(x));
    }
  }
}

TEST(ExtremeValues, GradientOfGeluDoesNotCancelFarOut) {
  std::vector<float> xs{0, -0.0F, 1e-40F, -1e-30F, 1e-3F, -1e-3F, 30, -30, kInfinity, -kInfinity};
  for (float x = -12; x <= 8; x += 0.03125F) xs.push_back(x);
  const std::vector<float> ones(xs.size(), 1);
  const std::vector<float> got =
      run("onednn", "GELUBackward", R"("mode":{"type":"string","value":"gelu_erf"})", {xs, ones});
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const double x = xs[i];
    const double share = std::erfc(-x / std::numbers::sqrt2) / 2;
    const double bell = std::isinf(x) ? 0 : x * std::exp(-x * x / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    const double exact = share + bell;
    // Rounded x squared is off by half a unit, which the exponential of it makes as many more as it is great.
    const double ulps = 16 + x * x;
    if (std::fabs(exact) < 0x1p-126) continue;
    if (x > -1.5 && x < 0)
      EXPECT_NEAR(got[i], exact, 1e-6) << x;
    else
      expect_near(got[i], exact, ulps, "x " + std::to_string(x));
  }
}

}  // namespace
}  // namespace tenfold
