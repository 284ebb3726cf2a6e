// SPDX-License-Identifier: Apache-2.0
//
// Draws composite ops and compares what the reference's own code gives for them, with its error bounds, with the
// reference run over the core ops that decompose() makes of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "graph/check/check.hpp"
#include "graph/eval/bound.hpp"
#include "graph/eval/eval.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "tests/numeric/settings.hpp"
#include "tests/unit/eval/tensors.hpp"

namespace tenfold::graph {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(engine_() % n); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  double normal() { return std::normal_distribution<double>()(engine_); }
  template <class T>
  T of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }

 private:
  std::mt19937_64 engine_;
};

inline std::string type(const std::string& dtype, const Dims& dims) {
  std::string text = dtype + "[";
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i > 0 ? "," : "") + std::to_string(dims[i]);
  return text + "]";
}

inline Dims tail(const Dims& dims, std::size_t from) {
  return Dims(dims.begin() + static_cast<std::ptrdiff_t>(from), dims.end());
}
inline Dims head(const Dims& dims, std::size_t to) {
  return Dims(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(to));
}

/// One op to be written down: `inputs` are types; what has no sign is listed by index.
struct Case {
  std::vector<std::string> inputs;
  std::string op;
  std::string attributes;
  std::vector<std::string> outputs;
  std::vector<std::size_t> positive;

  std::string text() const {
    std::string lines = "graph {\n";
    std::string names, results, types;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      lines += "  %" + std::to_string(i) + " = input : " + inputs[i] + "\n";
      names += (i > 0 ? ", %" : "%") + std::to_string(i);
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      results += (i > 0 ? ", %" : "%") + std::to_string(100 + i);
      types += (i > 0 ? ", " : "") + outputs[i];
    }
    return lines + "  " + results + " = " + op + " (" + names + ") {" + attributes + "} : " + types + "\n}\n";
  }
};

inline Dims draw_shape(Draw& draw, std::size_t least_rank) {
  Dims shape(least_rank + draw.below(5 - least_rank));
  for (std::int64_t& dim : shape) dim = static_cast<std::int64_t>(draw.one_in(40) ? 0 : 1 + draw.below(6));
  if (draw.one_in(3)) shape.back() = static_cast<std::int64_t>(1 + draw.below(70));
  return shape;
}

/// Any axis of `shape`, counted from either end.
inline std::int64_t draw_axis(Draw& draw, const Dims& shape) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  return static_cast<std::int64_t>(draw.below(2 * shape.size())) - rank;
}
inline std::size_t wrap(std::int64_t axis, const Dims& shape) {
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(shape.size()) : axis);
}

/// Numbers of one scale about one centre; in some tensors infinities, NaNs and the ends of the range among them.
inline Tensor fill(Draw& draw, const Value& value, bool positive, bool special) {
  Tensor tensor(value.dtype, value.shape);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> specials{kInfinity, -kInfinity, -kInfinity, std::nan(""), 0.0, -0.0, 3e38, -1e30, 1e-40};
  const double scale = draw.of<double>({1e-3, 1, 1, 30});
  const double centre = draw.of<double>({0, 0, 0, 3, -200});
  const bool all_low = special && draw.one_in(4);
  const std::int64_t count = numel(value.shape).value();
  for (std::int64_t i = 0; i < count; ++i) {
    double x = centre + scale * draw.normal();
    if (special && draw.one_in(8)) x = draw.of(specials);
    if (all_low && !draw.one_in(6)) x = -kInfinity;
    tensor.set(i, positive ? std::fabs(x) : x);
  }
  return tensor;
}

/// A family of ops; `make` draws one.
struct Subject {
  std::string name;
  Case (*make)(Draw& draw);
};

struct Outcome {
  std::int64_t outputs = 0;  ///< with elements, of finite data
  double bounded = 0;        ///< the sum of the shares of their elements whose bound says something
};

/// The tensors that leave `graph`, by evaluate() or with bounds.
inline Status run(const Graph& graph, const std::vector<ConstTensor>& inputs, std::vector<Tensor>& outputs,
                  std::vector<std::vector<double>>* bounds) {
  std::vector<MutableTensor> out;
  for (const ValueId v : graph.outputs) outputs.emplace_back(graph.values[v].dtype, graph.values[v].shape);
  for (Tensor& tensor : outputs) out.push_back(tensor.out());
  return bounds == nullptr ? evaluate(graph, inputs, out) : evaluate_with_bounds(graph, inputs, out, *bounds);
}

inline void compare(const Case& c, Draw& draw, Outcome& outcome) {
  SCOPED_TRACE(c.text());
  Result<Graph> parsed = parse(c.text());
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  Graph whole = parsed.value();
  for (const auto step : {verify, infer}) {
    const Status status = step(whole);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  Graph parts = whole;
  const Status status = run_pipeline(parts);
  ASSERT_TRUE(status.ok()) << status.message();
  for (const Op& op : parts.ops) ASSERT_EQ(op.dialect, Dialect::core) << describe(op);
  ASSERT_EQ(parts.outputs.size(), whole.outputs.size());

  const bool special = draw.one_in(4);
  std::vector<Tensor> tensors;
  std::vector<ConstTensor> inputs;
  for (std::size_t i = 0; i < whole.inputs.size(); ++i) {
    const bool positive = std::find(c.positive.begin(), c.positive.end(), i) != c.positive.end();
    tensors.push_back(fill(draw, whole.values[whole.inputs[i]], positive, special));
  }
  for (const Tensor& tensor : tensors) inputs.push_back(tensor.in());
  std::vector<Tensor> expected, got;
  std::vector<std::vector<double>> bounds;
  const Status direct = run(whole, inputs, expected, &bounds);
  ASSERT_TRUE(direct.ok()) << direct.message();
  const Status stepwise = run(parts, inputs, got, nullptr);
  ASSERT_TRUE(stepwise.ok()) << stepwise.message() << print(parts);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const std::vector<double> want = expected[k].values();
    const std::vector<double> have = got[k].values();
    ASSERT_EQ(want.size(), have.size());
    std::int64_t bounded = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
      const double bound = bounds[k].empty() ? 0 : bounds[k][i];
      ASSERT_TRUE(agree(expected[k].desc().dtype, want[i], have[i], bound))
          << "output " << k << ", element " << i << ": " << want[i] << " directly, " << have[i] << " decomposed, bound "
          << bound << "\n"
          << print(parts);
      bounded += bound <= 0.01 * std::max(1.0, std::fabs(want[i])) ? 1 : 0;
    }
    if (special || want.empty()) continue;
    ++outcome.outputs;
    outcome.bounded += static_cast<double>(bounded) / static_cast<double>(want.size());
  }
}

/// Draws and compares; `test` and the subject's name are what a filter names the case by.
inline void compare_all(const Subject& subject, const std::string& test) {
  const std::string& name = subject.name;
  const std::int64_t cases = numeric::scaled_cases(1000);
  Outcome outcome;
  for (std::int64_t index = 0; index < cases && !testing::Test::HasFatalFailure(); ++index) {
    const auto number = static_cast<std::uint64_t>(index);
    if (numeric::only_case().value_or(number) != number) continue;
    SCOPED_TRACE(numeric::repeat_line(test + name, number));
    Draw draw(numeric::case_seed(name, number));
    compare(subject.make(draw), draw, outcome);
  }
  // Bounds that say nothing would agree with anything. Each output counts alike: one large tensor would decide for all.
  if (testing::Test::HasFatalFailure() || numeric::only_case()) return;
  EXPECT_GT(outcome.bounded, 0.7 * static_cast<double>(outcome.outputs));
}

}  // namespace tenfold::graph
