// SPDX-License-Identifier: Apache-2.0
//
// Tenfold's C API, callable from C99 and from any language that can call C. docs/c_api.md explains it, docs/examples
// has programs. It holds for every function, unless it says otherwise:
//
// - It returns a status; results go through out-pointers, which a failing call leaves as they were. A pointer that is
//   not said to may be null must not be (but for arrays without elements): tenfold_invalid_arguments. No exception
//   leaves the library.
// - Sizes are in bytes, dims and strides in elements. Names and texts are UTF-8, ending in a zero byte. What a caller
//   passes is copied, unless the function says otherwise.
// - Handles are counted references: *_create and what else hands one out gives one reference, *_retain adds one,
//   *_release gives one back and sets the caller's variable to null; releasing a null handle does nothing.
// - An op, and a graph until it is finalized, belong to one thread at a time. All else may be used by any number of
//   threads at once.
#ifndef TENFOLD_TENFOLD_H
#define TENFOLD_TENFOLD_H

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

#ifdef __cplusplus
extern "C" {
#endif

// ---- Status ----

/// What became of a call; oneDNN Graph's numbers. tenfold_last_error() has the words.
typedef enum {
  tenfold_success = 0,
  tenfold_out_of_memory = 1,
  tenfold_invalid_arguments = 2,   ///< the call itself, or a file that cannot be read
  tenfold_unimplemented = 3,       ///< legal, or unknown to this version: an op, dtype, shape, layout, or target
  tenfold_last_impl_reached = 4,   ///< never returned; keeps oneDNN's numbers whole
  tenfold_runtime_error = 5,       ///< a bug of Tenfold's, or a host pool or callback that broke its promise
  tenfold_not_required = 6,        ///< never returned
  tenfold_invalid_graph = 7,       ///< edges, ids, or a graph that is not finalized
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

typedef enum {
  tenfold_log_none = 0,
  tenfold_log_error = 1,    ///< every failing call: its name, status and message
  tenfold_log_warning = 2,  ///< and, when compiling, what has no kernel and runs on the reference evaluator
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
typedef enum {
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

typedef enum {
  tenfold_layout_type_undef = 0,  ///< as `any`
  tenfold_layout_type_any = 1,    ///< row-major: Tenfold decides so
  tenfold_layout_type_strided = 2,
  tenfold_layout_type_opaque = 3,  ///< tenfold_unimplemented wherever it is given
  tenfold_layout_type_max = 0x7fff
} tenfold_layout_type_t;

typedef enum {
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
                                       ///< repeats one element along the dim (inputs only)
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

/// A buffer for it, 64-byte aligned, not initialised. Given back by tenfold_memory_release() with the same allocator,
/// which may be null. A tensor without elements still gets one. tenfold_out_of_memory when the allocator gives null.
TENFOLD_API tenfold_status_t tenfold_buffer_create(void** buffer, const tenfold_logical_tensor_t* tensor,
                                                   const tenfold_allocator_t* allocator);

// ---- Ops ----

typedef struct tenfold_op* tenfold_op_t;
typedef const struct tenfold_op* const_tenfold_op_t;

/// An op. `id` is at least 0 and unique in its graph. `kind` is a name of oneDNN Graph's ("ReduceMax"), or one that
/// says its dialect and, if need be, opset: "onnx.ArgMax", "onnx.ReduceMax@13". `name` may be null.
/// tenfold_unimplemented for a kind that the dialect does not have, with the nearest name as a hint.
TENFOLD_API tenfold_status_t tenfold_op_create(tenfold_op_t* op, int64_t id, const char* kind, const char* name);
TENFOLD_API tenfold_status_t tenfold_op_retain(tenfold_op_t op);
TENFOLD_API tenfold_status_t tenfold_op_release(tenfold_op_t* op);

/// Appends an input or output. A tensor that two ops share has the same id in both, and must be the same in both, save
/// that one may leave dims open that the other gives. Outputs need a dtype; their dims are inferred.
TENFOLD_API tenfold_status_t tenfold_op_add_input(tenfold_op_t op, const tenfold_logical_tensor_t* tensor);
TENFOLD_API tenfold_status_t tenfold_op_add_output(tenfold_op_t op, const tenfold_logical_tensor_t* tensor);
/// Leaves out an optional input that has others behind it (ONNX's ops only, as the graph's check will say).
TENFOLD_API tenfold_status_t tenfold_op_skip_input(tenfold_op_t op);

/// Sets an attribute, or replaces it. Whether the op has one of that name and type, tenfold_graph_finalize() says.
/// `values` may be null when `count` is 0. A boolean is 0 or 1.
TENFOLD_API tenfold_status_t tenfold_op_set_attr_s64(tenfold_op_t op, const char* name, int64_t value);
TENFOLD_API tenfold_status_t tenfold_op_set_attr_s64s(tenfold_op_t op, const char* name, const int64_t* values,
                                                      size_t count);
TENFOLD_API tenfold_status_t tenfold_op_set_attr_f32(tenfold_op_t op, const char* name, float value);
TENFOLD_API tenfold_status_t tenfold_op_set_attr_f32s(tenfold_op_t op, const char* name, const float* values,
                                                      size_t count);
TENFOLD_API tenfold_status_t tenfold_op_set_attr_bool(tenfold_op_t op, const char* name, int32_t value);
TENFOLD_API tenfold_status_t tenfold_op_set_attr_str(tenfold_op_t op, const char* name, const char* value);

// ---- Graphs ----

typedef struct tenfold_graph* tenfold_graph_t;
typedef const struct tenfold_graph* const_tenfold_graph_t;

/// An empty graph, to be filled by the three functions that follow and then finalized.
TENFOLD_API tenfold_status_t tenfold_graph_create(tenfold_graph_t* graph);
TENFOLD_API tenfold_status_t tenfold_graph_retain(tenfold_graph_t graph);
TENFOLD_API tenfold_status_t tenfold_graph_release(tenfold_graph_t* graph);

/// Adds a copy of the op as it stands. Its rules are tenfold_graph_finalize()'s to check; here tenfold_invalid_graph
/// when one of its tensors contradicts what the graph knows of it. A failing call leaves the graph as it was.
/// tenfold_invalid_arguments when the graph is finalized; so do the next two.
TENFOLD_API tenfold_status_t tenfold_graph_add_op(tenfold_graph_t graph, const_tenfold_op_t op);

/// Makes `tensor` a constant with these data: row-major, exactly tenfold_logical_tensor_get_mem_size() bytes, in any
/// alignment. Its dims must be known, its strides (if any) row-major. Constants are no inputs of the partition.
TENFOLD_API tenfold_status_t tenfold_graph_add_constant(tenfold_graph_t graph, const tenfold_logical_tensor_t* tensor,
                                                        const void* data, size_t size);

/// Which tensors leave the graph, in this order; ops that none of them needs are dropped. Without this call, or with
/// `count` 0, all that no op consumes.
TENFOLD_API tenfold_status_t tenfold_graph_set_outputs(tenfold_graph_t graph, const int64_t* ids, size_t count);

/// Checks the graph against its dialects' rules (docs/rules.md) and infers shapes. From then on it cannot change. A
/// graph that fails stays open. tenfold_invalid_arguments when it is finalized already.
TENFOLD_API tenfold_status_t tenfold_graph_finalize(tenfold_graph_t graph);
TENFOLD_API tenfold_status_t tenfold_graph_is_finalized(const_tenfold_graph_t graph, int32_t* finalized);

/// A finalized graph from the text of a oneDNN Graph JSON file: `size` bytes, which need no zero at the end.
TENFOLD_API tenfold_status_t tenfold_graph_from_json(tenfold_graph_t* graph, const char* text, size_t size);

/// Receives the bytes of one of a model's files. Tenfold's; valid while the callback that got it runs.
typedef struct tenfold_sink* tenfold_sink_t;
TENFOLD_API tenfold_status_t tenfold_sink_write(tenfold_sink_t sink, const void* data, size_t size);

typedef struct {
  size_t struct_size;  ///< sizeof(tenfold_onnx_options_t)
  void* context;       ///< handed to read_external
  /// Writes `length` bytes (-1: all that follow) at `offset` of the file `location` to the sink. `location` is a path
  /// as the model names it: do not trust it. Null: models that keep data in files of their own are refused.
  tenfold_status_t (*read_external)(void* context, const char* location, int64_t offset, int64_t length,
                                    tenfold_sink_t sink);
} tenfold_onnx_options_t;

/// A finalized graph from the `size` bytes of an ONNX model. `options` may be null. tenfold_unimplemented when Tenfold
/// was built without ONNX, and for ops, domains, functions and control flow that it does not know.
TENFOLD_API tenfold_status_t tenfold_graph_from_onnx(tenfold_graph_t* graph, const void* bytes, size_t size,
                                                     const tenfold_onnx_options_t* options);

/// The finalized graph in text form, for people. Given back by tenfold_memory_release() with the same allocator, which
/// may be null.
TENFOLD_API tenfold_status_t tenfold_graph_get_text(const_tenfold_graph_t graph, const tenfold_allocator_t* allocator,
                                                    char** text);

// ---- Partitions ----

typedef struct tenfold_partition* tenfold_partition_t;
typedef const struct tenfold_partition* const_tenfold_partition_t;

/// How many partitions a finalized graph has. In this version it is one: the whole graph. tenfold_invalid_graph before
/// it is finalized; so does the next.
TENFOLD_API tenfold_status_t tenfold_graph_get_partition_num(const_tenfold_graph_t graph, size_t* count);

/// Fills `partitions`, an array of exactly that many, each with a reference of its own.
TENFOLD_API tenfold_status_t tenfold_graph_get_partitions(const_tenfold_graph_t graph, size_t count,
                                                          tenfold_partition_t* partitions);
TENFOLD_API tenfold_status_t tenfold_partition_retain(tenfold_partition_t partition);
TENFOLD_API tenfold_status_t tenfold_partition_release(tenfold_partition_t* partition);

/// How many ops it has, and, into an array of exactly that many, their ids in topological order.
TENFOLD_API tenfold_status_t tenfold_partition_get_op_num(const_tenfold_partition_t partition, size_t* count);
TENFOLD_API tenfold_status_t tenfold_partition_get_op_ids(const_tenfold_partition_t partition, size_t count,
                                                          int64_t* ids);

/// What it takes and gives, before compiling: dims may be open. Constants with data are not among the inputs. The
/// arrays have exactly as many elements as the functions before them say.
TENFOLD_API tenfold_status_t tenfold_partition_get_input_num(const_tenfold_partition_t partition, size_t* count);
TENFOLD_API tenfold_status_t tenfold_partition_get_inputs(const_tenfold_partition_t partition, size_t count,
                                                          tenfold_logical_tensor_t* inputs);
TENFOLD_API tenfold_status_t tenfold_partition_get_output_num(const_tenfold_partition_t partition, size_t* count);
TENFOLD_API tenfold_status_t tenfold_partition_get_outputs(const_tenfold_partition_t partition, size_t count,
                                                           tenfold_logical_tensor_t* outputs);

// ---- Compiling ----

/// A host's thread pool. Both functions must be callable from several threads at once.
typedef struct {
  size_t struct_size;  ///< sizeof(tenfold_thread_pool_t)
  void* context;       ///< handed to both
  /// How many tasks can run at the same time, the caller's thread included; less than 1 counts as 1.
  int32_t (*num_threads)(void* context);
  /// Calls task(task_context, i) once for every i in [0, n), in any order, on any threads; returns when all returned.
  void (*parallel_for)(void* context, int64_t n, void (*task)(void* task_context, int64_t i), void* task_context);
} tenfold_thread_pool_t;

/// All-zero but for struct_size is the default.
typedef struct {
  size_t struct_size;  ///< sizeof(tenfold_compile_options_t)
  /// "avx2", "avx512_core", ..., "reference" (oneDNN's names, in any case); null or "": the best of the machine, capped
  /// by the environment variable TENFOLD_MAX_CPU_ISA. tenfold_unimplemented when the machine cannot run it.
  const char* isa;
  /// Null: Tenfold's pool, made when first needed. The struct is copied; its context and functions must outlive the
  /// compiled partition.
  const tenfold_thread_pool_t* pool;
  int32_t threads;    ///< most threads that one execution uses; 0: as many as the pool has; 1: touches no pool
  int32_t no_fusion;  ///< 1: a kernel for each op, to compare with (docs/rewrites.md); else 0
  /// Shapes, and for strided layouts strides, of inputs: for those whose dims the graph leaves open, or in place of the
  /// ones that it gives. Ids and dtypes are the graph's.
  size_t input_count;
  const tenfold_logical_tensor_t* inputs;
} tenfold_compile_options_t;

typedef struct tenfold_compiled_partition* tenfold_compiled_partition_t;
typedef const struct tenfold_compiled_partition* const_tenfold_compiled_partition_t;

/// Compiles the partition. `options` may be null. tenfold_invalid_shape when input dims stay open,
/// tenfold_unimplemented with the op's name for what this version cannot run.
TENFOLD_API tenfold_status_t tenfold_partition_compile(tenfold_compiled_partition_t* compiled,
                                                       const_tenfold_partition_t partition,
                                                       const tenfold_compile_options_t* options);
TENFOLD_API tenfold_status_t tenfold_compiled_partition_retain(tenfold_compiled_partition_t compiled);
TENFOLD_API tenfold_status_t tenfold_compiled_partition_release(tenfold_compiled_partition_t* compiled);

/// What it takes and gives, in the order of execution, with the strides that buffers must have. Outputs whose dims
/// follow from run-time axes have open ones. The arrays have exactly as many elements as the functions before say.
TENFOLD_API tenfold_status_t tenfold_compiled_partition_get_input_num(const_tenfold_compiled_partition_t compiled,
                                                                      size_t* count);
TENFOLD_API tenfold_status_t tenfold_compiled_partition_get_inputs(const_tenfold_compiled_partition_t compiled,
                                                                   size_t count, tenfold_logical_tensor_t* inputs);
TENFOLD_API tenfold_status_t tenfold_compiled_partition_get_output_num(const_tenfold_compiled_partition_t compiled,
                                                                       size_t* count);
TENFOLD_API tenfold_status_t tenfold_compiled_partition_get_outputs(const_tenfold_compiled_partition_t compiled,
                                                                    size_t count, tenfold_logical_tensor_t* outputs);
/// The input or output of that id; tenfold_invalid_arguments when there is none.
TENFOLD_API tenfold_status_t tenfold_compiled_partition_query_logical_tensor(
    const_tenfold_compiled_partition_t compiled, int64_t id, tenfold_logical_tensor_t* tensor);

/// The outputs' final tensors for these inputs. Only inputs that hold axes are read; the others may be null.
TENFOLD_API tenfold_status_t tenfold_compiled_partition_query_outputs(const_tenfold_compiled_partition_t compiled,
                                                                      const void* const* inputs, size_t input_count,
                                                                      tenfold_logical_tensor_t* outputs,
                                                                      size_t output_count);

/// Generates the code for these inputs' axes now, so that execution will not. Reads what query_outputs reads.
TENFOLD_API tenfold_status_t tenfold_compiled_partition_prepare(const_tenfold_compiled_partition_t compiled,
                                                                const void* const* inputs, size_t input_count);

/// Runs it. Pointers name element [0, 0, ...] of buffers as large as tenfold_logical_tensor_get_mem_size() says, in the
/// order above, aligned to their element; outputs overlap nothing. tenfold_invalid_arguments for a wrong count, null,
/// misaligned or overlapping buffers, before anything is written. Null pointers are fine for tensors without elements.
/// Without run-time axes it neither allocates nor locks after a thread's first run.
TENFOLD_API tenfold_status_t tenfold_compiled_partition_execute(const_tenfold_compiled_partition_t compiled,
                                                                const void* const* inputs, size_t input_count,
                                                                void* const* outputs, size_t output_count);

/// How it runs, for people: regions, kernels, bytes moved, and why anything is not fused or not compiled. Given back by
/// tenfold_memory_release() with the same allocator, which may be null.
TENFOLD_API tenfold_status_t tenfold_compiled_partition_get_explanation(const_tenfold_compiled_partition_t compiled,
                                                                        const tenfold_allocator_t* allocator,
                                                                        char** text);

#ifdef __cplusplus
}
#endif

#endif  // TENFOLD_TENFOLD_H
