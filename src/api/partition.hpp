// SPDX-License-Identifier: Apache-2.0
//
// What a CompiledPartition holds. compile.cpp fills it once; afterwards only the cache of specialisations changes.
#pragma once

#include <cstddef>
#include <cstdint>
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

/// How one execution runs.
struct RunOptions {
  ThreadPool* pool = nullptr;    ///< null: the default pool
  int threads = 0;               ///< 0: as many as the pool has
  std::byte* scratch = nullptr;  ///< for temporaries, aligned to 64; null: the thread's own
  std::size_t scratch_bytes = 0;
};

struct CompiledPartition::Impl {
  using Shared = api::SpecialisationCache::Shared;
  using Inputs = std::span<const void* const>;
  using Outputs = std::span<void* const>;

  target::Target target;
  ThreadPool* pool = nullptr;
  int threads = 0;
  compiler::Options options;
  std::shared_ptr<const compiler::Tuning> tuning;  ///< what the options point at; null: the heuristic's schedules
  std::vector<std::string> notices;                ///< what was asked for and ignored
  std::int64_t verbose_number = 0;                 ///< its name in verbose lines; 0: there are none
  std::vector<TensorInfo> inputs, outputs;
  std::vector<graph::Property> input_properties, output_properties;  ///< of these, as the graph says
  std::vector<api::OperandCheck> input_checks;

  Shared fixed;        ///< the only specialisation of a partition without run-time axes; null with them
  graph::Graph bound;  ///< with run-time axes: the graph before the pipeline, the input shapes bound
  std::vector<api::ShapeInput> shape_inputs;
  mutable api::SpecialisationCache cache;

  /// Of `fixed`, where a call is one kernel of one task and nobody wants to be told: that kernel; else null.
  const runtime::KernelStep* direct = nullptr;

  /// Such a call on this thread; false, and nothing is done, where it is not one or execute() has something to say.
  bool execute_directly(const void* const* in, std::size_t in_count, void* const* out,
                        std::size_t out_count) const noexcept;
  Status execute(Inputs in, Outputs out, const RunOptions& how) const;
  /// `fixed`, or the one for the axes that `in` holds.
  Result<Shared> specialisation(Inputs in) const;
  std::string explain() const;
  /// Bytes of RunOptions::scratch that an execution needs; 0 with run-time axes, whose temporaries are the thread's
  /// own.
  std::size_t scratch_bytes() const;

 private:
  // These take as many pointers as there are inputs and outputs. A second span would not fit in registers: it would go
  // to memory in halves and come back whole, which no store can be forwarded to.
  bool operands_fit(const api::Specialisation& chosen, const void* const* in, void* const* out) const noexcept;
  Status say_what_does_not_fit(const api::Specialisation& chosen, const void* const* in, void* const* out) const;
  Status check_own_scratch(const api::Specialisation& chosen, const void* const* in, void* const* out,
                           const RunOptions& how) const;
  Status execute_chosen(const api::Specialisation& chosen, const void* const* in, void* const* out,
                        const RunOptions& how) const;
  Status run(const api::Specialisation& chosen, const void* const* in, void* const* out, const RunOptions& how) const;
};

}  // namespace tenfold
