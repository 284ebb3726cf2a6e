// SPDX-License-Identifier: Apache-2.0
//
// compile(): binds shapes, picks the target, runs the passes, and makes the partition's one specialisation, or, with
// run-time axes, keeps the graph so that execute() can make one per value.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "api/guard.hpp"
#include "api/partition.hpp"
#include "api/places.hpp"
#include "api/tuning_choice.hpp"
#include "api/verbose.hpp"
#include "graph/pass/pass.hpp"
#include "runtime/float_state.hpp"
#include "tenfold/compiled_partition.hpp"

namespace tenfold {

namespace {

Result<CompiledPartition> compile_ir(const graph::Graph& ir, const CompileOptions& options) {
  if (options.threads < 0)
    return Status(Code::invalid_argument,
                  "threads is " + std::to_string(options.threads) + "; it must be 0 (all of the pool's) or more");
  const auto start = std::chrono::steady_clock::now();
  auto impl = std::make_shared<CompiledPartition::Impl>();
  impl->verbose_number = api::verbose_number();
  impl->pool = options.pool;
  impl->threads = options.threads;
  impl->options.fuse = options.fuse;
  if (Status status = api::choose_tuning(options.tuning_file, *impl); !status.ok()) return status;
  Result<target::Target> picked = target::host_named(options.target);
  if (!picked.ok()) return picked.status();
  impl->target = picked.value();
  // Pieces for threads that will not come would only cut rows short; no result depends on them.
  if (options.threads > 0) impl->target.cores = std::min(impl->target.cores, options.threads);

  impl->bound = ir;
  if (Status status = api::bind_input_shapes(impl->bound, options.input_shapes); !status.ok()) return status;
  if (Status status = api::require_known_inputs(impl->bound); !status.ok()) return status;
  graph::Graph core = impl->bound;
  if (Status status = graph::run_pipeline(core); !status.ok()) return status;

  Result<std::vector<api::ShapeInput>> shape_inputs = api::find_shape_inputs(core, impl->bound);
  if (!shape_inputs.ok()) return shape_inputs.status();
  impl->shape_inputs = std::move(shape_inputs).value();

  for (const graph::ValueId v : impl->bound.inputs) {
    impl->inputs.push_back(api::info_of(impl->bound.values[v]));
    impl->input_properties.push_back(impl->bound.values[v].property);
    const Result<api::OperandCheck> check = api::operand_check(impl->inputs.back().desc);
    if (!check.ok()) return check.status();
    impl->input_checks.push_back(check.value());
  }
  const api::Places outputs(impl->bound, impl->bound.outputs);
  for (const graph::ValueId v : core.outputs) {
    impl->outputs.push_back(api::info_of(core.values[v]));
    // What the graph said of it, before the passes.
    const std::size_t place = outputs.find(core.values[v].id);
    impl->output_properties.push_back(place == api::Places::kNowhere
                                          ? graph::Property::undef
                                          : impl->bound.values[impl->bound.outputs[place]].property);
  }

  if (impl->shape_inputs.empty()) {
    auto made = api::make_specialisation(core, impl->inputs, impl->outputs, impl->target, impl->options);
    if (!made.ok()) return made.status();
    impl->fixed = std::move(made).value();
    if (impl->verbose_number == 0 && impl->fixed->input_map.identity && impl->fixed->output_map.identity)
      impl->direct = runtime::lone_kernel(impl->fixed->compiled.program);
    impl->bound = graph::Graph();
  }
  api::say_compiled(*impl, ir.ops.size(), std::chrono::steady_clock::now() - start);
  return CompiledPartition(std::move(impl));
}

}  // namespace

Result<CompiledPartition> compile(const Graph& graph, const CompileOptions& options) {
  return api::guarded([&] {
    const runtime::FullFloatState state;
    return compile_ir(graph.ir(), options);
  });
}

}  // namespace tenfold
