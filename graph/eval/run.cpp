// SPDX-License-Identifier: Apache-2.0
//
// Walks a sorted graph, keeping each value from the op that makes it to the last that reads it.
#include "graph/eval/run.hpp"

#include <memory>
#include <new>
#include <string>

#include "graph/eval/evaluate_op.hpp"
#include "graph/eval/shapes.hpp"

namespace tenfold::graph {
namespace {

/// More than this is not asked of the system: an overcommitting one would grant it and kill the process later.
constexpr std::int64_t kMaxTemporaryBytes = std::int64_t{1} << 38;

struct Slot {
  ConstTensor tensor;
  std::unique_ptr<std::byte[]> storage;
  Bounds bounds;
  int uses = 0;
  bool ready = false;
};

std::string name_of(const Graph& graph, ValueId id) { return "tensor " + std::to_string(graph.values[id].id); }

class Run {
 public:
  Run(const Graph& graph, bool with_bounds) : graph_(graph), slots_(graph.values.size()), with_bounds_(with_bounds) {}

  Status bind(std::span<const ConstTensor> inputs) {
    if (inputs.size() != graph_.inputs.size())
      return Status(Code::invalid_argument,
                    std::to_string(inputs.size()) + " inputs for a graph of " + std::to_string(graph_.inputs.size()));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (Status s = check_input(graph_.inputs[i], inputs[i]); !s.ok()) return s;
      slots_[graph_.inputs[i]].tensor = inputs[i];
      slots_[graph_.inputs[i]].ready = true;
    }
    for (ValueId id = 0; id < graph_.values.size(); ++id) {
      const Value& value = graph_.values[id];
      if (!value.is_constant) continue;
      TensorDesc desc{value.dtype, value.shape, {}};
      const Result<std::int64_t> bytes = span_bytes(desc);
      if (!bytes.ok()) return bytes.status();
      if (static_cast<std::size_t>(bytes.value()) > value.data.size())
        return Status(Code::invalid_graph, name_of(graph_, id) + ": its constant data is shorter than its shape");
      slots_[id].tensor = {std::move(desc), value.data.data()};
      slots_[id].ready = true;
    }
    for (const Op& op : graph_.ops)
      for (const ValueId id : op.inputs)
        if (id != kNone) ++slots_[id].uses;
    for (const ValueId id : graph_.outputs) ++slots_[id].uses;
    return {};
  }

  Status run(const Op& op) {
    std::vector<ConstTensor> inputs;
    std::vector<Bounds> input_bounds;
    for (const ValueId id : op.inputs) {
      if (id == kNone) {
        inputs.emplace_back();
        input_bounds.emplace_back();
        continue;
      }
      if (!slots_[id].ready) return fail(op, Code::internal_error, name_of(graph_, id) + " is read before it is made");
      inputs.push_back(slots_[id].tensor);
      input_bounds.push_back(slots_[id].bounds);
    }
    std::vector<MutableTensor> outputs;
    std::vector<Dims> declared;
    for (const ValueId id : op.outputs) declared.push_back(graph_.values[id].shape);
    const Result<std::vector<Dims>> shapes = output_shapes(op, inputs, declared);
    if (!shapes.ok()) return shapes.status();
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      Result<MutableTensor> output = allocate(op, op.outputs[i], shapes.value()[i]);
      if (!output.ok()) return output.status();
      outputs.push_back(std::move(output).value());
    }
    if (Status s = evaluate_op(op, inputs, outputs); !s.ok()) return s;
    if (with_bounds_ && !op.outputs.empty()) {
      Result<std::vector<Bounds>> bounds = bound_op(op, inputs, input_bounds, outputs);
      if (!bounds.ok()) return bounds.status();
      for (std::size_t i = 0; i < op.outputs.size(); ++i) slots_[op.outputs[i]].bounds = std::move(bounds.value()[i]);
    }
    for (const ValueId id : op.inputs)
      if (id != kNone) release(id);
    return {};
  }

  Status take(ValueId id, const MutableTensor& output, Bounds* bounds) {
    Slot& slot = slots_[id];
    if (!slot.ready) return Status(Code::internal_error, name_of(graph_, id) + " leaves the graph but is never made");
    // An identity op lends its name to the messages and its checks to the caller's tensor.
    Op copy;
    copy.id = graph_.values[id].id;
    copy.name = "output";
    copy.dialect = Dialect::core;
    copy.kind = "cast";
    if (slot.tensor.desc.dtype != output.desc.dtype)
      return fail(copy, Code::invalid_dtype,
                  "the output is " + std::string(to_string(output.desc.dtype)) + ", not " +
                      std::string(to_string(slot.tensor.desc.dtype)));
    if (bounds != nullptr) *bounds = slot.bounds;
    const ConstTensor inputs[] = {slot.tensor};
    const MutableTensor outputs[] = {output};
    if (Status s = evaluate_op(copy, inputs, outputs); !s.ok()) return s;
    release(id);
    return {};
  }

 private:
  Status check_input(ValueId id, const ConstTensor& input) const {
    const Value& value = graph_.values[id];
    const DType wanted = value.dtype;
    if (input.desc.dtype != wanted)
      return Status(Code::invalid_dtype, name_of(graph_, id) + " is " + std::string(to_string(input.desc.dtype)) +
                                             ", not " + std::string(to_string(wanted)));
    bool fits = !value.ranked || value.shape.size() == input.desc.shape.size();
    for (std::size_t i = 0; value.ranked && fits && i < value.shape.size(); ++i)
      fits = value.shape[i] == kUnknownDim || value.shape[i] == input.desc.shape[i];
    if (!fits) return Status(Code::invalid_shape, name_of(graph_, id) + " has another shape in the graph");
    const Result<std::int64_t> bytes = span_bytes(input.desc);
    if (!bytes.ok()) return bytes.status().about(name_of(graph_, id));
    if (bytes.value() > 0 && input.data == nullptr)
      return Status(Code::invalid_argument, name_of(graph_, id) + " has no data");
    return {};
  }

  Result<MutableTensor> allocate(const Op& op, ValueId id, const Dims& shape) {
    MutableTensor output{{graph_.values[id].dtype, shape, {}}, nullptr};
    const Result<std::int64_t> bytes = span_bytes(output.desc);
    if (!bytes.ok()) return fail(op, bytes.status());
    Slot& slot = slots_[id];
    if (bytes.value() <= kMaxTemporaryBytes)
      slot.storage.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes.value())]);
    if (slot.storage == nullptr)
      return fail(op, Code::out_of_memory, std::to_string(bytes.value()) + " bytes for its output");
    output.data = slot.storage.get();
    slot.tensor = {output.desc, output.data};
    slot.ready = true;
    return output;
  }

  void release(ValueId id) {
    Slot& slot = slots_[id];
    if (--slot.uses > 0) return;
    slot.storage.reset();
    slot.bounds = Bounds();
  }

  const Graph& graph_;
  std::vector<Slot> slots_;
  bool with_bounds_;
};

}  // namespace

Status run_graph(const Graph& graph, std::span<const ConstTensor> inputs, std::span<const MutableTensor> outputs,
                 std::vector<Bounds>* bounds) {
  if (outputs.size() != graph.outputs.size())
    return Status(Code::invalid_argument,
                  std::to_string(outputs.size()) + " outputs for a graph of " + std::to_string(graph.outputs.size()));
  try {
    Run run(graph, bounds != nullptr);
    if (Status s = run.bind(inputs); !s.ok()) return s;
    for (const Op& op : graph.ops)
      if (Status s = run.run(op); !s.ok()) return s;
    if (bounds != nullptr) bounds->assign(outputs.size(), {});
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (Status s = run.take(graph.outputs[i], outputs[i], bounds == nullptr ? nullptr : &(*bounds)[i]); !s.ok())
        return s;
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory, "the reference evaluator ran out of memory");
  }
  return {};
}

}  // namespace tenfold::graph
