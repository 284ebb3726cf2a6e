// SPDX-License-Identifier: Apache-2.0
//
// A tape holds the JSON values of one op, or of one other member of the file's root, flat and in the order of the text:
// the most of a file that is ever in memory as JSON. An Item is a value on it, and knows its place in the file for
// messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tenfold/status.hpp"

namespace tenfold::graph {

/// What a JSON value is. `huge` is an integer above the range of s64.
enum class Kind : std::uint8_t { null, boolean, integer, huge, real, string, array, object };

struct Tape {
  static constexpr std::uint32_t kNoText = ~std::uint32_t{0};

  union Payload {
    std::int64_t integer;  ///< also boolean: 0 or 1
    std::uint64_t huge;
    double real;
    std::uint32_t text;  ///< index into strings
  };
  struct Node {
    Kind kind = Kind::null;
    std::uint32_t key = kNoText;  ///< index into strings, in an object
    std::uint32_t next = 0;       ///< the first node after this one and all that is in it
    std::uint32_t begin = 0;      ///< bytes of the file
    std::uint32_t end = 0;
    Payload payload{0};
  };

  std::string_view file;
  std::string prefix;  ///< JSON pointer of nodes[0]
  std::vector<Node> nodes;
  std::vector<std::string> strings;

  void clear() {
    nodes.clear();
    strings.clear();
  }
};

/// Where in a file a value begins; lasts longer than the tape.
struct Place {
  std::string_view file;
  std::size_t offset;
};

class Item {
 public:
  Item(const Tape& tape, std::uint32_t index) : tape_(&tape), index_(index) {}

  Kind kind() const { return node().kind; }
  std::string_view key() const { return tape_->strings[node().key]; }
  bool boolean() const { return node().payload.integer != 0; }
  std::int64_t integer() const { return node().payload.integer; }
  std::uint64_t huge() const { return node().payload.huge; }
  double real() const { return node().payload.real; }
  std::string_view string() const { return tape_->strings[node().payload.text]; }

  class Iterator {
   public:
    Iterator(const Tape& tape, std::uint32_t index) : tape_(&tape), index_(index) {}
    Item operator*() const { return Item(*tape_, index_); }
    Iterator& operator++() {
      index_ = tape_->nodes[index_].next;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Tape* tape_;
    std::uint32_t index_;
  };
  /// The elements of an array, or the values of an object (whose keys are their key()). A scalar has none.
  Iterator begin() const { return Iterator(*tape_, index_ + 1); }
  Iterator end() const { return Iterator(*tape_, node().next); }
  std::size_t size() const;

  /// What it is, for messages: "null", "the string 'abc'", "the number 2.5", "an array".
  std::string found() const;

  /// Its text in the file, without white space.
  std::string json() const;

  /// JSON pointer from the file's root.
  std::string pointer() const;

  Place place() const { return {tape_->file, node().begin}; }

  Status error(std::string_view message, Code code = Code::invalid_file) const;

 private:
  const Tape::Node& node() const { return tape_->nodes[index_]; }

  const Tape* tape_;
  std::uint32_t index_;
};

}  // namespace tenfold::graph
