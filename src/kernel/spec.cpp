// SPDX-License-Identifier: Apache-2.0
//
// Collapsing and checking of kernel specs.
#include "kernel/spec.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tenfold::kernel {
namespace {

template <class Visit>
void for_each_operand(KernelSpec& spec, Visit visit) {
  for (Operand& operand : spec.inputs) visit(operand);
  for (Operand& operand : spec.outputs) visit(operand);
}

void erase_level(KernelSpec& spec, std::size_t level) {
  const auto at = static_cast<std::ptrdiff_t>(level);
  spec.levels.erase(spec.levels.begin() + at);
  for_each_operand(spec, [at](Operand& operand) { operand.strides.erase(operand.strides.begin() + at); });
}

/// Widest stride of the first input outermost, or of the first output where nothing is reduced. Levels that repeat one
/// element (stride 0) go outermost too: walking them last would re-read what has just left the cache.
void sort_levels(KernelSpec& spec) {
  std::vector<std::size_t> order(spec.levels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const Operand& leading = is_elementwise(spec) ? spec.outputs[0] : spec.inputs[0];
  const auto width = [&leading](std::size_t level) {
    const std::int64_t stride = leading.strides[level];
    return stride == 0 ? std::numeric_limits<std::int64_t>::max() : stride;
  };
  std::stable_sort(order.begin(), order.end(), [&width](std::size_t a, std::size_t b) { return width(a) > width(b); });
  const auto permute = [&order](auto& list) {
    auto sorted = list;
    for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = list[order[i]];
    list = std::move(sorted);
  };
  permute(spec.levels);
  for_each_operand(spec, [&permute](Operand& operand) { permute(operand.strides); });
}

bool can_merge(const KernelSpec& spec, std::size_t outer) {
  const std::size_t inner = outer + 1;
  if (spec.levels[outer].reduced != spec.levels[inner].reduced) return false;
  const auto walks_as_one = [&](const Operand& operand) {
    return operand.strides[outer] == operand.strides[inner] * spec.levels[inner].extent;
  };
  return std::all_of(spec.inputs.begin(), spec.inputs.end(), walks_as_one) &&
         std::all_of(spec.outputs.begin(), spec.outputs.end(), walks_as_one);
}

Status broken(const std::string& what) { return {Code::internal_error, "kernel spec: " + what}; }

Status check_node(const KernelSpec& spec, std::size_t index) {
  const Node& node = spec.body[index];
  for (const int arg : node.args)
    if (arg < 0 || static_cast<std::size_t>(arg) >= index)
      return broken("%" + std::to_string(index) + " uses a value that is not before it");
  std::size_t arity = 0;
  if (node.kind == Node::Kind::apply) arity = static_cast<std::size_t>(row(node.function).arity);
  if (node.kind == Node::Kind::reduce || node.kind == Node::Kind::cast || is_ordered(node)) arity = 1;
  const bool numbered = node.kind == Node::Kind::rank && node.args.size() == 2;
  if (node.args.size() != arity && !numbered)
    return broken("%" + std::to_string(index) + " has a wrong number of arguments");
  if (node.last && (node.kind != Node::Kind::reduce || row(node.monoid).state != State::arg))
    return broken("%" + std::to_string(index) + " wants the last of equals, but gives no index");
  if (node.centred && (node.kind != Node::Kind::reduce || node.monoid != Monoid::sum))
    return broken("%" + std::to_string(index) + " is centred, but no sum");
  if (node.kind == Node::Kind::load && (node.index < 0 || static_cast<std::size_t>(node.index) >= spec.inputs.size()))
    return broken("%" + std::to_string(index) + " loads an input that there is not");
  return {};
}

}  // namespace

Result<KernelSpec> collapse(KernelSpec spec) {
  for (std::size_t level = spec.levels.size(); level-- > 0;)
    if (spec.levels[level].extent == 1) erase_level(spec, level);
  sort_levels(spec);
  for (std::size_t level = spec.levels.size(); level-- > 1;) {
    if (!can_merge(spec, level - 1)) continue;
    spec.levels[level].extent *= spec.levels[level - 1].extent;
    erase_level(spec, level - 1);
  }
  // One output of one element still needs a level to run along.
  if (is_ordered(spec) && !spec.levels.empty() && innermost(spec, false) < 0) {
    // Lanes of one line.
    spec.levels.insert(spec.levels.begin(), {1, false});
    for_each_operand(spec, [](Operand& operand) { operand.strides.insert(operand.strides.begin(), 1); });
  }
  if (spec.levels.empty()) {
    spec.levels.push_back({1, false});
    for_each_operand(spec, [](Operand& operand) { operand.strides.push_back(1); });
  }
  if (spec.levels.size() > static_cast<std::size_t>(kMaxLevels))
    return Status(Code::unsupported_shape, "the iteration space has " + std::to_string(spec.levels.size()) +
                                               " levels after collapsing, kernels have at most " +
                                               std::to_string(kMaxLevels));
  return spec;
}

Status check(const KernelSpec& spec) {
  if (spec.levels.empty()) return broken("no level");
  if (spec.inputs.empty() || spec.outputs.empty() || spec.stores.empty()) return broken("no input, output or store");
  for (const Level& level : spec.levels)
    if (level.extent < 0) return broken("a negative extent");
  for (const Operand& operand : spec.inputs)
    if (operand.strides.size() != spec.levels.size()) return broken("an input's rank is not that of the space");
  for (const Operand& operand : spec.outputs) {
    if (operand.strides.size() != spec.levels.size()) return broken("an output's rank is not that of the space");
  }
  for (std::size_t index = 0; index < spec.body.size(); ++index) {
    Status status = check_node(spec, index);
    if (!status.ok()) return status;
  }
  if (is_ordered(spec) && reduced_levels(spec) != 1) return broken("an order along several levels, or none");
  const std::vector<bool> same = per_row(spec);
  for (const Store& store : spec.stores) {
    if (store.output < 0 || static_cast<std::size_t>(store.output) >= spec.outputs.size() || store.node < 0 ||
        static_cast<std::size_t>(store.node) >= spec.body.size())
      return broken("a store of something that there is not");
    if (moves_along_reduced(spec, spec.outputs[static_cast<std::size_t>(store.output)]) &&
        same[static_cast<std::size_t>(store.node)])
      return broken("an output of reduced values moves along a reduced level");
  }
  return {};
}

int reduced_levels(const KernelSpec& spec) noexcept {
  return static_cast<int>(std::ranges::count(spec.levels, true, &Level::reduced));
}

int innermost(const KernelSpec& spec, bool reduced) noexcept {
  int found = static_cast<int>(spec.levels.size()) - 1;
  while (found >= 0 && level(spec, found).reduced != reduced) --found;
  return found;
}

int outermost(const KernelSpec& spec, bool reduced) noexcept {
  const auto found = std::ranges::find(spec.levels, reduced, &Level::reduced);
  return found == spec.levels.end() ? -1 : static_cast<int>(found - spec.levels.begin());
}

DType dtype_of(const KernelSpec& spec, int node) {
  const Node& at = kernel::node(spec, node);
  switch (at.kind) {
    case Node::Kind::load: return spec.inputs[static_cast<std::size_t>(at.index)].dtype;
    case Node::Kind::count: return DType::f64;
    case Node::Kind::constant:
    case Node::Kind::cast: return at.dtype;
    case Node::Kind::reduce:
    case Node::Kind::rank: return row(at.monoid).state == State::arg ? DType::s64 : dtype_of(spec, at.args[0]);
    case Node::Kind::scan: return dtype_of(spec, at.args[0]);
    case Node::Kind::apply: break;
  }
  if (row(at.function).gives == Gives::boolean) return DType::boolean;
  return dtype_of(spec, at.function == Function::select ? at.args.back() : at.args.front());
}

bool moves_along_reduced(const KernelSpec& spec, const Operand& operand) noexcept {
  for (std::size_t level = 0; level < spec.levels.size(); ++level)
    if (spec.levels[level].reduced && operand.strides[level] != 0) return true;
  return false;
}

bool is_ordered(const Node& node) noexcept { return node.kind == Node::Kind::scan || node.kind == Node::Kind::rank; }

bool is_ordered(const KernelSpec& spec) noexcept {
  return std::ranges::any_of(spec.body, [](const Node& node) { return is_ordered(node); });
}

int most_outputs(const KernelSpec& spec) noexcept { return is_ordered(spec) ? kMaxOutputs : kMaxStreamedOutputs; }

bool is_expensive(const Node& node) {
  return node.kind == Node::Kind::apply && row(node.function).effort == Effort::polynomial;
}

std::vector<bool> per_row(const KernelSpec& spec) {
  std::vector<bool> same;
  for (const Node& node : spec.body) {
    bool is_same = std::all_of(node.args.begin(), node.args.end(),
                               [&same](int arg) { return same[static_cast<std::size_t>(arg)]; });
    if (node.kind == Node::Kind::reduce || node.kind == Node::Kind::rank) is_same = true;
    if (node.kind == Node::Kind::scan) is_same = false;
    if (node.kind == Node::Kind::load)
      is_same = !moves_along_reduced(spec, spec.inputs[static_cast<std::size_t>(node.index)]);
    same.push_back(is_same);
  }
  return same;
}

std::vector<bool> expensive_elements(const KernelSpec& spec) {
  const bool is_flat = is_elementwise(spec);
  const std::vector<bool> of_row = per_row(spec);
  std::vector<bool> expensive;
  for (std::size_t i = 0; i < spec.body.size(); ++i) {
    const bool takes = is_expensive(spec.body[i]) || std::ranges::any_of(spec.body[i].args, [&](int arg) {
                         return bool{expensive[static_cast<std::size_t>(arg)]};
                       });
    expensive.push_back(takes && (is_flat || !of_row[i]));
  }
  return expensive;
}

bool is_elementwise(const KernelSpec& spec) noexcept {
  return std::none_of(spec.levels.begin(), spec.levels.end(), [](const Level& level) { return level.reduced; }) &&
         std::none_of(spec.body.begin(), spec.body.end(),
                      [](const Node& node) { return node.kind == Node::Kind::reduce || is_ordered(node); });
}

bool is_of_bits(Function function) noexcept {
  return function == Function::identity || function == Function::abs || function == Function::neg ||
         function == Function::relu;
}

int narrow_bytes(const KernelSpec& spec) noexcept {
  const DType first = dtype_of(spec, 0);
  const int bits = row(first).bits;
  const bool is_half = first == DType::bf16 || first == DType::f16;
  for (std::size_t i = 0; i < spec.body.size(); ++i) {
    const DType dtype = dtype_of(spec, static_cast<int>(i));
    const Node& node = spec.body[i];
    const bool is_moved = dtype == first && (node.kind == Node::Kind::load ||
                                             (node.kind == Node::Kind::apply && is_of_bits(node.function)));
    if (is_half ? !is_moved : is_floating(dtype) || row(dtype).bits != bits) return 0;
  }
  return bits == 8 || bits == 16 ? bits / 8 : 0;
}

std::int64_t kept_count(const KernelSpec& spec) noexcept {
  std::int64_t count = 1;
  for (const Level& level : spec.levels)
    if (!level.reduced) count *= level.extent;
  return count;
}

std::int64_t reduced_count(const KernelSpec& spec) noexcept {
  std::int64_t count = 1;
  for (const Level& level : spec.levels)
    if (level.reduced) count *= level.extent;
  return count;
}

std::int64_t operand_bytes(const KernelSpec& spec, const Operand& operand) noexcept {
  std::int64_t bytes = byte_size(operand.dtype);
  for (std::size_t level = 0; level < spec.levels.size(); ++level)
    if (operand.strides[level] != 0) bytes *= spec.levels[level].extent;
  return bytes;
}

std::int64_t bytes_moved(const KernelSpec& spec) noexcept {
  std::int64_t bytes = 0;
  for (const std::vector<Operand>* operands : {&spec.inputs, &spec.outputs})
    for (const Operand& operand : *operands) bytes += operand_bytes(spec, operand);
  return bytes;
}

std::vector<std::int64_t> dense_kept_strides(const KernelSpec& spec) {
  std::vector<std::int64_t> strides(spec.levels.size(), 0);
  std::int64_t step = 1;
  for (std::size_t level = spec.levels.size(); level-- > 0;) {
    if (spec.levels[level].reduced) continue;
    strides[level] = step;
    step *= spec.levels[level].extent;
  }
  return strides;
}

std::int64_t bytes_read(const KernelSpec& spec) noexcept {
  return kept_count(spec) * reduced_count(spec) * byte_size(spec.inputs[0].dtype);
}

}  // namespace tenfold::kernel
