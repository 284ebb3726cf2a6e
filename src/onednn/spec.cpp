// SPDX-License-Identifier: Apache-2.0
#include "onednn/spec.hpp"

#include <utility>

namespace tenfold::onednn {
namespace {

void add_tensor(std::string& out, const TensorDesc& desc) {
  out += ' ';
  out += tenfold::to_string(desc.dtype);
  out += ' ';
  out += tenfold::to_string(desc.shape);
  out += ':';
  out += tenfold::to_string(desc.strides);
}

}  // namespace

std::string_view to_string(Kind kind) noexcept {
  switch (kind) {
    case Kind::matmul: return "matmul";
    case Kind::convolution: return "convolution";
    case Kind::convolution_to_input: return "convolution_to_input";
    case Kind::convolution_to_weights: return "convolution_to_weights";
    case Kind::average_pool: return "average_pool";
    case Kind::average_pool_to_input: return "average_pool_to_input";
    case Kind::max_pool: return "max_pool";
    case Kind::max_pool_to_input: return "max_pool_to_input";
    case Kind::resample: return "resample";
    case Kind::resample_to_input: return "resample_to_input";
  }
  return "unknown";
}

std::string print(const HeavySpec& spec) {
  std::string out(to_string(spec.kind));
  for (const TensorDesc& input : spec.inputs) add_tensor(out, input);
  out += " ->";
  for (const TensorDesc& output : spec.outputs) add_tensor(out, output);
  for (const auto& [name, dims] : {std::pair{", kernel ", &spec.window.kernel},
                                   {", strides ", &spec.window.strides},
                                   {", dilations ", &spec.window.dilations},
                                   {", pads ", &spec.window.pads_begin},
                                   {" and ", &spec.window.pads_end}}) {
    if (dims->empty()) continue;
    out += name;
    out += tenfold::to_string(*dims);
  }
  if (spec.groups > 1) out += ", groups " + std::to_string(spec.groups);
  if (spec.counts_pads) out += ", counts pads";
  if (spec.is_linear) out += ", linear";
  return out;
}

}  // namespace tenfold::onednn
