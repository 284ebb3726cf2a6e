// SPDX-License-Identifier: Apache-2.0
//
// Which shape rules apply to which op, as rows, and the scalar functions of core.map with their arity. An op of a new
// dialect that behaves like one here is one more row (or none, when its table category says it all).
#include <string_view>

#include "graph/check/rules.hpp"

namespace tenfold::graph {
namespace {

struct KindRow {
  Dialect dialect;
  std::string_view kind;
  Form form;
};

constexpr KindRow kKinds[] = {
    {Dialect::onednn, "BiasAdd", Form::bias_add}, {Dialect::onednn, "PReLU", Form::prelu},
    {Dialect::onednn, "Select", Form::select},    {Dialect::onednn, "TypeCast", Form::cast},
    {Dialect::core, "cast", Form::cast},          {Dialect::core, "select", Form::select},
    {Dialect::core, "reshape", Form::reshape},
};

struct CategoryRow {
  std::string_view category;
  Form form;
};

constexpr CategoryRow kCategories[] = {
    {"unary", Form::elementwise},
    {"binary", Form::elementwise},
    {"map", Form::elementwise},
    {"reduction", Form::reduction},
};

struct FunctionArity {
  std::string_view name;
  int arity;
};

constexpr FunctionArity kFunctions[] = {
    {"abs", 1},       {"clamp", 1},      {"elu", 1},           {"exp", 1},
    {"gelu_erf", 1},  {"gelu_tanh", 1},  {"greater_equal", 2}, {"hardsigmoid", 1},
    {"hardswish", 1}, {"leakyrelu", 1},  {"log", 1},           {"mish", 1},
    {"pow", 1},       {"reciprocal", 1}, {"relu", 1},          {"round", 1},
    {"sigmoid", 1},   {"softplus", 1},   {"sqrt", 1},          {"square", 1},
    {"tanh", 1},      {"add", 2},        {"div", 2},           {"max", 2},
    {"min", 2},       {"mul", 2},        {"prelu", 2},         {"squared_difference", 2},
    {"sub", 2},
};

}  // namespace

Form form_of(const Op& op) {
  for (const KindRow& row : kKinds)
    if (row.dialect == op.dialect && row.kind == op.kind) return row.form;
  const schemas::OpDesc* desc = schemas::find_op(op.dialect, op.kind);
  if (desc == nullptr) return Form::other;
  for (const CategoryRow& row : kCategories)
    if (row.category == desc->category) return row.form;
  return Form::other;
}

int arity_of_function(std::string_view function) {
  for (const FunctionArity& row : kFunctions)
    if (row.name == function) return row.arity;
  return 0;
}

}  // namespace tenfold::graph
