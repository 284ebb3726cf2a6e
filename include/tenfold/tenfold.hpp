// SPDX-License-Identifier: Apache-2.0
//
// Everything that an integrator includes.
#pragma once

#include "tenfold/attribute.hpp"
#include "tenfold/compiled_partition.hpp"
#include "tenfold/dtype.hpp"
#include "tenfold/graph_builder.hpp"
#include "tenfold/status.hpp"
#include "tenfold/tensor.hpp"
#include "tenfold/thread_pool.hpp"
