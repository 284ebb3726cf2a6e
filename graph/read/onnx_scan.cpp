// SPDX-License-Identifier: Apache-2.0
//
// See onnx_scan.hpp. The walk needs to know of each message only which of its fields are messages, and which of those
// there are; names and types are protobuf's business. The walk keeps its own stack, so that depth costs no C++ frames.
#include "graph/read/onnx_scan.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace tenfold::graph {
namespace {

enum class Message : std::uint8_t {
  leaf,  ///< all its fields are scalars or strings
  model,
  graph,
  node,
  attribute,
  tensor,
  sparse_tensor,
  value_info,
  type,
  element_type,  ///< of sequences and optionals
  map_type,
  tensor_type,
  shape,
  training,
  annotation,
  function,
};

struct Child {
  Message parent;
  std::uint64_t field;
  Message message;
};

/// onnx.proto's fields that are messages.
constexpr std::array kChildren{
    Child{Message::model, 7, Message::graph},
    Child{Message::model, 8, Message::leaf},
    Child{Message::model, 14, Message::leaf},
    Child{Message::model, 20, Message::training},
    Child{Message::model, 25, Message::function},
    Child{Message::training, 1, Message::graph},
    Child{Message::training, 2, Message::graph},
    Child{Message::training, 3, Message::leaf},
    Child{Message::training, 4, Message::leaf},
    Child{Message::function, 7, Message::node},
    Child{Message::function, 9, Message::leaf},
    Child{Message::graph, 1, Message::node},
    Child{Message::graph, 5, Message::tensor},
    Child{Message::graph, 15, Message::sparse_tensor},
    Child{Message::graph, 11, Message::value_info},
    Child{Message::graph, 12, Message::value_info},
    Child{Message::graph, 13, Message::value_info},
    Child{Message::graph, 14, Message::annotation},
    Child{Message::annotation, 2, Message::leaf},
    Child{Message::node, 5, Message::attribute},
    Child{Message::attribute, 5, Message::tensor},
    Child{Message::attribute, 6, Message::graph},
    Child{Message::attribute, 22, Message::sparse_tensor},
    Child{Message::attribute, 14, Message::type},
    Child{Message::attribute, 10, Message::tensor},
    Child{Message::attribute, 11, Message::graph},
    Child{Message::attribute, 23, Message::sparse_tensor},
    Child{Message::attribute, 15, Message::type},
    Child{Message::sparse_tensor, 1, Message::tensor},
    Child{Message::sparse_tensor, 2, Message::tensor},
    Child{Message::tensor, 3, Message::leaf},
    Child{Message::tensor, 13, Message::leaf},
    Child{Message::value_info, 2, Message::type},
    Child{Message::type, 1, Message::tensor_type},
    Child{Message::type, 4, Message::element_type},
    Child{Message::type, 5, Message::map_type},
    Child{Message::type, 8, Message::tensor_type},
    Child{Message::type, 9, Message::element_type},
    Child{Message::element_type, 1, Message::type},
    Child{Message::map_type, 2, Message::type},
    Child{Message::tensor_type, 2, Message::shape},
    Child{Message::shape, 1, Message::leaf},
};

std::optional<Message> child_of(Message parent, std::uint64_t field) {
  for (const Child& child : kChildren)
    if (child.parent == parent && child.field == field) return child.message;
  return std::nullopt;
}

enum WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

class Scanner {
 public:
  Scanner(std::string_view bytes, const OnnxLimits& limits) : bytes_(bytes), limits_(limits) {}

  Status run(Message root) {
    open_.push_back({root, bytes_.size()});
    while (!open_.empty()) {
      if (at_ == open_.back().end) {
        open_.pop_back();
      } else if (Status s = field(); !s.ok()) {
        return s;
      }
    }
    return {};
  }

 private:
  struct Open {
    Message message;
    std::size_t end;
  };

  Status bad(std::size_t at, const std::string& what) const {
    return Status(Code::invalid_file, "byte " + std::to_string(at) + ": " + what);
  }

  Status varint(std::uint64_t& value) {
    const std::size_t start = at_;
    value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (at_ == open_.back().end) return bad(start, "the file ends, or its message does, within a number");
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return {};
    }
    return bad(start, "a number of more than ten bytes; this is no protobuf file");
  }

  Status skip(std::uint64_t field, std::uint64_t length) {
    const std::size_t left = open_.back().end - at_;
    if (length > left)
      return bad(at_, "field " + std::to_string(field) + " takes " + std::to_string(length) + " bytes, but " +
                          std::to_string(left) + " are left; the file is cut short or no ONNX file");
    at_ += static_cast<std::size_t>(length);
    return {};
  }

  Status field() {
    const std::size_t start = at_;
    std::uint64_t tag = 0;
    if (Status s = varint(tag); !s.ok()) return s;
    const std::uint64_t number = tag >> 3;
    if (number == 0 || number >= (std::uint64_t{1} << 29))
      return bad(start, "field number " + std::to_string(number) + " is none of protobuf's");
    std::uint64_t value = 0;
    switch (tag & 7) {
      case kVarint: return varint(value);
      case kFixed64: return skip(number, 8);
      case kFixed32: return skip(number, 4);
      case kBytes: return record(number);
      default:
        return bad(start, "field " + std::to_string(number) + " has the wire type " + std::to_string(tag & 7) +
                              ", which ONNX files do not use");
    }
  }

  Status record(std::uint64_t number) {
    const std::size_t start = at_;
    if (++records_ > limits_.records)
      return bad(start, "more than the allowed " + std::to_string(limits_.records) + " messages and strings");
    std::uint64_t length = 0;
    if (Status s = varint(length); !s.ok()) return s;
    const std::size_t begin = at_;
    if (Status s = skip(number, length); !s.ok()) return s;
    const std::optional<Message> child = child_of(open_.back().message, number);
    if (!child) return {};
    if (open_.size() >= static_cast<std::size_t>(limits_.depth))
      return bad(start, "messages lie more than the allowed " + std::to_string(limits_.depth) + " deep");
    open_.push_back({*child, at_});
    at_ = begin;
    return {};
  }

  std::string_view bytes_;
  const OnnxLimits& limits_;
  std::size_t at_ = 0;
  std::size_t records_ = 0;
  std::vector<Open> open_;
};

}  // namespace

Status scan_onnx(std::string_view bytes, OnnxRoot root, const OnnxLimits& limits) {
  if (bytes.size() > limits.bytes)
    return Status(Code::invalid_file,
                  std::to_string(bytes.size()) + " bytes, the limit is " + std::to_string(limits.bytes));
  return Scanner(bytes, limits).run(root == OnnxRoot::model ? Message::model : Message::tensor);
}

}  // namespace tenfold::graph
