// SPDX-License-Identifier: Apache-2.0
#include "jit/emit.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <sstream>

#include "jit/assembler/staging.hpp"
#include "jit/columns/columns.hpp"
#include "jit/columns/narrow.hpp"
#include "jit/flat/flat.hpp"
#include "jit/operand/walk.hpp"
#include "jit/packed/packed.hpp"
#include "jit/rows/rows.hpp"
#include "jit/stage/body_program.hpp"
#include "jit/staged/look_ahead.hpp"
#include "jit/staged/staged.hpp"
#include "kernel/text_stream.hpp"
#include "schedule/column_ends.hpp"
#include "schedule/columns.hpp"
#include "schedule/next_block.hpp"
#include "schedule/packed.hpp"
#include "schedule/spread.hpp"
#include "schedule/turned.hpp"

namespace tenfold::jit {
namespace {

// What a spec may have, the arguments of a kernel have room for.
static_assert(kMaxInputs == kernel::kMaxInputs && kMaxOutputs == kernel::kMaxOutputs &&
              kMaxLevels == kernel::kMaxLevels);

Encoding encoding_of(const schedule::Schedule& schedule) {
  if (schedule.isa == target::Isa::avx2) return Encoding::vex;
  return schedule.isa == target::Isa::avx512_core_fp16 ? Encoding::evex_vbmi : Encoding::evex;
}

std::int64_t scratch_bytes(const ReduceState& state, const schedule::Schedule& schedule) {
  if (schedule.nest == schedule::Nest::rows)
    return frame::kRecords + state.traits().record_planes * state.plane_bytes();
  if (schedule.columns == 0) return frame::kRecords;
  const bool places = schedule.width > 0 && state.roles().row_numbers != nullptr;
  return frame::kRecords + state.traits().record_planes * state.plane_bytes() +
         (places ? NarrowColumns::scratch_of_places(state, schedule) : 0);
}

/// The nests of one plain reduction.
bool takes_state(schedule::Nest nest) {
  return nest == schedule::Nest::rows || nest == schedule::Nest::columns || nest == schedule::Nest::packed;
}

/// Of the strides, code knows only whether the vector level is contiguous, or in an elementwise kernel repeats, and of
/// inputs how to put a step together.
char stride_kind(std::int64_t stride, schedule::Nest nest) {
  if (stride == 0 && !takes_state(nest)) return 'b';
  return stride == 1 ? 'c' : 's';
}

/// Of turned rows code knows what is inside a block.
void key_turned(std::ostringstream& key, const kernel::KernelSpec& spec) {
  const schedule::TurnedLevels levels = schedule::turned_levels(spec);
  const auto inside = static_cast<std::size_t>(levels.inside);
  for (std::size_t level = inside; level < spec.levels.size(); ++level) key << ' ' << spec.levels[level].extent;
  for (const std::vector<kernel::Operand>* operands : {&spec.inputs, &spec.outputs})
    for (const kernel::Operand& operand : *operands) {
      key << (schedule::turned_width(spec, levels, operand) > 0 ? " t" : " o");
      for (std::size_t level = inside; level < spec.levels.size(); ++level)
        key << (operand.strides[level] == 0 ? 0 : 1);
    }
}

/// Of joined rows code knows what repeats, along them or from one to the next.
void key_spread(std::ostringstream& key, const kernel::KernelSpec& spec) {
  for (const kernel::Operand& in : spec.inputs) key << ' ' << static_cast<int>(schedule::spread_of(spec, in));
}

/// In stages, what repeats along the reduced levels is read once per row, and what repeats along any level is not asked
/// for ahead of it; of columns, tasks that are narrow ask less often, and rows come in groups as long as these are.
void key_stages(std::ostringstream& key, const kernel::KernelSpec& spec, const schedule::Schedule& schedule) {
  for (const kernel::Operand& in : spec.inputs) key << (kernel::moves_along_reduced(spec, in) ? 'e' : 'r');
  if (schedule.width > 0) return key_turned(key, spec);
  for (const std::vector<kernel::Operand>* operands : {&spec.inputs, &spec.outputs})
    for (const kernel::Operand& operand : *operands) {
      key << ' ';
      for (const std::int64_t stride : operand.strides) key << (stride == 0 ? '0' : '1');
    }
  if (schedule.nest != schedule::Nest::staged_columns) return;
  if (has_narrow_tasks(schedule)) key << " narrow";
  if (const int rows = kernel::innermost(spec, true); rows >= 0)
    key << " n" << known_rows(spec.levels[static_cast<std::size_t>(rows)].extent);
}

/// Of columns past the last vector step code knows whether there is a whole one before them, or what it may run into.
void key_last_columns(std::ostringstream& key, const kernel::KernelSpec& spec, const schedule::Schedule& schedule) {
  const Result<schedule::ReduceBody> body = schedule::read_body(spec);
  if (!body.ok()) return;
  const schedule::Lanes lanes = schedule::lanes_of(spec, body.value());
  if (schedule::ends_whole(spec, lanes, schedule)) key << " w";
  if (schedule::runs_over(spec, lanes, schedule)) key << " o";
  if (has_rows_that_settle(spec)) key << " m";
  if (schedule.blocks) key << " b" << schedule::next_block_bytes(spec, schedule.vector_level);
  if (schedule.ahead && schedule.columns == 0) key << " a" << schedule::direct_ahead_bytes(spec, schedule.vector_level);
}

Result<EmittedCode> finish(Assembler& assembler, std::int64_t scratch_bytes) {
  assembler.code().vzeroupper();
  assembler.epilogue();
  Result<std::vector<std::uint8_t>> bytes = assembler.finish();
  if (!bytes.ok()) return bytes.status();
  return EmittedCode{std::move(bytes).value(), scratch_bytes};
}

Result<EmittedCode> emit_elementwise(const kernel::KernelSpec& spec, const schedule::Schedule& schedule) {
  Result<LaneProgram> program = body_program(spec);
  if (!program.ok()) return program.status();
  Assembler assembler;
  const int lanes = program.value().lanes();
  const std::unique_ptr<LaneLayer> layer =
      LaneLayer::make(assembler, schedule.isa, lanes, lane_order(spec, schedule.vector_level, lanes));
  assembler.prologue();
  const std::int64_t scratch = emit_flat(assembler, *layer, program.value(), spec, schedule);
  return finish(assembler, scratch);
}

Result<EmittedCode> emit_stages(const kernel::KernelSpec& spec, const schedule::Schedule& schedule) {
  const Result<Stages> stages = find_stages(spec, schedule);
  if (!stages.ok()) return stages.status();
  Assembler assembler;
  assembler.prologue();
  const std::int64_t scratch = schedule.nest == schedule::Nest::staged_rows
                                   ? emit_staged_rows(assembler, stages.value(), spec, schedule)
                                   : emit_staged_columns(assembler, stages.value(), spec, schedule);
  return finish(assembler, scratch);
}

}  // namespace

Status check_body(const kernel::KernelSpec& spec, const schedule::Schedule& schedule) {
  if (schedule.nest == schedule::Nest::flat) return body_program(spec).status();
  if (schedule::is_staged(schedule.nest)) return find_stages(spec, schedule).status();
  return schedule::read_body(spec).status();
}

std::string class_key(const kernel::KernelSpec& spec, const schedule::Schedule& schedule) {
  kernel::TextStream key;
  schedule::Schedule fixed = schedule;
  fixed.tile = {};
  fixed.split = {};
  key << schedule::print(fixed) << ' ';
  for (const kernel::Level& level : spec.levels) key << (level.reduced ? 'r' : 'k');
  const std::size_t vector_level = static_cast<std::size_t>(schedule.vector_level);
  for (const kernel::Operand& in : spec.inputs) {
    const std::int64_t stride = in.strides[vector_level];
    key << ' ' << to_string(in.dtype) << stride_kind(stride, schedule.nest);
    if (known_gap(stride) > 1) key << known_gap(stride);
  }
  if (schedule::is_staged(schedule.nest)) key_stages(key, spec, schedule);
  if (schedule.nest == schedule::Nest::flat && schedule.width > 0) key_spread(key, spec);
  if (schedule.nest == schedule::Nest::columns) key_last_columns(key, spec, schedule);
  if (schedule.nest == schedule::Nest::packed)
    key << " cell" << schedule::packed_rows(spec).cell << " pitch" << schedule::packed_rows(spec).pitch;
  key << " ->";
  for (const kernel::Operand& out : spec.outputs)
    key << ' ' << to_string(out.dtype) << stride_kind(out.strides[vector_level], schedule.nest);
  for (const kernel::Node& node : spec.body) {
    key << ' ' << static_cast<int>(node.kind);
    if (node.kind == kernel::Node::Kind::apply) key << kernel::row(node.function).name;
    if (node.kind == kernel::Node::Kind::reduce) key << kernel::row(node.monoid).name << (node.last ? "last" : "");
    if (kernel::is_ordered(node))
      key << kernel::row(node.monoid).name << node.index << (node.exclusive ? "e" : "") << (node.reverse ? "r" : "");
    if (node.kind == kernel::Node::Kind::load) key << 'x' << node.index << (node.total ? "total" : "");
    if (node.kind == kernel::Node::Kind::constant) key << std::bit_cast<std::uint64_t>(node.value);
    if (node.kind == kernel::Node::Kind::constant || node.kind == kernel::Node::Kind::cast)
      key << to_string(node.dtype);
    for (const int arg : node.args) key << '%' << arg;
  }
  for (const kernel::Store& store : spec.stores) key << " y" << store.output << '%' << store.node;
  return key.str();
}

Result<EmittedCode> emit(const kernel::KernelSpec& spec, const schedule::Schedule& schedule) {
  Status status = schedule::check(spec, schedule);
  if (!status.ok()) return status;
  if (schedule.nest == schedule::Nest::flat) return emit_elementwise(spec, schedule);
  if (schedule::is_staged(schedule.nest)) return emit_stages(spec, schedule);
  const Result<schedule::ReduceBody> body = schedule::read_body(spec);
  if (!body.ok()) return body.status();
  Assembler assembler(encoding_of(schedule));
  const std::unique_ptr<VectorLayer> layer = VectorLayer::make(assembler, schedule.isa);
  const std::unique_ptr<ReduceState> state = ReduceState::make(*layer, spec, body.value(), schedule);
  // Narrow columns: the records of a row stand beside those of the tile, and what is folded reads on by one.
  state->set_records(schedule.nest == schedule::Nest::rows
                         ? std::max(schedule.turns, schedule.rows_at_once)
                         : schedule.columns / state->lanes() + 1 +
                               (schedule.width > 0 ? schedule.width / state->lanes() + 2 : 0));
  std::optional<std::int64_t> packed_scratch;
  assembler.prologue();
  {
    LoopNest nest(assembler, *layer, *state, spec, schedule);
    if (schedule.nest == schedule::Nest::packed) {
      nest.load_operands();
      packed_scratch = emit_packed(nest, body.value());
    } else if (nest.start(); schedule.nest == schedule::Nest::rows) {
      emit_rows(nest);
    } else if (state->is_sum() && schedule.width > 0 && schedule.width <= state->lanes()) {
      emit_narrow_sums(nest);
    } else {
      emit_columns(nest);
    }
  }
  // Of the state, as the nest has left it.
  return finish(assembler, packed_scratch ? *packed_scratch : scratch_bytes(*state, schedule));
}

}  // namespace tenfold::jit
