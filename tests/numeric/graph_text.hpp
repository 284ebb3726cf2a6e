// SPDX-License-Identifier: Apache-2.0
//
// Graphs that tests write as text: bodies in which words stand for types and attributes.
#pragma once

#include <cstddef>
#include <string>

#include "tenfold/dtype.hpp"

namespace tenfold::numeric {

/// Three dims, of which tests reduce the one in the middle.
struct MiddleReduced {
  std::size_t outer, reduced, inner;

  /// The type of a tensor of `dtype` with `along` elements in the middle.
  std::string type(DType dtype, std::size_t along) const {
    return std::string(to_string(dtype)) + "[" + std::to_string(outer) + "," + std::to_string(along) + "," +
           std::to_string(inner) + "]";
  }
};

inline void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

/// `{max}` and the like: reductions along the middle dim.
inline void spell_reductions(std::string& text) {
  for (const std::string reduction : {"mean", "max", "min", "l2"})
    replace_all(text, "{" + reduction + "}", "{reduction = \"" + reduction + "\", keep_dims = true, axes = [1]}");
}

}  // namespace tenfold::numeric
