// SPDX-License-Identifier: Apache-2.0
#include "compile/plan/kernel_sequence.hpp"

#include <set>
#include <string>
#include <utility>

#include "compile/plan/kernel_draft.hpp"

namespace tenfold::compiler {
namespace {

using kernel::KernelSpec;
using kernel::Node;

class Cutter {
 public:
  Cutter(const KernelSpec& spec, std::size_t most_inputs) : spec_(spec), most_inputs_(most_inputs) {
    last_use_.assign(spec.body.size(), 0);
    for (std::size_t node = 0; node < spec.body.size(); ++node)
      for (const int arg : spec.body[node].args) last_use_[at(arg)] = node;
    for (const kernel::Store& store : spec.stores) last_use_[at(store.node)] = spec.body.size();
  }

  Result<KernelCut> run() {
    KernelCut cut;
    std::size_t begin = 0;
    int carried = kNone;
    while (begin < spec_.body.size()) {
      const std::size_t end = reach(begin, carried);
      if (end == begin)
        return Status(Code::unsupported_shape, "kernels have at most " + std::to_string(most_inputs_) +
                                                   " inputs; this one has " + std::to_string(spec_.inputs.size()) +
                                                   ", and no place where one value alone goes on");
      Result<CutKernel> part = write(begin, end, carried, static_cast<int>(cut.kernels.size()));
      if (!part.ok()) return part.status();
      cut.kernels.push_back(std::move(part).value());
      if (end < spec_.body.size()) {
        carried = only_live(end);
        cut.between.push_back(kernel::kept_count(spec_) * byte_size(handed_dtype(carried)));
      }
      begin = end;
    }
    return cut;
  }

 private:
  static constexpr int kNone = -1;
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  /// Loads and constants cost nothing to have again in another part.
  bool is_computed(std::size_t node) const {
    return spec_.body[node].kind != Node::Kind::load && spec_.body[node].kind != Node::Kind::constant;
  }

  /// Of the values computed before `end`, the only one that is needed from there on; kNone when there are more, or
  /// none.
  int only_live(std::size_t end) const {
    int found = kNone;
    for (std::size_t node = 0; node < end; ++node) {
      if (!is_computed(node) || last_use_[node] < end) continue;
      if (found != kNone) return kNone;
      found = static_cast<int>(node);
    }
    return found;
  }

  /// The furthest end of a part from `begin`; `begin` when there is none.
  std::size_t reach(std::size_t begin, int carried) const {
    std::set<int> inputs;
    const std::size_t room = most_inputs_ - (carried == kNone ? 0 : 1);
    std::size_t furthest = begin;
    for (std::size_t node = begin; node < spec_.body.size(); ++node) {
      if (!is_computed(node)) continue;
      for (const int arg : spec_.body[node].args)
        if (const Node& used = kernel::node(spec_, arg); used.kind == Node::Kind::load) inputs.insert(used.index);
      if (inputs.size() > room) break;
      if (node + 1 == spec_.body.size() || only_live(node + 1) != kNone) furthest = node + 1;
    }
    return furthest;
  }

  /// Sums of 16-bit floats go on unrounded.
  DType handed_dtype(int node) const {
    const DType dtype = kernel::dtype_of(spec_, node);
    return is_floating(dtype) && byte_size(dtype) == 2 ? DType::f32 : dtype;
  }

  kernel::Operand handed_operand(int node) const { return {handed_dtype(node), kernel::dense_kept_strides(spec_)}; }

  /// Part `number`: it reads what the one before it has left in the buffer of one number less.
  Result<CutKernel> write(std::size_t begin, std::size_t end, int carried, int number) const {
    KernelDraft part(spec_.levels);
    if (carried != kNone)
      part.known[carried] = part.load(handed_operand(carried), {Place::Kind::between, number - 1, 0});
    for (std::size_t node = begin; node < end; ++node) {
      if (!is_computed(node)) continue;
      Node copy = spec_.body[node];
      for (int& arg : copy.args) {
        const Node& needed = kernel::node(spec_, arg);
        if (!part.known.contains(arg))
          part.known[arg] = needed.kind == Node::Kind::load
                                ? part.load(spec_.inputs[at(needed.index)], {Place::Kind::operand, needed.index, 0})
                                : part.add(needed);
        arg = part.known.at(arg);
      }
      part.known[static_cast<int>(node)] = part.add(std::move(copy));
    }
    const bool last = end == spec_.body.size();
    const int result = last ? spec_.stores[0].node : only_live(end);
    part.store(part.known.at(result), last ? spec_.outputs[0] : handed_operand(result),
               last ? Place{} : Place{Place::Kind::between, number, 0});
    return part.finish(0);
  }

  const KernelSpec& spec_;
  std::size_t most_inputs_;
  std::vector<std::size_t> last_use_;  ///< by node: the last that needs it; of a result the body's size
};

}  // namespace

Result<KernelCut> cut_into_sequence(const KernelSpec& spec, std::size_t most_inputs) {
  return Cutter(spec, most_inputs).run();
}

}  // namespace tenfold::compiler
