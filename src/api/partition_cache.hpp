// SPDX-License-Identifier: Apache-2.0
//
// Compiled partitions by what was asked, for the C API: who compiles the same again gets the same one. Bounded in
// number and in bytes; the least recently used ones go first, and who has one keeps it alive.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "graph/ir/graph.hpp"
#include "target/fork.hpp"
#include "tenfold/compiled_partition.hpp"
#include "tenfold/status.hpp"

namespace tenfold::api {

/// Everything about a graph that a compiled partition depends on. Constants of many bytes count by where they are, so
/// the graph must live as long as the key is used.
std::string key_of(const graph::Graph& graph);

/// The same of options, but for pool and shapes.
Result<std::string> key_of(const CompileOptions& options);

/// About how many bytes of memory a compiled partition keeps, with the data of the graph's constants. What the two
/// share counts once; what they share with others counts as if they were alone.
std::size_t footprint(const CompiledPartition& compiled, const Graph& graph);

class PartitionCache {
 public:
  struct Use {
    std::size_t count = 0, bytes = 0;
  };
  using Maker = std::function<Result<CompiledPartition>()>;

  /// What was made for `key`, or what `make` gives. `graph` is kept with it, as the key may name its data. Failures are
  /// not kept. Threads that ask for the same at the same time may each make it; one of them stays.
  Result<CompiledPartition> find_or_make(const std::string& key, const Graph& graph, const Maker& make);

  void set_capacity(std::size_t count);
  std::size_t capacity() const;
  void set_bytes(std::size_t bytes);
  std::size_t bytes() const;
  Use use() const;

  /// 1024 entries and 64 MiB, unless the environment says otherwise.
  PartitionCache();

 private:
  struct Entry {
    std::string key;
    Graph graph;
    CompiledPartition compiled;
    std::size_t bytes;
  };
  using Entries = std::list<Entry>;
  /// What is beyond the bounds, to be destroyed when the lock is gone.
  Entries take_excess();

  mutable std::mutex mutex_;
  target::HeldAcrossFork held_{mutex_};
  std::size_t capacity_, bytes_;
  std::size_t used_bytes_ = 0;
  Entries entries_;  ///< most recently used first
  std::unordered_map<std::string_view, Entries::iterator> places_;
};

/// The process' own.
PartitionCache& partition_cache();

/// The most bytes of constants that partitions share (compile/cache/constant_cache.hpp).
std::size_t constant_cache_bytes();
void set_constant_cache_bytes(std::size_t bytes);

}  // namespace tenfold::api
