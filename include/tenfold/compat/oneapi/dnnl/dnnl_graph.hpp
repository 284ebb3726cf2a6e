// SPDX-License-Identifier: Apache-2.0
//
// For programs that were written for oneDNN Graph and are not to be changed: with include/tenfold/compat as an include
// folder (CMake: tenfold::dnnl_graph_compat), their include finds Tenfold under oneDNN's name. It is but an alias: no
// symbol of oneDNN's is defined, so such a program may load libdnnl.so as well, though no file may include both.
#ifndef TENFOLD_COMPAT_DNNL_GRAPH_HPP
#define TENFOLD_COMPAT_DNNL_GRAPH_HPP

#if defined(ONEAPI_DNNL_DNNL_HPP) || defined(ONEAPI_DNNL_DNNL_H) || defined(ONEAPI_DNNL_DNNL_COMMON_HPP) || \
    defined(ONEAPI_DNNL_DNNL_GRAPH_HPP)
#error "oneDNN's own headers are included already: a file may include them or Tenfold's compat folder, not both"
#endif

#include "tenfold/compat/oneapi/dnnl/dnnl_config.h"
#include "tenfold/compat/oneapi/dnnl/dnnl_version.h"
#include "tenfold/graph.hpp"

#define DNNL_MAX_NDIMS TENFOLD_MAX_NDIMS
#define DNNL_GRAPH_UNKNOWN_NDIMS TENFOLD_UNKNOWN_NDIMS
#define DNNL_GRAPH_UNKNOWN_DIM TENFOLD_UNKNOWN_DIM
#define DNNL_MEMORY_NONE TENFOLD_MEMORY_NONE
#define DNNL_MEMORY_ALLOCATE TENFOLD_MEMORY_ALLOCATE

namespace dnnl = ::tenfold;
namespace oneapi {
namespace dnnl = ::tenfold;
}

#endif  // TENFOLD_COMPAT_DNNL_GRAPH_HPP
