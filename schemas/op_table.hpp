// SPDX-License-Identifier: Apache-2.0
//
// The form of the op tables that the build makes of schemas/ops/*/*.json. The verifier, the docs' op tables and
// `tenfold ops` all read these; no JSON is parsed when the library loads.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tenfold/dtype.hpp"

namespace tenfold::schemas {

/// Whose op it is. The same name can stand in two dialects with opposite defaults, so a kind is always (dialect, name).
/// `core` is our own small set that canonicalize turns both into.
enum class Dialect : std::uint8_t { onednn, onnx, core };

enum class AttrType : std::uint8_t { s64, s64s, f32, f32s, boolean, string };

/// A set of dtypes, one bit each.
using DTypeSet = std::uint32_t;
constexpr DTypeSet bit(DType dtype) { return DTypeSet{1} << static_cast<unsigned>(dtype); }

struct AttrDesc {
  std::string_view name;
  AttrType type;
  bool required;
  std::string_view default_text;              ///< as JSON text; empty when there is no default
  std::span<const std::string_view> allowed;  ///< of a string attribute; empty: anything
};

struct TypeConstraint {
  std::string_view symbol;  ///< "T", "T1": ports that name the same symbol have the same dtype
  DTypeSet allowed;
};

struct PortDesc {
  std::string_view name;
  std::uint8_t constraint;     ///< index into OpVersion::constraints
  bool optional;               ///< may be left out (from the end, in oneDNN's dialect)
  bool variadic;               ///< stands for any number of tensors; always the last port
  bool mixed = false;          ///< the tensors of this variadic port need not have the same dtype
  bool decides_shape = false;  ///< of an input: its elements decide the outputs' shapes (axes, a shape, starts, ends)
};

struct OpVersion {
  int since_version;
  std::span<const PortDesc> inputs;
  std::span<const PortDesc> outputs;
  std::span<const AttrDesc> attributes;
  std::span<const TypeConstraint> constraints;
};

struct OpDesc {
  Dialect dialect;
  std::string_view name;
  std::string_view category;            ///< "reduction", "unary", "binary", "select", "conversion", ...
  std::string_view summary;             ///< one sentence for `tenfold ops` and the docs
  std::span<const OpVersion> versions;  ///< oldest first; never empty
};

/// Every op of every dialect, sorted by dialect, then name.
std::span<const OpDesc> all_ops() noexcept;

/// The newest opset of ONNX in which an op of the tables has changed.
int newest_opset() noexcept;

/// The op, or null when the dialect has none of that name.
const OpDesc* find_op(Dialect dialect, std::string_view name) noexcept;

/// The newest version of `op` that opset `opset` sees (opset 0: the newest), or null when the op is younger than it.
const OpVersion* version_for(const OpDesc& op, int opset) noexcept;

/// The name nearest to `name` in the dialect by edit distance, for "did you mean"; empty when nothing is near.
std::string_view nearest_op(Dialect dialect, std::string_view name) noexcept;

std::string_view to_string(Dialect dialect) noexcept;
std::string_view to_string(AttrType type) noexcept;

}  // namespace tenfold::schemas
