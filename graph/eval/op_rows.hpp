// SPDX-License-Identifier: Apache-2.0
//
// Which ops the reference evaluator knows, as rows: a dialect's op and what it is in core's terms. Also the reading of
// the attributes that those ops share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/eval/functions.hpp"
#include "graph/ir/graph.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

/// How an op is evaluated.
enum class Family : std::uint8_t { reduce, arg_reduce, map, channel_map, cast, select, reshape, end };

struct OpRow {
  Dialect dialect;
  std::string_view kind;
  Family family;
  std::string_view name;   ///< the reduction or function; empty: the attribute of that name says
  std::size_t inputs = 0;  ///< how many a map takes; 0: as many as its function does
};

/// Null when the evaluator does not know the op.
const OpRow* find_op_row(const Op& op) noexcept;

/// The version that the opset of an ONNX op sees; null for ops of other dialects and for unknown ones.
const schemas::OpVersion* onnx_version(const Op& op) noexcept;

/// Whether that version has an attribute of the name, given or not.
bool declares_attribute(const Op& op, std::string_view name) noexcept;

/// The name of the op's reduction or scalar function, in core's spelling; what ops tell by an attribute is part of it
/// (the mode of GELU; Clip with its bounds as attributes is `clamp`).
std::string function_name(const Op& op, const OpRow& row);

/// For a map of `inputs`, the first of which is `dtype`. invalid_op when an attribute that the function needs is
/// missing; the defaults of ONNX's version stand in for it outside of oneDNN's dialect.
Result<Parameters> read_parameters(const Op& op, const FunctionRow& function, std::size_t inputs, DType dtype);

/// Whether the reduced dims stay as ones: `keepdims` (true where it is missing) in ONNX, else `keep_dims` (false).
bool keeps_dims(const Op& op) noexcept;

/// A boolean attribute, which files also write as 0 or 1.
bool flag(const Op& op, std::string_view name, bool fallback) noexcept;

/// A list of integers; empty when it is not there.
std::vector<std::int64_t> integers(const Op& op, std::string_view name);

/// How failures of the evaluator read: "op 7 'a' (Abs): text".
Status fail(const Op& op, Code code, const std::string& text);
Status fail(const Op& op, const Status& failure);

}  // namespace tenfold::graph
