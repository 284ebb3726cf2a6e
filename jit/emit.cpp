// SPDX-License-Identifier: Apache-2.0
#include "jit/emit.hpp"

#include <algorithm>
#include <sstream>

#include "jit/nest.hpp"

namespace tenfold::jit {
namespace {

std::int64_t scratch_bytes(const ReduceState& state, const schedule::Schedule& schedule) {
  if (schedule.nest == schedule::Nest::rows || schedule.columns == 0) return frame::kRecords;
  return frame::kRecords + (schedule.columns / state.lanes() + 1) * state.record_bytes();
}

/// Of the strides, code knows only whether the vector level is contiguous.
char stride_kind(std::int64_t stride) { return stride == 1 ? 'c' : 's'; }

}  // namespace

std::string class_key(const kernel::KernelSpec& spec, const schedule::Schedule& schedule) {
  std::ostringstream key;
  schedule::Schedule fixed = schedule;
  fixed.tile = {};
  fixed.split = {};
  key << schedule::print(fixed) << ' ';
  for (const kernel::Level& level : spec.levels) key << (level.reduced ? 'r' : 'k');
  const std::size_t vector_level = static_cast<std::size_t>(schedule.vector_level);
  for (const kernel::Operand& in : spec.inputs)
    key << ' ' << to_string(in.dtype) << stride_kind(in.strides[vector_level]);
  key << " ->";
  for (const kernel::Operand& out : spec.outputs)
    key << ' ' << to_string(out.dtype) << stride_kind(out.strides[vector_level]);
  for (const kernel::Node& node : spec.body) {
    key << ' ' << static_cast<int>(node.kind);
    if (node.kind == kernel::Node::Kind::apply) key << kernel::row(node.function).name;
    if (node.kind == kernel::Node::Kind::reduce) key << kernel::row(node.monoid).name;
    for (const int arg : node.args) key << '%' << arg;
  }
  return key.str();
}

Result<EmittedCode> emit(const kernel::KernelSpec& spec, const schedule::Schedule& schedule) {
  Status status = schedule::check(spec, schedule);
  if (!status.ok()) return status;
  const Result<schedule::ReduceBody> body = schedule::read_body(spec);
  if (!body.ok()) return body.status();
  Assembler assembler;
  const std::unique_ptr<VectorLayer> layer = VectorLayer::make(assembler, schedule.isa);
  const std::unique_ptr<ReduceState> state = ReduceState::make(*layer, spec, body.value());
  assembler.prologue();
  {
    Nest nest(assembler, *layer, *state, spec, schedule);
    nest.start();
    if (schedule.nest == schedule::Nest::rows) {
      emit_rows(nest);
    } else {
      emit_columns(nest);
    }
  }
  assembler.code().vzeroupper();
  assembler.epilogue();
  Result<std::vector<std::uint8_t>> bytes = assembler.finish();
  if (!bytes.ok()) return bytes.status();
  return EmittedCode{std::move(bytes).value(), scratch_bytes(*state, schedule)};
}

}  // namespace tenfold::jit
