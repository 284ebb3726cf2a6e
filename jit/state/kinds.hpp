// SPDX-License-Identifier: Apache-2.0
//
// The kinds of ReduceState, for state.cpp alone.
#pragma once

#include <memory>

#include "jit/state/state.hpp"

namespace tenfold::jit {

std::unique_ptr<ReduceState> make_wide_state(VectorLayer& layer, const kernel::KernelSpec& spec,
                                             const schedule::ReduceBody& body);
/// `single_chain`: columns that are reduced in registers, in one chain. `adds`: Schedule::adds.
std::unique_ptr<ReduceState> make_chained_state(VectorLayer& layer, const kernel::KernelSpec& spec,
                                                const schedule::ReduceBody& body, bool single_chain, bool adds);
std::unique_ptr<ReduceState> make_order_state(VectorLayer& layer, const kernel::KernelSpec& spec,
                                              const schedule::ReduceBody& body, const schedule::Schedule& schedule);
std::unique_ptr<ReduceState> make_number_state(VectorLayer& layer, const kernel::KernelSpec& spec,
                                               const schedule::ReduceBody& body, schedule::Nest nest);
std::unique_ptr<ReduceState> make_integer_state(VectorLayer& layer, const kernel::KernelSpec& spec,
                                                const schedule::ReduceBody& body);
std::unique_ptr<ReduceState> make_arg_state(VectorLayer& layer, const kernel::KernelSpec& spec,
                                            const schedule::ReduceBody& body, schedule::Nest nest);
std::unique_ptr<ReduceState> make_row_key_state(VectorLayer& layer, const kernel::KernelSpec& spec,
                                                const schedule::ReduceBody& body);
std::unique_ptr<ReduceState> make_column_key_state(VectorLayer& layer, const kernel::KernelSpec& spec,
                                                   const schedule::ReduceBody& body);

}  // namespace tenfold::jit
