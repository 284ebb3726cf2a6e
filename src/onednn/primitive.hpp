// SPDX-License-Identifier: Apache-2.0
//
// oneDNN's primitives in the form that calls run: the only file that includes its headers. Not a door: only for this
// room's own files. Functions that make recipes throw dnnl::error, which call.cpp catches.
#pragma once

#include <cstdint>
#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <string>
#include <vector>

#include "onednn/spec.hpp"

namespace tenfold::onednn {

enum class Place : std::uint8_t { input, output, scratch };

/// What one argument of a primitive is.
struct Binding {
  int argument = 0;  ///< DNNL_ARG_...
  dnnl::memory::desc desc;
  Place place = Place::input;
  std::size_t index = 0;    ///< which input or output
  std::int64_t offset = 0;  ///< bytes into scratch
};

struct Stage {
  dnnl::primitive primitive;  ///< none where there is `code`
  std::vector<Binding> bindings;
  std::function<void(std::span<void* const>)> code;  ///< ours; takes the addresses that the bindings say
};

/// Primitives, and steps of our own, that run one after the other.
struct Recipe {
  std::vector<Stage> stages;
  std::int64_t scratch_bytes = 0;
  std::string implementation;

  /// Room in scratch; its offset.
  std::int64_t reserve(std::size_t bytes);
};

/// oneDNN counts the elements between two taps.
Dims taps_between(Dims dilations);

/// The CPU, of which a process needs but one.
const dnnl::engine& cpu();

dnnl::memory::desc to_dnnl(const TensorDesc& desc);

/// Attributes of every primitive: scratch memory comes from us.
dnnl::primitive_attr attributes();

/// The primitive of `desc` with its scratch as last binding.
void add_stage(Recipe& recipe, const dnnl::primitive_desc_base& desc, std::vector<Binding> bindings);

/// An operand as we have it, and as a primitive wants it.
struct Operand {
  int argument = 0;
  Place place = Place::input;
  std::size_t index = 0;
  dnnl::memory::desc ours, theirs;
};

/// The primitive of `desc`, with reorders before and after it of operands that it wants laid out otherwise.
Recipe with_reorders(const dnnl::primitive_desc_base& desc, const std::vector<Operand>& operands);

/// Reference code of oneDNN's, which ours is as good as.
bool is_reference(const Recipe& recipe);

Recipe matmul_recipe(const HeavySpec& spec);
Recipe convolution_recipe(const HeavySpec& spec);
Recipe pool_recipe(const HeavySpec& spec);
Recipe resample_recipe(const HeavySpec& spec);

}  // namespace tenfold::onednn
