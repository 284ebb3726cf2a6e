// SPDX-License-Identifier: Apache-2.0
//
// The value of an op's attribute: what integrators give is what graphs hold. Which of the types an attribute of an op
// must have, the op tables say.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace tenfold {

/// An attribute's value. f32 attributes are held in double, as they are given; `std::string` also holds enumerators.
using AttributeValue =
    std::variant<std::int64_t, double, bool, std::string, std::vector<std::int64_t>, std::vector<double>>;

}  // namespace tenfold
