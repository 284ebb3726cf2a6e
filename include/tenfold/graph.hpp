// SPDX-License-Identifier: Apache-2.0
//
// The C++ API: oneDNN Graph's classes, names and meaning, header-only over the C API, so that what is linked is
// libtenfold.so alone. C++11. docs/cpp_api.md shows it; docs/c_api.md says what holds beneath.
//
//   namespace dnnl = tenfold;   // and programs written for oneDNN Graph compile as they are
//
// Not to be included together with tenfold.hpp, the door to the static library: both live in namespace tenfold.
#ifndef TENFOLD_GRAPH_HPP
#define TENFOLD_GRAPH_HPP

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tenfold/graph/compiled_partition.hpp"
#include "tenfold/graph/engine.hpp"
#include "tenfold/graph/error.hpp"
#include "tenfold/graph/logical_tensor.hpp"
#include "tenfold/graph/op.hpp"
#include "tenfold/graph/partition.hpp"
#include "tenfold/graph/settings.hpp"
#include "tenfold/graph/tensor.hpp"

namespace tenfold {
namespace graph {

/// Ops, to be added, finalized and cut into partitions. Copies are the same graph.
class graph : public handle<tenfold_graph_t> {
 public:
  explicit graph(engine::kind engine_kind) : graph(engine_kind, fpmath_mode::strict) {}
  graph(engine::kind engine_kind, fpmath_mode mode) : math_(std::make_shared<math>()) {
    if (engine_kind != engine::kind::cpu)
      error::raise(tenfold_invalid_arguments, "could not create graph: the only engines are cpu");
    math_->mode = mode;
    tenfold_graph_t made = nullptr;
    error::wrap_c_api(tenfold_graph_create(&made), "could not create graph");
    reset(made);
  }

  /// A permission that this version makes no use of: it computes as `strict` says.
  void set_fpmath_mode(fpmath_mode mode, bool apply_to_int = false) {
    math_->mode = mode;
    math_->apply_to_int = apply_to_int;
  }
  void get_fpmath_mode(fpmath_mode& mode, bool& apply_to_int) const {
    mode = math_->mode;
    apply_to_int = math_->apply_to_int;
  }

  /// Asks the op's own rules and adds a copy of it as it stands. Throws, or returns the status where not allowed to.
  status add_op(const op& aop, bool allow_exception = true) {
    tenfold_status_t result = tenfold_op_check(aop.get());
    if (result == tenfold_success) result = tenfold_graph_add_op(get(), aop.get());
    if (allow_exception) error::wrap_c_api(result, "could not add op to graph");
    return static_cast<status>(result);
  }

  /// Checks the graph and infers shapes; from then on it cannot change, and this does nothing.
  void finalize() {
    if (is_finalized()) return;
    error::wrap_c_api(tenfold_graph_finalize(get()), "could not finalize graph");
    if (dumping::wants(graph_dump_mode::graph)) dumping::write("graph", dumping::next_graph(), to_json());
  }
  bool is_finalized() const {
    std::int32_t finalized = 0;
    error::wrap_c_api(tenfold_graph_is_finalized(get(), &finalized), "could not get graph state");
    return finalized != 0;
  }

  /// In an order in which they can run. It may be called again, with another policy as well.
  std::vector<partition> get_partitions(partition::policy policy = partition::policy::fusion) const {
    const auto number = static_cast<tenfold_policy_t>(policy);
    std::size_t count = 0;
    error::wrap_c_api(tenfold_graph_get_partition_num_by(get(), number, &count), "could not get partitions");
    std::vector<tenfold_partition_t> held(count);
    error::wrap_c_api(tenfold_graph_get_partitions_by(get(), number, count, held.data()), "could not get partitions");
    std::vector<partition> partitions;
    for (tenfold_partition_t one : held) partitions.emplace_back(one);
    if (dumping::wants(graph_dump_mode::subgraph))
      for (const partition& one : partitions) dumping::write("partition", one.get_id(), one.to_json());
    return partitions;
  }

  // ---- Beyond oneDNN ----

  /// A finalized graph from the text of a oneDNN Graph JSON file.
  static graph from_json(const std::string& text) {
    tenfold_graph_t made = nullptr;
    error::wrap_c_api(tenfold_graph_from_json(&made, text.data(), text.size()), "could not read graph");
    return graph(made);
  }

  /// Writes `length` bytes (-1: all that follow) at `offset` of the file `location`, a path that is not to be trusted,
  /// to `sink` by tenfold_sink_write().
  using external_reader = std::function<tenfold_status_t(const char* location, std::int64_t offset, std::int64_t length,
                                                         tenfold_sink_t sink)>;

  /// A finalized graph from the bytes of an ONNX model; `external` gives what it keeps in files of its own. What
  /// `external` throws is lost: it must return a status.
  static graph from_onnx(const std::string& bytes, const external_reader& external = external_reader()) {
    tenfold_onnx_options_t options = {};
    options.struct_size = sizeof options;
    options.context = const_cast<external_reader*>(&external);
    if (external)
      options.read_external = [](void* context, const char* location, std::int64_t offset, std::int64_t length,
                                 tenfold_sink_t sink) {
        return (*static_cast<const external_reader*>(context))(location, offset, length, sink);
      };
    tenfold_graph_t made = nullptr;
    error::wrap_c_api(tenfold_graph_from_onnx(&made, bytes.data(), bytes.size(), &options), "could not read model");
    return graph(made);
  }

  /// Makes the tensor a constant with these data: row-major, of exactly its memory size. It then is no input.
  void add_constant(const logical_tensor& lt, const void* data) {
    error::wrap_c_api(tenfold_graph_add_constant(get(), &lt.data, data, lt.get_mem_size()), "could not add constant");
  }
  /// Which tensors leave the graph, in this order; otherwise those that no op takes, and those that an End does.
  void set_outputs(const std::vector<std::size_t>& ids) {
    const std::vector<std::int64_t> numbers(ids.begin(), ids.end());
    error::wrap_c_api(tenfold_graph_set_outputs(get(), numbers.data(), numbers.size()), "could not set outputs");
  }

  /// The finalized graph, for people, and as a oneDNN Graph JSON file.
  std::string to_text() const { return text_by(tenfold_graph_get_text); }
  std::string to_json() const { return text_by(tenfold_graph_get_json); }

 private:
  struct math {
    fpmath_mode mode = fpmath_mode::strict;
    bool apply_to_int = false;
  };

  explicit graph(tenfold_graph_t held) : handle(held), math_(std::make_shared<math>()) {}

  std::string text_by(tenfold_status_t (*give)(const_tenfold_graph_t, const tenfold_allocator_t*, char**)) const {
    char* text = nullptr;
    error::wrap_c_api(give(get(), nullptr, &text), "could not write graph");
    return take_text(text);
  }

  std::shared_ptr<math> math_;
};

}  // namespace graph
}  // namespace tenfold

#endif  // TENFOLD_GRAPH_HPP
