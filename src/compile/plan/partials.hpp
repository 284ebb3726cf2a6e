// SPDX-License-Identifier: Apache-2.0
//
// One reduction as two kernels, with partial results between them: a level that is split into pieces, or a level that
// the first kernel keeps and the second one reduces. The body is cut in two at the reduction; both parts are ordinary
// specs. An arg-reduction, which hands on indices, is whole in both.
#pragma once

#include <cstdint>
#include <vector>

#include "compile/plan/kernel_cut.hpp"
#include "kernel/spec.hpp"
#include "tenfold/status.hpp"

namespace tenfold::compiler {

/// The reduction in `pieces` pieces of a reduced level, which the schedule of the first kernel says, combined in order.
KernelCut in_pieces(const kernel::KernelSpec& spec, DType partial, std::int64_t pieces);

/// An arg-reduction in `pieces` pieces of its level. The first kernel gives, of each piece and output, where in the
/// piece the extreme is, as s32; the second one which piece's extreme it is, of those elements themselves, again as s32
/// (index_pieces.hpp has what lies between and behind them).
KernelCut index_in_pieces(const kernel::KernelSpec& spec, std::int64_t pieces);

/// The reduction over all reduced levels but `levels`, then over these.
Result<KernelCut> with_levels_apart(const kernel::KernelSpec& spec, DType partial, const std::vector<int>& levels);

}  // namespace tenfold::compiler
