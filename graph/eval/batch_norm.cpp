// SPDX-License-Identifier: Apache-2.0
//
// BatchNormForwardTraining and BatchNormTrainingBackward, a channel at a time: a row is all that one channel has, over
// the batch and the spatial dims. Variances are centred, and divide by the number of elements.
#include "graph/eval/batch_norm.hpp"

#include <string>

#include "graph/eval/row_pass.hpp"
#include "graph/ir/attribute.hpp"
#include "graph/ir/data_format.hpp"

namespace tenfold::graph {
namespace {

/// What oneDNN takes where the attribute is not given.
constexpr double kMomentum = 0.5;

struct ChannelPlan {
  Dims shape;
  std::vector<bool> reduced;
  std::vector<std::size_t> channel;  ///< the one dim that is not
};

Result<ChannelPlan> plan_channels(const Op& op, Inputs inputs) {
  const bool backward = op.kind == "BatchNormTrainingBackward";
  const std::size_t least = backward ? 4 : 3;
  if (inputs.size() < least || inputs.size() > 5)
    return fail(op, Code::invalid_op, std::to_string(inputs.size()) + " inputs");
  ChannelPlan plan{inputs[0].desc.shape, {}, {}};
  const std::size_t rank = plan.shape.size();
  if (rank < 2) return fail(op, Code::invalid_shape, "the source has no channels");
  plan.channel = {channel_dim(op, rank)};
  plan.reduced.assign(rank, true);
  plan.reduced[plan.channel[0]] = false;
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const Dims& wanted = backward && i == 1 ? plan.shape : Dims{plan.shape[plan.channel[0]]};
    if (is_missing(inputs[i]) || inputs[i].desc.shape != wanted)
      return fail(op, Code::invalid_shape, "input " + std::to_string(i) + " does not fit the source");
  }
  return plan;
}

template <class T>
class ChannelPass : public RowPass<T> {
 public:
  ChannelPass(const Operands& operands, const ChannelPlan& plan)
      : RowPass<T>(operands, plan.shape, plan.reduced), operands_(operands), plan_(plan) {}

  std::size_t data(std::size_t i) { return this->input(i, operands_.inputs[i].desc, all_dims(plan_.shape.size())); }
  std::size_t stats(std::size_t i) {
    if (!has_input(operands_.inputs, i)) return this->input(operands_.inputs.size(), {}, {});
    return this->input(i, operands_.inputs[i].desc, plan_.channel);
  }
  std::size_t result(std::size_t i) {
    if (i >= operands_.outputs.size()) return this->output(i, {}, {});
    return this->output(i, operands_.outputs[i].desc, i == 0 ? all_dims(plan_.shape.size()) : plan_.channel);
  }

 private:
  const Operands& operands_;
  const ChannelPlan& plan_;
};

struct Forward {
  const Op& op;
  const ChannelPlan& plan;

  template <class T>
  void run(const Operands& operands) const {
    ChannelPass<T> pass(operands, plan);
    const std::size_t x = pass.data(0), old_mean = pass.stats(1), old_variance = pass.stats(2);
    const std::size_t gamma = pass.stats(3), beta = pass.stats(4), y = pass.result(0);
    const std::size_t next_mean = pass.result(1), next_variance = pass.result(2);
    const std::size_t mean_out = pass.result(3), variance_out = pass.result(4);
    const T epsilon{Real{f32_attribute(op, "epsilon")}};
    const bool has_momentum = find_attribute(op, "momentum") != nullptr;
    const T momentum{Real{has_momentum ? f32_attribute(op, "momentum") : kMomentum}};

    pass.rows([&](const auto& row) {
      std::vector<T> centred = pass.row(x, row);
      const T mean = average(centred);
      std::vector<T> squares;
      for (T& number : centred) {
        number = number - mean;
        squares.push_back(number * number);
      }
      const T variance = average(squares);
      const T deviation = root(variance + epsilon);
      std::size_t i = 0;
      pass.elements(row, [&](const auto& at) {
        T number = centred[i++] / deviation;
        if (pass.has(gamma)) number = number * pass.get(gamma, row);
        if (pass.has(beta)) number = number + pass.get(beta, row);
        pass.put(y, at, number);
      });
      const auto blend = [&](std::size_t old, const T& now) {
        return momentum * pass.get(old, row) + (T{1} - momentum) * now;
      };
      if (pass.has(next_mean)) pass.put(next_mean, row, blend(old_mean, mean));
      if (pass.has(next_variance)) pass.put(next_variance, row, blend(old_variance, variance));
      if (pass.has(mean_out)) pass.put(mean_out, row, mean);
      if (pass.has(variance_out)) pass.put(variance_out, row, variance);
    });
  }
};

/// With i = 1 / sqrt(variance + epsilon) and n = (x - mean) * i, of a channel: diff_beta = sum(g),
/// diff_gamma = sum(g * n), diff_src = gamma * i * (g - mean(g) - n * mean(g * n)).
struct Backward {
  const Op& op;
  const ChannelPlan& plan;

  template <class T>
  void run(const Operands& operands) const {
    ChannelPass<T> pass(operands, plan);
    const std::size_t x = pass.data(0), g = pass.data(1), given_mean = pass.stats(2), given_variance = pass.stats(3);
    const std::size_t gamma = pass.stats(4);
    const std::size_t diff_src = pass.result(0), diff_gamma = pass.result(1), diff_beta = pass.result(2);
    const T epsilon{Real{f32_attribute(op, "epsilon")}};

    pass.rows([&](const auto& row) {
      const T mean = pass.get(given_mean, row);
      const std::vector<T> gradients = pass.row(g, row);
      const T inverse = T{1} / root(pass.get(given_variance, row) + epsilon);
      std::vector<T> normal, products;
      pass.elements(row, [&](const auto& at) {
        normal.push_back((pass.get(x, at) - mean) * inverse);
        products.push_back(gradients[products.size()] * normal.back());
      });
      const T common = average(gradients), along = average(products);
      const T scale = pass.has(gamma) ? pass.get(gamma, row) * inverse : inverse;
      std::size_t i = 0;
      pass.elements(row, [&](const auto& at) {
        pass.put(diff_src, at, ((gradients[i] - common) - normal[i] * along) * scale);
        ++i;
      });
      if (pass.has(diff_gamma)) pass.put(diff_gamma, row, total(products));
      if (pass.has(diff_beta)) pass.put(diff_beta, row, total(gradients));
    });
  }
};

bool is_backward(const Op& op) { return op.kind == "BatchNormTrainingBackward"; }

}  // namespace

Result<std::vector<Dims>> batch_norm_shapes(const Op& op, Inputs inputs) {
  const Result<ChannelPlan> plan = plan_channels(op, inputs);
  if (!plan.ok()) return plan.status();
  std::vector<Dims> shapes(is_backward(op) ? 3 : 5, Dims{plan.value().shape[plan.value().channel[0]]});
  shapes[0] = plan.value().shape;
  return shapes;
}

Status evaluate_batch_norm(const Op& op, Inputs inputs, Outputs outputs) {
  const ChannelPlan plan = plan_channels(op, inputs).value();
  const Operands operands{inputs, outputs, {}, nullptr};
  if (is_backward(op))
    Backward{op, plan}.run<Real>(operands);
  else
    Forward{op, plan}.run<Real>(operands);
  return {};
}

Result<std::vector<Bounds>> bound_batch_norm(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                             Outputs outputs) {
  const ChannelPlan plan = plan_channels(op, inputs).value();
  if (is_backward(op)) return bounds_of(Backward{op, plan}, inputs, input_bounds, outputs);
  return bounds_of(Forward{op, plan}, inputs, input_bounds, outputs);
}

}  // namespace tenfold::graph
