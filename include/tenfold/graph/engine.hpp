// SPDX-License-Identifier: Apache-2.0
//
// Engines, streams, allocators and host thread pools. There is one kind of machine, so an engine holds but the
// allocator that tensors get their memory from, and a stream says how many threads an execution may use, and whose.
#ifndef TENFOLD_GRAPH_ENGINE_HPP
#define TENFOLD_GRAPH_ENGINE_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "tenfold/graph/error.hpp"

namespace tenfold {

/// What less precise arithmetic a program allows. It is a permission: Tenfold computes as `strict` says in every mode.
enum class fpmath_mode { strict = 0, bf16, f16, any, tf32 };

/// In which type sums are held. See fpmath_mode.
enum class accumulation_mode { strict = 0, relaxed, any, s32, f32, f16 };

namespace graph {

/// Where the memory of tensors that the library allocates comes from; by default, the library itself.
class allocator {
 public:
  using allocate_function = void* (*)(std::size_t size, std::size_t alignment);
  using deallocate_function = void (*)(void* memory);

  allocator() = default;
  /// Both must be callable from any thread; both null: the library's own.
  allocator(allocate_function host_malloc, deallocate_function host_free)
      : allocate_(host_malloc), deallocate_(host_free) {
    if ((host_malloc == nullptr) != (host_free == nullptr))
      error::raise(tenfold_invalid_arguments, "could not create allocator: one of its functions is null");
  }

  /// As the C API takes it; null functions for the library's own.
  tenfold_allocator_t table() const {
    tenfold_allocator_t made = {};
    if (allocate_ == nullptr) return made;
    made.struct_size = sizeof made;
    made.context = const_cast<allocator*>(this);
    made.allocate = [](void* context, std::size_t size, std::size_t alignment) {
      return static_cast<const allocator*>(context)->allocate_(size, alignment);
    };
    made.deallocate = [](void* context, void* memory) { static_cast<const allocator*>(context)->deallocate_(memory); };
    return made;
  }

 private:
  allocate_function allocate_ = nullptr;
  deallocate_function deallocate_ = nullptr;
};

}  // namespace graph

/// The machine. Copies are the same engine.
struct engine {
  enum class kind { any = 0, cpu = 1, gpu = 2 };

  engine() = default;
  /// The only one is cpu, 0.
  engine(kind the_kind, std::size_t index) : engine(the_kind, index, graph::allocator()) {}
  engine(kind the_kind, std::size_t index, const graph::allocator& memory) {
    if (the_kind != kind::cpu || index >= get_count(the_kind))
      error::raise(tenfold_invalid_arguments, "could not create engine: there is one, of kind cpu, with index 0");
    state_ = std::make_shared<const graph::allocator>(memory);
  }

  static std::size_t get_count(kind the_kind) { return the_kind == kind::gpu ? 0 : 1; }
  kind get_kind() const {
    if (!state_) error::raise(tenfold_invalid_arguments, "the engine holds nothing");
    return kind::cpu;
  }

  /// The C API's table of this engine's allocator, valid while an engine lives; no functions: the library's own.
  tenfold_allocator_t allocator_table() const { return state_ ? state_->table() : tenfold_allocator_t(); }

  explicit operator bool() const { return state_ != nullptr; }
  bool operator==(const engine& other) const { return state_ == other.state_; }
  bool operator!=(const engine& other) const { return !(*this == other); }

 private:
  std::shared_ptr<const graph::allocator> state_;
};

namespace threadpool_interop {

/// A host's pool, as oneDNN wants it. All functions must be callable from several threads at once. What they throw is
/// answered by the execution that called them, with runtime_error.
struct threadpool_iface {
  virtual ~threadpool_iface() = default;
  /// How many calls of a parallel_for() can run at the same time.
  virtual int get_num_threads() const = 0;
  /// Whether the calling thread is one that runs such a call; Tenfold then stays on it.
  virtual bool get_in_parallel() const = 0;
  /// Calls fn(i, n) for every i in [0, n), in any order.
  virtual void parallel_for(int n, const std::function<void(int, int)>& fn) = 0;

  /// Set when parallel_for() may return before all calls have; wait() then returns when they have.
  static constexpr std::uint64_t ASYNCHRONOUS = 1;
  virtual std::uint64_t get_flags() const = 0;
  virtual void wait() {}
};

}  // namespace threadpool_interop

/// How an execution runs. execute() returns when the outputs are written, so there is nothing to wait for.
struct stream {
  enum class flags : unsigned { in_order = 0x1, out_of_order = 0x2, default_flags = in_order };

  stream() = default;
  explicit stream(const engine& the_engine, flags = flags::default_flags)
      : state_(std::make_shared<state>(the_engine)) {
    the_engine.get_kind();
  }

  engine get_engine() const { return checked().home; }
  stream& wait() {
    checked();
    return *this;
  }

  /// Beyond oneDNN: most threads that an execution on this stream uses; 0, the default, is as many as the pool has, 1
  /// touches no pool. Results have the same bits whatever it is.
  stream& set_threads(int threads) {
    if (threads < 0) error::raise(tenfold_invalid_arguments, "could not set threads: they are less than 0");
    checked().threads = threads;
    return *this;
  }
  int get_threads() const { return checked().threads; }

  /// The host's pool, or null for Tenfold's.
  threadpool_interop::threadpool_iface* get_pool() const { return checked().pool; }
  void set_pool(threadpool_interop::threadpool_iface* pool) { checked().pool = pool; }

  explicit operator bool() const { return state_ != nullptr; }
  bool operator==(const stream& other) const { return state_ == other.state_; }
  bool operator!=(const stream& other) const { return !(*this == other); }

 private:
  struct state {
    explicit state(const engine& the_engine) : home(the_engine) {}
    engine home;
    int threads = 0;
    threadpool_interop::threadpool_iface* pool = nullptr;
  };
  state& checked() const {
    if (!state_) error::raise(tenfold_invalid_arguments, "the stream holds nothing");
    return *state_;
  }
  std::shared_ptr<state> state_;
};

inline stream::flags operator|(stream::flags a, stream::flags b) {
  return static_cast<stream::flags>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
inline stream::flags operator&(stream::flags a, stream::flags b) {
  return static_cast<stream::flags>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}
inline stream::flags operator^(stream::flags a, stream::flags b) {
  return static_cast<stream::flags>(static_cast<unsigned>(a) ^ static_cast<unsigned>(b));
}
inline stream::flags operator~(stream::flags a) { return static_cast<stream::flags>(~static_cast<unsigned>(a)); }
inline stream::flags& operator|=(stream::flags& a, stream::flags b) { return a = a | b; }
inline stream::flags& operator&=(stream::flags& a, stream::flags b) { return a = a & b; }
inline stream::flags& operator^=(stream::flags& a, stream::flags b) { return a = a ^ b; }

namespace threadpool_interop {

/// A stream whose executions run on the host's pool, which must outlive it.
inline stream make_stream(const engine& the_engine, threadpool_iface* pool) {
  stream made(the_engine);
  made.set_pool(pool);
  return made;
}

inline threadpool_iface* get_threadpool(const stream& the_stream) { return the_stream.get_pool(); }

/// The pool as the C API takes it; it must outlive the table.
inline tenfold_thread_pool_t table_of(threadpool_iface& pool) {
  tenfold_thread_pool_t made = {};
  made.struct_size = sizeof made;
  made.context = &pool;
  made.num_threads = [](void* context) -> std::int32_t {
    const auto& host = *static_cast<const threadpool_iface*>(context);
    return host.get_in_parallel() ? 1 : host.get_num_threads();
  };
  made.parallel_for = [](void* context, std::int64_t n, void (*task)(void*, std::int64_t), void* task_context) {
    auto& host = *static_cast<threadpool_iface*>(context);
    // Two pointers: what std::function holds without allocating.
    host.parallel_for(static_cast<int>(n), [task, task_context](int i, int) { task(task_context, i); });
    if ((host.get_flags() & threadpool_iface::ASYNCHRONOUS) != 0) host.wait();
  };
  return made;
}

}  // namespace threadpool_interop

namespace graph {

using engine = ::tenfold::engine;
using stream = ::tenfold::stream;
using fpmath_mode = ::tenfold::fpmath_mode;

inline engine make_engine_with_allocator(engine::kind kind, std::size_t index, const allocator& memory) {
  return engine(kind, index, memory);
}

}  // namespace graph
}  // namespace tenfold

#endif  // TENFOLD_GRAPH_ENGINE_HPP
