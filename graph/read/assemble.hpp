// SPDX-License-Identifier: Apache-2.0
//
// Makes the Graph from a file's members and ops. Knows the keys of the root and of an op; tensors, attributes and
// scalars have their own files. Op kinds and what ops demand are for verify().
#pragma once

#include <optional>
#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/read/document.hpp"
#include "graph/read/json.hpp"
#include "graph/read/tensor_record.hpp"
#include "graph/read/tensor_table.hpp"

namespace tenfold::graph {

class Assembler final : public DocumentReceiver {
 public:
  explicit Assembler(const ReadLimits& limits)
      : limits_(limits), constants_{limits.constant_bytes}, tensors_(graph_, limits.tensors) {}
  Assembler(const Assembler&) = delete;
  Assembler& operator=(const Assembler&) = delete;

  Status on_member(Item member) override;
  Status on_op(Item item) override;

  /// The connected graph, once the whole file has been read.
  Result<Graph> finish();

 private:
  Status read_attributes(Item item, Op& op);
  Status read_tensors(Item item, Op& op, TensorTable::Role role);
  /// Gives the root's dialect and opset to the ops that do not say their own.
  void spread_dialect();

  const ReadLimits& limits_;
  ConstantBudget constants_;
  Graph graph_;
  TensorTable tensors_;
  // `dialect` and `opset` of the root may stand after the ops.
  std::optional<Dialect> dialect_;
  std::optional<int> opset_;
  std::vector<OpId> without_dialect_, without_opset_;
};

}  // namespace tenfold::graph
