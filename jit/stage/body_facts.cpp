// SPDX-License-Identifier: Apache-2.0
#include "jit/stage/body_facts.hpp"

#include <cmath>

#include "jit/function/functions.hpp"
#include "kernel/words.hpp"

namespace tenfold::jit {

using kernel::Function;
using kernel::Node;

BodyFacts::BodyFacts(const kernel::KernelSpec& spec) : spec_(spec), ends_in_words_(kernel::ends_in_words(spec)) {
  for (int node = 0; node < static_cast<int>(spec.body.size()); ++node)
    never_negative_.push_back(finds_never_negative(node));
}

/// Once it is known of all nodes before.
bool BodyFacts::finds_never_negative(int node) const {
  const Node& made = at(node);
  if (lane_type(kernel::dtype_of(spec_, node)) != LaneType::f32) return false;
  switch (made.kind) {
    case Node::Kind::cast: return is_floating(kernel::dtype_of(spec_, made.args[0])) && is_never_negative(made.args[0]);
    case Node::Kind::reduce: return made.monoid == kernel::Monoid::sum && is_never_negative(made.args[0]);
    case Node::Kind::apply: break;
    default: return false;
  }
  if (made.function == Function::exp) return true;
  return made.function == Function::div && is_never_negative(made.args[0]) &&
         (is_never_negative(made.args[1]) || is_kept_above_zero(made.args[1]));
}

/// max(x, c) with c above 0. A NaN may be a signalling one, which a division makes quiet.
bool BodyFacts::is_kept_above_zero(int node) const {
  const Node& made = at(node);
  return made.kind == Node::Kind::apply && made.function == Function::max &&
         at(made.args[1]).kind == Node::Kind::constant && at(made.args[1]).value > 0;
}

bool BodyFacts::is_moderate(int node) const {
  const Node& made = at(node);
  if (is_kept_above_zero(node)) {
    const int most = made.args[0];
    return is_below_constant(most) && at(at(most).args[1]).value <= 0x1p75 && at(made.args[1]).value >= 0x1p-75;
  }
  if (made.kind == Node::Kind::cast)
    return kernel::dtype_of(spec_, made.args[0]) != DType::f64 && is_moderate(made.args[0]);
  if (made.kind == Node::Kind::apply) return made.function == Function::sqrt;
  if (made.kind != Node::Kind::reduce || made.monoid != kernel::Monoid::sum) return false;
  const Node* of = &at(made.args[0]);
  if (of->kind == Node::Kind::cast) of = &at(of->args[0]);
  return of->kind == Node::Kind::apply && of->function == Function::exp && is_never_positive(of->args[0]);
}

bool BodyFacts::is_never_positive(int node) const {
  const Node& made = at(node);
  if (is_below_constant(node)) return at(made.args[1]).value <= 0;
  if (made.kind == Node::Kind::cast) return is_floating(made.dtype) && is_never_positive(made.args[0]);
  if (made.kind != Node::Kind::apply || made.function != Function::sub) return false;
  const Node& greatest = at(made.args[1]);
  return greatest.kind == Node::Kind::reduce && greatest.monoid == kernel::Monoid::max &&
         greatest.args[0] == made.args[0] && is_floating(kernel::dtype_of(spec_, made.args[0]));
}

bool BodyFacts::is_below_constant(int node) const {
  const Node& made = at(node);
  if (made.kind != Node::Kind::apply || made.function != Function::min ||
      kernel::dtype_of(spec_, made.args[0]) != DType::f32)
    return false;
  const Node& most = at(made.args[1]);
  return most.kind == Node::Kind::constant && !std::isnan(most.value) && !(most.value == 0 && std::signbit(most.value));
}

}  // namespace tenfold::jit
