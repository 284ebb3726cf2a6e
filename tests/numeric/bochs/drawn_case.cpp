// SPDX-License-Identifier: Apache-2.0
//
// Cases are written in the text form of specs, which is also how a failing one is reported.
#include "drawn_case.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "scalar_reference.hpp"

namespace tenfold::bochs {
namespace {

constexpr std::array<std::string_view, kReductions> kBodies{
    "%0 = load x0\n%1 = reduce max %0\nstore y0 %1\n",
    "%0 = load x0\n%1 = reduce min %0\nstore y0 %1\n",
    "%0 = load x0\n%1 = reduce sum %0\nstore y0 %1\n",
    "%0 = load x0\n%1 = reduce prod %0\nstore y0 %1\n",
    "%0 = load x0\n%1 = reduce sum %0\n%2 = count\n%3 = div %1 %2\nstore y0 %3\n",
    "%0 = load x0\n%1 = abs %0\n%2 = reduce sum %1\nstore y0 %2\n",
    "%0 = load x0\n%1 = square %0\n%2 = reduce sum %1\n%3 = sqrt %2\nstore y0 %3\n",
};
constexpr std::array<std::string_view, kValues> kValueNames{
    "normal",   "positive",     "any exponent",    "denormal",    "zeros",
    "all -inf", "some special", "special, no NaN", "all special", "any bits"};

/// Around the lanes of a vector, of two and of four, and around a chain, a block and a tile.
constexpr std::int64_t kExtents[] = {1,  2,  3,  4,  5,  7,   8,   9,   15,  16,  17,  31,   32,   33,   47,   48,
                                     49, 63, 64, 65, 95, 100, 127, 128, 129, 255, 257, 1023, 1024, 1025, 2047, 2100};
constexpr std::int64_t kUsualElements = 3000;
/// Enough that a reduction is split, which begins at 512 KiB.
constexpr std::int64_t kSplitElements = 135'000;
constexpr int kSplitEvery = 12;
/// Extent of any other level then; more outputs would be tasks enough.
constexpr std::int64_t kMostBesideSplit = 9;

std::string list(const std::vector<std::int64_t>& values) {
  std::string text;
  for (const std::int64_t value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "[" + text + "]";
}

template <class T>
void shuffle(std::vector<T>& list, Random& random) {
  for (std::size_t i = list.size(); i-- > 1;)
    std::swap(list[i], list[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i) + 1))]);
}

std::vector<kernel::Level> draw_levels(bool split, DType dtype, Random& random) {
  std::vector<kernel::Level> levels(static_cast<std::size_t>(1 + random.below(4)));
  std::int64_t left = kUsualElements;
  for (kernel::Level& level : levels) {
    const std::int64_t most = split ? std::min(left, kMostBesideSplit) : left;
    const auto usable = std::upper_bound(std::begin(kExtents), std::end(kExtents), most) - std::begin(kExtents);
    level.extent = kExtents[random.below(usable)];
    level.reduced = random.one_in(2);
    left /= level.extent;
  }
  std::int64_t others = 1;
  for (std::size_t i = 1; i < levels.size(); ++i) others *= levels[i].extent;
  if (split) levels[0] = {kSplitElements * 4 / byte_size(dtype) / others + random.below(40), true};
  shuffle(levels, random);
  if (!split && levels[0].reduced && random.one_in(40)) levels[0].extent = 0;
  return levels;
}

/// Row-major, column-major or shuffled; dense or gapped; some levels of some inputs repeat one element.
std::vector<std::int64_t> draw_strides(const std::vector<kernel::Level>& levels, bool of_input, Random& random) {
  std::vector<std::size_t> order(levels.size());
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  if (random.one_in(4)) std::reverse(order.begin(), order.end());
  if (random.one_in(4)) shuffle(order, random);
  const bool gapped = random.one_in(3), repeats = of_input && random.one_in(10);
  std::int64_t step = random.one_in(4) ? 2 + random.below(2) : 1;
  std::vector<std::int64_t> strides(levels.size(), 0);
  for (const std::size_t level : order) {
    if ((levels[level].reduced && !of_input) || (repeats && random.one_in(3))) continue;
    strides[level] = step;
    step *= std::max<std::int64_t>(levels[level].extent, 1);
    if (gapped) step += random.below(5);
  }
  return strides;
}

/// Offsets of every index of the levels of one kind, row-major.
std::vector<std::int64_t> offsets(const kernel::KernelSpec& spec, bool reduced,
                                  const std::vector<std::int64_t>& strides) {
  std::vector<std::int64_t> all{0};
  for (std::size_t level = 0; level < spec.levels.size(); ++level) {
    if (spec.levels[level].reduced != reduced) continue;
    std::vector<std::int64_t> next;
    next.reserve(all.size() * static_cast<std::size_t>(spec.levels[level].extent));
    for (const std::int64_t from : all)
      for (std::int64_t i = 0; i < spec.levels[level].extent; ++i) next.push_back(from + i * strides[level]);
    all = std::move(next);
  }
  return all;
}

std::int64_t greatest(const std::vector<std::int64_t>& values) {
  return values.empty() ? -1 : *std::max_element(values.begin(), values.end());
}

/// Of both signs each; NaNs, quiet and signalling, come first.
std::vector<std::uint32_t> special_patterns(const Format& f) {
  const std::uint32_t inf = f.infinity(), quiet = 1U << (f.mantissa_bits - 1), normal = f.smallest_normal();
  const std::uint32_t positive[] = {
      inf | quiet, inf | quiet | 0x15U, inf | 1U, inf | quiet >> 1, inf, inf - 1U, normal, normal - 1U, 1U, 0U};
  std::vector<std::uint32_t> patterns;
  for (const std::uint32_t bits : positive) {
    patterns.push_back(bits);
    patterns.push_back(bits | f.sign());
  }
  return patterns;
}
constexpr std::size_t kNanPatterns = 8;

class Drawer {
 public:
  Drawer(const DrawnCase& drawn)
      : format_(format_of(drawn.dtype())),
        special_(special_patterns(format_)),
        values_(drawn.values),
        random_(drawn.data_seed) {}

  std::uint32_t operator()() {
    const std::uint64_t r = random_.next();
    const auto low = static_cast<std::uint32_t>(r), high = static_cast<std::uint32_t>(r >> 32);
    const std::uint32_t sign = high >> 31 != 0 ? format_.sign() : 0;
    const std::uint32_t mantissa = low & (format_.smallest_normal() - 1U);
    const auto with_exponent = [&](std::uint32_t e) { return e << format_.mantissa_bits | mantissa; };
    const auto bias = static_cast<std::uint32_t>(format_.bias);
    switch (values_) {
      case Values::normal: break;
      case Values::positive:
        return sign == 0 ? with_exponent(bias - 1) : with_exponent(bias) & ~(format_.smallest_normal() >> 1);
      case Values::any_exponent: return sign | with_exponent(1 + high % (2 * bias));
      case Values::denormal: return sign | mantissa;
      case Values::zeros: return sign;
      case Values::minus_infinity: return format_.sign() | format_.infinity();
      case Values::some_special:
        if (high % 16 == 0) return special_[low % special_.size()];
        break;
      case Values::nothing_special: return special_[kNanPatterns + low % (special_.size() - kNanPatterns)];
      case Values::all_special: return special_[low % special_.size()];
      case Values::any_bits: return low & (format_.sign() * 2U - 1U);
    }
    return sign | with_exponent(bias - 3 + high % 5);
  }

 private:
  Format format_;
  std::vector<std::uint32_t> special_;
  Values values_;
  Random random_;
};

}  // namespace

std::uint64_t Random::next() {
  std::uint64_t x = state_ += 0x9e37'79b9'7f4a'7c15;
  x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9;
  x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11eb;
  return x ^ (x >> 31);
}

DrawnCase draw_case(Random& random) {
  DrawnCase drawn;
  drawn.reduction = static_cast<Reduction>(random.below(kReductions));
  const DType dtype = std::array{DType::f32, DType::bf16, DType::f16}[static_cast<std::size_t>(random.below(3))];
  const std::vector<kernel::Level> levels = draw_levels(random.one_in(kSplitEvery), dtype, random);
  std::string text = "kernel\nspace ";
  for (std::size_t i = 0; i < levels.size(); ++i)
    text +=
        (i == 0 ? "" : ", ") + std::string(levels[i].reduced ? "reduced " : "kept ") + std::to_string(levels[i].extent);
  for (const char* operand : {"in x0 ", "out y0 "})
    text += "\n" + std::string(operand) + std::string(to_string(dtype)) + " " +
            list(draw_strides(levels, operand[0] == 'i', random));
  text += "\n" + std::string(kBodies[static_cast<std::size_t>(drawn.reduction)]);
  Result<kernel::KernelSpec> spec = kernel::parse(text);
  if (!spec.ok()) std::abort();
  drawn.spec = std::move(spec).value();
  drawn.values = static_cast<Values>(random.below(kValues));
  if (random.one_in(3)) drawn.values = drawn.reduction == Reduction::prod ? Values::positive : Values::normal;
  drawn.cores = 1 << random.below(4);
  drawn.guard_before = random.one_in(2);
  drawn.data_seed = random.next();
  return drawn;
}

std::string DrawnCase::describe() const {
  return "values '" + std::string(kValueNames[static_cast<std::size_t>(values)]) + "', " + std::to_string(cores) +
         " cores, guard page " + (guard_before ? "before" : "after") + "\n" + kernel::print(spec);
}

Places places_of(const kernel::KernelSpec& spec) {
  Places places;
  places.input_starts = offsets(spec, false, spec.inputs[0].strides);
  places.input_steps = offsets(spec, true, spec.inputs[0].strides);
  places.outputs = offsets(spec, false, spec.outputs[0].strides);
  if (!places.input_steps.empty()) places.input_span = greatest(places.input_starts) + greatest(places.input_steps) + 1;
  places.output_span = greatest(places.outputs) + 1;
  return places;
}

void fill_input(const DrawnCase& drawn, const Places& places, std::byte* data) {
  const auto bytes = static_cast<std::size_t>(byte_size(drawn.dtype()));
  std::memset(data, 0xff, static_cast<std::size_t>(places.input_span) * bytes);
  Drawer draw(drawn);
  for (const std::int64_t start : places.input_starts)
    for (const std::int64_t step : places.input_steps) {
      const std::uint32_t bits = draw();
      std::memcpy(data + static_cast<std::size_t>(start + step) * bytes, &bits, bytes);
    }
}

}  // namespace tenfold::bochs
