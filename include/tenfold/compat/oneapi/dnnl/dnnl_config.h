// SPDX-License-Identifier: Apache-2.0
//
// What programs ask of a oneDNN build by the preprocessor, answered for Tenfold: there is no GPU, and a CPU stream may
// run on the host's pool (dnnl_threadpool.hpp), though it need not. Numbers are oneDNN's.
#ifndef TENFOLD_COMPAT_DNNL_CONFIG_H
#define TENFOLD_COMPAT_DNNL_CONFIG_H

#if defined(DNNL_RUNTIME_NONE) || defined(ONEAPI_DNNL_DNNL_H) || defined(ONEAPI_DNNL_DNNL_TYPES_H) || \
    defined(ONEAPI_DNNL_DNNL_COMMON_H) || defined(ONEAPI_DNNL_DNNL_COMMON_TYPES_H)
#error \
    "oneDNN's own headers are included already, or are about to take this one for theirs: compile files that use \
oneDNN's primitives without tenfold::dnnl_graph_compat"
#endif

#define DNNL_RUNTIME_NONE 0u
#define DNNL_RUNTIME_SEQ 1u
#define DNNL_RUNTIME_OMP 2u
#define DNNL_RUNTIME_TBB 4u
#define DNNL_RUNTIME_THREADPOOL 8u
#define DNNL_RUNTIME_OCL 256u
#define DNNL_RUNTIME_SYCL 512u
#define DNNL_RUNTIME_DPCPP DNNL_RUNTIME_SYCL

#define DNNL_CPU_THREADING_RUNTIME DNNL_RUNTIME_THREADPOOL
#define DNNL_CPU_RUNTIME DNNL_RUNTIME_THREADPOOL
#define DNNL_GPU_RUNTIME DNNL_RUNTIME_NONE

// Undefined names would all be equal.
#define DNNL_VENDOR_NONE 0u
#define DNNL_VENDOR_INTEL 1u
#define DNNL_VENDOR_NVIDIA 2u
#define DNNL_VENDOR_AMD 3u
#define DNNL_VENDOR_GENERIC 4u
#define DNNL_GPU_VENDOR DNNL_VENDOR_NONE

#define ONEDNN_BUILD_GRAPH

#endif  // TENFOLD_COMPAT_DNNL_CONFIG_H
