// SPDX-License-Identifier: Apache-2.0
//
// Writes protobuf by hand, so that tests can make ONNX models, and wrong ones, without a library that would object.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace onnx_writer {

/// One message: fields in the order in which they are added.
class Message {
 public:
  Message& number(std::uint64_t field, std::int64_t value) {
    varint(field << 3);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Message& text(std::uint64_t field, std::string_view bytes) {
    varint(field << 3 | 2);
    varint(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  Message& message(std::uint64_t field, const Message& inner) { return text(field, inner.bytes_); }
  Message& fixed32(std::uint64_t field, float value) {
    varint(field << 3 | 5);
    return raw(value);
  }
  template <class T>
  Message& raw(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Message& varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

enum DataType { kFloat = 1, kUint8 = 2, kInt32 = 6, kInt64 = 7, kString = 8, kBool = 9, kInt4 = 22 };

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// A dim is a size, or, when `name` is not empty, a name; -2: neither.
struct Dim {
  std::int64_t size = 0;
  std::string name = {};
};

inline Message tensor_type(int data_type, const std::vector<Dim>& dims) {
  Message shape;
  for (const Dim& dim : dims) {
    Message d;
    if (!dim.name.empty())
      d.text(2, dim.name);
    else if (dim.size != -2)
      d.number(1, dim.size);
    shape.message(1, d);
  }
  return Message().message(1, Message().number(1, data_type).message(2, shape));
}

inline Message value_info(std::string_view name, const Message& type) {
  return Message().text(1, name).message(2, type);
}

/// A TensorProto without data.
inline Message tensor(std::string_view name, int data_type, const std::vector<std::int64_t>& dims) {
  Message message;
  for (const std::int64_t dim : dims) message.number(1, dim);
  return message.number(2, data_type).text(8, name);
}

inline Message raw_tensor(std::string_view name, int data_type, const std::vector<std::int64_t>& dims,
                          std::string_view raw) {
  return tensor(name, data_type, dims).text(9, raw);
}

inline Message node(std::string_view type, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs, const std::vector<Message>& attributes = {}) {
  Message message;
  for (const std::string& input : inputs) message.text(1, input);
  for (const std::string& output : outputs) message.text(2, output);
  message.text(4, type);
  for (const Message& attribute : attributes) message.message(5, attribute);
  return message;
}

enum AttributeType { kAttrFloat = 1, kAttrInt = 2, kAttrString = 3, kAttrTensor = 4, kAttrGraph = 5, kAttrInts = 7 };

inline Message int_attribute(std::string_view name, std::int64_t value) {
  return Message().text(1, name).number(3, value).number(20, kAttrInt);
}
inline Message ints_attribute(std::string_view name, const std::vector<std::int64_t>& values) {
  Message message;
  message.text(1, name);
  for (const std::int64_t value : values) message.number(8, value);
  return message.number(20, kAttrInts);
}
inline Message tensor_attribute(std::string_view name, const Message& value) {
  return Message().text(1, name).message(5, value).number(20, kAttrTensor);
}

struct GraphParts {
  std::vector<Message> nodes, initializers, inputs, outputs, infos;
};

inline Message graph(const GraphParts& parts) {
  Message message;
  for (const Message& m : parts.nodes) message.message(1, m);
  message.text(2, "g");
  for (const Message& m : parts.initializers) message.message(5, m);
  for (const Message& m : parts.inputs) message.message(11, m);
  for (const Message& m : parts.outputs) message.message(12, m);
  for (const Message& m : parts.infos) message.message(13, m);
  return message;
}

inline Message opset(std::string_view domain, std::int64_t version) {
  return Message().text(1, domain).number(2, version);
}

/// The graph comes last, so that every cut of the file loses a part of it.
inline std::string model(const GraphParts& parts, const std::vector<Message>& opsets = {opset("", 18)},
                         std::int64_t ir_version = 8) {
  Message message;
  message.number(1, ir_version);
  for (const Message& import : opsets) message.message(8, import);
  return message.message(7, graph(parts)).bytes();
}

}  // namespace onnx_writer
