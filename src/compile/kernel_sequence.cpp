// SPDX-License-Identifier: Apache-2.0
#include "compile/kernel_sequence.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

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

  Result<KernelSequence> run() {
    KernelSequence sequence;
    std::size_t begin = 0;
    int carried = kNone;
    while (begin < spec_.body.size()) {
      const std::size_t end = reach(begin, carried);
      if (end == begin)
        return Status(Code::unsupported_shape, "kernels have at most " + std::to_string(most_inputs_) +
                                                   " inputs; this one has " + std::to_string(spec_.inputs.size()) +
                                                   ", and no place where one value alone goes on");
      const bool last = end == spec_.body.size();
      Result<SequencePart> part = write(begin, end, carried);
      if (!part.ok()) return part.status();
      if (!last) carried = only_live(end);
      if (!last)
        sequence.bytes = std::max(sequence.bytes, kernel::kept_count(spec_) * byte_size(handed_dtype(carried)));
      sequence.parts.push_back(std::move(part).value());
      begin = end;
    }
    return sequence;
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
        if (spec_.body[at(arg)].kind == Node::Kind::load) inputs.insert(spec_.body[at(arg)].index);
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

  kernel::Operand handed_operand(int node) const {
    kernel::Operand operand{handed_dtype(node), std::vector<std::int64_t>(spec_.levels.size(), 0)};
    std::int64_t step = 1;
    for (std::size_t level = spec_.levels.size(); level-- > 0; step *= spec_.levels[level].extent)
      operand.strides[level] = step;
    return operand;
  }

  Result<SequencePart> write(std::size_t begin, std::size_t end, int carried) const {
    SequencePart part;
    part.spec.levels = spec_.levels;
    std::map<int, int> own;  // by node of the whole
    const auto add = [&](int whole, Node node) {
      own[whole] = static_cast<int>(part.spec.body.size());
      part.spec.body.push_back(std::move(node));
    };
    const auto load = [&](int whole, kernel::Operand operand, int read) {
      add(whole, {.kind = Node::Kind::load, .index = static_cast<int>(part.reads.size()), .args = {}});
      part.spec.inputs.push_back(std::move(operand));
      part.reads.push_back(read);
    };
    if (carried != kNone) load(carried, handed_operand(carried), kHandedOn);
    for (std::size_t node = begin; node < end; ++node) {
      if (!is_computed(node)) continue;
      Node copy = spec_.body[node];
      for (int& arg : copy.args) {
        const Node& needed = spec_.body[at(arg)];
        if (!own.contains(arg) && needed.kind == Node::Kind::load)
          load(arg, spec_.inputs[at(needed.index)], needed.index);
        if (!own.contains(arg)) add(arg, needed);
        arg = own.at(arg);
      }
      add(static_cast<int>(node), std::move(copy));
    }
    const bool last = end == spec_.body.size();
    const int result = last ? spec_.stores[0].node : only_live(end);
    part.spec.outputs = {last ? spec_.outputs[0] : handed_operand(result)};
    part.spec.stores = {{0, own.at(result)}};
    Result<KernelSpec> collapsed = kernel::collapse(std::move(part.spec));
    if (!collapsed.ok()) return collapsed.status();
    part.spec = std::move(collapsed).value();
    return part;
  }

  const KernelSpec& spec_;
  std::size_t most_inputs_;
  std::vector<std::size_t> last_use_;  ///< by node: the last that needs it; of a result the body's size
};

}  // namespace

Result<KernelSequence> cut_into_sequence(const KernelSpec& spec, std::size_t most_inputs) {
  return Cutter(spec, most_inputs).run();
}

}  // namespace tenfold::compiler
