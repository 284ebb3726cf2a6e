// SPDX-License-Identifier: Apache-2.0
//
// The graph IR: what was asked, as plain values. A Graph holds ops and values by index; it knows no machine, no
// threads and no file format. Readers make it, check/ judges and completes it, pass/ rewrites it, eval/ runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "graph/ir/constant_data.hpp"
#include "schemas/op_table.hpp"
#include "tenfold/attribute.hpp"
#include "tenfold/dtype.hpp"
#include "tenfold/tensor.hpp"

namespace tenfold::graph {

using schemas::Dialect;

/// Index into Graph::values and Graph::ops.
using ValueId = std::uint32_t;
using OpId = std::uint32_t;
inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

using Attribute = AttributeValue;

struct NamedAttribute {
  NamedAttribute() = default;
  NamedAttribute(std::string its_name, Attribute its_value) : name(std::move(its_name)), value(std::move(its_value)) {}
  NamedAttribute(NamedAttribute&&) noexcept = default;
  NamedAttribute& operator=(NamedAttribute&&) noexcept = default;
  /// The copy of what the variant holds is made beside it: where that throws in the variant's own constructor,
  /// libstdc++ (12) destroys what is not there yet.
  NamedAttribute(const NamedAttribute& other)
      : name(other.name),
        value(std::visit([](auto held) -> Attribute { return Attribute(std::move(held)); }, other.value)) {}
  NamedAttribute& operator=(const NamedAttribute& other) { return *this = NamedAttribute(other); }
  ~NamedAttribute() = default;

  std::string name;
  Attribute value;
  friend bool operator==(const NamedAttribute&, const NamedAttribute&) = default;
};

enum class Layout : std::uint8_t { undef, any, strided, opaque };
enum class Property : std::uint8_t { undef, variable, constant, host_scalar };

/// A tensor that flows along an edge.
struct Value {
  std::int64_t id = 0;  ///< the file's or the caller's tensor id; unique in a graph
  DType dtype = DType::undef;
  bool ranked = false;  ///< false: not even the rank is known, and shape is empty
  Dims shape;           ///< may hold kUnknownDim
  Dims strides;         ///< in elements; empty: row-major (or not known, when the shape is not)
  Layout layout = Layout::strided;
  Property property = Property::undef;
  ConstantData data;                   ///< row-major, shared by copies; empty when the value is not a constant
  OpId producer = kNone;               ///< kNone: a graph input or a constant
  bool is_constant = false;            ///< data is given (it may be empty when the shape has a zero dim)
  std::string name;                    ///< where the front-end has names (ONNX); empty otherwise
  std::vector<std::string> dim_names;  ///< of symbolic dims (ONNX), "" for others; empty when there is none

  friend bool operator==(const Value&, const Value&) = default;
};

/// Something in a file that we do not know but must not lose: the key and its JSON text.
struct ExtraKey {
  std::string key;
  std::string json;
  friend bool operator==(const ExtraKey&, const ExtraKey&) = default;
};

struct Op {
  std::int64_t id = 0;
  std::string name;
  Dialect dialect = Dialect::onednn;
  std::string kind;  ///< as in the dialect: "ReduceMax", or core's "reduce"
  int opset = 0;     ///< of the dialect, as the model imports it; 0: the newest
  std::vector<NamedAttribute> attributes;
  std::vector<ValueId> inputs;  ///< kNone where ONNX leaves an optional input out
  std::vector<ValueId> outputs;
  std::vector<ExtraKey> extras;
  friend bool operator==(const Op&, const Op&) = default;
};

/// A graph of ops over values. Ops may stand in any order until verify() has sorted them topologically.
struct Graph {
  std::string version;
  std::string engine_kind = "cpu";
  std::string fpmath_mode = "strict";
  std::vector<Value> values;
  std::vector<Op> ops;
  std::vector<ValueId> inputs;   ///< values that no op produces and that carry no data, in order of first use
  std::vector<ValueId> outputs;  ///< values that leave the graph, in order of production
  std::vector<ExtraKey> extras;
  friend bool operator==(const Graph&, const Graph&) = default;
};

/// The attribute of that name, or null.
const Attribute* find_attribute(const Op& op, std::string_view name) noexcept;

/// Whether an attribute tells the op that the user wrote (`source_kind`, `source_id`), and nothing of what this one
/// does.
bool names_source(const NamedAttribute& attribute) noexcept;

/// Sets or replaces an attribute.
void set_attribute(Op& op, std::string_view name, Attribute value);

/// The attribute as T, or `fallback` when it is not there or of another type.
template <class T>
T attribute_or(const Op& op, std::string_view name, T fallback) {
  const Attribute* a = find_attribute(op, name);
  if (a == nullptr) return fallback;
  const T* v = std::get_if<T>(a);
  return v == nullptr ? fallback : *v;
}

/// How messages name an op, or the one that the user wrote and it is a part of: "op 7 'reduce_0' (ReduceMax)".
std::string describe(const Op& op);

/// True when rank and every dim are known.
bool is_static(const Value& value) noexcept;

/// "[4096, ?, 3]", or "[*]" when not even the rank is known.
std::string shape_text(const Value& value);

/// Whether the shapes of the two may turn out to be one, as may_agree() of dims.hpp says.
bool may_agree(const Value& a, const Value& b);

/// Takes from `said` what `known` does not know of its shape; the two may agree.
void complete_shape(Value& known, const Value& said);

/// dtype, shape and strides of a static value.
TensorDesc desc_of(const Value& value);

/// Sets producer fields, graph inputs and graph outputs from the ops' edges. Outputs are what ops produce and nobody
/// uses, and what an `End` op takes. Values listed in `keep_outputs` leave the graph even when used.
void connect(Graph& graph, const std::vector<ValueId>& keep_outputs = {});

std::string_view to_string(Layout layout) noexcept;
std::string_view to_string(Property property) noexcept;

}  // namespace tenfold::graph
