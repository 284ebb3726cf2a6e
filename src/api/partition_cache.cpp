// SPDX-License-Identifier: Apache-2.0
//
// The cache of compiled partitions; see partition_cache.hpp.
#include "api/partition_cache.hpp"

#include <cstdint>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "api/partition.hpp"
#include "compile/cache/constant_cache.hpp"
#include "target/environment.hpp"

namespace tenfold::api {

namespace {

/// Lengths go before contents, so that no two graphs have one key.
class KeyWriter {
 public:
  template <class Number>
  requires std::is_trivially_copyable_v<Number>
  void add(Number number) { key_.append(reinterpret_cast<const char*>(&number), sizeof number); }
  void add(std::string_view text) {
    add(text.size());
    key_.append(text);
  }
  template <class Number>
  void add(const std::vector<Number>& numbers) {
    add(numbers.size());
    key_.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
  }

  void add_value(const graph::Value& value) {
    /// Up to this size comparing the data costs less than to compile once more.
    constexpr std::size_t kCompared = 4096;
    add(value.id);
    add(value.dtype);
    add(value.ranked);
    add(value.shape);
    add(value.strides);
    add(value.layout);
    add(value.property);
    add(value.is_constant);
    if (value.data.size() <= kCompared)
      add(std::string_view(reinterpret_cast<const char*>(value.data.data()), value.data.size()));
    else
      add(value.data.data());
  }

  void add_op(const graph::Op& op) {
    add(op.id);
    add(op.name);
    add(op.dialect);
    add(op.kind);
    add(op.opset);
    add(op.inputs);
    add(op.outputs);
    add(op.attributes.size());
    for (const graph::NamedAttribute& attribute : op.attributes) {
      add(attribute.name);
      add(attribute.value.index());
      std::visit(
          [&](const auto& held) {
            if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string>)
              add(std::string_view(held));
            else
              add(held);
          },
          attribute.value);
    }
  }

  std::string take() { return std::move(key_); }

 private:
  std::string key_;
};

}  // namespace

std::string key_of(const graph::Graph& graph) {
  KeyWriter key;
  key.add(std::string_view(graph.fpmath_mode));
  key.add(graph.values.size());
  for (const graph::Value& value : graph.values) key.add_value(value);
  key.add(graph.ops.size());
  for (const graph::Op& op : graph.ops) key.add_op(op);
  key.add(graph.inputs);
  key.add(graph.outputs);
  return key.take();
}

Result<std::string> key_of(const CompileOptions& options) {
  const Result<target::Target> picked = target::host_named(options.target);
  if (!picked.ok()) return picked.status();
  KeyWriter key;
  key.add(picked.value().isa);
  key.add(options.threads);
  key.add(options.fuse);
  key.add(std::string_view(options.tuning_file));
  return key.take();
}

std::size_t footprint(const CompiledPartition& compiled, const Graph& graph) {
  // Measured on a loop of shapes: what a partition, a region, a kernel and a step hold besides what is counted here.
  constexpr std::size_t kPartition = 2048, kRegion = 1024, kKernel = 2048, kStep = 1024;
  const CompiledPartition::Impl& impl = compiled.impl();
  std::size_t bytes = kPartition;
  std::unordered_set<const void*> counted;
  const auto count_data = [&](const std::shared_ptr<const std::vector<std::byte>>& data) {
    if (data != nullptr && counted.insert(data.get()).second) bytes += data->size();
  };
  for (const graph::Value& value : graph.ir().values) count_data(value.data.shared());
  bytes += impl.bound.values.size() * sizeof(graph::Value) + impl.bound.ops.size() * sizeof(graph::Op);
  for (const graph::Value& value : impl.bound.values) count_data(value.data.shared());
  if (!impl.fixed) return bytes;
  const compiler::Compiled& made = impl.fixed->compiled;
  for (const compiler::RegionReport& region : made.regions) {
    bytes += kRegion;
    for (const std::string& op : region.ops) bytes += sizeof op + op.size();
    for (const compiler::KernelReport& kernel : region.kernels)
      bytes += kKernel + static_cast<std::size_t>(kernel.code_bytes);
  }
  bytes += made.program.steps.size() * kStep;
  bytes += made.unfused.size() * kRegion;
  for (const auto& constant : made.program.constants) count_data(constant);
  return bytes;
}

PartitionCache::PartitionCache()
    : capacity_(target::environment().partition_cache_capacity), bytes_(target::environment().partition_cache_bytes) {}

PartitionCache::Entries PartitionCache::take_excess() {
  Entries excess;
  while (!entries_.empty() && (entries_.size() > capacity_ || used_bytes_ > bytes_)) {
    places_.erase(entries_.back().key);
    used_bytes_ -= entries_.back().bytes;
    excess.splice(excess.begin(), entries_, std::prev(entries_.end()));
  }
  return excess;
}

Result<CompiledPartition> PartitionCache::find_or_make(const std::string& key, const Graph& graph, const Maker& make) {
  bool keeps = false;
  {
    const std::lock_guard lock(mutex_);
    keeps = capacity_ > 0 && bytes_ > 0;
    if (const auto at = places_.find(key); at != places_.end()) {
      entries_.splice(entries_.begin(), entries_, at->second);
      return at->second->compiled;
    }
  }
  Result<CompiledPartition> made = make();
  if (!made.ok() || !keeps) return made;
  Entries fresh, excess;
  // What of the graph is no data is counted as another copy of the key, which says the same.
  fresh.push_back({key, graph, made.value(), footprint(made.value(), graph) + sizeof(Entry) + 3 * key.size() + 256});
  const std::lock_guard lock(mutex_);
  if (const auto at = places_.find(key); at != places_.end()) return at->second->compiled;
  used_bytes_ += fresh.front().bytes;
  entries_.splice(entries_.begin(), fresh);
  places_.emplace(entries_.front().key, entries_.begin());
  excess = take_excess();
  return made;
}

void PartitionCache::set_capacity(std::size_t count) {
  Entries excess;
  const std::lock_guard lock(mutex_);
  capacity_ = count;
  excess = take_excess();
}

void PartitionCache::set_bytes(std::size_t bytes) {
  Entries excess;
  const std::lock_guard lock(mutex_);
  bytes_ = bytes;
  excess = take_excess();
}

std::size_t PartitionCache::capacity() const {
  const std::lock_guard lock(mutex_);
  return capacity_;
}

std::size_t PartitionCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

PartitionCache::Use PartitionCache::use() const {
  const std::lock_guard lock(mutex_);
  return {entries_.size(), used_bytes_};
}

PartitionCache& partition_cache() {
  // Never destroyed, as the kernel cache: partitions in other static objects may outlive any order that we chose.
  static std::atomic<PartitionCache*> made;
  return target::one_of_process(made);
}

std::size_t constant_cache_bytes() { return compiler::constant_cache().most_bytes(); }
void set_constant_cache_bytes(std::size_t bytes) { compiler::constant_cache().set_most_bytes(bytes); }

}  // namespace tenfold::api
