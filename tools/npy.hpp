// SPDX-License-Identifier: Apache-2.0
//
// NumPy's .npy files, format versions 1.0 to 3.0, little endian. NumPy has no bfloat16: such arrays are two-byte voids
// ('<V2', as ml_dtypes writes them) or '<u2', and are taken as bf16 only where the graph says bf16 (docs/formats.md).
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tenfold/status.hpp"
#include "tenfold/tensor.hpp"
#include "tools/tensor.hpp"

namespace tenfold::tools {

/// What a .npy header says.
struct NpyHeader {
  std::string descr;  ///< such as "<f4"
  TensorDesc desc;    ///< dtype undef for two-byte voids; strides are given for Fortran order
  std::size_t data_offset = 0;
};

/// Reads the header at the start of `bytes`. invalid_file when it is not one, unsupported_dtype for what has no DType.
Result<NpyHeader> parse_npy_header(std::span<const char> bytes);

/// True when an array of this header can be what a graph calls `dtype`.
bool npy_matches(const NpyHeader& header, DType dtype) noexcept;

/// Reads only the header of a file, and checks that the file is as long as it says.
Result<NpyHeader> read_npy_header(const std::string& path);

/// Reads the file into a tensor of `desc`, whose shape and dtype it must have.
Result<Tensor> read_npy(const std::string& path, const TensorDesc& desc);

/// Writes elements in C order, as version 1.0. bf16 becomes '<V2'; f8 and 4-bit types have no form in NumPy.
Status write_npy(const std::string& path, const Tensor& tensor);

}  // namespace tenfold::tools
