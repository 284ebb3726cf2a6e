// SPDX-License-Identifier: Apache-2.0
//
// tensor: a logical tensor with its data.
#ifndef TENFOLD_GRAPH_TENSOR_HPP
#define TENFOLD_GRAPH_TENSOR_HPP

#include <cstdint>
#include <cstring>
#include <memory>

#include "tenfold/graph/engine.hpp"
#include "tenfold/graph/logical_tensor.hpp"

/// A tensor's handle: none, or to be allocated by the library; oneDNN's values.
#define TENFOLD_MEMORY_NONE (static_cast<void*>(nullptr))
#define TENFOLD_MEMORY_ALLOCATE (reinterpret_cast<void*>(static_cast<std::uintptr_t>(-1)))

namespace tenfold {
namespace graph {

/// Copies share the buffer and the handle.
class tensor {
 public:
  tensor() = default;

  /// On the caller's buffer, which must outlive it, or one that it allocates (TENFOLD_MEMORY_ALLOCATE).
  tensor(const logical_tensor& lt, const engine& the_engine, void* handle)
      : state_(std::make_shared<state>(lt, the_engine)) {
    the_engine.get_kind();
    if (handle == TENFOLD_MEMORY_ALLOCATE)
      state_->allocate();
    else
      state_->handle = handle;
  }

  /// On a buffer of the engine's allocator, not initialised.
  tensor(const logical_tensor& lt, const engine& the_engine) : tensor(lt, the_engine, TENFOLD_MEMORY_ALLOCATE) {}

  /// A copy of one element, for a host_scalar of rank 0.
  static tensor make_scalar_tensor(const logical_tensor& lt, const void* scalar) {
    if (lt.get_property_type() != logical_tensor::property_type::host_scalar || lt.data.ndims != 0)
      error::raise(tenfold_invalid_arguments, "could not create scalar tensor: it must be a host_scalar of rank 0");
    if (scalar == nullptr) error::raise(tenfold_invalid_arguments, "could not create scalar tensor: it is null");
    tensor made;
    made.state_ = std::make_shared<state>(lt, engine());
    std::memcpy(made.state_->scalar, scalar, lt.get_mem_size());
    made.state_->handle = made.state_->scalar;
    return made;
  }

  void* get_data_handle() const { return checked().handle; }
  /// The buffer that it allocated, if it did, is kept until it ends.
  void set_data_handle(void* handle) { checked().handle = handle; }
  engine get_engine() const { return checked().home; }
  logical_tensor get_logical_tensor() const { return logical_tensor(checked().lt); }

  /// The same without a copy, for execute().
  const tenfold_logical_tensor_t& c_logical_tensor() const { return checked().lt; }

  explicit operator bool() const { return state_ != nullptr; }

 private:
  struct state {
    state(const logical_tensor& the_lt, const engine& the_engine) : lt(the_lt.data), home(the_engine) {}
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    ~state() {
      if (owned == nullptr) return;
      const tenfold_allocator_t table = home.allocator_table();
      tenfold_memory_release(owned, table.allocate != nullptr ? &table : nullptr);
    }
    void allocate() {
      const tenfold_allocator_t table = home.allocator_table();
      error::wrap_c_api(tenfold_buffer_create(&owned, &lt, table.allocate != nullptr ? &table : nullptr),
                        "could not create tensor");
      handle = owned;
    }

    tenfold_logical_tensor_t lt;
    engine home;
    void* handle = nullptr;
    void* owned = nullptr;
    alignas(8) unsigned char scalar[8] = {};
  };

  state& checked() const {
    if (!state_) error::raise(tenfold_invalid_arguments, "the tensor holds nothing");
    return *state_;
  }
  std::shared_ptr<state> state_;
};

}  // namespace graph
}  // namespace tenfold

#endif  // TENFOLD_GRAPH_TENSOR_HPP
