// SPDX-License-Identifier: Apache-2.0
//
// The bodies of arg-reductions: one load, the index of its extreme, and beside it, if wanted, the extreme itself.
#pragma once

#include "schedule/body.hpp"

namespace tenfold::schedule {

/// Whether the node gives an index.
bool is_arg_reduction(const kernel::Node& node) noexcept;
/// True when the body has an arg-reduction; read_arg_body() is for such ones.
bool has_arg_reduction(const kernel::KernelSpec& spec) noexcept;
/// unsupported_op when there is more than that, or unsupported_shape when an index may not fit its lane.
Result<ReduceBody> read_arg_body(const kernel::KernelSpec& spec);

}  // namespace tenfold::schedule
