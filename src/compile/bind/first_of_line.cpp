// SPDX-License-Identifier: Apache-2.0
#include "compile/bind/first_of_line.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

namespace tenfold::compiler {
namespace {

/// Candidates are put in order whenever there are so many more than places.
constexpr std::int64_t kMoreThanPlaces = 256;

/// Bits of an element as an unsigned number that is the greater, the farther ahead the element is.
template <class Bits>
struct Keys {
  Bits sign = 0;      ///< of dtypes that have one
  Bits infinity = 0;  ///< of floats
  Bits flip = 0;      ///< all ones when the least are first

  Keys(DType dtype, bool largest) {
    if (row(dtype).kind != DTypeKind::unsigned_integer) sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
    if (dtype == DType::f32) infinity = static_cast<Bits>(0x7f80'0000);
    if (dtype == DType::f64) infinity = static_cast<Bits>(0x7ff0'0000'0000'0000);
    if (dtype == DType::bf16) infinity = static_cast<Bits>(0x7f80);
    if (dtype == DType::f16) infinity = static_cast<Bits>(0x7c00);
    if (!largest) flip = static_cast<Bits>(~Bits{0});
  }

  Bits of(const std::byte* element) const noexcept {
    Bits bits = 0;
    std::memcpy(&bits, element, sizeof bits);
    if (infinity == 0) return static_cast<Bits>(bits ^ sign ^ flip);
    const Bits magnitude = static_cast<Bits>(bits & ~sign);
    Bits key = static_cast<Bits>(bits | sign);
    if (bits != magnitude) key = static_cast<Bits>(~bits);
    if (magnitude == 0) key = sign;
    if (magnitude > infinity) key = static_cast<Bits>(~Bits{0});
    return static_cast<Bits>(key ^ flip);
  }

  /// The element's own bits, but of a NaN.
  Bits canonical(const std::byte* element) const noexcept {
    Bits bits = 0;
    std::memcpy(&bits, element, sizeof bits);
    const bool is_nan = infinity != 0 && static_cast<Bits>(bits & ~sign) > infinity;
    const Bits quiet = static_cast<Bits>((infinity & (~infinity + 1)) >> 1);  // the bit below the exponent
    return is_nan ? static_cast<Bits>(infinity | quiet) : bits;
  }

  /// What a block with a NaN has for its least element: not its least.
  bool hides_the_rest(Bits key) const noexcept { return infinity != 0 && flip != 0 && key == 0; }
};

/// Key and index as what is greater the farther ahead it is: among equal keys that is the lower index.
template <class Bits>
struct Candidate {
  Bits key;
  std::uint32_t behind;
  bool operator>(const Candidate& other) const noexcept {
    return key != other.key ? key > other.key : behind > other.behind;
  }
};

/// The candidates of a line, which are added in the order of their indices, and the least key that another one needs.
template <class Bits>
class Candidates {
 public:
  Candidates(Candidate<Bits>* items, std::int64_t places) : items_(items), places_(places) {}

  void raise(Bits least) noexcept { least_ = least; }
  bool may_be_one(Bits key) const noexcept { return key >= least_ && !is_closed_; }

  void add(Bits key, std::int64_t index) noexcept {
    items_[size_++] = {key, ~static_cast<std::uint32_t>(index)};
    if (size_ == places_ + kMoreThanPlaces) prune();
  }

  std::span<Candidate<Bits>> in_order() noexcept {
    if (size_ > places_) prune();
    std::sort(items_, items_ + size_, std::greater<>());
    return {items_, static_cast<std::size_t>(size_)};
  }

 private:
  /// Whoever comes later has a higher index, and so needs a greater key than the last of all places.
  void prune() noexcept {
    std::nth_element(items_, items_ + places_ - 1, items_ + size_, std::greater<>());
    size_ = places_;
    const Bits last = items_[places_ - 1].key;
    is_closed_ = last == std::numeric_limits<Bits>::max();
    if (!is_closed_) least_ = static_cast<Bits>(last + 1);
  }

  Candidate<Bits>* items_;
  std::int64_t places_, size_ = 0;
  Bits least_ = 0;
  bool is_closed_ = false;
};

std::int64_t aligned(std::int64_t bytes) { return (bytes + 15) / 16 * 16; }

}  // namespace

template <class Bits>
struct FirstOfLine::Finder {
  static std::int64_t index_bytes(std::int64_t places) { return aligned(4 * places); }
  static std::int64_t candidate_bytes(std::int64_t places) {
    return aligned((places + kMoreThanPlaces) * std::int64_t{sizeof(Candidate<Bits>)});
  }
  static std::int64_t scratch_bytes(std::int64_t places, std::int64_t blocks) {
    return index_bytes(places) + candidate_bytes(places) + aligned(blocks * std::int64_t{sizeof(Bits)});
  }

  /// The last key that as many blocks as there are places have: at least as many elements do. 0: none is out.
  static Bits least_of_blocks(const Keys<Bits>& keys, const Line& line, std::int64_t places, Bits* extremes) {
    std::int64_t size = 0;
    for (std::int64_t block = 0; block < line.blocks; ++block) {
      const Bits key = keys.of(line.first_extreme + block * line.extreme_step);
      extremes[size] = key;
      size += keys.hides_the_rest(key) ? 0 : 1;
    }
    if (size < places) return 0;
    std::nth_element(extremes, extremes + places - 1, extremes + size, std::greater<>());
    return extremes[places - 1];
  }

  static void look_through(const Keys<Bits>& keys, const Line& line, std::int64_t begin, std::int64_t end,
                           Candidates<Bits>& candidates) {
    const std::byte* element = line.first + begin * line.step;
    for (std::int64_t i = begin; i < end; ++i, element += line.step)
      if (const Bits key = keys.of(element); candidates.may_be_one(key)) candidates.add(key, i);
  }

  static std::span<const std::uint32_t> find(const FirstOfLine& of, const Line& line, void* scratch) {
    auto* const indices = static_cast<std::uint32_t*>(scratch);
    auto* const next = static_cast<std::byte*>(scratch) + index_bytes(of.places_);
    auto* const extremes = reinterpret_cast<Bits*>(next + candidate_bytes(of.places_));
    const Keys<Bits> keys(of.dtype_, of.largest_);
    Candidates<Bits> candidates(reinterpret_cast<Candidate<Bits>*>(next), of.places_);
    if (line.blocks > 0) candidates.raise(least_of_blocks(keys, line, of.places_, extremes));
    for (std::int64_t block = 0; block < line.blocks; ++block) {
      const Bits key = keys.of(line.first_extreme + block * line.extreme_step);
      if (candidates.may_be_one(key) || keys.hides_the_rest(key))
        look_through(keys, line, block * line.block, (block + 1) * line.block, candidates);
    }
    look_through(keys, line, line.blocks * line.block, line.extent, candidates);
    std::int64_t place = 0;
    for (const Candidate<Bits>& found : candidates.in_order()) indices[place++] = ~found.behind;
    return {indices, static_cast<std::size_t>(place)};
  }

  static void copy(const FirstOfLine& of, const std::byte* from, std::byte* to) {
    const Bits bits = Keys<Bits>(of.dtype_, of.largest_).canonical(from);
    std::memcpy(to, &bits, sizeof bits);
  }

  static void settle(FirstOfLine& of, std::int64_t blocks) {
    of.find_ = find;
    of.copy_ = copy;
    of.scratch_bytes_ = scratch_bytes(of.places_, blocks);
  }
};

FirstOfLine::FirstOfLine(DType dtype, bool largest, std::int64_t places, std::int64_t blocks)
    : dtype_(dtype), largest_(largest), places_(places) {
  switch (byte_size(dtype)) {
    case 1: Finder<std::uint8_t>::settle(*this, blocks); break;
    case 2: Finder<std::uint16_t>::settle(*this, blocks); break;
    case 4: Finder<std::uint32_t>::settle(*this, blocks); break;
    default: Finder<std::uint64_t>::settle(*this, blocks); break;
  }
}

}  // namespace tenfold::compiler
