// SPDX-License-Identifier: Apache-2.0
//
// How the judge speaks: every refusal names the op or tensor, says what is wrong with its values, and ends in the
// number of its rule. Only for the check room.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "graph/ir/graph.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

/// "op 7 'reduce_0' (ReduceMax): <text> (<rule>)"
Status refuse(Code code, const Op& op, const std::string& text, std::string_view rule);
/// "<what>: <text> (<rule>)"; what is such as describe(op) or "tensor 5".
Status refuse(Code code, const std::string& what, const std::string& text, std::string_view rule);

/// "tensor 5"
std::string describe(const Value& value);
/// "[1,?,3]", or "[*]" when the rank is not known.
std::string show_shape(const Value& value);
std::string show_dims(const Dims& dims);

/// The candidate within a third of its letters (at least two) of `name`, or empty.
std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates);
/// "; did you mean 'axes'?", or nothing when `suggestion` is empty.
std::string did_you_mean(std::string_view suggestion);

}  // namespace tenfold::graph
