// SPDX-License-Identifier: Apache-2.0
//
// Elementwise ops as nodes: core.map by a table from its functions to those of kernels, core.cast, core.select.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>

#include "compile/lower/body.hpp"

namespace tenfold::compiler {
namespace {

using kernel::Function;
using kernel::KernelSpec;
using kernel::Node;

/// How a function's arguments are put together.
enum class Form : std::uint8_t {
  plain,       ///< the inputs, then the attributes of the row that have a name
  fold,        ///< any number of inputs, from left to right
  fold_mean,   ///< the same, divided by their number
  bounds,      ///< max(x, low), min(.., high): one to three inputs
  infinities,  ///< by detect_positive and detect_negative
  remainder,   ///< by fmod
  shift,       ///< by direction
  erf,         ///< of integers it is -1, 0 or 1
  log,         ///< of integers it is taken in f64 and truncated
};

struct MapRow {
  std::string_view name;  ///< in core.map
  Function function;
  Form form = Form::plain;
  std::string_view first = "", second = "";  ///< attributes, as arguments after a single input
};

constexpr MapRow kMaps[] = {
    {"add", Function::add, Form::fold},
    {"and", Function::logical_and},
    {"bit_shift", Function::shift_left, Form::shift},
    {"celu", Function::celu, Form::plain, "alpha"},
    {"clamp", Function::clamp, Form::plain, "min", "max"},
    {"clip", Function::max, Form::bounds},
    {"elu", Function::elu, Form::plain, "alpha"},
    {"erf", Function::erf, Form::erf},
    {"log", Function::log, Form::log},
    {"hardsigmoid", Function::hardsigmoid, Form::plain, "alpha", "beta"},
    {"isinf", Function::is_infinite, Form::infinities},
    {"leakyrelu", Function::leakyrelu, Form::plain, "alpha"},
    {"max", Function::max, Form::fold},
    {"mean_of", Function::add, Form::fold_mean},
    {"min", Function::min, Form::fold},
    {"mod", Function::mod, Form::remainder},
    {"not", Function::logical_not},
    {"or", Function::logical_or},
    {"pow", Function::pow, Form::plain, "beta"},
    {"selu", Function::selu, Form::plain, "alpha", "gamma"},
    {"softplus", Function::softplus, Form::plain, "beta"},
    {"swish", Function::swish, Form::plain, "alpha"},
    {"thresholded_relu", Function::thresholded_relu, Form::plain, "alpha"},
    {"xor", Function::logical_xor},
};

/// The row, or one made for a function that both sides call the same.
Result<MapRow> find_row(const std::string& name) {
  const auto* const row =
      std::find_if(std::begin(kMaps), std::end(kMaps), [&](const MapRow& r) { return r.name == name; });
  if (row != std::end(kMaps)) return *row;
  const std::optional<Function> function = kernel::function_from_name(name);
  if (!function) return Status(Code::unsupported_op, "no kernel for function '" + name + "'");
  return MapRow{kernel::row(*function).name, *function};
}

/// Writes one core.map.
class MapWriter {
 public:
  MapWriter(BodyWriter& body, const graph::Op& op, std::span<const int> args)
      : body_(body), op_(op), args_(args.begin(), args.end()) {}

  Result<int> run(DType to) {
    const Result<MapRow> row = find_row(graph::attribute_or<std::string>(op_, "function", ""));
    if (!row.ok()) return row.status();
    if (is_mixed(row.value(), to)) return write_mixed(row.value(), to);
    Result<int> made = write(row.value());
    if (made.ok() && body_.dtype_of(made.value()) != to)
      return Status(Code::unsupported_op, "no kernel for a result of another dtype");
    return made;
  }

 private:
  bool is_mixed(const MapRow& row, DType to) const {
    const DType first = body_.dtype_of(args_[0]);
    return std::any_of(args_.begin(), args_.end(), [&](int arg) { return body_.dtype_of(arg) != first; }) ||
           (kernel::row(row.function).gives != kernel::Gives::boolean && first != to);
  }

  bool all_args(bool (*holds)(DType)) const {
    return std::all_of(args_.begin(), args_.end(), [&](int arg) { return holds(body_.dtype_of(arg)); });
  }

  /// In f64, as the reference; in f32 where that rounds to the same bits. Whole numbers stay whole.
  Result<int> write_mixed(const MapRow& row, DType to) {
    DType wide = DType::f64;
    if (!is_floating(to) && all_args([](DType dtype) { return !is_floating(dtype); })) {
      const bool with_sign = all_args([](DType dtype) { return dtype != DType::u64; });
      const bool without = all_args([](DType dtype) { return tenfold::row(dtype).kind != DTypeKind::signed_integer; });
      if (!with_sign && !without) return Status(Code::unsupported_op, "no kernel for u64 beside signed integers");
      wide = with_sign ? DType::s64 : DType::u64;
    } else if (to == DType::f32 && row.function != Function::pow &&
               all_args([](DType dtype) { return is_floating(dtype) && dtype != DType::f64; })) {
      wide = DType::f32;
    }
    for (int& arg : args_) arg = cast(wide, arg);
    Result<int> made = write(row);
    if (!made.ok()) return made;
    const bool may_miss = row.function == Function::pow && wide == DType::f64 && !is_floating(to);
    return cast(to, may_miss ? whole_if_close(made.value()) : made.value());
  }
  int cast(DType to, int value) { return body_.dtype_of(value) == to ? value : body_.cast(to, value); }

  /// A power that is whole may come out an ulp below, which truncation would make one less.
  int whole_if_close(int power) {
    const int whole = body_.apply(Function::round, {power});
    const int off = body_.apply(Function::abs, {body_.apply(Function::sub, {power, whole})});
    const int ulps =
        body_.apply(Function::mul, {body_.apply(Function::abs, {power}), body_.constant(DType::f64, 0x1p-51)});
    return body_.apply(Function::select, {body_.apply(Function::less_equal, {off, ulps}), whole, power});
  }

  Result<int> write(const MapRow& row) {
    switch (row.form) {
      case Form::plain: return write_plain(row);
      case Form::fold: return fold(row.function);
      case Form::fold_mean: {
        const int sum = fold(row.function);
        return body_.apply(Function::div, {sum, constant(static_cast<double>(args_.size()))});
      }
      case Form::bounds: {
        int value = args_[0];
        if (args_.size() > 1) value = body_.apply(Function::max, {value, args_[1]});
        if (args_.size() > 2) value = body_.apply(Function::min, {value, args_[2]});
        return args_.size() == 1 ? body_.apply(Function::identity, {value}) : value;
      }
      case Form::infinities: {
        const bool negative = graph::attribute_or<bool>(op_, "detect_negative", true);
        const bool positive = graph::attribute_or<bool>(op_, "detect_positive", true);
        if (!negative && !positive) return body_.apply(Function::less, {args_[0], args_[0]});
        return body_.apply(!negative   ? Function::is_positive_infinity
                           : !positive ? Function::is_negative_infinity
                                       : Function::is_infinite,
                           args_);
      }
      case Form::remainder:
        return body_.apply(graph::attribute_or<bool>(op_, "fmod", false) ? Function::remainder : Function::mod, args_);
      case Form::erf: return is_floating(body_.dtype_of(args_[0])) ? body_.apply(row.function, args_) : erf_of_whole();
      case Form::log: return in_reals(row.function);
      case Form::shift: break;
    }
    const bool left = graph::attribute_or<std::string>(op_, "direction", "") == "LEFT";
    return body_.apply(left ? Function::shift_left : Function::shift_right, args_);
  }

  Result<int> write_plain(const MapRow& row) {
    std::vector<int> args = args_;
    std::vector<double> attributes;
    if (args.size() == 1) {
      for (const std::string_view name : {row.first, row.second}) {
        if (name.empty()) continue;
        const graph::Attribute* const given = graph::find_attribute(op_, name);
        if (given == nullptr) return Status(Code::unsupported_op, "attribute '" + std::string(name) + "' is missing");
        const auto* const real = std::get_if<double>(given);
        const Result<double> value = attribute_value(real != nullptr ? *real : 0);
        if (real == nullptr || !value.ok())
          return Status(Code::unsupported_op, "no kernel for this value of attribute '" + std::string(name) + "'");
        attributes.push_back(value.value());
        args.push_back(constant(value.value()));
      }
    }
    if (!lanes_take(row.function, attributes))
      return Status(Code::unsupported_op, "no kernel for such attributes of '" + std::string(row.name) + "'");
    if (static_cast<int>(args.size()) != kernel::row(row.function).arity)
      return Status(Code::unsupported_op,
                    "no kernel for " + std::to_string(args.size()) + " arguments of '" + std::string(row.name) + "'");
    return body_.apply(row.function, std::move(args));
  }

  /// Whether f32 holds what lanes make of the attributes on the way: of SoftPlus exponentials, which are divided by
  /// beta; the product of Selu's.
  bool lanes_take(Function function, const std::vector<double>& attributes) const {
    constexpr double kLeastBeta = 0x1p-94, kLeast = 0x1p-126, kMost = 0x1p127;
    const auto is_finite = [](double value) { return std::isfinite(value); };
    if (attributes.empty() ||
        (function != Function::celu && function != Function::selu && function != Function::softplus))
      return true;
    if (!std::all_of(attributes.begin(), attributes.end(), is_finite)) return false;
    if (body_.dtype_of(args_[0]) == DType::f64) return true;
    const double first = std::fabs(attributes[0]);
    if (function == Function::softplus) return first == 0 || first >= kLeastBeta;
    if (function == Function::celu) return true;
    const double product = first * std::fabs(attributes[1]);
    return product == 0 || (product >= kLeast && product <= kMost);
  }

  /// Attributes are f32; beside integers they are cast to their dtype.
  Result<double> attribute_value(double value) const {
    const double written = static_cast<double>(static_cast<float>(value));
    const DType dtype = body_.dtype_of(args_[0]);
    if (is_floating(dtype)) return written;
    if (dtype != DType::boolean && written != std::trunc(written) && is_power())
      return Status(Code::unsupported_op, "a power of integers that is no integer");
    if (std::isnan(written)) return 0.0;
    if (byte_size(dtype) == 8) {
      if (std::fabs(written) >= 0x1p63) return Status(Code::unsupported_op, "beyond 64 bits");
      return row(dtype).kind == DTypeKind::signed_integer ? std::trunc(written) : std::max(0.0, std::trunc(written));
    }
    const int bits = dtype == DType::boolean ? 1 : 8 * byte_size(dtype);
    const bool is_signed = row(dtype).kind == DTypeKind::signed_integer;
    const double least = is_signed ? -std::ldexp(1.0, bits - 1) : 0;
    const double greatest = std::ldexp(1.0, is_signed ? bits - 1 : bits) - 1;
    return std::trunc(std::clamp(written, least, greatest));
  }

  /// Of integers what f64 gives, truncated.
  int in_reals(Function function) {
    const DType dtype = body_.dtype_of(args_[0]);
    if (is_floating(dtype)) return body_.apply(function, args_);
    return body_.cast(dtype, body_.apply(function, {body_.cast(DType::f64, args_[0])}));
  }

  /// Truncated; from 6 on it rounds to 1 in f64, where the reference has it.
  int erf_of_whole() {
    const int sixths = body_.apply(Function::div, {args_[0], constant(6)});
    const int most = body_.apply(Function::min, {sixths, constant(1)});
    const bool has_sign = tenfold::row(body_.dtype_of(args_[0])).kind == DTypeKind::signed_integer;
    return has_sign ? body_.apply(Function::max, {most, constant(-1)}) : most;
  }

  bool is_power() const { return graph::attribute_or<std::string>(op_, "function", "") == "pow"; }

  int fold(Function function) {
    int value = args_[0];
    for (std::size_t i = 1; i < args_.size(); ++i) value = body_.apply(function, {value, args_[i]});
    return args_.size() == 1 ? body_.apply(Function::identity, {value}) : value;
  }
  int constant(double value) { return body_.constant(body_.dtype_of(args_[0]), value); }

  BodyWriter& body_;
  const graph::Op& op_;
  std::vector<int> args_;
};

/// In core.map.
constexpr std::string_view kCommuting[] = {"abs", "clamp", "clip", "identity", "max", "min", "neg", "relu"};

}  // namespace

bool commutes_with_rounding(const graph::Op& op) {
  if (op.kind == "select") return true;
  const std::string name = graph::attribute_or<std::string>(op, op.kind == "reduce" ? "reduction" : "function", "");
  if (op.kind == "reduce") return name == "max" || name == "min";
  return op.kind == "map" && std::find(std::begin(kCommuting), std::end(kCommuting), name) != std::end(kCommuting);
}

Result<int> write_elementwise(BodyWriter& body, const graph::Op& op, std::span<const int> args, DType to) {
  if (op.kind == "cast") return body.cast(to, args[0]);
  if (op.kind == "select") return body.apply(Function::select, {args.begin(), args.end()});
  return MapWriter(body, op, args).run(to);
}

}  // namespace tenfold::compiler
