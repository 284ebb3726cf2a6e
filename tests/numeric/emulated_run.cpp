// SPDX-License-Identifier: Apache-2.0
//
// The walk over steps, tiles and splits as runtime/program.hpp states it, written a second time on purpose: it checks
// the runtime's arithmetic as much as the kernels.
#include "emulated_run.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "emulator/emulator.hpp"
#include "guarded_buffer.hpp"
#include "prepared_case.hpp"
#include "runtime/float_state.hpp"

namespace tenfold::numeric {
namespace {

using emulator::Access;
using runtime::Grid;
using runtime::KernelStep;
using runtime::Location;

/// Scratch is handed out 64-byte aligned, as the ABI promises, and full of what an earlier kernel left. It ends at a
/// page that cannot be touched, and the bytes before it are watched.
class Scratch {
 public:
  explicit Scratch(std::int64_t bytes) : size_(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0))) {
    if (size_ == 0) return;
    buffer_ = std::make_unique<GuardedBuffer>((size_ + 63) / 64 * 64, GuardedBuffer::Guard::after);
    // A kernel must not count on what it finds there, be it nothing or all bits, which is NaN.
    static std::atomic<unsigned> turn{0};
    std::fill_n(data(), buffer_->size(), turn.fetch_add(1) % 2 == 0 ? std::byte{0xff} : std::byte{0});
  }
  std::byte* data() const { return buffer_ ? buffer_->data() : nullptr; }
  std::size_t size() const { return size_; }
  bool intact() const { return !buffer_ || buffer_->canary_intact(); }

 private:
  std::size_t size_;
  std::unique_ptr<GuardedBuffer> buffer_;
};

struct Run {
  const runtime::Program& program;
  std::optional<target::Isa> emulated;  ///< the level to emulate kernels of; none: this CPU runs them
  std::span<const Bytes> inputs, outputs;
  Scratch arena;

  std::byte* address(const Location& at) const {
    const auto index = static_cast<std::size_t>(at.index);
    std::byte* base = nullptr;
    switch (at.kind) {
      case Location::Kind::input: base = static_cast<std::byte*>(inputs[index].data); break;
      case Location::Kind::output: base = static_cast<std::byte*>(outputs[index].data); break;
      case Location::Kind::temporary: base = arena.data(); break;
      case Location::Kind::constant: base = const_cast<std::byte*>(program.constants[index]->data()); break;
    }
    return base + at.offset;
  }

  void allow(emulator::AddressSpace& memory, const Location& at, bool written) const {
    const auto index = static_cast<std::size_t>(at.index);
    const Access access = written ? Access::read_write : Access::read;
    switch (at.kind) {
      case Location::Kind::input: memory.allow(inputs[index].data, inputs[index].size, Access::read, "input"); break;
      case Location::Kind::output: memory.allow(outputs[index].data, outputs[index].size, access, "output"); break;
      case Location::Kind::temporary: memory.allow(arena.data(), arena.size(), access, "temporaries"); break;
      case Location::Kind::constant:
        memory.allow(program.constants[index]->data(), program.constants[index]->size(), Access::read, "constant");
        break;
    }
  }
};

/// Moves every operand to `piece` of the grid and sets the level's extent.
void enter(jit::KernelArgs& args, const KernelStep& step, const Grid& grid, std::int64_t piece) {
  if (grid.level < 0) return;
  const std::int64_t skipped = piece * grid.grain;
  const auto offset = [&](std::size_t operand) {
    return skipped * step.strides[static_cast<std::size_t>(jit::stride_index(static_cast<int>(operand), grid.level))];
  };
  for (std::size_t i = 0; i < step.inputs.size(); ++i)
    args.inputs[i] = static_cast<const std::byte*>(args.inputs[i]) + offset(i);
  for (std::size_t o = 0; o < step.outputs.size(); ++o)
    args.outputs[o] = static_cast<std::byte*>(args.outputs[o]) + offset(step.inputs.size() + o);
  args.extents[grid.level] = std::min(grid.grain, grid.extent - skipped);
}

Status run_kernel(const Run& run, const KernelStep& step) {
  const Scratch scratch(step.code->scratch_bytes());
  jit::KernelArgs whole{}, args{};
  for (std::size_t i = 0; i < step.inputs.size(); ++i) whole.inputs[i] = run.address(step.inputs[i]);
  for (std::size_t o = 0; o < step.outputs.size(); ++o) whole.outputs[o] = run.address(step.outputs[o]);
  std::copy(step.extents.begin(), step.extents.end(), whole.extents);
  whole.strides = step.strides.data();
  whole.scratch = scratch.data();
  whole.count = step.count;
  std::optional<emulator::Emulator> emulated;
  if (run.emulated) {
    emulator::AddressSpace& memory = emulated.emplace(step.code->bytes(), *run.emulated).memory();
    for (const Location& input : step.inputs) run.allow(memory, input, false);
    for (const Location& output : step.outputs) run.allow(memory, output, true);
    if (scratch.size() > 0) memory.allow(scratch.data(), scratch.size(), Access::read_write, "scratch");
    memory.allow(step.strides.data(), step.strides.size() * sizeof(std::int64_t), Access::read, "strides");
    memory.allow(&args, sizeof args, Access::read, "arguments");
  }
  for (std::int64_t tile = step.tile.pieces; tile-- > 0;)
    for (std::int64_t part = step.split.pieces; part-- > 0;) {
      args = whole;
      enter(args, step, step.tile, tile);
      enter(args, step, step.split, part);
      for (std::size_t o = 0; step.split.level >= 0 && o < step.outputs.size(); ++o)
        args.outputs[o] = static_cast<std::byte*>(args.outputs[o]) + part * step.split_output_stride[o];
      Status status;
      if (emulated) {
        status = emulated->run(&args);
      } else {
        const runtime::FloatState state;
        step.code->function()(&args);
      }
      if (status.ok() && !scratch.intact())
        status = Status(Code::internal_error, "scratch was written before its start");
      if (!status.ok())
        return status.about("kernel '" + step.code->name() + "', tile " + std::to_string(tile) + ", split " +
                            std::to_string(part));
    }
  return Status();
}

Status run_call(const Run& run, const runtime::CallStep& step) {
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (const Location& at : step.inputs) inputs.push_back(run.address(at));
  for (const Location& at : step.outputs) outputs.push_back(run.address(at));
  return step.call(inputs, outputs);
}

Status run_tasks(const Run& run, const runtime::TaskStep& step) {
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (const Location& at : step.inputs) inputs.push_back(run.address(at));
  for (const Location& at : step.outputs) outputs.push_back(run.address(at));
  const Scratch scratch(step.scratch_bytes);
  for (std::int64_t task = 0; task < step.tasks; ++task)
    if (Status status = step.run(inputs, outputs, task, scratch.data()); !status.ok()) return status;
  return Status();
}

auto fields(const Location& at) { return std::tuple(at.kind, at.index, at.offset); }
auto fields(const Grid& grid) { return std::tuple(grid.level, grid.extent, grid.grain, grid.pieces); }

bool same_locations(const std::vector<Location>& a, const std::vector<Location>& b) {
  return std::ranges::equal(a, b, [](const Location& x, const Location& y) { return fields(x) == fields(y); });
}

bool same_kernel(const KernelStep& a, const KernelStep& b) {
  return std::ranges::equal(a.code->bytes(), b.code->bytes()) && a.code->scratch_bytes() == b.code->scratch_bytes() &&
         same_locations(a.inputs, b.inputs) && same_locations(a.outputs, b.outputs) && a.extents == b.extents &&
         a.count == b.count && a.strides == b.strides && fields(a.tile) == fields(b.tile) &&
         fields(a.split) == fields(b.split) && a.split_output_stride == b.split_output_stride;
}

/// Kernels one after the other, each step's tasks last to first.
Status walk(const Run& run) {
  for (const runtime::Step& step : run.program.steps) {
    Status status = step.kernel  ? run_kernel(run, *step.kernel)
                    : step.tasks ? run_tasks(run, *step.tasks)
                                 : run_call(run, *step.call);
    if (!status.ok()) return status;
  }
  return Status();
}

}  // namespace

/// Calls run outside kernels; they are the reference evaluator's, whatever the level.
bool same_program(const runtime::Program& a, const runtime::Program& b) {
  return a.arena_bytes == b.arena_bytes &&
         std::ranges::equal(a.constants, b.constants, [](const auto& x, const auto& y) { return *x == *y; }) &&
         std::ranges::equal(a.steps, b.steps, [](const runtime::Step& x, const runtime::Step& y) {
           if (x.kernel && y.kernel) return same_kernel(*x.kernel, *y.kernel);
           if (x.tasks && y.tasks)
             return x.tasks->tasks == y.tasks->tasks && same_locations(x.tasks->inputs, y.tasks->inputs) &&
                    same_locations(x.tasks->outputs, y.tasks->outputs);
           return x.call && y.call && same_locations(x.call->inputs, y.call->inputs) &&
                  same_locations(x.call->outputs, y.call->outputs);
         });
}

Status emulated_run(const runtime::Program& program, target::Isa isa, std::span<const Bytes> inputs,
                    std::span<const Bytes> outputs) {
  return walk({program, isa, inputs, outputs, Scratch(program.arena_bytes)});
}

Status run_at(const runtime::Program& program, target::Isa isa, std::span<const Bytes> inputs,
              std::span<const Bytes> outputs) {
  if (std::ranges::count(native_levels(), isa) == 0) return emulated_run(program, isa, inputs, outputs);
  const bool in_place = std::ranges::any_of(outputs, [&](const Bytes& output) {
    return std::ranges::any_of(inputs, [&](const Bytes& input) { return input.data == output.data; });
  });
  if (!in_place) {
    Status status = walk({program, std::nullopt, inputs, outputs, Scratch(program.arena_bytes)});
    if (!status.ok()) return status;
  }
  std::vector<const void*> in;
  std::vector<void*> out;
  for (const Bytes& input : inputs) in.push_back(input.data);
  for (const Bytes& output : outputs) out.push_back(output.data);
  return runtime::run(program, in, out, nullptr, 1);
}

}  // namespace tenfold::numeric
