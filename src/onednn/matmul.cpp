// SPDX-License-Identifier: Apache-2.0
#include "onednn/primitive.hpp"

namespace tenfold::onednn {

Recipe matmul_recipe(const HeavySpec& spec) {
  std::vector<dnnl::memory::desc> in;
  for (const TensorDesc& input : spec.inputs) in.push_back(to_dnnl(input));
  const dnnl::memory::desc out = to_dnnl(spec.outputs[0]);
  const dnnl::matmul::desc desc =
      in.size() > 2 ? dnnl::matmul::desc(in[0], in[1], in[2], out) : dnnl::matmul::desc(in[0], in[1], out);
  std::vector<Operand> operands{{DNNL_ARG_SRC, Place::input, 0, in[0], in[0]},
                                {DNNL_ARG_WEIGHTS, Place::input, 1, in[1], in[1]},
                                {DNNL_ARG_DST, Place::output, 0, out, out}};
  if (in.size() > 2) operands.push_back({DNNL_ARG_BIAS, Place::input, 2, in[2], in[2]});
  return with_reorders(dnnl::matmul::primitive_desc(desc, attributes(), cpu()), operands);
}

}  // namespace tenfold::onednn
