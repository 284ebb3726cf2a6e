// SPDX-License-Identifier: Apache-2.0
//
// native_levels [CASES [SEED [ONLY]]]: random reductions on every instruction-set level of this CPU from avx2 on, run
// natively: equal bits on all levels, right by a scalar reference, nothing written beside the outputs, nothing touched
// beyond a guard page. ONLY is the index of one case to run alone. Exits with 1 when a case failed.
//
// It exists to be run on a CPU that somebody else emulates (run_in_bochs.sh), as a second opinion beside the emulator
// of this project; so it is one static program that needs no file, no thread and no C++ runtime on the machine.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "compile/plan/plan.hpp"
#include "drawn_case.hpp"
#include "guarded_buffer.hpp"
#include "jit/code.hpp"
#include "jit/emit.hpp"
#include "scalar_reference.hpp"

namespace tenfold::bochs {
namespace {

using numeric::GuardedBuffer;

constexpr std::byte kUntouched{0x5a};
constexpr int kFailuresShown = 5;

/// What a dying program says: which case it was.
char last_words[4096];

void on_signal(int number) {
  const ssize_t written = write(STDOUT_FILENO, last_words, std::strlen(last_words));
  static_cast<void>(written);
  std::signal(number, SIG_DFL);
  std::raise(number);
}

std::vector<target::Isa> levels_of_this_cpu() {
  std::vector<target::Isa> levels;
  const target::Isa best = target::detect(target::read_cpuid());
  for (const target::IsaRow& row : target::all_isas())
    if (row.isa != target::Isa::reference && row.isa <= best) levels.push_back(row.isa);
  std::reverse(levels.begin(), levels.end());
  return levels;
}

/// One kernel over its tiles and splits, as runtime/program.hpp states the walk.
class KernelRun {
 public:
  KernelRun(const compiler::PlannedKernel& planned, const jit::KernelCode& code, std::int64_t partial_stride)
      : planned_(planned),
        code_(code),
        partial_stride_(partial_stride),
        scratch_((static_cast<std::size_t>(code.scratch_bytes()) + 63) / 64 * 64, GuardedBuffer::Guard::after) {
    whole_.count = planned.count;
    whole_.scratch = scratch_.data();
    whole_.strides = strides_;
    const kernel::KernelSpec& spec = planned.spec;
    const kernel::Operand* const operands[] = {&spec.inputs[0], &spec.outputs[0]};
    for (std::size_t level = 0; level < spec.levels.size(); ++level) {
      whole_.extents[level] = spec.levels[level].extent;
      for (int o = 0; o < 2; ++o)
        strides_[jit::stride_index(o, static_cast<int>(level))] =
            operands[o]->strides[level] * byte_size(operands[o]->dtype);
    }
  }

  void operator()(const std::byte* input, std::byte* output) {
    const std::int64_t tiles = pieces(planned_.schedule.tile), parts = pieces(planned_.schedule.split);
    for (std::int64_t tile = tiles; tile-- > 0;)
      for (std::int64_t part = parts; part-- > 0;) {
        jit::KernelArgs args = whole_;
        args.inputs[0] = input + offset(0, planned_.schedule.tile, tile) + offset(0, planned_.schedule.split, part);
        args.outputs[0] = output + offset(1, planned_.schedule.tile, tile) + part * partial_stride_;
        narrow(args, planned_.schedule.tile, tile);
        narrow(args, planned_.schedule.split, part);
        std::memset(scratch_.data(), 0xff, scratch_.size());
        code_.function()(&args);
      }
  }

  bool scratch_kept() const { return scratch_.canary_intact(); }

 private:
  std::int64_t extent(const schedule::Cut& cut) const {
    return planned_.spec.levels[static_cast<std::size_t>(cut.level)].extent;
  }
  std::int64_t pieces(const schedule::Cut& cut) const {
    return cut.level < 0 ? 1 : (extent(cut) + cut.grain - 1) / cut.grain;
  }
  std::int64_t offset(int operand, const schedule::Cut& cut, std::int64_t piece) const {
    return cut.level < 0 ? 0 : piece * cut.grain * strides_[jit::stride_index(operand, cut.level)];
  }
  void narrow(jit::KernelArgs& args, const schedule::Cut& cut, std::int64_t piece) const {
    if (cut.level >= 0) args.extents[cut.level] = std::min(cut.grain, extent(cut) - piece * cut.grain);
  }

  const compiler::PlannedKernel& planned_;
  const jit::KernelCode& code_;
  std::int64_t partial_stride_;
  GuardedBuffer scratch_;
  std::int64_t strides_[2 * jit::kMaxLevels] = {};
  jit::KernelArgs whole_{};
};

struct Summary {
  std::int64_t passed = 0, failed = 0;
  std::map<std::string, std::int64_t> kernels;
};

class Case {
 public:
  Case(DrawnCase drawn, Summary& summary)
      : drawn_(std::move(drawn)),
        guard_(drawn_.guard_before ? GuardedBuffer::Guard::before : GuardedBuffer::Guard::after),
        places_(places_of(drawn_.spec)),
        input_(bytes(places_.input_span), guard_),
        summary_(summary) {
    fill_input(drawn_, places_, input_.data());
  }

  /// What is wrong, or nothing.
  std::string check(const std::vector<target::Isa>& levels) {
    GuardedBuffer first(bytes(places_.output_span), guard_), other(bytes(places_.output_span), guard_);
    for (const target::Isa isa : levels) {
      const std::string name(target::to_string(isa));
      GuardedBuffer& output = isa == levels.front() ? first : other;
      std::string wrong = run(isa, output);
      if (wrong.empty()) wrong = judge(drawn_, places_, input_.data(), output.data());
      if (wrong.empty() && !gaps_untouched(output)) wrong = "bytes between or beside the outputs were written";
      if (wrong.empty() && std::memcmp(output.data(), first.data(), first.size()) != 0)
        wrong = difference(first, output);
      if (!wrong.empty()) return name + ": " + wrong;
    }
    return "";
  }

 private:
  std::size_t bytes(std::int64_t elements) const {
    return static_cast<std::size_t>(elements) * static_cast<std::size_t>(byte_size(drawn_.dtype()));
  }

  std::string run(target::Isa isa, GuardedBuffer& output) {
    std::fill_n(output.data(), output.size(), kUntouched);
    target::Target target;
    target.isa = isa;
    target.cores = drawn_.cores;
    const Result<kernel::KernelSpec> spec = kernel::collapse(drawn_.spec);
    if (!spec.ok()) return "collapse: " + spec.status().message();
    const Result<compiler::Plan> plan = compiler::make_plan(spec.value(), target);
    if (!plan.ok()) return "plan: " + plan.status().message();
    const std::vector<std::int64_t>& between = plan.value().between;
    GuardedBuffer partials(static_cast<std::size_t>(between.empty() ? 0 : between[0]), guard_);
    const std::byte* from = input_.data();
    for (std::size_t k = 0; k < plan.value().kernels.size(); ++k) {
      const compiler::PlannedKernel& planned = plan.value().kernels[k];
      const bool last = k + 1 == plan.value().kernels.size();
      const Result<jit::EmittedCode> emitted = jit::emit(planned.spec, planned.schedule);
      if (!emitted.ok()) return "emit: " + emitted.status().message();
      const auto code = memory_.publish(emitted.value().bytes, emitted.value().scratch_bytes, "case");
      if (!code.ok()) return "publish: " + code.status().message();
      KernelRun kernel(planned, *code.value(), planned.partial_stride_bytes);
      kernel(from, last ? output.data() : partials.data());
      if (!kernel.scratch_kept()) return "bytes beside the scratch memory were written";
      from = partials.data();
      ++summary_.kernels[std::string(target::to_string(isa)) + " " +
                         std::string(schedule::to_string(planned.schedule.nest)) +
                         (k > 0  ? " of partial results"
                          : last ? ""
                                 : ", split")];
    }
    return partials.canary_intact() && input_.canary_intact() ? "" : "bytes beside an operand were written";
  }

  bool gaps_untouched(const GuardedBuffer& output) const {
    std::vector<std::byte> wanted(output.size(), kUntouched);
    for (const std::int64_t at : places_.outputs)
      std::memcpy(wanted.data() + bytes(at), output.data() + bytes(at), bytes(1));
    return output.canary_intact() && std::equal(wanted.begin(), wanted.end(), output.data());
  }

  std::string difference(const GuardedBuffer& first, const GuardedBuffer& output) const {
    for (std::size_t o = 0; o < places_.outputs.size(); ++o) {
      const std::uint32_t a = load_bits(drawn_.dtype(), first.data(), places_.outputs[o]);
      const std::uint32_t b = load_bits(drawn_.dtype(), output.data(), places_.outputs[o]);
      char text[96];
      std::snprintf(text, sizeof text, "output %zu is 0x%x, on avx2 0x%x", o, b, a);
      if (a != b) return text;
    }
    return "the outputs differ from avx2's";
  }

  const DrawnCase drawn_;
  const GuardedBuffer::Guard guard_;
  const Places places_;
  GuardedBuffer input_;
  jit::CodeMemory memory_;
  Summary& summary_;
};

void run_case(std::uint64_t seed, std::int64_t index, const std::vector<target::Isa>& levels, Summary& summary) {
  Random random(seed * 0x2545'f491'4f6c'dd1d + static_cast<std::uint64_t>(index));
  DrawnCase drawn = draw_case(random);
  const std::string what =
      "case " + std::to_string(index) + " of seed " + std::to_string(seed) + ", " + drawn.describe();
  std::snprintf(last_words, sizeof last_words, "FAILED: killed by a signal in %s", what.c_str());
  const std::string wrong = Case(std::move(drawn), summary).check(levels);
  if (wrong.empty()) {
    ++summary.passed;
  } else if (++summary.failed <= kFailuresShown) {
    std::printf("FAILED: %s\n%s", wrong.c_str(), what.c_str());
  }
}

int run_all(std::int64_t cases, std::uint64_t seed, std::int64_t only) {
  const std::vector<target::Isa> levels = levels_of_this_cpu();
  if (levels.empty()) {
    std::printf("NOT RUN: this CPU is below avx2\n");
    return 1;
  }
  if (levels.size() == 1) std::printf("avx2 only, compared with the reference alone: this CPU has no AVX-512\n");
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) std::signal(number, on_signal);
  Summary summary;
  for (std::int64_t index = 0; index < cases; ++index)
    if (only < 0 || only == index) run_case(seed, index, levels, summary);
  for (const auto& [kernel, count] : summary.kernels)
    std::printf("%s: %lld\n", kernel.c_str(), static_cast<long long>(count));
  std::printf("seed %llu: %lld passed, %lld failed\n", static_cast<unsigned long long>(seed),
              static_cast<long long>(summary.passed), static_cast<long long>(summary.failed));
  return summary.failed > 0 || summary.passed == 0 ? 1 : 0;
}

}  // namespace
}  // namespace tenfold::bochs

int main(int argc, char** argv) {
  const auto number = [&](int at, long long otherwise) {
    return argc > at ? std::strtoll(argv[at], nullptr, 0) : otherwise;
  };
  return tenfold::bochs::run_all(number(1, 1500), static_cast<std::uint64_t>(number(2, 1)), number(3, -1));
}
