// SPDX-License-Identifier: Apache-2.0
//
// The first half of Tenfold's C API: statuses, the log, memory that Tenfold hands out, and logical tensors. Include
// tenfold.h, which brings it and says what holds for every function.
#ifndef TENFOLD_TYPES_H
#define TENFOLD_TYPES_H

#include <stddef.h>
#include <stdint.h>

#define TENFOLD_VERSION_MAJOR 0
#define TENFOLD_VERSION_MINOR 1
#define TENFOLD_VERSION_PATCH 0

#if defined(__GNUC__)
#define TENFOLD_API __attribute__((visibility("default")))
#else
#define TENFOLD_API
#endif

/// Numbers of no enumerator are answered by status, so reading one must be defined: in C++ any int may then be there.
#ifdef __cplusplus
#define TENFOLD_ANY_INT : int
#else
#define TENFOLD_ANY_INT
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---- Status ----

/// What became of a call; oneDNN Graph's numbers. tenfold_last_error() has the words.
typedef enum TENFOLD_ANY_INT {
  tenfold_success = 0,
  tenfold_out_of_memory = 1,
  tenfold_invalid_arguments = 2,   ///< the call itself, or a file that cannot be read
  tenfold_unimplemented = 3,       ///< legal, or unknown to this version: an op, dtype, shape, layout, or target
  tenfold_last_impl_reached = 4,   ///< never returned; keeps oneDNN's numbers whole
  tenfold_runtime_error = 5,       ///< a bug of Tenfold's, or a host pool or callback that broke its promise
  tenfold_not_required = 6,        ///< never returned
  tenfold_invalid_graph = 7,       ///< edges, ids, or a graph that is not finalized, or is already
  tenfold_invalid_graph_op = 8,    ///< an attribute or a rule of an op
  tenfold_invalid_shape = 9,       ///< dims, strides, or ranks
  tenfold_invalid_data_type = 10,  ///< a dtype that is not known, or that the op does not take
  tenfold_status_max = 0x7fff
} tenfold_status_t;

/// The status' name, such as "invalid_arguments"; "unknown" for other numbers. Never null, never to be freed.
TENFOLD_API const char* tenfold_status_to_string(tenfold_status_t status);

/// What the last failing call on this thread had to say, with values, the rule's number and a hint; "" when none has
/// failed yet. Valid until the next failing call on this thread. Longer messages end in "...". Never null.
TENFOLD_API const char* tenfold_last_error(void);

/// The version of the library that runs, which may be newer than the header's macros. Each pointer may be null.
TENFOLD_API tenfold_status_t tenfold_version(int32_t* major, int32_t* minor, int32_t* patch);

// ---- Log ----

typedef enum TENFOLD_ANY_INT {
  tenfold_log_none = 0,
  tenfold_log_error = 1,    ///< every failing call: its name, status and message
  tenfold_log_warning = 2,  ///< and, when compiling, what runs on the reference evaluator, and what is ignored
  tenfold_log_info = 3,     ///< and every graph that was compiled, with the time it took
  tenfold_log_level_max = 0x7fff
} tenfold_log_level_t;

/// Called on the thread that has something to say; `message` lives until it returns. It may call Tenfold, but for
/// tenfold_set_log_callback().
typedef void (*tenfold_log_callback_t)(void* context, tenfold_log_level_t level, const char* message);

/// Whom to tell, for the whole process, messages up to `level`; null or tenfold_log_none: nobody, which is how a
/// process starts. A call that is under way in another thread may still use the callback and context of before.
TENFOLD_API tenfold_status_t tenfold_set_log_callback(tenfold_log_callback_t callback, void* context,
                                                      tenfold_log_level_t level);

// ---- Memory that Tenfold hands out ----

/// Where texts and buffers that the caller asks for come from. Temporaries of Tenfold's own do not (docs/threads.md).
/// `allocate` gives `size` bytes at a multiple of `alignment` (a power of two), or null; both must be callable from any
/// thread.
typedef struct {
  size_t struct_size;  ///< sizeof(tenfold_allocator_t)
  void* context;       ///< handed to both; Tenfold never looks at it
  void* (*allocate)(void* context, size_t size, size_t alignment);
  void (*deallocate)(void* context, void* memory);
} tenfold_allocator_t;

/// Gives back what a function with an `allocator` parameter gave, as free() would: once. `allocator` must be the same
/// one as then (null: the library's own). Does nothing for null.
TENFOLD_API tenfold_status_t tenfold_memory_release(void* memory, const tenfold_allocator_t* allocator);

// ---- Logical tensors: what a tensor is, without its data ----

#define TENFOLD_MAX_NDIMS 12
#define TENFOLD_UNKNOWN_NDIMS (-1)
#define TENFOLD_UNKNOWN_DIM INT64_MIN

/// Element types; oneDNN's numbers where it has the type. f8, s4 and u4 are storage types.
typedef enum TENFOLD_ANY_INT {
  tenfold_data_type_undef = 0,
  tenfold_f16 = 1,
  tenfold_bf16 = 2,
  tenfold_f32 = 3,
  tenfold_s32 = 4,
  tenfold_s8 = 5,
  tenfold_u8 = 6,
  tenfold_f64 = 7,
  tenfold_boolean = 8,  ///< one byte, 0 or 1
  tenfold_f8_e5m2 = 9,
  tenfold_f8_e4m3 = 10,
  tenfold_s4 = 11,  ///< two elements share a byte, the first in its low half
  tenfold_u4 = 12,
  tenfold_s64 = 16,
  tenfold_s16 = 0x1000,
  tenfold_u16 = 0x1001,
  tenfold_u32 = 0x1002,
  tenfold_u64 = 0x1003,
  tenfold_data_type_max = 0x7fff
} tenfold_data_type_t;

typedef enum TENFOLD_ANY_INT {
  tenfold_layout_type_undef = 0,  ///< as `any`
  tenfold_layout_type_any = 1,    ///< row-major: Tenfold decides so
  tenfold_layout_type_strided = 2,
  tenfold_layout_type_opaque = 3,  ///< tenfold_unimplemented wherever it is given
  tenfold_layout_type_max = 0x7fff
} tenfold_layout_type_t;

typedef enum TENFOLD_ANY_INT {
  tenfold_property_undef = 0,
  tenfold_property_variable = 1,
  tenfold_property_constant = 2,
  tenfold_property_host_scalar = 3,
  tenfold_property_max = 0x7fff
} tenfold_property_t;

/// One tensor of a graph. A plain struct whose layout never changes. Fill it by the functions below or by hand.
typedef struct {
  int64_t id;     ///< names the tensor in its graph; at least 0
  int32_t ndims;  ///< 0 (a scalar) to 12, or TENFOLD_UNKNOWN_NDIMS
  tenfold_data_type_t data_type;
  int64_t dims[TENFOLD_MAX_NDIMS];  ///< elements; TENFOLD_UNKNOWN_DIM where open
  tenfold_property_t property;
  tenfold_layout_type_t layout_type;
  int64_t strides[TENFOLD_MAX_NDIMS];  ///< elements, at least 0; read for a strided layout with known dims only. 0
                                       ///< repeats one element along the dim (inputs only). Where one of them is
                                       ///< TENFOLD_UNKNOWN_DIM none is known, and the layout as good as `any`
} tenfold_logical_tensor_t;

/// Fills *tensor with open dims: rank `ndims` (or TENFOLD_UNKNOWN_NDIMS), layout as given.
TENFOLD_API tenfold_status_t tenfold_logical_tensor_init(tenfold_logical_tensor_t* tensor, int64_t id,
                                                         tenfold_data_type_t data_type, int32_t ndims,
                                                         tenfold_layout_type_t layout, tenfold_property_t property);

/// The same with `ndims` dims (null when there are none). A strided layout gets row-major strides.
TENFOLD_API tenfold_status_t tenfold_logical_tensor_init_with_dims(tenfold_logical_tensor_t* tensor, int64_t id,
                                                                   tenfold_data_type_t data_type, int32_t ndims,
                                                                   const int64_t* dims, tenfold_layout_type_t layout,
                                                                   tenfold_property_t property);

/// The same, strided, with `ndims` dims and strides.
TENFOLD_API tenfold_status_t tenfold_logical_tensor_init_with_strides(tenfold_logical_tensor_t* tensor, int64_t id,
                                                                      tenfold_data_type_t data_type, int32_t ndims,
                                                                      const int64_t* dims, const int64_t* strides,
                                                                      tenfold_property_t property);

/// Bytes that a buffer for it must have, from element [0, 0, ...] to the last that its strides reach; 4-bit types round
/// up. tenfold_invalid_shape when a dim is open or the size is beyond 2^47 bytes.
TENFOLD_API tenfold_status_t tenfold_logical_tensor_get_mem_size(const tenfold_logical_tensor_t* tensor, size_t* size);

/// *equal is 1 when the two say the same (strides count for strided layouts only, dims up to the rank), else 0.
TENFOLD_API tenfold_status_t tenfold_logical_tensor_is_equal(const tenfold_logical_tensor_t* left,
                                                             const tenfold_logical_tensor_t* right, int32_t* equal);

/// A buffer for it, 64-byte aligned, not initialised; from 4 MiB on in huge pages, where the system has them. Given
/// back by tenfold_memory_release() with the same allocator, which may be null. A tensor without elements still gets
/// one. tenfold_out_of_memory when the allocator gives null.
TENFOLD_API tenfold_status_t tenfold_buffer_create(void** buffer, const tenfold_logical_tensor_t* tensor,
                                                   const tenfold_allocator_t* allocator);

#ifdef __cplusplus
}
#endif

#endif  // TENFOLD_TYPES_H
