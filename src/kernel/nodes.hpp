// SPDX-License-Identifier: Apache-2.0
//
// Nodes of a kernel's body, each kind with what it has.
#pragma once

#include <utility>
#include <vector>

#include "kernel/spec.hpp"

namespace tenfold::kernel {

/// `total`: a reduction's result, which another kernel has made.
inline Node load_node(int input, bool total = false) {
  return {.kind = Node::Kind::load, .index = input, .args = {}, .total = total};
}
inline Node count_node() { return {.kind = Node::Kind::count, .args = {}}; }
inline Node constant_node(DType dtype, double value) {
  return {.kind = Node::Kind::constant, .args = {}, .dtype = dtype, .value = value};
}
inline Node cast_node(DType to, int value) { return {.kind = Node::Kind::cast, .args = {value}, .dtype = to}; }
inline Node apply_node(Function function, std::vector<int> args) {
  return {.kind = Node::Kind::apply, .function = function, .args = std::move(args)};
}
/// `last`: of an arg-reduction, the last of equal elements.
inline Node reduce_node(Monoid monoid, int value, bool last = false) {
  return {.kind = Node::Kind::reduce, .monoid = monoid, .args = {value}, .last = last};
}

inline Node scan_node(int value, bool exclusive, bool reverse) {
  return {.kind = Node::Kind::scan, .args = {value}, .exclusive = exclusive, .reverse = reverse};
}
/// `monoid`: max and min give the element, argmax and argmin its index, that `place` greater, or less, ones come
/// before.
inline Node rank_node(Monoid monoid, int place, int value) {
  return {.kind = Node::Kind::rank, .index = place, .monoid = monoid, .args = {value}};
}

}  // namespace tenfold::kernel
