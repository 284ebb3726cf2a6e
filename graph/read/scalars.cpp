// SPDX-License-Identifier: Apache-2.0
//
// See scalars.hpp.
#include "graph/read/scalars.hpp"

#include <cmath>
#include <limits>

namespace tenfold::graph {
namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

template <class T, class ReadOne>
Result<std::vector<T>> read_list(Item item, std::string_view what, ReadOne read_one) {
  if (item.kind() != Kind::array) return mismatch(item, what);
  std::vector<T> list;
  list.reserve(item.size());
  for (const Item element : item) {
    Result<T> value = read_one(element);
    if (!value.ok()) return value.status();
    list.push_back(value.value());
  }
  return list;
}

}  // namespace

Status mismatch(Item item, std::string_view what) {
  return item.error("expected " + std::string(what) + ", found " + item.found());
}

Result<std::int64_t> read_integer(Item item) {
  if (item.kind() == Kind::integer) return item.integer();
  if (item.kind() == Kind::huge) return item.error(item.found() + " is out of the range of s64");
  if (item.kind() != Kind::real) return mismatch(item, "an integer");
  const double value = item.real();
  if (!std::isfinite(value) || value != std::trunc(value)) return mismatch(item, "an integer");
  if (value < -kTwoTo63 || value >= kTwoTo63) return item.error(item.found() + " is out of the range of s64");
  return static_cast<std::int64_t>(value);
}

Result<std::int64_t> read_id(Item item) {
  Result<std::int64_t> id = read_integer(item);
  if (id.ok() && id.value() < 0) return mismatch(item, "an id of at least 0");
  return id;
}

Result<double> read_number(Item item) {
  switch (item.kind()) {
    case Kind::integer: return static_cast<double>(item.integer());
    case Kind::huge: return static_cast<double>(item.huge());
    case Kind::real: return item.real();
    case Kind::string:
      if (item.string() == "nan") return std::numeric_limits<double>::quiet_NaN();
      if (item.string() == "inf") return std::numeric_limits<double>::infinity();
      if (item.string() == "-inf") return -std::numeric_limits<double>::infinity();
      break;
    default: break;
  }
  return mismatch(item, "a number");
}

Result<double> read_f32(Item item) {
  Result<double> value = read_number(item);
  // The first double that rounds to infinity lies half a step above the greatest float.
  constexpr double kOverflow = 0x1.ffffffp127;
  if (value.ok() && std::isfinite(value.value()) && std::fabs(value.value()) >= kOverflow)
    return item.error(item.found() + " is out of the range of f32");
  return value;
}

Result<bool> read_boolean(Item item) {
  if (item.kind() == Kind::boolean) return item.boolean();
  if (item.kind() == Kind::integer && (item.integer() == 0 || item.integer() == 1)) return item.integer() == 1;
  if (item.kind() == Kind::real && (item.real() == 0.0 || item.real() == 1.0)) return item.real() == 1.0;
  return mismatch(item, "0, 1, true or false");
}

Result<std::string> read_string(Item item) {
  if (item.kind() != Kind::string) return mismatch(item, "a string");
  return std::string(item.string());
}

Result<std::vector<std::int64_t>> read_integers(Item item) {
  return read_list<std::int64_t>(item, "an array of integers", read_integer);
}

Result<std::vector<double>> read_f32s(Item item) { return read_list<double>(item, "an array of numbers", read_f32); }

}  // namespace tenfold::graph
