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

#include "tenfold/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Ops ----

typedef struct tenfold_op* tenfold_op_t;
typedef const struct tenfold_op* const_tenfold_op_t;

/// An op. `id` is at least 0 and unique in its graph. `kind` is a name of oneDNN Graph's ("ReduceMax"), or one that
/// says its dialect and, if need be, opset: "onnx.ArgMax", "onnx.ReduceMax@13". `name` may be null.
/// tenfold_unimplemented for a kind that the dialect does not have, with the nearest name as a hint. All of oneDNN
/// Graph's kinds are taken; those that this version cannot run become partitions that are not supported.
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

/// Asks the op's own rules: its attributes, and how many inputs and outputs of which dtypes it has. The graph asks them
/// again, when it is finalized. Nothing is asked of kinds that this version cannot run, and of ONNX's.
TENFOLD_API tenfold_status_t tenfold_op_check(const_tenfold_op_t op);

// ---- Graphs ----

typedef struct tenfold_graph* tenfold_graph_t;
typedef const struct tenfold_graph* const_tenfold_graph_t;

/// An empty graph, to be filled by the three functions that follow and then finalized.
TENFOLD_API tenfold_status_t tenfold_graph_create(tenfold_graph_t* graph);
TENFOLD_API tenfold_status_t tenfold_graph_retain(tenfold_graph_t graph);
TENFOLD_API tenfold_status_t tenfold_graph_release(tenfold_graph_t* graph);

/// Adds a copy of the op as it stands. Its rules are tenfold_graph_finalize()'s to check; here tenfold_invalid_graph
/// when one of its tensors contradicts what the graph knows of it. A failing call leaves the graph as it was.
/// tenfold_invalid_graph when the graph is finalized; so do the next two.
TENFOLD_API tenfold_status_t tenfold_graph_add_op(tenfold_graph_t graph, const_tenfold_op_t op);

/// Makes `tensor` a constant with these data: row-major, exactly tenfold_logical_tensor_get_mem_size() bytes, in any
/// alignment. Its dims must be known, its strides (if any) row-major but for dims of extent 1, whose strides mean
/// nothing. Constants are no inputs of the partition.
TENFOLD_API tenfold_status_t tenfold_graph_add_constant(tenfold_graph_t graph, const tenfold_logical_tensor_t* tensor,
                                                        const void* data, size_t size);

/// Which tensors that ops make leave the graph, in this order; ops that none of them needs are dropped. Without this
/// call, or with `count` 0, all that no op consumes but an End. Inputs and constants are refused.
TENFOLD_API tenfold_status_t tenfold_graph_set_outputs(tenfold_graph_t graph, const int64_t* ids, size_t count);

/// Checks the graph against its dialects' rules (docs/rules.md) and infers shapes. From then on it cannot change. A
/// graph that fails stays open. tenfold_invalid_graph when it is finalized already.
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

/// The finalized graph as a oneDNN Graph JSON file, which tenfold_graph_from_json() reads (docs/formats.md).
/// tenfold_unimplemented for constants that such files cannot hold. Given back as a text is.
TENFOLD_API tenfold_status_t tenfold_graph_get_json(const_tenfold_graph_t graph, const tenfold_allocator_t* allocator,
                                                    char** text);

// ---- Partitions ----

typedef struct tenfold_partition* tenfold_partition_t;
typedef const struct tenfold_partition* const_tenfold_partition_t;

/// How a graph is cut into partitions; oneDNN's numbers.
typedef enum TENFOLD_ANY_INT {
  /// One partition when all ops are supported. Otherwise each op that is not, End and Wildcard are one by themselves,
  /// and what lies between them falls into connected parts. Without ops, or with End alone, as a file says it: one that
  /// copies the outputs, if there are any, from inputs and constants.
  tenfold_policy_fusion = 1,
  tenfold_policy_debug = 2,  ///< one for each op; without any as above
  tenfold_policy_max = 0x7fff
} tenfold_policy_t;

/// How many partitions a finalized graph has by tenfold_policy_fusion. tenfold_invalid_graph before it is finalized; so
/// do the next three.
TENFOLD_API tenfold_status_t tenfold_graph_get_partition_num(const_tenfold_graph_t graph, size_t* count);

/// Fills `partitions`, an array of exactly that many, each with a reference of its own, in an order in which they can
/// run.
TENFOLD_API tenfold_status_t tenfold_graph_get_partitions(const_tenfold_graph_t graph, size_t count,
                                                          tenfold_partition_t* partitions);

/// The same by any policy, which may be another each time.
TENFOLD_API tenfold_status_t tenfold_graph_get_partition_num_by(const_tenfold_graph_t graph, tenfold_policy_t policy,
                                                                size_t* count);
TENFOLD_API tenfold_status_t tenfold_graph_get_partitions_by(const_tenfold_graph_t graph, tenfold_policy_t policy,
                                                             size_t count, tenfold_partition_t* partitions);
TENFOLD_API tenfold_status_t tenfold_partition_retain(tenfold_partition_t partition);
TENFOLD_API tenfold_status_t tenfold_partition_release(tenfold_partition_t* partition);

/// A number that no other partition of the process has.
TENFOLD_API tenfold_status_t tenfold_partition_get_id(const_tenfold_partition_t partition, size_t* id);

/// *supported is 1 when it can be compiled, else 0; then tenfold_partition_compile() gives tenfold_invalid_arguments.
TENFOLD_API tenfold_status_t tenfold_partition_is_supported(const_tenfold_partition_t partition, int32_t* supported);

/// The partition as a graph of its own; see tenfold_graph_get_json().
TENFOLD_API tenfold_status_t tenfold_partition_get_json(const_tenfold_partition_t partition,
                                                        const tenfold_allocator_t* allocator, char** text);

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

/// A host's thread pool. Both functions must be callable from several threads at once. What one that is written in C++
/// throws is answered by the execution, with tenfold_runtime_error.
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
  /// Strides of outputs, where the layout is strided and the dims known, which must then be those that follow from the
  /// inputs. What is any or undef stays as the graph has it.
  size_t output_count;
  const tenfold_logical_tensor_t* outputs;
  /// A file of measured schedules, as `tenfold tune` writes it (docs/benchmarking.md); null or "": the one that the
  /// environment variable TENFOLD_TUNING names, if any. No result depends on it. Entries that are illegal, stale or for
  /// another machine are ignored, as the log and the explanation say; tenfold_invalid_arguments for a file that cannot
  /// be read. Each file is read once in a process.
  const char* tuning_file;
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

/// What it takes and gives, in the order of execution, with the strides that buffers must have, and with the property
/// that compiling was given for it, else the graph's. Outputs whose dims follow from run-time axes have open ones. The
/// arrays have exactly as many elements as the functions before say.
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
/// order above, aligned to their element; outputs overlap nothing, but for in-place ports. tenfold_invalid_arguments
/// for a wrong count, null, misaligned or overlapping buffers, before anything is written. A tensor may lie in the gaps
/// that another one's strides leave, and elements that meet there are found as well; where strides have so little to do
/// with each other that 16384 comparisons of parts settle nothing, they count as overlapping. Null pointers are fine
/// for tensors without elements. Without run-time axes, kernels neither allocate nor lock after a thread's first run,
/// but for a lock where temporaries have more than 16 MiB; what runs on oneDNN or on the reference evaluator may do
/// both.
TENFOLD_API tenfold_status_t tenfold_compiled_partition_execute(const_tenfold_compiled_partition_t compiled,
                                                                const void* const* inputs, size_t input_count,
                                                                void* const* outputs, size_t output_count);

/// How one execution runs. All-zero but for struct_size is the default: as it was compiled.
typedef struct {
  size_t struct_size;                 ///< sizeof(tenfold_execute_options_t)
  const tenfold_thread_pool_t* pool;  ///< null: the pool that was given when compiling
  int32_t threads;                    ///< as in tenfold_compile_options_t; 0: as given when compiling
  /// The caller's memory for temporaries: at least tenfold_compiled_partition_get_scratch_size() bytes, aligned to 64.
  /// Null: the library's own, which it keeps. No two executions may use one at the same time.
  void* scratch;
  size_t scratch_size;
} tenfold_execute_options_t;

/// tenfold_compiled_partition_execute() with options, which may be null.
TENFOLD_API tenfold_status_t tenfold_compiled_partition_execute_with(const_tenfold_compiled_partition_t compiled,
                                                                     const tenfold_execute_options_t* options,
                                                                     const void* const* inputs, size_t input_count,
                                                                     void* const* outputs, size_t output_count);

/// Bytes of temporaries that one execution needs. 0 for none, and with run-time axes: they then are the library's own.
TENFOLD_API tenfold_status_t tenfold_compiled_partition_get_scratch_size(const_tenfold_compiled_partition_t compiled,
                                                                         size_t* size);

/// An input and an output, by id, that may be the same buffer: it is then overwritten.
typedef struct {
  int64_t input_id;
  int64_t output_id;
} tenfold_inplace_port_t;

/// How many such pairs there are, at most one for an output, and, into an array of exactly that many, which.
TENFOLD_API tenfold_status_t
tenfold_compiled_partition_get_inplace_port_num(const_tenfold_compiled_partition_t compiled, size_t* count);
TENFOLD_API tenfold_status_t tenfold_compiled_partition_get_inplace_ports(const_tenfold_compiled_partition_t compiled,
                                                                          size_t count, tenfold_inplace_port_t* ports);

/// How it runs, for people: regions, kernels, bytes moved, and why anything is not fused or not compiled. Given back by
/// tenfold_memory_release() with the same allocator, which may be null.
TENFOLD_API tenfold_status_t tenfold_compiled_partition_get_explanation(const_tenfold_compiled_partition_t compiled,
                                                                        const tenfold_allocator_t* allocator,
                                                                        char** text);

// ---- The cache of compiled partitions ----

/// tenfold_partition_compile() finds what was compiled before for the same ops, tensors and options. The cache holds at
/// most this many, 1024 at first, or as the environment variable TENFOLD_COMPILED_PARTITION_CACHE_CAPACITY says; 0
/// switches it off. Beyond, the least recently used ones go; who has one keeps it. tenfold_invalid_arguments below 0.
TENFOLD_API tenfold_status_t tenfold_set_compiled_partition_cache_capacity(int32_t capacity);
TENFOLD_API tenfold_status_t tenfold_get_compiled_partition_cache_capacity(int32_t* capacity);

/// And at most this many bytes, 64 MiB at first, or as TENFOLD_COMPILED_PARTITION_CACHE_BYTES says. All data of
/// constants that it keeps alive count, once for each partition, also where they are shared; what a partition with
/// run-time axes makes for their values later, of which it keeps 64, does not.
TENFOLD_API tenfold_status_t tenfold_set_compiled_partition_cache_bytes(size_t bytes);
TENFOLD_API tenfold_status_t tenfold_get_compiled_partition_cache_bytes(size_t* bytes);

/// What it holds now: how many, and about how many bytes. Each pointer may be null.
TENFOLD_API tenfold_status_t tenfold_get_compiled_partition_cache_use(int32_t* count, size_t* bytes);

/// Compiled partitions that have equal constants with data of 4 KiB or more hold them once: weights of a graph that is
/// compiled for many shapes. This is the most bytes that are shared so, without bound at first, or as the environment
/// variable TENFOLD_CONSTANT_CACHE_BYTES says; beyond it, and with 0, only partitions of one graph have them in common.
/// Nothing is held longer than a compiled partition has it.
TENFOLD_API tenfold_status_t tenfold_set_constant_cache_bytes(size_t bytes);
TENFOLD_API tenfold_status_t tenfold_get_constant_cache_bytes(size_t* bytes);

#ifdef __cplusplus
}
#endif

#endif  // TENFOLD_TENFOLD_H
