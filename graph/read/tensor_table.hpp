// SPDX-License-Identifier: Apache-2.0
//
// All that a file says of each tensor id, brought together into one Value: records of the same id must agree in dtype
// and shape, have one producer at most, and may leave open what another one says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/read/tape.hpp"
#include "graph/read/tensor_record.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

class TensorTable {
 public:
  enum class Role : std::uint8_t { input, output };

  TensorTable(Graph& graph, std::size_t most_tensors) : graph_(graph), most_tensors_(most_tensors) {}

  /// Takes what `op`, the graph's next, says of a tensor, and returns the tensor's index in Graph::values. `item` is
  /// the record's place. A second producer is invalid_graph.
  Result<ValueId> add(TensorRecord record, Item item, const Op& op, Role role);

  /// A value of its own for an output that is left out.
  Result<ValueId> add_left_out(Item item);

  /// Gives the values of outputs that are left out ids that no record has.
  void number_left_out();
  const std::vector<ValueId>& left_out() const { return left_out_; }

  /// Two consumers that contradict each other in the shape are forgiven when there is a producer, whose word counts;
  /// as ops stand in any order, only the end of the file shows that.
  Status finish() const;

 private:
  struct Entry {
    bool strides_given;
    OpId first_op;
    OpId producer = kNone;
    bool conflicts = false;  ///< there is one of it in conflicts_
  };

  /// An input that contradicts what ops before it say. Perhaps no error: the message is made when it is one, as
  /// making one takes time that depends on where in the file it is.
  struct Conflict {
    ValueId value;
    OpId op;
    std::size_t input;  ///< of the op
    Place place;
    bool of_strides;  ///< of the shape otherwise
    Dims here, there;
  };

  Status check_room(Item item) const;
  ValueId insert(TensorRecord record);
  Status merge(ValueId id, TensorRecord record, Item item, const Op& op, Role role);
  void merge_shape(ValueId id, TensorRecord record, Item item, const Op& op, Role role);
  std::string describe_op(OpId id, const Op& current) const;
  Status error_of(const Conflict& conflict) const;

  Graph& graph_;
  std::size_t most_tensors_;
  // Ordered: with a hash table a file could choose ids that collide.
  std::map<std::int64_t, ValueId> ids_;
  std::vector<Entry> entries_;
  std::vector<ValueId> left_out_;
  std::vector<Conflict> conflicts_;  ///< the first one of each value
};

}  // namespace tenfold::graph
