// SPDX-License-Identifier: Apache-2.0
//
// Stands where oneDNN's C header of primitives would be found, which would take Tenfold's dnnl_config.h for its own.
#include "tenfold/compat/oneapi/dnnl/dnnl.hpp"
