// SPDX-License-Identifier: Apache-2.0
//
// A specialisation is what really runs: one program for one set of shapes and axes. A partition without run-time axes
// has exactly one, made by compile(); one with run-time axes has a bounded cache of them, keyed by the axes' values.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <vector>

#include "compile/compile.hpp"
#include "graph/ir/graph.hpp"
#include "target/fork.hpp"
#include "target/target.hpp"
#include "tenfold/compiled_partition.hpp"
#include "tenfold/status.hpp"

namespace tenfold::api {

/// What execute() must know of an operand to check the caller's pointer.
struct OperandCheck {
  std::int64_t span_bytes = 0;
  std::uintptr_t alignment = 1;  ///< a power of two
};
Result<OperandCheck> operand_check(const TensorDesc& desc);

/// For each of a program's inputs (outputs), which of the partition's it is.
struct PlaceMap {
  bool identity = true;
  std::vector<std::size_t> places;
};

struct Specialisation {
  compiler::Compiled compiled;
  std::vector<TensorInfo> outputs;  ///< in the partition's order, all dims known
  std::vector<OperandCheck> output_checks;
  PlaceMap input_map, output_map;
  std::vector<std::size_t> in_place;  ///< by output of the partition: the input that may be its buffer, or kNoInput
  static constexpr std::size_t kNoInput = ~std::size_t{0};
};

/// The TensorInfo of a value that may not be static: unknown dims are kUnknownDim, an unknown rank is {kUnknownDim}.
TensorInfo info_of(const graph::Value& value);

/// Compiles `core` (after the pipeline) for a partition that takes and gives these tensors.
Result<std::shared_ptr<const Specialisation>> make_specialisation(const graph::Graph& core,
                                                                  std::span<const TensorInfo> inputs,
                                                                  std::span<const TensorInfo> outputs,
                                                                  const target::Target& target,
                                                                  const compiler::Options& options);

/// Specialisations by the values of the axes inputs. Readers share a lock; each distinct value compiles once. When
/// full, the least recently used one goes; who is running it keeps it alive.
class SpecialisationCache {
 public:
  static constexpr std::size_t kCapacity = 64;
  using Shared = std::shared_ptr<const Specialisation>;
  using Maker = std::function<Result<Shared>()>;

  /// The specialisation for `axes`, made by `make` when it is not there. Failures are not kept.
  Result<Shared> find_or_make(std::span<const std::int64_t> axes, const Maker& make);

  /// For tests and explain: how often `make` has succeeded, and what is in the cache now, by axes.
  std::size_t made() const noexcept { return made_.load(std::memory_order_relaxed); }
  std::vector<std::pair<std::vector<std::int64_t>, Shared>> entries() const;

 private:
  struct Less {
    using is_transparent = void;
    bool operator()(std::span<const std::int64_t> a, std::span<const std::int64_t> b) const;
  };
  struct Entry {
    Shared specialisation;
    std::atomic<std::uint64_t> last_used{0};
  };
  Shared find(std::span<const std::int64_t> axes) const;
  void insert(std::span<const std::int64_t> axes, Shared specialisation);

  mutable std::shared_mutex mutex_;  ///< guards entries_
  std::mutex making_;                ///< one maker at a time
  target::HeldAcrossFork held_{mutex_};
  target::HeldAcrossFork making_held_{making_};
  mutable std::map<std::vector<std::int64_t>, Entry, Less> entries_;
  mutable std::atomic<std::uint64_t> clock_{0};
  std::atomic<std::size_t> made_{0};
};

}  // namespace tenfold::api
