// SPDX-License-Identifier: Apache-2.0
//
// Norms, row by row: (x - centre) / divisor * scale + shift, where the row's statistic says what centre and divisor
// are; where they are given, the quotient is a product with the divisor's reciprocal. Variances are centred: the mean
// of the squares of what is left when the mean is taken off.
#include "graph/eval/normalize.hpp"

#include <string>

#include "graph/eval/norm_plan.hpp"
#include "graph/eval/row_pass.hpp"

namespace tenfold::graph {
namespace {

template <class T>
struct RowFacts {
  T mean{0};
  T variance{0};  ///< the mean square, where there is no mean
  T divisor{1};
};

template <class T>
std::vector<T> squares(const std::vector<T>& numbers) {
  std::vector<T> out;
  out.reserve(numbers.size());
  for (const T& number : numbers) out.push_back(number * number);
  return out;
}

template <class T>
RowFacts<T> row_facts(const NormPlan& plan, const std::vector<T>& numbers) {
  RowFacts<T> facts;
  const T epsilon{Real{plan.epsilon}};
  switch (plan.statistic) {
    case Statistic::l1: {
      std::vector<T> magnitudes;
      magnitudes.reserve(numbers.size());
      for (const T& number : numbers) magnitudes.push_back(magnitude(number));
      facts.divisor = total(magnitudes);
      break;
    }
    case Statistic::l2: facts.divisor = root(total(squares(numbers))); break;
    case Statistic::mean_square:
      facts.variance = average(squares(numbers));
      facts.divisor = root(facts.variance + epsilon);
      break;
    default: {
      facts.mean = average_by_pilot(numbers);
      std::vector<T> centred;
      centred.reserve(numbers.size());
      for (const T& number : numbers) centred.push_back(number - facts.mean);
      facts.variance = average(squares(centred));
      const bool outside = plan.statistic == Statistic::deviation;
      facts.divisor = outside ? root(facts.variance) + epsilon : root(facts.variance + epsilon);
    }
  }
  const bool lp = plan.statistic == Statistic::l1 || plan.statistic == Statistic::l2;
  if (lp && value_of(facts.divisor) == 0) facts.divisor = one_for(facts.divisor);
  return facts;
}

struct Norm {
  const NormPlan& plan;

  template <class T>
  void run(const Operands& operands) const {
    const std::vector<std::size_t> dims = all_dims(plan.shape.size());
    RowPass<T> pass(operands, plan.shape, plan.reduced);
    const auto side = [&](std::size_t index) {
      const bool there = has_input(operands.inputs, index);
      return pass.input(index, there ? plan.split_scale(operands.inputs[index].desc) : TensorDesc{},
                        there ? plan.dims_of(plan.split_scale(operands.inputs[index].desc).shape.size())
                              : std::vector<std::size_t>{});
    };
    const auto stats = [&](std::size_t index) {
      const bool there = index < operands.outputs.size();
      return pass.output(index, there ? operands.outputs[index].desc : TensorDesc{},
                         there ? plan.stats_dims : std::vector<std::size_t>{});
    };
    const std::size_t none = operands.inputs.size();
    const bool given = plan.statistic == Statistic::given;
    const std::size_t x = pass.input(0, plan.split(operands.inputs[0].desc), dims);
    const std::size_t y = pass.output(0, plan.split(operands.outputs[0].desc), dims);
    const std::size_t scale = side(plan.scale);
    const std::size_t shift = side(plan.takes_shift ? plan.shift : none);
    const std::size_t mean = side(given ? plan.mean : none);
    const std::size_t variance = side(given ? plan.variance : none);
    const std::size_t stats_mean = stats(1);
    const std::size_t stats_variance = stats(2);
    const T epsilon{Real{plan.epsilon}};

    pass.rows([&](const auto& row) {
      RowFacts<T> facts;
      if (!given) facts = row_facts(plan, pass.row(x, row));
      pass.elements(row, [&](const auto& at) {
        if (given) facts = {pass.get(mean, at), T{0}, root(pass.get(variance, at) + epsilon)};
        T number = pass.get(x, at) - facts.mean;
        number = given ? number * (T{1} / facts.divisor) : number / facts.divisor;
        if (pass.has(scale)) number = number * pass.get(scale, at);
        if (pass.has(shift)) number = number + pass.get(shift, at);
        pass.put(y, at, number);
      });
      if (pass.has(stats_mean)) pass.put(stats_mean, row, facts.mean);
      if (pass.has(stats_variance))
        pass.put(stats_variance, row, plan.inverse_deviation ? T{1} / facts.divisor : facts.variance);
    });
  }
};

/// With i = 1 / sqrt(variance + epsilon), n = (x - mean) * i and g = diff_dst * gamma, a row's
/// diff_src = (g - mean(g) - n * mean(g * n)) * i.
struct NormBackward {
  const NormPlan& plan;

  template <class T>
  void run(const Operands& operands) const {
    source(RowPass<T>(operands, plan.shape, plan.reduced), operands);
    if (operands.outputs.size() > 1) affine<T>(operands);
  }

 private:
  struct Fields {
    std::size_t x, g, mean, variance, gamma;
  };

  template <class T>
  Fields fields(RowPass<T>& pass, const Operands& operands) const {
    const std::vector<std::size_t> dims = all_dims(plan.shape.size());
    const auto in = [&](std::size_t i, const std::vector<std::size_t>& along) {
      const bool there = has_input(operands.inputs, i);
      return pass.input(i, there ? operands.inputs[i].desc : TensorDesc{}, there ? along : std::vector<std::size_t>{});
    };
    return {in(0, dims), in(1, dims), in(2, plan.stats_dims), in(3, plan.stats_dims), in(plan.scale, plan.scale_dims)};
  }

  template <class T>
  void source(RowPass<T> pass, const Operands& operands) const {
    const Fields f = fields(pass, operands);
    const std::size_t target = pass.output(0, operands.outputs[0].desc, all_dims(plan.shape.size()));
    const T epsilon{Real{plan.epsilon}};
    pass.rows([&](const auto& row) {
      const T mean = pass.get(f.mean, row);
      const T inverse = T{1} / root(pass.get(f.variance, row) + epsilon);
      std::vector<T> normal, scaled, products;
      pass.elements(row, [&](const auto& at) {
        normal.push_back((pass.get(f.x, at) - mean) * inverse);
        scaled.push_back(pass.has(f.gamma) ? pass.get(f.g, at) * pass.get(f.gamma, at) : pass.get(f.g, at));
        products.push_back(scaled.back() * normal.back());
      });
      const T along = average(products);
      const T common = average(scaled);
      std::size_t i = 0;
      pass.elements(row, [&](const auto& at) {
        pass.put(target, at, ((scaled[i] - common) - normal[i] * along) * inverse);
        ++i;
      });
    });
  }

  /// Sums over all dims that gamma does not have.
  template <class T>
  void affine(const Operands& operands) const {
    std::vector<bool> reduced(plan.shape.size(), true);
    for (const std::size_t dim : plan.scale_dims) reduced[dim] = false;
    RowPass<T> pass(operands, plan.shape, reduced);
    const Fields f = fields(pass, operands);
    const std::size_t diff_gamma = pass.output(1, operands.outputs[1].desc, plan.scale_dims);
    const bool both = operands.outputs.size() > 2;
    const std::size_t diff_beta = pass.output(2, both ? operands.outputs[2].desc : TensorDesc{},
                                              both ? plan.scale_dims : std::vector<std::size_t>{});
    const T epsilon{Real{plan.epsilon}};
    pass.rows([&](const auto& row) {
      std::vector<T> products;
      pass.elements(row, [&](const auto& at) {
        const T inverse = T{1} / root(pass.get(f.variance, at) + epsilon);
        products.push_back(pass.get(f.g, at) * ((pass.get(f.x, at) - pass.get(f.mean, at)) * inverse));
      });
      // Where gamma has all dims there is no sum, and the sign of a zero is not stated.
      pass.put(diff_gamma, row, total(products) + T{0});
      if (pass.has(diff_beta)) pass.put(diff_beta, row, total(pass.row(f.g, row)) + T{0});
    });
  }
};

/// The plan of LayerNormBackward, whose gamma is input 4.
Result<NormPlan> plan_backward(const Op& op, Inputs inputs) {
  if (inputs.size() < 4 || inputs.size() > 6)
    return fail(op, Code::invalid_op, std::to_string(inputs.size()) + " inputs, not 4 to 6");
  const bool affine = attribute_or<bool>(op, "use_affine", true) && has_input(inputs, 4);
  std::vector<ConstTensor> forward{inputs[0]};
  if (has_input(inputs, 4)) forward.push_back(inputs[4]);
  Result<NormPlan> plan = plan_norm(op, forward);
  if (!plan.ok()) return plan;
  plan.value().scale = affine ? 4 : inputs.size();
  bool fits = inputs[1].desc.shape == inputs[0].desc.shape;
  for (const std::size_t i : {2, 3}) fits = fits && inputs[i].desc.shape == plan.value().stats;
  for (std::size_t i = 0; has_input(inputs, 4) && i < inputs[4].desc.shape.size(); ++i)
    fits = fits && inputs[4].desc.shape[i] == plan.value().shape[plan.value().scale_dims[i]];
  if (!fits) return fail(op, Code::invalid_shape, "its inputs do not fit together");
  return plan;
}

/// The core.reduce that a global pool is.
Op reduction_of(const Op& pool, Inputs inputs) {
  std::vector<std::int64_t> axes;
  for (std::size_t i = 2; i < inputs[0].desc.shape.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  Op op;
  op.id = pool.id;
  op.name = pool.name;
  op.dialect = Dialect::core;
  op.kind = "reduce";
  const std::string reduction = pool.kind == "GlobalMaxPool" ? "max" : "mean";
  op.attributes = {{"reduction", reduction}, {"axes", axes}, {"keep_dims", true}, {"source_kind", pool.kind}};
  return op;
}

}  // namespace

Result<std::vector<Dims>> norm_shapes(const Op& op, Inputs inputs) {
  const Result<NormPlan> plan = plan_norm(op, inputs);
  if (!plan.ok()) return plan.status();
  std::vector<Dims> shapes{inputs[0].desc.shape};
  const bool has_stats = op.kind == "LayerNorm" || op.kind == "GroupNorm" || op.kind == "LayerNormalization";
  if (has_stats) shapes.insert(shapes.end(), 2, plan.value().stats);
  return shapes;
}

Status evaluate_norm(const Op& op, Inputs inputs, Outputs outputs) {
  const Result<NormPlan> plan = plan_norm(op, inputs);
  Norm{plan.value()}.run<Real>({inputs, outputs, {}, nullptr});
  return {};
}

Result<std::vector<Bounds>> bound_norm(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                       Outputs outputs) {
  const Result<NormPlan> plan = plan_norm(op, inputs);
  return bounds_of(Norm{plan.value()}, inputs, input_bounds, outputs);
}

Result<std::vector<Dims>> norm_backward_shapes(const Op& op, Inputs inputs) {
  const Result<NormPlan> plan = plan_backward(op, inputs);
  if (!plan.ok()) return plan.status();
  std::vector<Dims> shapes{inputs[0].desc.shape};
  if (has_input(inputs, 4)) shapes.insert(shapes.end(), 2, inputs[4].desc.shape);
  return shapes;
}

Status evaluate_norm_backward(const Op& op, Inputs inputs, Outputs outputs) {
  const Result<NormPlan> plan = plan_backward(op, inputs);
  NormBackward{plan.value()}.run<Real>({inputs, outputs, {}, nullptr});
  return {};
}

Result<std::vector<Bounds>> bound_norm_backward(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                                Outputs outputs) {
  const Result<NormPlan> plan = plan_backward(op, inputs);
  return bounds_of(NormBackward{plan.value()}, inputs, input_bounds, outputs);
}

Result<std::vector<Dims>> global_pool_shapes(const Op& op, Inputs inputs) {
  if (inputs.size() != 1) return fail(op, Code::invalid_op, std::to_string(inputs.size()) + " inputs, not 1");
  return output_shapes(reduction_of(op, inputs), inputs, {{}});
}

Status evaluate_global_pool(const Op& op, Inputs inputs, Outputs outputs) {
  return evaluate_op(reduction_of(op, inputs), inputs, outputs);
}

Result<std::vector<Bounds>> bound_global_pool(const Op& op, Inputs inputs, std::span<const Bounds> input_bounds,
                                              Outputs outputs) {
  return bound_op(reduction_of(op, inputs), inputs, input_bounds, outputs);
}

}  // namespace tenfold::graph
