// SPDX-License-Identifier: Apache-2.0
#include "tools/outputs.hpp"

#include <utility>

namespace tenfold::tools {

Result<std::vector<Tensor>> make_tensors(std::span<const TensorInfo> infos) {
  std::vector<Tensor> tensors;
  for (const TensorInfo& info : infos) {
    Result<Tensor> tensor = make_tensor(info.desc);
    if (!tensor.ok()) return tensor.status();
    tensors.push_back(std::move(tensor).value());
  }
  return tensors;
}

Result<Outputs> make_outputs(const CompiledPartition& partition, const std::vector<const void*>& inputs) {
  Result<std::vector<TensorInfo>> infos = partition.query_outputs(inputs.data(), inputs.size());
  if (!infos.ok()) return infos.status();
  Result<std::vector<Tensor>> tensors = make_tensors(infos.value());
  if (!tensors.ok()) return tensors.status();
  Outputs outputs{std::move(infos).value(), std::move(tensors).value(), {}};
  for (const Tensor& tensor : outputs.tensors) outputs.addresses.push_back(tensor.data());
  return outputs;
}

Status execute(const CompiledPartition& partition, const std::vector<const void*>& inputs, const Outputs& outputs) {
  return partition.execute(inputs.data(), inputs.size(), outputs.addresses.data(), outputs.addresses.size());
}

}  // namespace tenfold::tools
