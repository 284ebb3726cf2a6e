// SPDX-License-Identifier: Apache-2.0
//
// The hot path of the API: checks the caller's pointers, finds the specialisation and runs it. Without run-time axes
// nothing here allocates or locks.
#include <chrono>
#include <cstring>
#include <limits>
#include <string>

#include "api/guard.hpp"
#include "api/overlap.hpp"
#include "api/partition.hpp"
#include "api/spans.hpp"
#include "api/verbose.hpp"
#include "graph/pass/pass.hpp"
#include "runtime/default_pool.hpp"
#include "runtime/few.hpp"
#include "runtime/float_state.hpp"
#include "runtime/program.hpp"

namespace tenfold {

namespace {

std::string name_of(const char* role, std::size_t index, TensorId id) {
  return std::string(role) + " " + std::to_string(index) + " (tensor " + std::to_string(id) + ")";
}

// The checks that every call passes are answers of yes or no, inlined; what is said when one fails is made apart.

[[gnu::noinline]] Status wrong_count(const char* role, std::size_t given, std::size_t wanted) {
  return Status(Code::invalid_argument,
                std::to_string(given) + " " + role + "s given, the partition has " + std::to_string(wanted));
}

bool usable(const void* pointer, const api::OperandCheck& check) {
  return check.span_bytes == 0 ||
         (pointer != nullptr && (reinterpret_cast<std::uintptr_t>(pointer) & (check.alignment - 1)) == 0);
}

[[gnu::noinline]] Status not_usable(const char* role, std::size_t index, TensorId id, const void* pointer,
                                    const api::OperandCheck& check) {
  if (pointer == nullptr) return Status(Code::invalid_argument, name_of(role, index, id) + ": the pointer is null");
  return Status(Code::invalid_argument, name_of(role, index, id) + ": the pointer is not aligned to its element of " +
                                            std::to_string(check.alignment) + " bytes");
}

[[gnu::noinline]] Status overlapping(const std::string& a, const std::string& b) {
  return Status(Code::invalid_argument, a + " overlaps " + b);
}

Status check_scratch(const RunOptions& how, std::size_t needed) {
  if (how.scratch_bytes < needed)
    return Status(Code::invalid_argument, "scratch has " + std::to_string(how.scratch_bytes) +
                                              " bytes; the partition needs " + std::to_string(needed));
  if (reinterpret_cast<std::uintptr_t>(how.scratch) % 64 != 0)
    return Status(Code::invalid_argument, "scratch is not aligned to 64 bytes");
  return Status();
}

/// `bytes` of scratch must not be in a buffer that holds something else.
Status check_apart(const std::byte* scratch, std::size_t bytes, const void* pointer, const api::OperandCheck& check,
                   const char* role, TensorId id) {
  // Scratch may not lie in a tensor's gaps either.
  if (!api::spans_meet(scratch, {static_cast<std::int64_t>(bytes), 64}, pointer, check)) return Status();
  return Status(Code::invalid_argument, "scratch overlaps " + std::string(role) + " " + std::to_string(id));
}

/// The axes that the inputs hold, one input after another.
class ShapeValues {
 public:
  ShapeValues(std::span<const api::ShapeInput> shape_inputs, CompiledPartition::Impl::Inputs in)
      : values_(count(shape_inputs)) {
    std::size_t at = 0;
    for (const api::ShapeInput& input : shape_inputs)
      for (std::int64_t i = 0; i < input.count; ++i) values_[at++] = load(input, in[input.input], i);
  }
  std::span<const std::int64_t> values() const { return values_.all(); }

 private:
  static std::size_t count(std::span<const api::ShapeInput> shape_inputs) {
    std::size_t total = 0;
    for (const api::ShapeInput& input : shape_inputs) total += static_cast<std::size_t>(input.count);
    return total;
  }
  static std::int64_t load(const api::ShapeInput& input, const void* data, std::int64_t i) {
    const auto* bytes = static_cast<const char*>(data) + i * input.stride * byte_size(input.dtype);
    std::int64_t wide = 0;
    std::int32_t narrow = 0;
    if (input.dtype == DType::s64) {
      std::memcpy(&wide, bytes, sizeof wide);
      return wide;
    }
    std::memcpy(&narrow, bytes, sizeof narrow);
    return narrow;
  }
  runtime::FewOrMany<std::int64_t, 64> values_;
};

/// Pointers in the program's order, when that is not the partition's.
template <class Pointer>
class Mapped {
 public:
  Mapped(std::span<const Pointer> given, const api::PlaceMap& map)
      : own_(map.identity ? 0 : map.places.size()), view_(map.identity ? given : own_.all()) {
    for (std::size_t i = 0; i < own_.all().size(); ++i) own_[i] = given[map.places[i]];
  }
  std::span<const Pointer> view() const { return view_; }

 private:
  runtime::FewOrMany<Pointer, 16> own_;
  std::span<const Pointer> view_;
};

}  // namespace

Result<CompiledPartition::Impl::Shared> CompiledPartition::Impl::specialisation(Inputs in) const {
  if (in.size() != inputs.size()) return wrong_count("input", in.size(), inputs.size());
  if (fixed) return fixed;
  for (const api::ShapeInput& a : shape_inputs)
    if (!usable(in[a.input], input_checks[a.input]))
      return not_usable("input", a.input, a.id, in[a.input], input_checks[a.input]);
  const ShapeValues axes(shape_inputs, in);
  return cache.find_or_make(axes.values(), [&]() -> Result<Shared> {
    const runtime::FullFloatState state;
    graph::Graph core = bound;
    api::fix_shape_inputs(core, shape_inputs, axes.values());
    if (Status status = graph::run_pipeline(core); !status.ok()) return status;
    return api::make_specialisation(core, inputs, outputs, target, options);
  });
}

[[gnu::always_inline]] inline bool CompiledPartition::Impl::operands_fit(const api::Specialisation& chosen,
                                                                         const void* const* in,
                                                                         void* const* out) const noexcept {
  const std::span<const api::OperandCheck> in_checks = input_checks, out_checks = chosen.output_checks;
  for (std::size_t i = 0; i < in_checks.size(); ++i)
    if (!usable(in[i], in_checks[i])) return false;
  if (api::has_many_pairs(in_checks.size(), out_checks.size())) {
    for (std::size_t o = 0; o < out_checks.size(); ++o)
      if (!usable(out[o], out_checks[o])) return false;
    return api::many_spans_are_apart(in_checks, in, out_checks, out, chosen.in_place);
  }
  for (std::size_t o = 0; o < out_checks.size(); ++o) {
    if (!usable(out[o], out_checks[o])) return false;
    for (std::size_t i = 0; i < in_checks.size(); ++i)
      if (api::spans_meet(out[o], out_checks[o], in[i], in_checks[i]) && !(chosen.in_place[o] == i && out[o] == in[i]))
        return false;
    for (std::size_t p = 0; p < o; ++p)
      if (api::spans_meet(out[o], out_checks[o], out[p], out_checks[p])) return false;
  }
  return true;
}

/// Where operands_fit() does not hold: why, or nothing where tensors lie in each other's gaps.
Status CompiledPartition::Impl::say_what_does_not_fit(const api::Specialisation& chosen, const void* const* in,
                                                      void* const* out) const {
  const auto overlap = [](const TensorInfo& a, const api::OperandCheck& a_check, const void* a_data,
                          const TensorInfo& b, const api::OperandCheck& b_check, const void* b_data) {
    return api::spans_meet(a_data, a_check, b_data, b_check) && api::share_bytes(a.desc, a_data, b.desc, b_data);
  };
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!usable(in[i], input_checks[i])) return not_usable("input", i, inputs[i].id, in[i], input_checks[i]);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const api::OperandCheck& check = chosen.output_checks[o];
    if (!usable(out[o], check)) return not_usable("output", o, outputs[o].id, out[o], check);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (overlap(chosen.outputs[o], check, out[o], inputs[i], input_checks[i], in[i]) &&
          !(chosen.in_place[o] == i && out[o] == in[i]))
        return overlapping(name_of("output", o, outputs[o].id), name_of("input", i, inputs[i].id));
    for (std::size_t p = 0; p < o; ++p)
      if (overlap(chosen.outputs[o], check, out[o], chosen.outputs[p], chosen.output_checks[p], out[p]))
        return overlapping(name_of("output", o, outputs[o].id), name_of("output", p, outputs[p].id));
  }
  return Status();
}

bool CompiledPartition::Impl::execute_directly(const void* const* in, std::size_t in_count, void* const* out,
                                               std::size_t out_count) const noexcept {
  if (direct == nullptr || in == nullptr || out == nullptr) return false;
  const api::Specialisation& chosen = *fixed;
  if (in_count != input_checks.size() || out_count != chosen.output_checks.size()) return false;
  if (!operands_fit(chosen, in, out)) return false;
  runtime::run_lone_kernel(chosen.compiled.program, *direct, in, out);
  return true;
}

Status CompiledPartition::Impl::run(const api::Specialisation& chosen, const void* const* in, void* const* out,
                                    const RunOptions& how) const {
  const int most = how.threads == 0 ? std::numeric_limits<int>::max() : how.threads;
  std::byte* const scratch = fixed ? how.scratch : nullptr;
  const runtime::Program& program = chosen.compiled.program;
  ThreadPool* used = how.threads == 1 ? nullptr : how.pool;
  // A pool is made when it is first needed, as children of a process that has one run on one thread.
  if (used == nullptr && runtime::wants_threads(program, most)) used = &runtime::default_pool();
  const Inputs all_in(in, inputs.size());
  const Outputs all_out(out, outputs.size());
  if (chosen.input_map.identity && chosen.output_map.identity)
    return runtime::run(program, all_in, all_out, used, most, scratch);
  const Mapped<const void*> mapped_in(all_in, chosen.input_map);
  const Mapped<void*> mapped_out(all_out, chosen.output_map);
  return runtime::run(program, mapped_in.view(), mapped_out.view(), used, most, scratch);
}

std::size_t CompiledPartition::Impl::scratch_bytes() const {
  return fixed ? static_cast<std::size_t>(fixed->compiled.program.arena_bytes) : 0;
}

Status CompiledPartition::Impl::check_own_scratch(const api::Specialisation& chosen, const void* const* in,
                                                  void* const* out, const RunOptions& how) const {
  if (Status status = check_scratch(how, scratch_bytes()); !status.ok()) return status;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (Status s = check_apart(how.scratch, scratch_bytes(), in[i], input_checks[i], "input", inputs[i].id); !s.ok())
      return s;
  for (std::size_t o = 0; o < outputs.size(); ++o)
    if (Status s = check_apart(how.scratch, scratch_bytes(), out[o], chosen.output_checks[o], "output", outputs[o].id);
        !s.ok())
      return s;
  return Status();
}

Status CompiledPartition::Impl::execute_chosen(const api::Specialisation& chosen, const void* const* in,
                                               void* const* out, const RunOptions& how) const {
  if (!operands_fit(chosen, in, out))
    if (Status status = say_what_does_not_fit(chosen, in, out); !status.ok()) return status;
  if (how.scratch != nullptr)
    if (Status status = check_own_scratch(chosen, in, out, how); !status.ok()) return status;
  if (verbose_number == 0) return run(chosen, in, out, how);
  const auto start = std::chrono::steady_clock::now();
  const Status status = run(chosen, in, out, how);
  api::say_executed(*this, status, std::chrono::steady_clock::now() - start);
  return status;
}

Status CompiledPartition::Impl::execute(Inputs in, Outputs out, const RunOptions& how) const {
  if (out.size() != outputs.size()) return wrong_count("output", out.size(), outputs.size());
  if (in.size() != inputs.size()) return wrong_count("input", in.size(), inputs.size());
  // A copy of the shared pointer would cost two locked additions a call.
  if (fixed) return execute_chosen(*fixed, in.data(), out.data(), how);
  const Result<Shared> chosen = specialisation(in);
  if (!chosen.ok()) return chosen.status();
  return execute_chosen(*chosen.value(), in.data(), out.data(), how);
}

std::string CompiledPartition::Impl::explain() const {
  std::string noted;
  for (const std::string& notice : notices) noted += "note: " + notice + "\n";
  if (fixed) return noted + compiler::explain(fixed->compiled, target);
  std::string text = noted + "axes known at run time: input";
  for (const api::ShapeInput& a : shape_inputs) text += " " + std::to_string(a.id);
  const auto entries = cache.entries();
  text += "; specialised for " + std::to_string(entries.size()) + " of at most " +
          std::to_string(api::SpecialisationCache::kCapacity) + " values\n";
  for (const auto& [axes, specialisation] : entries)
    text += "\naxes " + to_string(axes) + "\n" + compiler::explain(specialisation->compiled, target);
  return text;
}

const std::vector<TensorInfo>& CompiledPartition::inputs() const noexcept { return impl_->inputs; }
const std::vector<TensorInfo>& CompiledPartition::outputs() const noexcept { return impl_->outputs; }

Status CompiledPartition::execute(const void* const* inputs, std::size_t input_count, void* const* outputs,
                                  std::size_t output_count) const {
  if ((inputs == nullptr && input_count > 0) || (outputs == nullptr && output_count > 0))
    return Status(Code::invalid_argument, "the array of pointers is null");
  if (impl_->execute_directly(inputs, input_count, outputs, output_count)) return Status();
  return api::guarded([&] {
    return impl_->execute({inputs, input_count}, {outputs, output_count}, {impl_->pool, impl_->threads, nullptr, 0});
  });
}

Result<std::vector<TensorInfo>> CompiledPartition::query_outputs(const void* const* inputs,
                                                                 std::size_t input_count) const {
  if (inputs == nullptr && input_count > 0) return Status(Code::invalid_argument, "the array of pointers is null");
  return api::guarded([&]() -> Result<std::vector<TensorInfo>> {
    const auto chosen = impl_->specialisation({inputs, input_count});
    if (!chosen.ok()) return chosen.status();
    return chosen.value()->outputs;
  });
}

Status CompiledPartition::prepare(const void* const* inputs, std::size_t input_count) const {
  if (inputs == nullptr && input_count > 0) return Status(Code::invalid_argument, "the array of pointers is null");
  return api::guarded([&] { return impl_->specialisation({inputs, input_count}).status(); });
}

std::string CompiledPartition::explain() const {
  const auto text = api::guarded([&]() -> Result<std::string> { return impl_->explain(); });
  return text.ok() ? text.value() : text.status().message();
}

}  // namespace tenfold
