// SPDX-License-Identifier: Apache-2.0
//
// partition: ops of a graph that are compiled together.
#ifndef TENFOLD_GRAPH_PARTITION_HPP
#define TENFOLD_GRAPH_PARTITION_HPP

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tenfold/graph/compiled_partition.hpp"
#include "tenfold/graph/op.hpp"

namespace tenfold {

template <>
struct handle_traits<tenfold_partition_t> {
  static tenfold_status_t destructor(tenfold_partition_t held) { return tenfold_partition_release(&held); }
};
template <>
struct handle_traits<tenfold_graph_t> {
  static tenfold_status_t destructor(tenfold_graph_t held) { return tenfold_graph_release(&held); }
};

namespace graph {

/// Beyond oneDNN: what decides how a partition is compiled. Whatever is chosen, results have the same bits for any
/// number of threads, on any machine and in each run (of heavy ops on oneDNN: on any with the same instruction sets);
/// `fusion` off may give other bits than on (docs/rewrites.md).
struct compile_options {
  std::string isa;  ///< such as "avx2", or "reference": the evaluator, after the passes; empty: the best of the machine
  int threads = 0;  ///< most threads that an execution uses; 0: what its stream says
  bool fusion = true;       ///< false: a kernel for each op
  std::string tuning_file;  ///< measured schedules, as `tenfold tune` writes them; empty: what TENFOLD_TUNING names
};

class partition : public handle<tenfold_partition_t> {
 public:
  enum class policy { fusion = tenfold_policy_fusion, debug = tenfold_policy_debug };

  partition() = default;
  /// Takes over the caller's reference.
  explicit partition(tenfold_partition_t held) : handle(held) {}

  /// The partition of one op, without a graph.
  partition(const op& aop, engine::kind ekind) {
    if (ekind != engine::kind::cpu)
      error::raise(tenfold_invalid_arguments, "could not create partition: the only engines are cpu");
    tenfold_graph_t made = nullptr;
    error::wrap_c_api(tenfold_graph_create(&made), "could not create partition");
    const handle<tenfold_graph_t> owner(made);
    error::wrap_c_api(tenfold_graph_add_op(made, aop.get()), "could not create partition");
    error::wrap_c_api(tenfold_graph_finalize(made), "could not create partition");
    tenfold_partition_t one = nullptr;
    error::wrap_c_api(tenfold_graph_get_partitions_by(made, tenfold_policy_debug, 1, &one),
                      "could not create partition");
    reset(one);
  }

  std::size_t get_ops_num() const {
    std::size_t count = 0;
    error::wrap_c_api(tenfold_partition_get_op_num(get(), &count), "could not get ops");
    return count;
  }

  /// Ids, in topological order.
  std::vector<std::size_t> get_ops() const {
    std::vector<std::int64_t> ids(get_ops_num());
    error::wrap_c_api(tenfold_partition_get_op_ids(get(), ids.size(), ids.data()), "could not get ops");
    return std::vector<std::size_t>(ids.begin(), ids.end());
  }

  std::size_t get_id() const {
    std::size_t id = 0;
    error::wrap_c_api(tenfold_partition_get_id(get(), &id), "could not get id");
    return id;
  }

  /// Whether compile() can do anything with it.
  bool is_supported() const {
    std::int32_t supported = 0;
    error::wrap_c_api(tenfold_partition_is_supported(get(), &supported), "could not get support");
    return supported != 0;
  }

  std::vector<logical_tensor> get_input_ports() const {
    return ports(tenfold_partition_get_input_num, tenfold_partition_get_inputs);
  }
  std::vector<logical_tensor> get_output_ports() const {
    return ports(tenfold_partition_get_output_num, tenfold_partition_get_outputs);
  }

  engine::kind get_engine_kind() const {
    get();
    return engine::kind::cpu;
  }

  /// `inputs` give the dims and strides of the input ports; of `outputs`, strided ones with known dims ask for strides,
  /// and the others leave layout and dims to Tenfold: compiled_partition::query_logical_tensor() has the answer. Ports
  /// are found by id: one that is not given is as the graph says, and tensors that are no ports are not looked at.
  compiled_partition compile(const std::vector<logical_tensor>& inputs, const std::vector<logical_tensor>& outputs,
                             const engine& e, const compile_options& wanted = compile_options()) const {
    e.get_kind();
    const std::vector<tenfold_logical_tensor_t> in = those_of(get_input_ports(), inputs);
    const std::vector<tenfold_logical_tensor_t> out = those_of(get_output_ports(), outputs);
    tenfold_compile_options_t options = {};
    options.struct_size = sizeof options;
    options.isa = wanted.isa.c_str();
    options.threads = wanted.threads;
    options.no_fusion = wanted.fusion ? 0 : 1;
    options.input_count = in.size();
    options.inputs = in.data();
    options.output_count = out.size();
    options.outputs = out.data();
    options.tuning_file = wanted.tuning_file.c_str();
    tenfold_compiled_partition_t made = nullptr;
    error::wrap_c_api(tenfold_partition_compile(&made, get(), &options), "could not compile");
    return compiled_partition(made);
  }

  /// Beyond oneDNN: the partition as a oneDNN Graph JSON file.
  std::string to_json() const {
    char* text = nullptr;
    error::wrap_c_api(tenfold_partition_get_json(get(), nullptr, &text), "could not write partition");
    return take_text(text);
  }

 private:
  std::vector<logical_tensor> ports(tenfold_status_t (*get_count)(const_tenfold_partition_t, std::size_t*),
                                    tenfold_status_t (*get_all)(const_tenfold_partition_t, std::size_t,
                                                                tenfold_logical_tensor_t*)) const {
    std::size_t count = 0;
    error::wrap_c_api(get_count(get(), &count), "could not get ports");
    std::vector<tenfold_logical_tensor_t> found(count);
    error::wrap_c_api(get_all(get(), count, found.data()), "could not get ports");
    std::vector<logical_tensor> wrapped;
    for (const tenfold_logical_tensor_t& one : found) wrapped.emplace_back(one);
    return wrapped;
  }

  /// Of the tensors given, those that are ports. What is listed twice, as a port of two ops may be, counts once.
  static std::vector<tenfold_logical_tensor_t> those_of(const std::vector<logical_tensor>& wanted,
                                                        const std::vector<logical_tensor>& given) {
    std::map<std::int64_t, const logical_tensor*> taken;  // by the port's id; null: none yet
    for (const logical_tensor& port : wanted) taken[port.data.id] = nullptr;
    std::vector<tenfold_logical_tensor_t> bare;
    for (const logical_tensor& one : given) {
      const auto port = taken.find(one.data.id);
      if (port == taken.end() || (port->second != nullptr && are_equal(*port->second, one))) continue;
      port->second = &one;
      bare.push_back(one.data);
    }
    return bare;
  }

  /// What cannot be compared is left for the compiler to refuse.
  static bool are_equal(const logical_tensor& left, const logical_tensor& right) {
    std::int32_t equal = 0;
    return tenfold_logical_tensor_is_equal(&left.data, &right.data, &equal) == tenfold_success && equal != 0;
  }
};

}  // namespace graph
}  // namespace tenfold

#endif  // TENFOLD_GRAPH_PARTITION_HPP
