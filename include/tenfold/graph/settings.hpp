// SPDX-License-Identifier: Apache-2.0
//
// What a process sets for all graphs: capacities of caches, and whether graphs are written to files.
#ifndef TENFOLD_GRAPH_SETTINGS_HPP
#define TENFOLD_GRAPH_SETTINGS_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

#include "tenfold/graph/engine.hpp"

namespace tenfold {
namespace graph {

/// The most compiled partitions that are kept for compile() to find again; 0: none.
inline int get_compiled_partition_cache_capacity() {
  std::int32_t capacity = 0;
  error::wrap_c_api(tenfold_get_compiled_partition_cache_capacity(&capacity), "could not get cache capacity");
  return capacity;
}
inline void set_compiled_partition_cache_capacity(int capacity) {
  error::wrap_c_api(tenfold_set_compiled_partition_cache_capacity(capacity), "could not set cache capacity");
}

/// Whether, and up to how many megabytes, compiled partitions share equal constants:
/// tenfold_set_constant_cache_bytes().
inline std::size_t get_constant_tensor_cache_capacity(engine::kind) {
  std::size_t bytes = 0;
  error::wrap_c_api(tenfold_get_constant_cache_bytes(&bytes), "could not get constant cache capacity");
  return bytes >> 20;
}
inline void set_constant_tensor_cache_capacity(engine::kind kind, std::size_t megabytes) {
  if (kind == engine::kind::gpu || megabytes > (SIZE_MAX >> 20))
    error::raise(tenfold_invalid_arguments, "could not set constant cache capacity: kind or size");
  error::wrap_c_api(tenfold_set_constant_cache_bytes(megabytes << 20), "could not set constant cache capacity");
}
inline int get_constant_tensor_cache() { return get_constant_tensor_cache_capacity(engine::kind::cpu) != 0; }
inline void set_constant_tensor_cache(int flag) {
  if (flag < 0) error::raise(tenfold_invalid_arguments, "could not set constant cache: the flag is below 0");
  error::wrap_c_api(tenfold_set_constant_cache_bytes(flag != 0 ? SIZE_MAX : 0), "could not set constant cache");
}

/// Which graphs are written to the working folder: `graph`, each that is finalized, to graph-ID.json; `subgraph`, each
/// partition that get_partitions() gives, to partition-ID.json.
enum class graph_dump_mode : unsigned { none = 0x0, subgraph = 0x1, graph = 0x2 };

inline graph_dump_mode operator|(graph_dump_mode a, graph_dump_mode b) {
  return static_cast<graph_dump_mode>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
inline graph_dump_mode operator&(graph_dump_mode a, graph_dump_mode b) {
  return static_cast<graph_dump_mode>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}
inline graph_dump_mode operator^(graph_dump_mode a, graph_dump_mode b) {
  return static_cast<graph_dump_mode>(static_cast<unsigned>(a) ^ static_cast<unsigned>(b));
}
inline graph_dump_mode operator~(graph_dump_mode a) {
  return static_cast<graph_dump_mode>(~static_cast<unsigned>(a) & 0x3U);
}
inline graph_dump_mode& operator|=(graph_dump_mode& a, graph_dump_mode b) { return a = a | b; }
inline graph_dump_mode& operator&=(graph_dump_mode& a, graph_dump_mode b) { return a = a & b; }
inline graph_dump_mode& operator^=(graph_dump_mode& a, graph_dump_mode b) { return a = a ^ b; }

/// The program's dump mode. It is the program that writes, not the library, which never opens a file.
struct dumping {
  static std::atomic<unsigned>& mode() {
    static std::atomic<unsigned> wanted(0);
    return wanted;
  }
  static bool wants(graph_dump_mode what) { return (mode().load() & static_cast<unsigned>(what)) != 0; }
  static std::size_t next_graph() {
    static std::atomic<std::size_t> next(0);
    return next++;
  }
  static void write(const char* kind, std::size_t id, const std::string& json) {
    std::ofstream(std::string(kind) + "-" + std::to_string(id) + ".json") << json;
  }
};

inline void set_dump_mode(graph_dump_mode mode) {
  if (static_cast<unsigned>(mode) > 0x3U)
    error::raise(tenfold_invalid_arguments, "could not set dump mode: there are none, subgraph and graph");
  dumping::mode() = static_cast<unsigned>(mode);
}

}  // namespace graph
}  // namespace tenfold

#endif  // TENFOLD_GRAPH_SETTINGS_HPP
