// SPDX-License-Identifier: Apache-2.0
//
// Stands where oneDNN's header of host thread pools would be found: dnnl::threadpool_interop, with make_stream() and
// get_threadpool().
#ifndef TENFOLD_COMPAT_DNNL_THREADPOOL_HPP
#define TENFOLD_COMPAT_DNNL_THREADPOOL_HPP

#include "tenfold/compat/oneapi/dnnl/dnnl_threadpool_iface.hpp"

#endif  // TENFOLD_COMPAT_DNNL_THREADPOOL_HPP
