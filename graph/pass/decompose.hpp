// SPDX-License-Identifier: Apache-2.0
//
// What decompose.cpp and the decompose_*.cpp files share: one function a family of composite ops, each a row of
// decompose.cpp's table. Only for the pass room.
#pragma once

#include "graph/ir/graph.hpp"
#include "graph/pass/compose.hpp"

namespace tenfold::graph {

// Each makes the core ops that mean `op` and gives its outputs. False: `op` has no such form and stays as it is; what
// was made until then is dropped. Ranks and dtypes of the op's inputs and outputs are known, not every dim need be.

bool decompose_softmax(Composer& make, const Op& op);
bool decompose_softmax_backward(Composer& make, const Op& op);

bool decompose_batch_norm(Composer& make, const Op& op);
bool decompose_batch_norm_backward(Composer& make, const Op& op);
bool decompose_batch_norm_training(Composer& make, const Op& op);
bool decompose_group_norm(Composer& make, const Op& op);
bool decompose_instance_norm(Composer& make, const Op& op);
bool decompose_layer_norm(Composer& make, const Op& op);
bool decompose_layer_norm_backward(Composer& make, const Op& op);
bool decompose_lp_norm(Composer& make, const Op& op);
bool decompose_mean_variance_norm(Composer& make, const Op& op);
bool decompose_rms_norm(Composer& make, const Op& op);

bool decompose_quantize(Composer& make, const Op& op);
bool decompose_dequantize(Composer& make, const Op& op);
bool decompose_dynamic_quantize(Composer& make, const Op& op);

bool decompose_backward(Composer& make, const Op& op);
bool decompose_prelu_backward(Composer& make, const Op& op);
bool decompose_bias_add_backward(Composer& make, const Op& op);

bool decompose_heavy(Composer& make, const Op& op);
bool decompose_gemm(Composer& make, const Op& op);

bool decompose_cum_sum(Composer& make, const Op& op);
bool decompose_top_k(Composer& make, const Op& op);

bool decompose_split(Composer& make, const Op& op);

bool decompose_hardmax(Composer& make, const Op& op);
bool decompose_iota(Composer& make, const Op& op);

}  // namespace tenfold::graph
