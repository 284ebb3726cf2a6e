// SPDX-License-Identifier: Apache-2.0
//
// compiled_partition: what runs.
#ifndef TENFOLD_GRAPH_COMPILED_PARTITION_HPP
#define TENFOLD_GRAPH_COMPILED_PARTITION_HPP

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tenfold/graph/tensor.hpp"

namespace tenfold {

template <>
struct handle_traits<tenfold_compiled_partition_t> {
  static tenfold_status_t destructor(tenfold_compiled_partition_t held) {
    return tenfold_compiled_partition_release(&held);
  }
};

namespace graph {

/// A text that the C API gave, copied and given back, also where the copy throws.
inline std::string take_text(char* text) {
  struct give_back {
    void operator()(char* held) const noexcept { tenfold_memory_release(held, nullptr); }
  };
  const std::unique_ptr<char, give_back> held(text);
  return text;
}

/// Any number of threads may execute one at the same time.
class compiled_partition : public handle<tenfold_compiled_partition_t> {
 public:
  compiled_partition() = default;
  /// Takes over the caller's reference.
  explicit compiled_partition(tenfold_compiled_partition_t compiled) : handle(compiled) { read_ends(); }

  /// The input or output of that id, as it was compiled: with dims, strides and the property that compile() was given
  /// for it, else the graph's. A strided one with known dims that compile() was given is_equal() to it.
  logical_tensor query_logical_tensor(std::size_t tid) const {
    logical_tensor found;
    error::wrap_c_api(
        tenfold_compiled_partition_query_logical_tensor(get(), static_cast<std::int64_t>(tid), &found.data),
        "could not query logical tensor");
    return found;
  }

  /// Ids of an input and an output that may be one buffer.
  std::vector<std::pair<std::size_t, std::size_t>> get_inplace_ports() const {
    std::size_t count = 0;
    error::wrap_c_api(tenfold_compiled_partition_get_inplace_port_num(get(), &count), "could not get in-place ports");
    std::vector<tenfold_inplace_port_t> found(count);
    error::wrap_c_api(tenfold_compiled_partition_get_inplace_ports(get(), count, found.data()),
                      "could not get in-place ports");
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (const tenfold_inplace_port_t& port : found)
      pairs.emplace_back(static_cast<std::size_t>(port.input_id), static_cast<std::size_t>(port.output_id));
    return pairs;
  }

  /// u8, of as many elements as one execution needs bytes for temporaries; see execute().
  logical_tensor get_scratchpad_logical_tensor() const {
    std::size_t size = 0;
    error::wrap_c_api(tenfold_compiled_partition_get_scratch_size(get(), &size), "could not get scratchpad");
    return {kNoId, logical_tensor::data_type::u8, logical_tensor::dims{static_cast<std::int64_t>(size)},
            logical_tensor::layout_type::strided};
  }

  /// Runs it, and returns when the outputs are written. Tensors are found by the ids of their logical tensors, in any
  /// order, and others may be among them; their dtypes, dims and strides must be those that it was compiled for, else
  /// invalid_data_type or invalid_shape is thrown before anything is written. Outputs whose dims follow from axes that
  /// are known at run time must be as query_outputs() says for these inputs. Without a scratchpad, temporaries are in
  /// memory that the library keeps.
  void execute(stream& astream, const std::vector<tensor>& inputs, const std::vector<tensor>& outputs,
               const tensor& scratchpad = tensor()) const {
    const ends& known = checked();
    pointers<const void*> in(known.inputs.size());
    pointers<void*> out(known.outputs.size());
    find(inputs, known.inputs, "input", in.data());
    if (known.open)
      find(outputs, outputs_for(in.data()), "output", out.data());
    else
      find(outputs, known.outputs, "output", out.data());
    run(astream, in.data(), known.inputs.size(), out.data(), known.outputs.size(), scratchpad);
  }

  // ---- Beyond oneDNN ----

  /// What it takes and gives.
  std::vector<logical_tensor> get_inputs() const { return wrap(checked().inputs); }
  std::vector<logical_tensor> get_outputs() const { return wrap(checked().outputs); }

  /// The outputs' final dims, where they follow from axes that are known at run time only: those inputs are read.
  std::vector<logical_tensor> query_outputs(const std::vector<tensor>& inputs) const {
    const ends& known = checked();
    pointers<const void*> in(known.inputs.size());
    find(inputs, known.inputs, "input", in.data());
    return wrap(outputs_for(in.data()));
  }

  /// Generates the code for these inputs' axes now, so that execute() will not.
  void prepare(const std::vector<tensor>& inputs) const {
    const ends& known = checked();
    pointers<const void*> in(known.inputs.size());
    find(inputs, known.inputs, "input", in.data());
    error::wrap_c_api(tenfold_compiled_partition_prepare(get(), in.data(), known.inputs.size()), "could not prepare");
  }

  /// How it runs, for people.
  std::string explain() const {
    char* text = nullptr;
    error::wrap_c_api(tenfold_compiled_partition_get_explanation(get(), nullptr, &text), "could not explain");
    return take_text(text);
  }

 private:
  static constexpr std::size_t kNoId = INT64_MAX;

  struct ends {
    std::vector<tenfold_logical_tensor_t> inputs, outputs;
    bool open = false;  ///< some output's dims follow from axes that are known at run time
  };

  /// An array on the stack, but for partitions with very many ends.
  template <typename Pointer>
  class pointers {
   public:
    explicit pointers(std::size_t count) {
      if (count > sizeof few_ / sizeof *few_) many_.resize(count);
    }
    Pointer* data() { return many_.empty() ? few_ : many_.data(); }

   private:
    Pointer few_[16] = {};
    std::vector<Pointer> many_;
  };

  const ends& checked() const {
    get();
    return *ends_;
  }

  void read_ends() {
    auto found = std::make_shared<ends>();
    std::size_t count = 0;
    error::wrap_c_api(tenfold_compiled_partition_get_input_num(get(), &count), "could not get inputs");
    found->inputs.resize(count);
    error::wrap_c_api(tenfold_compiled_partition_get_inputs(get(), count, found->inputs.data()),
                      "could not get inputs");
    error::wrap_c_api(tenfold_compiled_partition_get_output_num(get(), &count), "could not get outputs");
    found->outputs.resize(count);
    error::wrap_c_api(tenfold_compiled_partition_get_outputs(get(), count, found->outputs.data()),
                      "could not get outputs");
    found->open = std::any_of(found->outputs.begin(), found->outputs.end(), is_open);
    ends_ = std::move(found);
  }

  static bool is_open(const tenfold_logical_tensor_t& lt) {
    return lt.ndims < 0 || std::find(lt.dims, lt.dims + lt.ndims, TENFOLD_UNKNOWN_DIM) != lt.dims + lt.ndims;
  }

  /// The outputs' final dims and strides for these inputs.
  std::vector<tenfold_logical_tensor_t> outputs_for(const void* const* in) const {
    const ends& known = checked();
    std::vector<tenfold_logical_tensor_t> found(known.outputs.size());
    error::wrap_c_api(
        tenfold_compiled_partition_query_outputs(get(), in, known.inputs.size(), found.data(), found.size()),
        "could not query outputs");
    return found;
  }

  static std::vector<logical_tensor> wrap(const std::vector<tenfold_logical_tensor_t>& tensors) {
    std::vector<logical_tensor> wrapped;
    for (const tenfold_logical_tensor_t& one : tensors) wrapped.emplace_back(one);
    return wrapped;
  }

  /// Of the tensors given, those wanted, in that order; the others are not looked at. Each search begins behind the
  /// tensor found last, so that tensors in the usual order are found at once.
  template <typename Pointer>
  static void find(const std::vector<tensor>& given, const std::vector<tenfold_logical_tensor_t>& wanted,
                   const char* role, Pointer* found) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i, ++at) {
      std::size_t left = given.size();
      for (; left > 0; --left, ++at) {
        if (at >= given.size()) at = 0;
        if (given[at].c_logical_tensor().id == wanted[i].id) break;
      }
      if (left == 0)
        error::raise(tenfold_invalid_arguments, std::string("could not execute: no tensor is given for ") + role + " " +
                                                    std::to_string(wanted[i].id));
      check(given[at].c_logical_tensor(), wanted[i], role);
      found[i] = given[at].get_data_handle();
    }
  }

  static std::string list(const std::int64_t* numbers, std::int32_t count) {
    std::string text = "[";
    for (std::int32_t i = 0; i < count; ++i)
      text += (i > 0 ? ", " : "") + (numbers[i] == TENFOLD_UNKNOWN_DIM ? "?" : std::to_string(numbers[i]));
    return text + "]";
  }

  static void check(const tenfold_logical_tensor_t& given, const tenfold_logical_tensor_t& wanted, const char* role) {
    const auto refuse = [&](tenfold_status_t status, const std::string& what) {
      error::raise(status, std::string("could not execute: ") + role + " " + std::to_string(wanted.id) + ": " + what);
    };
    const auto refuse_dims = [&] {
      refuse(tenfold_invalid_shape, "the tensor's dims are " + list(given.dims, given.ndims) + "; they must be " +
                                        list(wanted.dims, wanted.ndims));
    };
    if (given.data_type != wanted.data_type)
      refuse(tenfold_invalid_data_type, "the tensor's elements are not of the type that it was compiled for");
    if (given.layout_type == tenfold_layout_type_opaque)
      refuse(tenfold_unimplemented, "opaque layouts are not supported; use any or strided");
    if (given.ndims != wanted.ndims) refuse_dims();
    const std::int64_t* const end = given.strides + wanted.ndims;
    const bool strided =
        given.layout_type == tenfold_layout_type_strided && std::find(given.strides, end, TENFOLD_UNKNOWN_DIM) == end;
    std::int64_t row_major = 1;  // the stride of a tensor that says none
    for (std::int32_t d = wanted.ndims; d-- > 0;) {
      if (given.dims[d] != wanted.dims[d]) refuse_dims();
      if (wanted.dims[d] <= 1) continue;
      if ((strided ? given.strides[d] : row_major) != wanted.strides[d])
        refuse(tenfold_invalid_shape, "the tensor's strides are " +
                                          (strided ? list(given.strides, given.ndims) : std::string("row-major")) +
                                          "; they must be " + list(wanted.strides, wanted.ndims));
      if (row_major <= INT64_MAX / wanted.dims[d]) row_major *= wanted.dims[d];
    }
  }

  /// Of what get_scratchpad_logical_tensor() gives without a call, which would allocate.
  static std::size_t bytes_of(const tenfold_logical_tensor_t& lt) {
    if (lt.data_type == tenfold_u8 && lt.ndims == 1 && lt.dims[0] >= 0) return static_cast<std::size_t>(lt.dims[0]);
    return logical_tensor(lt).get_mem_size();
  }

  void run(const stream& astream, const void* const* in, std::size_t in_count, void* const* out, std::size_t out_count,
           const tensor& scratchpad) const {
    tenfold_execute_options_t options = {};
    options.struct_size = sizeof options;
    options.threads = astream.get_threads();
    tenfold_thread_pool_t table = {};
    if (threadpool_interop::threadpool_iface* const pool = astream.get_pool()) {
      table = threadpool_interop::table_of(*pool);
      options.pool = &table;
    }
    if (scratchpad) {
      options.scratch = scratchpad.get_data_handle();
      options.scratch_size = bytes_of(scratchpad.c_logical_tensor());
    }
    error::wrap_c_api(tenfold_compiled_partition_execute_with(get(), &options, in, in_count, out, out_count),
                      "could not execute");
  }

  std::shared_ptr<const ends> ends_;
};

}  // namespace graph
}  // namespace tenfold

#endif  // TENFOLD_GRAPH_COMPILED_PARTITION_HPP
