// SPDX-License-Identifier: Apache-2.0
#include "jit/state/state.hpp"

#include <cstddef>

#include "jit/abi.hpp"
#include "jit/state/kinds.hpp"

namespace tenfold::jit {

std::unique_ptr<ReduceState> ReduceState::make(VectorLayer& layer, const kernel::KernelSpec& spec,
                                               const schedule::ReduceBody& body, const schedule::Schedule& schedule) {
  const schedule::Nest nest = schedule.nest;
  switch (schedule::lanes_of(spec, body)) {
    case schedule::Lanes::chained_f32:
      return make_chained_state(layer, spec, body, nest == schedule::Nest::columns && schedule.columns == 0,
                                schedule.adds);
    case schedule::Lanes::wide_f64: return make_wide_state(layer, spec, body);
    case schedule::Lanes::order:
      return spec.inputs[0].dtype == DType::f64 && !layer.has_extremes_of_64_bits()
                 ? make_number_state(layer, spec, body, nest)
                 : make_order_state(layer, spec, body, schedule);
    case schedule::Lanes::arg: return make_arg_state(layer, spec, body, nest);
    case schedule::Lanes::keys:
      return nest == schedule::Nest::rows ? make_row_key_state(layer, spec, body)
                                          : make_column_key_state(layer, spec, body);
    case schedule::Lanes::integer: break;
  }
  return make_integer_state(layer, spec, body);
}

Memory count_argument() { return Xbyak::util::rdi + offsetof(KernelArgs, count); }

}  // namespace tenfold::jit
