// SPDX-License-Identifier: Apache-2.0
//
// Stands where oneDNN's header of the interface of host thread pools would be found:
// dnnl::threadpool_interop::threadpool_iface.
#ifndef TENFOLD_COMPAT_DNNL_THREADPOOL_IFACE_HPP
#define TENFOLD_COMPAT_DNNL_THREADPOOL_IFACE_HPP

#include "tenfold/compat/oneapi/dnnl/dnnl_graph.hpp"

#endif  // TENFOLD_COMPAT_DNNL_THREADPOOL_IFACE_HPP
