// SPDX-License-Identifier: Apache-2.0
//
// oneDNN's reduction primitive as a rival of the bench. Built against libdnnl where that is installed.
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

}  // namespace

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

#endif

}  // namespace tenfold::tools::bench
