// SPDX-License-Identifier: Apache-2.0
//
// The data types that tensors can have. One row a type: name, width and kind; whoever needs a fact of a type asks here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tenfold {

/// Element type of a tensor. Names are oneDNN Graph's where it has the type (f32, bf16, f16, f64, s32, ...); `boolean`
/// is one byte, 0 or 1. f8, s4 and u4 are storage types: files may name them, no kernel computes in them.
enum class DType : std::uint8_t {
  undef,
  f32,
  f64,
  bf16,
  f16,
  s8,
  u8,
  s16,
  u16,
  s32,
  u32,
  s64,
  u64,
  boolean,
  f8_e5m2,
  f8_e4m3,
  s4,
  u4,
};

enum class DTypeKind : std::uint8_t { none, floating, signed_integer, unsigned_integer, boolean };

struct DTypeRow {
  DType dtype;
  std::string_view name;
  int bits;
  DTypeKind kind;
};

inline constexpr std::array<DTypeRow, 18> kDTypes{{
    {DType::undef, "undef", 0, DTypeKind::none},
    {DType::f32, "f32", 32, DTypeKind::floating},
    {DType::f64, "f64", 64, DTypeKind::floating},
    {DType::bf16, "bf16", 16, DTypeKind::floating},
    {DType::f16, "f16", 16, DTypeKind::floating},
    {DType::s8, "s8", 8, DTypeKind::signed_integer},
    {DType::u8, "u8", 8, DTypeKind::unsigned_integer},
    {DType::s16, "s16", 16, DTypeKind::signed_integer},
    {DType::u16, "u16", 16, DTypeKind::unsigned_integer},
    {DType::s32, "s32", 32, DTypeKind::signed_integer},
    {DType::u32, "u32", 32, DTypeKind::unsigned_integer},
    {DType::s64, "s64", 64, DTypeKind::signed_integer},
    {DType::u64, "u64", 64, DTypeKind::unsigned_integer},
    {DType::boolean, "boolean", 8, DTypeKind::boolean},
    {DType::f8_e5m2, "f8_e5m2", 8, DTypeKind::floating},
    {DType::f8_e4m3, "f8_e4m3", 8, DTypeKind::floating},
    {DType::s4, "s4", 4, DTypeKind::signed_integer},
    {DType::u4, "u4", 4, DTypeKind::unsigned_integer},
}};

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < kDTypes.size(); ++i)
    if (static_cast<std::size_t>(kDTypes[i].dtype) != i) return false;
  return true;
}
static_assert(rows_are_in_order());

constexpr const DTypeRow& row(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)]; }
constexpr std::string_view to_string(DType dtype) { return row(dtype).name; }
/// Bytes of one element; 0 for `undef`, and 1 for the 4-bit types, of which two share a byte, the first in its low
/// half.
constexpr int byte_size(DType dtype) { return (row(dtype).bits + 7) / 8; }
constexpr bool is_floating(DType dtype) { return row(dtype).kind == DTypeKind::floating; }

constexpr std::optional<DType> dtype_from_name(std::string_view name) {
  for (const DTypeRow& r : kDTypes)
    if (r.name == name) return r.dtype;
  return std::nullopt;
}

}  // namespace tenfold
