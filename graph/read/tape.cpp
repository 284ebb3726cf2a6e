// SPDX-License-Identifier: Apache-2.0
//
// The parts of an Item that messages need. A pointer is found by walking down from the tape's root, so that no node
// has to carry one.
#include "graph/read/tape.hpp"

#include "graph/read/location.hpp"
#include "graph/read/tokens.hpp"

namespace tenfold::graph {

std::size_t Item::size() const {
  std::size_t count = 0;
  for (Iterator i = begin(); i != end(); ++i) ++count;
  return count;
}

std::string Item::found() const {
  const std::string_view text = tape_->file.substr(node().begin, node().end - node().begin);
  switch (kind()) {
    case Kind::null: return "null";
    case Kind::boolean: return boolean() ? "true" : "false";
    case Kind::integer:
    case Kind::huge:
    case Kind::real: return "the number " + std::string(text.substr(0, 40));
    case Kind::string: return "the string " + shown(string());
    case Kind::array: return "an array";
    case Kind::object: return "an object";
  }
  return "nothing";
}

std::string Item::json() const { return compact(tape_->file.substr(node().begin, node().end - node().begin)); }

std::string Item::pointer() const {
  std::string result = tape_->prefix;
  std::uint32_t at = 0;
  while (at != index_) {
    const bool in_array = tape_->nodes[at].kind == Kind::array;
    std::uint32_t child = at + 1;
    std::size_t position = 0;
    while (tape_->nodes[child].next <= index_) {
      child = tape_->nodes[child].next;
      ++position;
    }
    result += in_array ? "/" + std::to_string(position) : pointer_step(tape_->strings[tape_->nodes[child].key]);
    at = child;
  }
  return result;
}

Status Item::error(std::string_view message, Code code) const {
  return error_at(tape_->file, node().begin, pointer(), message, code);
}

}  // namespace tenfold::graph
