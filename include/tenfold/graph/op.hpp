// SPDX-License-Identifier: Apache-2.0
//
// op: a kind, attributes, and the logical tensors that it takes and gives.
#ifndef TENFOLD_GRAPH_OP_HPP
#define TENFOLD_GRAPH_OP_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tenfold/graph/logical_tensor.hpp"
#include "tenfold/graph/names.hpp"

namespace tenfold {

template <>
struct handle_traits<tenfold_op_t> {
  static tenfold_status_t destructor(tenfold_op_t held) { return tenfold_op_release(&held); }
};

namespace graph {

class op : public handle<tenfold_op_t> {
 public:
#define TENFOLD_ENUMERATOR(name) name,
  /// oneDNN Graph's, and, after LastSymbol, ONNX's that have names of their own.
  enum class kind {
    TENFOLD_ONEDNN_KINDS(TENFOLD_ENUMERATOR) LastSymbol,
    OnnxFirst = names::first_onnx_kind - 1,
    TENFOLD_ONNX_KINDS(TENFOLD_ENUMERATOR) OnnxLast
  };
#undef TENFOLD_ENUMERATOR

#define TENFOLD_ENUMERATOR(name, number) name = number,
  enum class attr {
    undef = 0x0,
    TENFOLD_ONEDNN_ATTRIBUTES(TENFOLD_ENUMERATOR) end = 0xff,
    TENFOLD_ONNX_ATTRIBUTES(TENFOLD_ENUMERATOR)
  };
#undef TENFOLD_ENUMERATOR

  op(std::size_t id, kind akind, const std::string& verbose_name = "") { make(id, text_of(akind), verbose_name); }
  op(std::size_t id, kind akind, const std::vector<logical_tensor>& inputs, const std::vector<logical_tensor>& outputs,
     const std::string& verbose_name = "")
      : op(id, akind, verbose_name) {
    add_inputs(inputs);
    add_outputs(outputs);
  }

  /// Beyond oneDNN: the kind as the C API takes it, such as "onnx.ReduceMax@13".
  op(std::size_t id, const char* kind_text, const std::vector<logical_tensor>& inputs,
     const std::vector<logical_tensor>& outputs, const std::string& verbose_name = "") {
    make(id, kind_text, verbose_name);
    add_inputs(inputs);
    add_outputs(outputs);
  }
  op(std::size_t id, const std::string& kind_text, const std::vector<logical_tensor>& inputs,
     const std::vector<logical_tensor>& outputs, const std::string& verbose_name = "")
      : op(id, kind_text.c_str(), inputs, outputs, verbose_name) {}

  void add_input(const logical_tensor& t) {
    error::wrap_c_api(tenfold_op_add_input(get(), &t.data), "could not add input to op");
  }
  void add_inputs(const std::vector<logical_tensor>& ts) {
    for (const logical_tensor& t : ts) add_input(t);
  }
  void add_output(const logical_tensor& t) {
    error::wrap_c_api(tenfold_op_add_output(get(), &t.data), "could not add output to op");
  }
  void add_outputs(const std::vector<logical_tensor>& ts) {
    for (const logical_tensor& t : ts) add_output(t);
  }
  /// Beyond oneDNN: leaves out an optional input that has others behind it (ONNX's ops).
  void skip_input() { error::wrap_c_api(tenfold_op_skip_input(get()), "could not skip input of op"); }

  /// `Type` is int64_t, float, bool, std::string, or a vector of one of the first two.
  template <typename Type>
  op& set_attr(attr name, const Type& value) {
    const char* const text = names::attribute_text(static_cast<int>(name));
    if (text == nullptr) error::raise(tenfold_invalid_arguments, "could not set attribute: the enumerator has no name");
    return set_attr<Type>(text, value);
  }
  /// Beyond oneDNN: an attribute by its name.
  template <typename Type>
  op& set_attr(const std::string& name, const Type& value) {
    error::wrap_c_api(set(name.c_str(), value), "could not set attribute");
    return *this;
  }

 private:
  static const char* text_of(kind akind) {
    const char* const text = names::kind_text(static_cast<int>(akind));
    if (text == nullptr) error::raise(tenfold_invalid_arguments, "could not create op: the kind has no name");
    return text;
  }
  void make(std::size_t id, const char* kind_text, const std::string& verbose_name) {
    tenfold_op_t made = nullptr;
    error::wrap_c_api(tenfold_op_create(&made, static_cast<std::int64_t>(id), kind_text, verbose_name.c_str()),
                      "could not create op");
    reset(made);
  }

  tenfold_status_t set(const char* name, const std::int64_t& value) {
    return tenfold_op_set_attr_s64(get(), name, value);
  }
  tenfold_status_t set(const char* name, const float& value) { return tenfold_op_set_attr_f32(get(), name, value); }
  tenfold_status_t set(const char* name, const bool& value) {
    return tenfold_op_set_attr_bool(get(), name, value ? 1 : 0);
  }
  tenfold_status_t set(const char* name, const std::string& value) {
    return tenfold_op_set_attr_str(get(), name, value.c_str());
  }
  tenfold_status_t set(const char* name, const std::vector<std::int64_t>& values) {
    return tenfold_op_set_attr_s64s(get(), name, values.data(), values.size());
  }
  tenfold_status_t set(const char* name, const std::vector<float>& values) {
    return tenfold_op_set_attr_f32s(get(), name, values.data(), values.size());
  }
  /// Any other type, an int say, would be converted in silence.
  template <typename Type>
  tenfold_status_t set(const char* name, const Type& value) = delete;
};

}  // namespace graph
}  // namespace tenfold

#endif  // TENFOLD_GRAPH_OP_HPP
