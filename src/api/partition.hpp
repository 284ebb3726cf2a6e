// SPDX-License-Identifier: Apache-2.0
//
// What a CompiledPartition holds. compile.cpp fills it once; afterwards only the cache of specialisations changes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/binding.hpp"
#include "api/specialisation.hpp"
#include "graph/ir/graph.hpp"
#include "target/target.hpp"
#include "tenfold/compiled_partition.hpp"

namespace tenfold {

struct CompiledPartition::Impl {
  using Shared = api::SpecialisationCache::Shared;
  using Inputs = std::span<const void* const>;
  using Outputs = std::span<void* const>;

  target::Target target;
  ThreadPool* pool = nullptr;
  int threads = 0;
  bool fuse = true;
  std::vector<TensorInfo> inputs, outputs;
  std::vector<api::OperandCheck> input_checks;

  Shared fixed;        ///< the only specialisation of a partition without run-time axes; null with them
  graph::Graph bound;  ///< with run-time axes: the graph before the pipeline, the input shapes bound
  std::vector<api::AxesInput> axes_inputs;
  mutable api::SpecialisationCache cache;

  Status execute(Inputs in, Outputs out) const;
  /// `fixed`, or the one for the axes that `in` holds.
  Result<Shared> specialisation(Inputs in) const;
  std::string explain() const;

 private:
  Status check_operands(const api::Specialisation& chosen, Inputs in, Outputs out) const;
  Status run(const api::Specialisation& chosen, Inputs in, Outputs out) const;
};

}  // namespace tenfold
