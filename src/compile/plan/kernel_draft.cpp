// SPDX-License-Identifier: Apache-2.0
#include "compile/plan/kernel_draft.hpp"

#include <algorithm>
#include <utility>

#include "kernel/nodes.hpp"

namespace tenfold::compiler {

using kernel::Node;

int KernelDraft::add(Node node) {
  made_.spec.body.push_back(std::move(node));
  return static_cast<int>(made_.spec.body.size()) - 1;
}

int KernelDraft::load(kernel::Operand operand, Place from) {
  made_.spec.inputs.push_back(std::move(operand));
  made_.reads.push_back(from);
  return add(kernel::load_node(static_cast<int>(made_.reads.size()) - 1));
}

int KernelDraft::load_total(kernel::Operand operand, Place from) {
  const int loaded = load(std::move(operand), from);
  made_.spec.body.back().total = true;
  return loaded;
}

int KernelDraft::apply(kernel::Function function, std::vector<int> args) {
  return add(kernel::apply_node(function, std::move(args)));
}
int KernelDraft::reduce(kernel::Monoid monoid, int arg) { return add(kernel::reduce_node(monoid, arg)); }
int KernelDraft::cast(DType to, int arg) { return dtype(arg) == to ? arg : add(kernel::cast_node(to, arg)); }
int KernelDraft::count() { return add(kernel::count_node()); }
int KernelDraft::constant(DType dtype, double value) { return add(kernel::constant_node(dtype, value)); }

void KernelDraft::store(int node, kernel::Operand operand, Place to) {
  made_.spec.stores.push_back({static_cast<int>(made_.writes.size()), node});
  made_.spec.outputs.push_back(std::move(operand));
  made_.writes.push_back(to);
}

void KernelDraft::lead_with(std::size_t input) {
  std::swap(made_.spec.inputs[0], made_.spec.inputs[input]);
  std::swap(made_.reads[0], made_.reads[input]);
  for (Node& node : made_.spec.body)
    if (node.kind == Node::Kind::load && (node.index == 0 || node.index == static_cast<int>(input)))
      node.index = static_cast<int>(input) - node.index;
}

Result<CutKernel> KernelDraft::finish(double count, std::optional<std::size_t> along) {
  made_.count = count;
  const std::vector<kernel::Operand>& inputs = made_.spec.inputs;
  const auto leader = std::find_if(inputs.begin(), inputs.end(),
                                   [along](const auto& input) { return along && input.strides[*along] == 1; });
  if (leader != inputs.end()) lead_with(static_cast<std::size_t>(leader - inputs.begin()));
  if (made_.spec.inputs.size() > static_cast<std::size_t>(kernel::kMaxInputs) ||
      made_.spec.outputs.size() > static_cast<std::size_t>(kernel::most_outputs(made_.spec)))
    return Status(Code::unsupported_shape, "too many operands for one kernel");
  Result<kernel::KernelSpec> collapsed = kernel::collapse(std::move(made_.spec));
  if (!collapsed.ok()) return collapsed.status();
  made_.spec = std::move(collapsed).value();
  return std::move(made_);
}

Place CutDraft::new_buffer(std::int64_t elements, DType dtype) {
  made_.between.push_back(elements * byte_size(dtype));
  return {Place::Kind::between, static_cast<int>(made_.between.size()) - 1, 0};
}

Status CutDraft::add(KernelDraft& draft, std::int64_t count, std::optional<std::size_t> along) {
  Result<CutKernel> kernel = draft.finish(static_cast<double>(count), along);
  if (!kernel.ok()) return kernel.status();
  made_.kernels.push_back(std::move(kernel).value());
  return {};
}

}  // namespace tenfold::compiler
