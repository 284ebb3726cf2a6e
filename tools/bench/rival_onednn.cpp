// SPDX-License-Identifier: Apache-2.0
//
// oneDNN's primitives as rivals of the bench: its reduction, and its softmax for graphs that are one. Built against
// libdnnl where that is installed.
#include "tools/bench/rivals.hpp"

#if TENFOLD_HAVE_DNNL
#include <omp.h>

#include <algorithm>
#include <iterator>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#endif

namespace tenfold::tools::bench {

#if TENFOLD_HAVE_DNNL

namespace {

struct AlgorithmRow {
  const char* op;
  dnnl::algorithm algorithm;
  float p;
};
constexpr AlgorithmRow kAlgorithms[] = {
    {"ReduceMax", dnnl::algorithm::reduction_max, 0},
    {"ReduceMin", dnnl::algorithm::reduction_min, 0},
    {"ReduceSum", dnnl::algorithm::reduction_sum, 0},
    {"ReduceMean", dnnl::algorithm::reduction_mean, 0},
    {"ReduceProd", dnnl::algorithm::reduction_mul, 0},
    {"ReduceL1", dnnl::algorithm::reduction_norm_lp_power_p_sum, 1},
    {"ReduceL2", dnnl::algorithm::reduction_norm_lp_sum, 2},
};

struct TypeRow {
  DType dtype;
  dnnl::memory::data_type type;
};
constexpr TypeRow kTypes[] = {
    {DType::f32, dnnl::memory::data_type::f32}, {DType::bf16, dnnl::memory::data_type::bf16},
    {DType::f16, dnnl::memory::data_type::f16}, {DType::s8, dnnl::memory::data_type::s8},
    {DType::u8, dnnl::memory::data_type::u8},   {DType::s32, dnnl::memory::data_type::s32},
};

/// `dtype` is in kTypes.
dnnl::memory::desc memory_desc(const Dims& shape, const Dims& strides, DType dtype) {
  const auto row =
      std::find_if(std::begin(kTypes), std::end(kTypes), [dtype](const auto& r) { return r.dtype == dtype; });
  return {shape, row->type, strides};
}

/// Its reference implementation works out where each element lies, in 50 to 500 ns. What would take many seconds a call
/// says nothing that a smaller case does not.
constexpr std::int64_t kMostReferenceElements = std::int64_t{1} << 22;

Result<Contender> make_reduction(const RivalCase& rival, const AlgorithmRow& row) {
  omp_set_num_threads(rival.what->threads);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const dnnl::memory::desc src = memory_desc(rival.in.shape, strides_of(rival.in), rival.in.dtype);
  const dnnl::memory::desc dst = memory_desc(rival.kept_shape, row_major_strides(rival.kept_shape), rival.in.dtype);
  const dnnl::reduction::desc desc(row.algorithm, src, dst, row.p, 0.0F);
  const dnnl::reduction::primitive_desc primitive_desc(desc, engine);
  const std::string implementation = primitive_desc.impl_info_str();
  const Result<std::int64_t> elements = numel(rival.in.shape);
  if (!elements.ok()) return elements.status();
  if (implementation.find("ref") != std::string::npos && elements.value() > kMostReferenceElements)
    return Status(Code::unsupported_shape, "its implementation is " + implementation +
                                               ", which is not asked for more than " +
                                               std::to_string(kMostReferenceElements) + " elements");
  const auto primitive = std::make_shared<dnnl::reduction>(primitive_desc);
  const auto stream = std::make_shared<dnnl::stream>(engine);
  const auto in = std::make_shared<dnnl::memory>(src, engine, const_cast<void*>(rival.data));
  const auto out = std::make_shared<dnnl::memory>(dst, engine);
  return Contender{"oneDNN " + implementation, [=] {
                     primitive->execute(*stream, {{DNNL_ARG_SRC, *in}, {DNNL_ARG_DST, *out}});
                     stream->wait();
                   }};
}

/// SoftMax, or LogSoftmax where `is_log`, of a whole tensor.
Result<Contender> make_softmax(const OpRival& rival, const graph::Value& in, bool is_log, int axis) {
  omp_set_num_threads(rival.what->threads);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const dnnl::memory::desc desc = memory_desc(in.shape, row_major_strides(in.shape), in.dtype);
  const dnnl::softmax_v2_forward::desc wanted(dnnl::prop_kind::forward_inference,
                                              is_log ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate,
                                              desc, desc, axis);
  const dnnl::softmax_v2_forward::primitive_desc primitive_desc(wanted, engine);
  const auto primitive = std::make_shared<dnnl::softmax_v2_forward>(primitive_desc);
  const auto stream = std::make_shared<dnnl::stream>(engine);
  const auto from = std::make_shared<dnnl::memory>(desc, engine, const_cast<void*>(rival.inputs[0]));
  const auto to = std::make_shared<dnnl::memory>(desc, engine, rival.outputs[0]);
  return Contender{"oneDNN " + std::string(primitive_desc.impl_info_str()), [=] {
                     primitive->execute(*stream, {{DNNL_ARG_SRC, *from}, {DNNL_ARG_DST, *to}});
                     stream->wait();
                   }};
}

}  // namespace

Result<Contender> onednn_op(const OpRival& rival) {
  const graph::Graph& graph = *rival.graph;
  const bool one = graph.ops.size() == 1 && graph.ops[0].dialect == graph::Dialect::onednn;
  const bool is_log = one && graph.ops[0].kind == "LogSoftmax";
  if (!is_log && !(one && graph.ops[0].kind == "SoftMax"))
    return Status(Code::unsupported_op, "the graph is no op that it is asked for");
  const graph::Value &in = graph.values[graph.ops[0].inputs[0]], &out = graph.values[graph.ops[0].outputs[0]];
  const bool known =
      std::any_of(std::begin(kTypes), std::end(kTypes), [&](const auto& r) { return r.dtype == in.dtype; });
  const auto is_plain = [](const graph::Value& value) {
    return graph::is_static(value) && (value.strides.empty() || value.strides == row_major_strides(value.shape));
  };
  if (!known || in.dtype != out.dtype || !is_plain(in) || !is_plain(out) || rival.inputs.size() != 1 ||
      rival.outputs.size() != 1)
    return Status(Code::unsupported_op, "it is not asked for these tensors");
  const auto rank = static_cast<std::int64_t>(in.shape.size());
  const std::int64_t axis = graph::attribute_or(graph.ops[0], "axis", std::int64_t{-1});
  try {
    return make_softmax(rival, in, is_log, static_cast<int>(axis < 0 ? axis + rank : axis));
  } catch (const dnnl::error& error) {
    return Status(Code::unsupported_op, std::string("oneDNN refuses it: ") + error.what());
  }
}

Result<Contender> onednn_reduction(const RivalCase& rival) {
  if (std::none_of(std::begin(kTypes), std::end(kTypes), [&](const auto& r) { return r.dtype == rival.in.dtype; }))
    return Status(Code::unsupported_op, "oneDNN has no " + std::string(to_string(rival.in.dtype)));
  for (const AlgorithmRow& row : kAlgorithms) {
    if (rival.what->op != row.op) continue;
    try {
      return make_reduction(rival, row);
    } catch (const dnnl::error& error) {
      return Status(Code::unsupported_op, std::string("oneDNN refuses it: ") + error.what());
    }
  }
  return Status(Code::unsupported_op, "oneDNN has no such reduction");
}

#else

Result<Contender> onednn_reduction(const RivalCase&) {
  return Status(Code::unsupported_op, "built without oneDNN (libdnnl-dev)");
}

Result<Contender> onednn_op(const OpRival&) {
  return Status(Code::unsupported_op, "built without oneDNN (libdnnl-dev)");
}

#endif

}  // namespace tenfold::tools::bench
