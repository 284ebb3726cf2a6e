// SPDX-License-Identifier: Apache-2.0
//
// Values are drawn with an estimate of their range: without it, chains of exponentials, squares and quotients are
// infinities and NaNs after a few ops, and no error bound says anything.
#include "fused_case.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "graph/check/check.hpp"
#include "graph/eval/eval.hpp"
#include "graph/text/text.hpp"
#include "graph_value.hpp"
#include "reduction_case.hpp"

namespace tenfold::numeric {
namespace {

using graph::Op;
using graph::ValueId;

constexpr std::int64_t kSizes[] = {1, 1, 2, 3, 4, 6, 7, 8, 9, 12, 15, 16, 17, 18, 24, 31, 32, 33, 48, 64, 65, 100, 130};
constexpr std::int64_t kLargeSizes[] = {2, 3, 8, 16, 33, 64, 100, 257, 512, 1024, 2049, 8192, 40000};

/// What is known of a value that was drawn.
struct Known {
  ValueId id = 0;
  double most = 4;       ///< about its greatest magnitude
  double least = 0;      ///< above 0: it is positive, and about this at least
  bool negative = true;  ///< it may be below 0
  bool exact = true;     ///< no op that rounds differently from the reference has made it
  bool is_used = false;
};

double cap_of(DType dtype) {
  switch (dtype) {
    case DType::f16: return 2e4;
    case DType::f64: return 1e30;
    case DType::s32: return 1e8;
    case DType::s8: return 100;
    case DType::u8: return 200;
    case DType::boolean: return 1;
    default: return 1e10;
  }
}

/// The range of a function of one argument, or nothing where the argument does not suit it.
std::optional<Known> range_of(const std::string& name, const Known& x) {
  Known y = x;
  y.exact = false;
  const auto is = [&name](std::initializer_list<const char*> names) { return std::ranges::count(names, name) > 0; };
  const auto within = [&y](double most, bool negative, double least) {
    y.most = most, y.negative = negative, y.least = least;
    return y;
  };
  if (is({"identity", "round", "floor", "ceil"})) {
    y.exact = x.exact;
    return within(x.most + 1, x.negative, 0);
  }
  if (is({"neg", "abs", "relu", "sign", "clamp", "leakyrelu", "square", "sqrt", "reciprocal"})) y.exact = x.exact;
  if (name == "neg") return within(x.most, true, 0);
  if (name == "abs") return within(x.most, false, x.least);
  if (name == "relu") return within(x.most, false, x.least);
  if (is({"sign", "tanh", "erf", "softsign", "sin", "cos"})) return within(1, x.negative || name != "tanh", 0);
  if (name == "clamp") return within(std::min(x.most, 3.0), true, 0);
  if (is({"leakyrelu", "gelu_erf", "gelu_tanh", "elu", "celu", "mish", "swish", "hardswish", "asinh"}))
    return within(x.most, x.negative, 0);
  if (name == "atan") return within(1.6, x.negative, 0);
  if (name == "softplus") return within(x.most + 1, false, std::exp(-std::min(x.most, 10.0)) / 2);
  if (is({"sigmoid", "hardsigmoid"}))
    return within(1, false, name == "sigmoid" ? std::exp(-std::min(x.most, 10.0)) / 2 : 0);
  if (name == "square") return within(x.most * x.most, false, x.least * x.least);
  if (name == "exp" && x.most <= 8) return within(std::exp(x.most), false, std::exp(-x.most));
  if (name == "sqrt" && !x.negative && (x.least > 0 || x.exact))
    return within(std::sqrt(x.most) + 1, false, std::sqrt(x.least));
  if (name == "log" && x.least > 1e-4) return within(std::fabs(std::log(x.least)) + std::log(x.most + 1), true, 0);
  if (name == "reciprocal" && x.least > 1e-3) return within(1 / x.least, false, 1 / (x.most + 1));
  return std::nullopt;
}

std::optional<Known> range_of(const std::string& name, const Known& a, const Known& b) {
  Known y;
  y.exact = a.exact && b.exact;
  y.negative = a.negative || b.negative;
  const double sum = a.most + b.most;
  if (name == "add") return y.most = sum, y.least = y.negative ? 0 : a.least + b.least, y;
  if (name == "max" || name == "min")
    return y.most = std::max(a.most, b.most), y.least = y.negative ? 0 : std::min(a.least, b.least), y;
  if (name == "mul") return y.most = a.most * b.most, y.least = y.negative ? 0 : a.least * b.least, y;
  if (name == "sub") return y.most = sum, y.negative = true, y;
  if (name == "prelu") return y.most = std::max(a.most, a.most * b.most), y.negative = true, y;
  if (name == "squared_difference") return y.most = sum * sum, y.negative = false, y.exact = false, y;
  if (name == "div" && b.least > 1e-3)
    return y.most = a.most / b.least, y.least = y.negative ? 0 : a.least / (b.most + 1), y;
  if (name == "pow" && a.least > 1e-2 && b.most <= 4)
    return y.most = std::pow(std::max(a.most, 1 / a.least), b.most), y.negative = false, y.exact = false, y;
  return std::nullopt;
}

std::optional<Known> range_of_reduction(const std::string& name, const Known& x, double n) {
  Known y = x;
  y.exact = x.exact && (name == "max" || name == "min");
  if (n == 0) return name == "sum" || name == "l1" || name == "l2" ? std::optional(y) : std::nullopt;
  if (name == "max" || name == "min" || name == "mean") return y;
  y.least = x.least * n;
  if (name == "sum") return y.most = x.most * n, y;
  y.negative = false;
  if (name == "l1") return y.most = x.most * n, y;
  if (name == "sum_square") return y.most = x.most * x.most * n, y.least = x.least * x.least * n, y;
  if (name == "l2") return y.most = x.most * std::sqrt(n), y.least = x.least * std::sqrt(n), y;
  y.negative = true;
  y.least = 0;
  if (name == "log_sum_exp") return y.most = x.most + std::log(n), y;
  if (name == "log_sum" && x.least > 1e-4)
    return y.most = std::fabs(std::log(x.least * n)) + std::log(x.most * n + 1), y;
  if (name == "prod" && x.most <= 2 && n <= 64) return y.most = std::pow(x.most, n), y;
  if (name == "prod" && n <= 4) return y.most = std::pow(x.most, n), y;
  return std::nullopt;
}

Dims broadcast(const Dims& a, const Dims& b, bool& fits) {
  const Dims &wide = a.size() >= b.size() ? a : b, &narrow = a.size() >= b.size() ? b : a;
  Dims result = wide;
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    std::int64_t& dim = result[wide.size() - narrow.size() + i];
    if (narrow[i] != 1 && dim != 1 && dim != narrow[i]) fits = false;
    if (dim == 1) dim = narrow[i];
  }
  return result;
}

/// Row-major; in one case of four with gaps or with the dims in another order.
Dims drawn_strides(const Dims& shape, std::mt19937_64& random) {
  if (random() % 4 != 0) return row_major_strides(shape);
  std::vector<std::size_t> order(shape.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (random() % 2 == 0) std::shuffle(order.begin(), order.end(), random);
  std::int64_t at = 1 + static_cast<std::int64_t>(random() % 2);
  Dims strides(shape.size());
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = at;
    at = at * std::max<std::int64_t>(1, shape[order[i]]) + static_cast<std::int64_t>(random() % 3);
  }
  return strides;
}

/// Only what `outputs` need, renumbered.
graph::Graph compacted(const graph::Graph& from, const std::vector<ValueId>& outputs) {
  std::set<ValueId> needed(outputs.begin(), outputs.end());
  std::vector<bool> keeps(from.ops.size(), false);
  for (std::size_t i = from.ops.size(); i-- > 0;) {
    keeps[i] = needed.contains(from.ops[i].outputs[0]);
    if (keeps[i]) needed.insert(from.ops[i].inputs.begin(), from.ops[i].inputs.end());
  }
  graph::Graph to;
  std::map<ValueId, ValueId> moved;
  for (const ValueId value : needed) {
    moved[value] = static_cast<ValueId>(to.values.size());
    to.values.push_back(from.values[value]);
  }
  for (std::size_t i = 0; i < from.ops.size(); ++i) {
    if (!keeps[i]) continue;
    Op op = from.ops[i];
    for (ValueId& value : op.inputs) value = moved[value];
    for (ValueId& value : op.outputs) value = moved[value];
    to.ops.push_back(std::move(op));
  }
  std::vector<ValueId> leaving;
  for (const ValueId value : outputs) leaving.push_back(moved[value]);
  graph::connect(to, leaving);
  return to;
}

class Drawer {
 public:
  Drawer(DType main, const FusedSizes& sizes, std::mt19937_64& random) : main_(main), sizes_(sizes), random_(random) {}

  FusedCase run() {
    draw_base();
    for (std::uint64_t i = 2 + pick(3); i > 0; --i) add_input(part(), main_);
    known_[0] = {.id = add_value(graph_, {main_, base_, {}})};
    const std::uint64_t ops = 8 + pick(9);
    const bool reduces = pick(4) != 0;
    for (int tries = 0; graph_.ops.size() < ops && tries < 400; ++tries) add_op(reduces);
    std::vector<ValueId> outputs;
    for (const Known& known : known_) {
      const bool made = std::ranges::any_of(graph_.ops, [&](const Op& op) { return op.outputs[0] == known.id; });
      if (made && outputs.size() < 7 && (!known.is_used || pick(10) == 0)) outputs.push_back(known.id);
    }
    FusedCase c{compacted(graph_, outputs), random_(), pick(5) == 0};
    for (const std::vector<ValueId>& list : {c.graph.inputs, c.graph.outputs})
      for (const ValueId value : list)
        c.graph.values[value].strides = drawn_strides(c.graph.values[value].shape, random_);
    return c;
  }

 private:
  std::uint64_t pick(std::uint64_t below) { return random_() % below; }
  template <std::size_t n>
  std::string one_of(const char* const (&names)[n]) {
    return names[pick(n)];
  }
  const Dims& shape(ValueId id) const { return graph_.values[id].shape; }
  DType dtype(ValueId id) const { return graph_.values[id].dtype; }

  /// Enough rows that are short enough to be turned; or short columns within blocks.
  void draw_short_rows() {
    const std::int64_t rows = 32 + static_cast<std::int64_t>(pick(17)), most = sizes_.elements / rows;
    const std::int64_t kept = pick(3) == 0 && most >= 4 ? 2 : 1;
    const std::int64_t width = 2 + static_cast<std::int64_t>(pick(static_cast<std::uint64_t>(most / kept - 1)));
    base_ = {rows, width};
    if (kept > 1) base_.push_back(kept);
    axes_ = {1};
  }

  void draw_base() {
    if (!sizes_.large && pick(8) == 0) return draw_short_rows();
    const std::uint64_t rank = 1 + pick(4);
    std::int64_t left = sizes_.elements;
    for (std::uint64_t i = 0; i < rank; ++i) {
      std::int64_t size = sizes_.large ? kLargeSizes[pick(std::size(kLargeSizes))] : kSizes[pick(std::size(kSizes))];
      while (size > left) size = size > 4 ? size / 2 : 1;
      base_.push_back(size);
      left /= size;
    }
    if (sizes_.large) base_[pick(rank)] *= std::max<std::int64_t>(1, left);
    if (pick(100) == 0) base_[pick(rank)] = 0;
    do {
      axes_.clear();
      for (std::uint64_t d = 0; d < rank; ++d)
        if (pick(2) == 0) axes_.push_back(static_cast<std::int64_t>(d));
    } while (axes_.empty());
  }

  /// A shape that broadcasts to the base.
  Dims part() {
    if (pick(2) == 0) return base_;
    Dims part(base_.begin() + static_cast<std::ptrdiff_t>(pick(base_.size() + 1)), base_.end());
    for (std::int64_t& dim : part)
      if (pick(3) == 0) dim = 1;
    return part;
  }

  std::size_t add_input(const Dims& shape, DType dtype) {
    const ValueId id = add_value(graph_, {dtype, shape, {}});
    Known known{.id = id, .most = is_floating(dtype) ? 4 : std::min(cap_of(dtype), 100.0)};
    known.negative = dtype != DType::u8 && dtype != DType::boolean;
    if (is_floating(dtype) && pick(3) == 0) {
      graph_.values[id].name = "positive";
      known.least = 0.5;
      known.negative = false;
    }
    if (shape.empty() && pick(2) == 0) make_constant(graph_.values[id], known);
    known_.push_back(known);
    return known_.size() - 1;
  }

  void make_constant(graph::Value& value, Known& known) {
    value.is_constant = true;
    std::vector<std::byte> data(static_cast<std::size_t>(byte_size(value.dtype)));
    const double numbers[] = {0.5, 1, 2, 3, 1e-3, 0.25, 100};
    const double number = numbers[pick(is_floating(value.dtype) ? std::size(numbers) : 1)];
    graph::store_real(value.dtype, data.data(), 0,
                      value.dtype == DType::boolean || is_floating(value.dtype) ? number : 3);
    value.data = std::move(data);
    known.most = std::max(number, 3.0);
    known.least = number;
    known.negative = false;
  }

  /// The index of a value that suits; those that nobody uses yet come first, mostly.
  template <class Suits>
  std::optional<std::size_t> find(const Suits& suits) {
    std::vector<std::size_t> found, unused;
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (!suits(known_[i])) continue;
      found.push_back(i);
      if (!known_[i].is_used) unused.push_back(i);
    }
    if (!unused.empty() && pick(10) < 7) found = unused;
    if (found.empty()) return std::nullopt;
    return found[pick(found.size())];
  }

  /// Of any shape that broadcasts with `with` without growing beyond the bounds; a new input now and then.
  std::size_t operand(const Dims& with, DType of) {
    const auto fits = [&](const Known& known) {
      bool good = dtype(known.id) == of;
      const Dims both = broadcast(shape(known.id), with, good);
      return good && numel(both).value() <= std::max(numel(base_).value(), numel(with).value());
    };
    const std::optional<std::size_t> found = pick(6) == 0 ? std::nullopt : find(fits);
    if (found) return *found;
    Dims own(with.begin() + static_cast<std::ptrdiff_t>(pick(with.size() + 1)), with.end());
    for (std::int64_t& dim : own)
      if (pick(4) == 0) dim = 1;
    return add_input(own, of);
  }

  void emit(Op op, const std::vector<std::size_t>& inputs, const Dims& to_shape, DType to, Known result) {
    if (result.most > cap_of(to) || graph_.values.size() > 60) return;
    if (op.dialect != graph::Dialect::onnx) op.dialect = graph::Dialect::core;
    op.id = static_cast<std::int64_t>(graph_.ops.size());
    for (const std::size_t i : inputs) {
      op.inputs.push_back(known_[i].id);
      known_[i].is_used = true;
    }
    result.id = add_value(graph_, {to, to_shape, {}});
    result.is_used = false;
    op.outputs = {result.id};
    graph_.ops.push_back(std::move(op));
    known_.push_back(result);
  }

  static Op map(const std::string& function) {
    Op op;
    op.kind = "map";
    op.attributes = {{"function", function}};
    return op;
  }

  void add_op(bool reduces) {
    const std::uint64_t kind = pick(100);
    if (kind < 28) return add_unary();
    if (kind < 58) return add_binary();
    if (kind < 62) return add_variadic();
    if (kind < 70) return add_select();
    if (kind < 78) return add_cast();
    if (kind < 83) return add_reshape();
    if (kind < 86) return pick(2) == 0 ? add_transpose() : add_broadcast();
    if (kind < 88) return add_slice();
    if (reduces) return kind < 96 ? add_reduce() : kind < 98 ? add_index() : add_composite();
  }

  /// What a pass decomposes.
  void add_composite() {
    const auto x = find([this](const Known& known) {
      return is_floating(dtype(known.id)) && !shape(known.id).empty() && known.most <= 16;
    });
    if (!x) return;
    const Dims of = shape(known_[*x].id);
    static const char* const kKinds[] = {"Softmax", "LogSoftmax", "LpNormalization"};
    Op op;
    op.dialect = graph::Dialect::onnx;
    op.kind = one_of(kKinds);
    const std::uint64_t axis = pick(of.size());
    op.attributes = {{"axis", static_cast<std::int64_t>(axis)}};
    Known range{.most = 1, .negative = op.kind == "LpNormalization", .exact = false};
    if (op.kind == "LogSoftmax") range = {.most = 2 * known_[*x].most + 12, .exact = false};
    emit(std::move(op), {*x}, of, dtype(known_[*x].id), range);
  }

  void add_unary() {
    const auto x = find([this](const Known& known) { return dtype(known.id) != DType::boolean; });
    if (!x) return;
    const DType of = dtype(known_[*x].id);
    static const char* const kReal[] = {
        "abs",   "neg",      "relu", "square", "sqrt",       "exp",       "log",        "sigmoid",     "tanh",
        "erf",   "gelu_erf", "elu",  "mish",   "softplus",   "hardswish", "softsign",   "hardsigmoid", "leakyrelu",
        "clamp", "round",    "sign", "floor",  "ceil",       "atan",      "reciprocal", "identity",    "gelu_tanh",
        "asinh", "exp",      "sqrt", "abs",    "reciprocal", "sin",       "square",     "celu",        "swish"};
    static const char* const kWhole[] = {"abs", "neg", "relu", "identity", "sign"};
    const std::string name = is_floating(of) ? one_of(kReal) : one_of(kWhole);
    const std::optional<Known> range = range_of(name, known_[*x]);
    if (!range || (of == DType::u8 && name == "neg")) return;
    Op op = map(name);
    if (name == "elu" || name == "celu" || name == "swish" || name == "leakyrelu" || name == "hardsigmoid")
      op.attributes.push_back({"alpha", pick(2) == 0 ? static_cast<double>(0.1F) : 0.5});
    if (name == "hardsigmoid" || name == "softplus") op.attributes.push_back({"beta", pick(2) == 0 ? 0.5 : 1.0});
    if (name == "clamp") {
      op.attributes.push_back({"min", -static_cast<double>(pick(3))});
      op.attributes.push_back({"max", 1.0 + static_cast<double>(pick(2))});
    }
    emit(std::move(op), {*x}, shape(known_[*x].id), of, *range);
  }

  void add_binary() {
    const auto a = find([](const Known&) { return true; });
    const DType of = dtype(known_[*a].id);
    const Dims shape_a = shape(known_[*a].id);
    if (of == DType::boolean) return add_logic(*a, operand(shape_a, of));
    std::size_t x = *a, y = operand(shape_a, of);
    if (pick(2) == 0) std::swap(x, y);
    static const char* const kReal[] = {"add",   "sub", "mul", "div", "max", "min", "squared_difference",
                                        "prelu", "add", "sub", "mul", "div", "pow"};
    static const char* const kWhole[] = {"add", "sub", "mul", "max", "min"};
    static const char* const kOrder[] = {"greater", "less", "greater_equal", "less_equal"};
    const bool compares = pick(10) == 0 && (known_[x].exact && known_[y].exact);
    const std::string name = compares ? one_of(kOrder) : is_floating(of) ? one_of(kReal) : one_of(kWhole);
    std::optional<Known> range = range_of(compares ? "max" : name, known_[x], known_[y]);
    if (!range || (name == "prelu" && shape(known_[x].id) != shape(known_[y].id))) return;
    if (name == "sub" && of == DType::u8) return;
    bool fits = true;
    const Dims to = broadcast(shape(known_[x].id), shape(known_[y].id), fits);
    if (compares) *range = {.most = 1, .negative = false};
    emit(map(name), {x, y}, to, compares ? DType::boolean : of, *range);
  }

  void add_logic(std::size_t x, std::size_t y) {
    static const char* const kLogic[] = {"and", "or", "xor"};
    bool fits = true;
    const Dims to = broadcast(shape(known_[x].id), shape(known_[y].id), fits);
    emit(map(one_of(kLogic)), {x, y}, to, DType::boolean,
         {.most = 1, .negative = false, .exact = known_[x].exact && known_[y].exact});
  }

  void add_variadic() {
    const auto a = find([this](const Known& known) { return is_floating(dtype(known.id)); });
    if (!a) return;
    static const char* const kAny[] = {"add", "max", "min", "mean_of"};
    const DType of = dtype(known_[*a].id);
    const std::string name = one_of(kAny);
    std::vector<std::size_t> inputs{*a};
    Dims to = shape(known_[*a].id);
    Known range = known_[*a];
    for (std::uint64_t i = 1 + pick(3); i > 0; --i) {
      inputs.push_back(operand(to, of));
      bool fits = true;
      to = broadcast(to, shape(known_[inputs.back()].id), fits);
      range = *range_of("add", range, known_[inputs.back()]);
    }
    range.least = 0;
    range.exact = range.exact && name != "add" && name != "mean_of";
    emit(map(name), inputs, to, of, range);
  }

  void add_select() {
    const auto condition =
        find([this](const Known& known) { return dtype(known.id) == DType::boolean && (known.exact || pick(8) == 0); });
    const auto a = find([this](const Known& known) { return dtype(known.id) != DType::boolean; });
    if (!a) return;
    const Dims shape_a = shape(known_[*a].id);
    const DType of = dtype(known_[*a].id);
    bool fits = condition.has_value();
    if (fits) broadcast(shape(known_[*condition].id), shape_a, fits);
    const std::size_t by = fits ? *condition : operand(shape_a, DType::boolean);
    fits = true;
    const Dims first = broadcast(shape(known_[by].id), shape_a, fits);
    if (numel(first).value() > std::max(numel(base_).value(), numel(shape_a).value())) return;
    std::size_t x = *a, y = operand(first, of);
    const Dims to = broadcast(first, shape(known_[y].id), fits);
    if (pick(2) == 0) std::swap(x, y);
    Known range = *range_of("max", known_[x], known_[y]);
    range.exact = range.exact && known_[by].exact;
    Op op;
    op.kind = "select";
    emit(std::move(op), {by, x, y}, to, of, range);
  }

  void add_cast() {
    const auto x = find([](const Known&) { return true; });
    const DType from = dtype(known_[*x].id);
    const DType types[] = {main_,      main_,      main_,      DType::f32, DType::f32, DType::bf16,
                           DType::f16, DType::f64, DType::s32, DType::u8,  DType::s8};
    const DType to = types[pick(std::size(types))];
    Known range = known_[*x];
    if (from == to || range.most > cap_of(to)) return;
    if (!is_floating(to)) range.least = 0;
    if (to == DType::u8) range.negative = false;
    Op op;
    op.kind = "cast";
    emit(std::move(op), {*x}, shape(known_[*x].id), to, range);
  }

  void add_reshape() {
    const auto x = find([this](const Known& known) { return !shape(known.id).empty(); });
    if (!x) return;
    reshape(*x, drawn_view(shape(known_[*x].id)));
  }
  void reshape(std::size_t x, const Dims& to) {
    if (to == shape(known_[x].id) || to.size() > 6) return;
    Op op;
    op.kind = "reshape";
    op.attributes = {{"shape", to}};
    emit(std::move(op), {x}, to, dtype(known_[x].id), known_[x]);
  }

  void add_transpose() {
    const auto x = find([this](const Known& known) { return shape(known.id).size() > 1; });
    if (!x) return;
    const Dims from = shape(known_[*x].id);
    Dims order, to;
    for (std::size_t d = 0; d < from.size(); ++d) order.push_back(static_cast<std::int64_t>(d));
    std::shuffle(order.begin(), order.end(), random_);
    for (const std::int64_t d : order) to.push_back(from[static_cast<std::size_t>(d)]);
    Op op;
    op.kind = "transpose";
    op.attributes = {{"permutation", order}};
    emit(std::move(op), {*x}, to, dtype(known_[*x].id), known_[*x]);
  }

  void add_slice() {
    const auto x = find([this](const Known& known) {
      const Dims& of = shape(known.id);
      return !of.empty() && std::ranges::count(of, 0) == 0;
    });
    if (!x) return;
    Dims starts, steps, to;
    for (const std::int64_t extent : shape(known_[*x].id)) {
      const auto below = [this](std::int64_t most) {
        return static_cast<std::int64_t>(pick(static_cast<std::uint64_t>(most)));
      };
      const bool whole = pick(2) == 0;
      const std::int64_t count = whole ? extent : 1 + below(extent), step = 1 + below(extent / count);
      const bool back = pick(8) == 0;
      starts.push_back(back ? (count - 1) * step : extent - 1 - (count - 1) * step);
      steps.push_back(back ? -step : step);
      to.push_back(count);
    }
    Op op;
    op.kind = "slice";
    op.attributes = {{"starts", starts}, {"steps", steps}, {"shape", to}};
    emit(std::move(op), {*x}, to, dtype(known_[*x].id), known_[*x]);
  }

  void add_broadcast() {
    const auto x = find([this](const Known& known) {
      bool fits = true;
      return broadcast(shape(known.id), base_, fits) == base_ && fits;
    });
    if (!x) return;
    Op op;
    op.kind = "broadcast";
    op.attributes = {{"shape", base_}};
    emit(std::move(op), {*x}, base_, dtype(known_[*x].id), known_[*x]);
  }

  Dims drawn_view(const Dims& from) {
    Dims to = from;
    const std::uint64_t dim = pick(to.size());
    const auto at = to.begin() + static_cast<std::ptrdiff_t>(dim);
    switch (pick(6)) {
      case 0: to.insert(at, 1); break;
      case 1: std::erase(to, 1); break;
      case 2: {
        for (const std::int64_t divisor : {2, 3, 4, 7, 8})
          if (*at > divisor && *at % divisor == 0 && pick(2) == 0) {
            *at /= divisor;
            to.insert(to.begin() + static_cast<std::ptrdiff_t>(dim + pick(2)), divisor);
            break;
          }
        break;
      }
      case 3:
        if (dim + 1 < to.size()) {
          *at *= to[dim + 1];
          to.erase(at + 1);
        }
        break;
      case 4:
        if (pick(4) == 0) to = {numel(from).value()};
        break;
      default:
        if (numel(from).value() == numel(base_).value()) to = base_;
    }
    return to;
  }

  void add_reduce() {
    const auto x = find([this](const Known& known) {
      return !shape(known.id).empty() && dtype(known.id) != DType::u8 && dtype(known.id) != DType::s8 &&
             (shape(known.id) == base_ || pick(4) == 0);
    });
    if (!x) return;
    const DType of = dtype(known_[*x].id);
    const Dims from = shape(known_[*x].id);
    Dims axes = axes_;
    if (from != base_ || pick(12) == 0) {
      axes.clear();
      for (std::size_t d = 0; d < from.size(); ++d)
        if (pick(2) == 0) axes.push_back(static_cast<std::int64_t>(d));
    }
    double n = 1;
    Dims kept, gone;
    for (std::size_t d = 0; d < from.size(); ++d) {
      const bool reduced = std::ranges::count(axes, static_cast<std::int64_t>(d)) > 0;
      if (reduced) n *= static_cast<double>(from[d]);
      kept.push_back(reduced ? 1 : from[d]);
      if (!reduced) gone.push_back(from[d]);
    }
    static const char* const kReal[] = {"sum", "sum", "max",        "max",         "min",     "mean", "mean",
                                        "l1",  "l2",  "sum_square", "log_sum_exp", "log_sum", "prod"};
    static const char* const kWhole[] = {"sum", "max", "min"};
    static const char* const kOrder[] = {"max", "min"};
    const std::string name = is_floating(of) ? one_of(kReal) : of == DType::boolean ? one_of(kOrder) : one_of(kWhole);
    const std::optional<Known> range = range_of_reduction(name, known_[*x], n);
    if (!range) return;
    const bool keeps = pick(4) != 0;
    Op op;
    op.kind = "reduce";
    op.attributes = {{"reduction", name}, {"axes", axes}, {"keep_dims", keeps}};
    const std::size_t before = known_.size();
    emit(std::move(op), {*x}, keeps ? kept : gone, of, *range);
    if (!keeps && known_.size() > before && pick(4) != 0) reshape(before, kept);
  }

  /// Of inexact values which is the greatest may differ.
  void add_index() {
    const auto x = find([this](const Known& known) {
      return !shape(known.id).empty() && numel(shape(known.id)).value() > 0 && (known.exact || pick(4) == 0);
    });
    if (!x) return;
    Dims to = shape(known_[*x].id);
    const bool of_base = to == base_ && axes_.size() == 1 && pick(8) != 0;
    const std::size_t axis = of_base ? static_cast<std::size_t>(axes_[0]) : pick(to.size());
    const Known range{
        .most = static_cast<double>(to[axis]) + 1, .negative = false, .exact = known_[*x].exact, .is_used = false};
    const bool keeps = pick(4) != 0;
    Op op;
    op.kind = "arg_reduce";
    op.attributes = {{"mode", std::string(pick(2) == 0 ? "argmax" : "argmin")},
                     {"axis", static_cast<std::int64_t>(axis)},
                     {"keep_dims", keeps},
                     {"select_last", pick(3) == 0}};
    if (keeps) {
      to[axis] = 1;
    } else {
      to.erase(to.begin() + static_cast<std::ptrdiff_t>(axis));
    }
    emit(std::move(op), {*x}, to, DType::s64, range);
  }

  DType main_;
  FusedSizes sizes_;
  std::mt19937_64& random_;
  graph::Graph graph_;
  Dims base_, axes_;
  std::vector<Known> known_;
};

bool is_valid(FusedCase& c) {
  return !c.graph.ops.empty() && !c.graph.outputs.empty() && graph::verify(c.graph).ok() && graph::infer(c.graph).ok();
}

/// The case with op `at` gone: its result is an input, or is its own input.
std::optional<FusedCase> without_op(const FusedCase& c, std::size_t at, bool bypass) {
  FusedCase smaller = c;
  graph::Graph& graph = smaller.graph;
  const Op op = graph.ops[at];
  const ValueId made = op.outputs[0];
  if (std::ranges::count(graph.outputs, made) > 0) return std::nullopt;
  graph.ops.erase(graph.ops.begin() + static_cast<std::ptrdiff_t>(at));
  if (bypass) {
    const graph::Value &from = graph.values[op.inputs[0]], &to = graph.values[made];
    if (from.dtype != to.dtype || from.shape != to.shape) return std::nullopt;
    for (Op& user : graph.ops) std::ranges::replace(user.inputs, made, op.inputs[0]);
  }
  graph.values[made].producer = graph::kNone;
  smaller.graph = compacted(graph, graph.outputs);
  return smaller;
}

std::vector<FusedCase> smaller_cases(const FusedCase& c) {
  std::vector<FusedCase> cases;
  if (c.graph.outputs.size() > 1)
    for (const ValueId output : c.graph.outputs) {
      FusedCase one = c;
      one.graph = compacted(c.graph, {output});
      cases.push_back(std::move(one));
    }
  for (std::size_t drop = 0; c.graph.outputs.size() > 1 && drop < c.graph.outputs.size(); ++drop) {
    FusedCase fewer = c;
    std::vector<ValueId> outputs = c.graph.outputs;
    outputs.erase(outputs.begin() + static_cast<std::ptrdiff_t>(drop));
    fewer.graph = compacted(c.graph, outputs);
    cases.push_back(std::move(fewer));
  }
  for (const bool bypass : {false, true})
    for (std::size_t op = c.graph.ops.size(); op-- > 0;)
      if (std::optional<FusedCase> smaller = without_op(c, op, bypass)) cases.push_back(std::move(*smaller));
  for (std::size_t op = 0; op < c.graph.ops.size(); ++op) {
    // An op whose result leaves the graph goes when its input may leave instead.
    const ValueId made = c.graph.ops[op].outputs[0], from = c.graph.ops[op].inputs[0];
    if (std::ranges::count(c.graph.outputs, made) == 0 || c.graph.values[from].producer == graph::kNone) continue;
    std::vector<ValueId> outputs = c.graph.outputs;
    std::ranges::replace(outputs, made, from);
    FusedCase shorter = c;
    shorter.graph = compacted(c.graph, outputs);
    cases.push_back(std::move(shorter));
  }
  if (c.special) {
    FusedCase plain = c;
    plain.special = false;
    cases.push_back(std::move(plain));
  }
  FusedCase dense = c;
  bool strided = false;
  for (graph::Value& value : dense.graph.values) {
    strided = strided || (!value.strides.empty() && value.strides != row_major_strides(value.shape));
    value.strides.clear();
  }
  if (strided) cases.push_back(std::move(dense));
  return cases;
}

}  // namespace

std::string FusedCase::text() const {
  return graph::print(graph) + "data seed " + std::to_string(data_seed) + (special ? ", special values" : "");
}

FusedCase random_fused_case(DType main, const FusedSizes& sizes, std::mt19937_64& random) {
  while (true) {
    FusedCase c = Drawer(main, sizes, random).run();
    if (is_valid(c)) return c;
  }
}

void fill_input(const FusedCase& c, const graph::Value& value, std::byte* data) {
  std::mt19937_64 random(c.data_seed ^ (static_cast<std::uint64_t>(value.id) * 0x9e37'79b9'7f4a'7c15));
  static const double kSpecial[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0, 1e-40, -1e-40, 3e38, 6e-8, -65504};
  const bool positive = value.name == "positive", halves = random() % 4 == 0;
  for (const std::int64_t at : element_offsets(graph::desc_of(value))) {
    const std::uint64_t bits = random();
    double number = static_cast<double>(bits >> 11) * 0x1p-53 * 4;
    if (halves) number = std::round(number * 2) / 2;
    if (positive) number += 0.5;
    if (!positive && (bits & 1) != 0) number = -number;
    if (!is_floating(value.dtype)) number = std::trunc(number * 25);
    if (value.dtype == DType::u8) number = std::fabs(number);
    if (value.dtype == DType::boolean) number = static_cast<double>(bits >> 5 & 1);
    if (c.special && is_floating(value.dtype) && (bits >> 1 & 7) == 0)
      number = kSpecial[(bits >> 4) % std::size(kSpecial)];
    graph::store_real(value.dtype, data, at, number);
  }
}

FusedCase shrunk(FusedCase c, const std::function<bool(const FusedCase&)>& fails) {
  for (bool again = true; again;) {
    again = false;
    for (FusedCase& smaller : smaller_cases(c)) {
      if (!is_valid(smaller) || !fails(smaller)) continue;
      c = std::move(smaller);
      again = true;
      break;
    }
  }
  return c;
}

}  // namespace tenfold::numeric
