// SPDX-License-Identifier: Apache-2.0
//
// The oneDNN release whose Graph API Tenfold has, for programs that ask by the preprocessor. Tenfold's own version is
// TENFOLD_VERSION_MAJOR and its kin, and tenfold_version().
#ifndef TENFOLD_COMPAT_DNNL_VERSION_H
#define TENFOLD_COMPAT_DNNL_VERSION_H

#define DNNL_VERSION_MAJOR 3
#define DNNL_VERSION_MINOR 11
#define DNNL_VERSION_PATCH 0
#define DNNL_VERSION_HASH "N/A"

#endif  // TENFOLD_COMPAT_DNNL_VERSION_H
