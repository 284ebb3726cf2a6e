// SPDX-License-Identifier: Apache-2.0
//
// A walk over a protobuf file before it is parsed: that its records are whole, and that they are not so many or so deep
// that parsing would cost more than the limits say. Empty records of two bytes become objects of hundreds.
#pragma once

#include <cstdint>
#include <string_view>

#include "graph/read/onnx.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

enum class OnnxRoot : std::uint8_t { model, tensor };

/// invalid_file with the byte at which something is wrong: "byte 812: field 7 takes 400 bytes, but 33 are left".
Status scan_onnx(std::string_view bytes, OnnxRoot root, const OnnxLimits& limits);

}  // namespace tenfold::graph
