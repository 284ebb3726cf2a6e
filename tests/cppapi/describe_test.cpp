// SPDX-License-Identifier: Apache-2.0
//
// The C++ API's descriptions: engines, logical tensors, tensors, ops with every kind and attribute.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

#include "tests/cppapi/small_cases.hpp"

namespace tenfold::test {
namespace {

TEST(CppEngine, ThereIsOneOfKindCpu) {
  EXPECT_EQ(engine::get_count(engine::kind::cpu), 1U);
  EXPECT_EQ(engine::get_count(engine::kind::gpu), 0U);
  const engine one = cpu();
  EXPECT_EQ(one.get_kind(), engine::kind::cpu);
  const engine same = one;
  EXPECT_EQ(one, same);
  EXPECT_NE(one, cpu());
  EXPECT_THROWS(engine(engine::kind::cpu, 1), tenfold_invalid_arguments);
  EXPECT_THROWS(engine(engine::kind::gpu, 0), tenfold_invalid_arguments);
  EXPECT_THROWS(engine(engine::kind::any, 0), tenfold_invalid_arguments);
  EXPECT_FALSE(engine());
  EXPECT_THROWS(engine().get_kind(), tenfold_invalid_arguments);
}

TEST(CppStream, SaysHowManyThreadsAndWhose) {
  const engine home = cpu();
  stream one(home, stream::flags::in_order);
  EXPECT_EQ(one.get_engine(), home);
  EXPECT_EQ(one.get_threads(), 0);
  EXPECT_EQ(one.set_threads(3).get_threads(), 3);
  EXPECT_EQ(one.wait(), one);
  EXPECT_EQ(threadpool_interop::get_threadpool(one), nullptr);
  EXPECT_THROWS(one.set_threads(-1), tenfold_invalid_arguments);
  using flags = stream::flags;
  flags both = flags::in_order | flags::out_of_order;
  EXPECT_EQ(both & flags::in_order, flags::in_order);
  EXPECT_EQ(both ^ flags::in_order, flags::out_of_order);
  EXPECT_EQ(~flags::in_order & both, flags::out_of_order);
  EXPECT_EQ(both &= flags::in_order, flags::default_flags);
  EXPECT_EQ(both |= flags::out_of_order, flags::in_order | flags::out_of_order);
  EXPECT_EQ(both ^= flags::out_of_order, flags::in_order);
  EXPECT_TRUE(stream(home, flags::in_order | flags::out_of_order));
  stream none;
  EXPECT_FALSE(none);
  EXPECT_THROWS(none.wait(), tenfold_invalid_arguments);
  EXPECT_THROWS(none.get_threads(), tenfold_invalid_arguments);
  EXPECT_THROWS(stream{engine()}, tenfold_invalid_arguments);
}

TEST(CppLogicalTensor, EveryConstructor) {
  const logical_tensor none;
  EXPECT_THROWS(none.get_dims(), tenfold_invalid_arguments);

  const logical_tensor bare(7, data_type::bf16);
  EXPECT_EQ(bare.get_id(), 7U);
  EXPECT_EQ(bare.get_data_type(), data_type::bf16);
  EXPECT_EQ(bare.get_layout_type(), layout_type::undef);
  EXPECT_EQ(bare.get_property_type(), property_type::undef);
  EXPECT_THROWS(bare.get_dims(), tenfold_invalid_arguments);
  EXPECT_THROWS(bare.get_mem_size(), tenfold_invalid_shape);

  const logical_tensor ranked(1, data_type::s8, 2, layout_type::strided, property_type::constant);
  EXPECT_EQ(ranked.get_dims(), (dims{TENFOLD_UNKNOWN_DIM, TENFOLD_UNKNOWN_DIM}));
  EXPECT_EQ(ranked.get_strides(), (dims{TENFOLD_UNKNOWN_DIM, TENFOLD_UNKNOWN_DIM}));
  EXPECT_EQ(ranked.get_property_type(), property_type::constant);

  const logical_tensor row_major(2, data_type::f32, {2, 3, 4}, layout_type::strided, property_type::variable);
  EXPECT_EQ(row_major.get_strides(), (dims{12, 4, 1}));
  EXPECT_EQ(row_major.get_mem_size(), 96U);
  const logical_tensor zero(2, data_type::f32, {2, 0, 4}, layout_type::strided);
  EXPECT_EQ(zero.get_mem_size(), 0U);

  const logical_tensor half_open(2, data_type::f32, {2, TENFOLD_UNKNOWN_DIM}, layout_type::strided);
  EXPECT_EQ(half_open.get_strides(), (dims{TENFOLD_UNKNOWN_DIM, TENFOLD_UNKNOWN_DIM}));

  const logical_tensor strided(3, data_type::f32, {2, 3}, {8, 2});
  EXPECT_EQ(strided.get_layout_type(), layout_type::strided);
  EXPECT_EQ(strided.get_strides(), (dims{8, 2}));
  EXPECT_EQ(strided.get_mem_size(), 4U * (8 + 4 + 1));
  EXPECT_THROWS(strided.get_layout_id(), tenfold_invalid_arguments);
  EXPECT_THROWS(logical_tensor(3, data_type::f32, dims{2, 3}, dims{8}), tenfold_invalid_arguments);

  const logical_tensor opaque(4, data_type::f32, dims{2, 3}, std::size_t{42});
  EXPECT_EQ(opaque.get_layout_type(), layout_type::opaque);
  EXPECT_EQ(opaque.get_layout_id(), 42U);
  EXPECT_THROWS(opaque.get_strides(), tenfold_invalid_arguments);
  EXPECT_THROWS(opaque.get_mem_size(), tenfold_unimplemented);

  const logical_tensor scalar(5, data_type::s32, dims{}, layout_type::strided, property_type::host_scalar);
  EXPECT_EQ(scalar.get_dims(), dims{});
  EXPECT_EQ(scalar.get_mem_size(), 4U);

  EXPECT_THROWS(logical_tensor(6, data_type::f32, dims(13, 1), layout_type::strided), tenfold_invalid_arguments);
  EXPECT_THROWS(logical_tensor(6, data_type::f32, 13, layout_type::any), tenfold_invalid_arguments);
  EXPECT_THROWS(logical_tensor(6, data_type::f32, -2, layout_type::any), tenfold_invalid_arguments);
}

TEST(CppLogicalTensor, SizesOfEveryType) {
  const std::vector<std::pair<data_type, std::size_t>> sizes{
      {data_type::f16, 10},    {data_type::bf16, 10},   {data_type::f32, 20}, {data_type::s32, 20},
      {data_type::s8, 5},      {data_type::u8, 5},      {data_type::s4, 3},   {data_type::u4, 3},
      {data_type::boolean, 5}, {data_type::f8_e5m2, 5}, {data_type::s64, 40}, {data_type::f64, 40},
      {data_type::f8_e4m3, 5}, {data_type::s16, 10},    {data_type::u16, 10}, {data_type::u32, 20},
      {data_type::u64, 40},
  };
  for (const auto& [type, size] : sizes)
    EXPECT_EQ(logical_tensor(0, type, dims{5}, layout_type::strided).get_mem_size(), size);
  EXPECT_THROWS(logical_tensor(0, data_type::undef, dims{5}, layout_type::strided).get_mem_size(),
                tenfold_invalid_data_type);
}

TEST(CppLogicalTensor, Equality) {
  EXPECT_TRUE(f32(0, {2, 3}).is_equal(f32(0, {2, 3})));
  EXPECT_FALSE(f32(0, {2, 3}).is_equal(f32(1, {2, 3})));
  EXPECT_FALSE(f32(0, {2, 3}).is_equal(f32(0, {3, 2})));
  EXPECT_FALSE(f32(0, {2, 3}).is_equal(logical_tensor(0, data_type::f32, dims{2, 3}, dims{1, 2})));
}

TEST(CppTensor, OnTheCallersBuffer) {
  std::vector<float> data(6), other(6);
  const engine home = cpu();
  tensor one(f32(3, {2, 3}), home, data.data());
  EXPECT_EQ(one.get_data_handle(), data.data());
  EXPECT_EQ(one.get_engine(), home);
  EXPECT_TRUE(one.get_logical_tensor().is_equal(f32(3, {2, 3})));
  const tensor same = one;
  one.set_data_handle(other.data());
  EXPECT_EQ(same.get_data_handle(), other.data()) << "copies are the same tensor";
  EXPECT_FALSE(tensor());
  EXPECT_THROWS(tensor().get_data_handle(), tenfold_invalid_arguments);
  EXPECT_THROWS(tensor().set_data_handle(nullptr), tenfold_invalid_arguments);
  EXPECT_THROWS(tensor().get_engine(), tenfold_invalid_arguments);
  EXPECT_THROWS(tensor().get_logical_tensor(), tenfold_invalid_arguments);
  EXPECT_THROWS(tensor(f32(0, {1}), engine(), nullptr), tenfold_invalid_arguments);
}

int given_out = 0, taken_back = 0;

TEST(CppTensor, MemoryOfTheEnginesAllocator) {
  const graph::allocator counting(
      [](std::size_t size, std::size_t alignment) {
        ++given_out;
        return std::aligned_alloc(alignment, size);
      },
      [](void* memory) {
        ++taken_back;
        std::free(memory);
      });
  {
    const engine home = graph::make_engine_with_allocator(engine::kind::cpu, 0, counting);
    const tensor one(f32(0, {5, 7}), home), again(f32(0, {5, 7}), home, TENFOLD_MEMORY_ALLOCATE);
    EXPECT_EQ(given_out, 2);
    EXPECT_EQ(taken_back, 0);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one.get_data_handle()) % 64, 0U);
    std::memset(one.get_data_handle(), 1, 5 * 7 * 4);
  }
  EXPECT_EQ(taken_back, 2);
  const tensor own(f32(0, {5, 7}), cpu());
  std::memset(own.get_data_handle(), 1, 5 * 7 * 4);
  EXPECT_EQ(given_out, 2);
  EXPECT_THROWS(tensor(open_f32(0), cpu()), tenfold_invalid_shape);
  EXPECT_THROWS(graph::allocator(nullptr, std::free), tenfold_invalid_arguments);
  const engine by_default = graph::make_engine_with_allocator(engine::kind::cpu, 0, graph::allocator(nullptr, nullptr));
  std::memset(tensor(f32(0, {5, 7}), by_default).get_data_handle(), 1, 5 * 7 * 4);
  const graph::allocator empty([](std::size_t, std::size_t) -> void* { return nullptr; }, [](void*) {});
  EXPECT_THROWS(tensor(f32(0, {1}), graph::make_engine_with_allocator(engine::kind::cpu, 0, empty)),
                tenfold_out_of_memory);
}

TEST(CppTensor, HostScalars) {
  const logical_tensor lt(0, data_type::s32, dims{}, layout_type::strided, property_type::host_scalar);
  std::int32_t value = 41;
  const tensor scalar = tensor::make_scalar_tensor(lt, &value);
  value = 0;
  EXPECT_EQ(*static_cast<const std::int32_t*>(scalar.get_data_handle()), 41) << "it is a copy";
  EXPECT_THROWS(tensor::make_scalar_tensor(lt, nullptr), tenfold_invalid_arguments);
  EXPECT_THROWS(tensor::make_scalar_tensor(f32(0, {}), &value), tenfold_invalid_arguments);
  const logical_tensor list(0, data_type::s32, dims{1}, layout_type::strided, property_type::host_scalar);
  EXPECT_THROWS(tensor::make_scalar_tensor(list, &value), tenfold_invalid_arguments);
}

TEST(CppOp, EveryKindOfOneDnns) {
  const int count = static_cast<int>(op::kind::LastSymbol);
  EXPECT_EQ(count, 88);
  for (int number = 0; number < count; ++number)
    EXPECT_TRUE(op(0, static_cast<op::kind>(number), "verbose")) << graph::names::kind_text(number);
  EXPECT_THROWS(op(0, op::kind::LastSymbol), tenfold_invalid_arguments);
  EXPECT_THROWS(op(0, static_cast<op::kind>(-1)), tenfold_invalid_arguments);
}

TEST(CppOp, EveryKindOfOnnxs) {
  for (int number = static_cast<int>(op::kind::ArgMax); number < static_cast<int>(op::kind::OnnxLast); ++number)
    EXPECT_TRUE(op(0, static_cast<op::kind>(number))) << graph::names::kind_text(number);
  EXPECT_THROWS(op(0, op::kind::OnnxLast), tenfold_invalid_arguments);
  EXPECT_THROWS(op(0, op::kind::OnnxFirst), tenfold_invalid_arguments);
  EXPECT_TRUE(op(0, "onnx.ReduceMax@13", {f32(0, {2})}, {open_f32(1)}));
  EXPECT_TRUE(op(0, std::string("onnx.Softmax"), {f32(0, {2})}, {open_f32(1)}, "named"));
  EXPECT_THROWS(op(0, "onnx.Sotfmax", {}, {}), tenfold_unimplemented);
}

TEST(CppOp, EveryAttributeOfEveryType) {
  op one(0, op::kind::Wildcard);
  for (const auto attribute :
       {op::attr::alpha, op::attr::beta, op::attr::epsilon, op::attr::max, op::attr::min, op::attr::momentum})
    one.set_attr<float>(attribute, 1.0F);
  one.set_attr<std::vector<float>>(op::attr::scales, {1.0F, 2.0F});
  for (const auto attribute : {op::attr::axis, op::attr::begin_norm_axis, op::attr::groups})
    one.set_attr<std::int64_t>(attribute, 1);
  for (const auto attribute :
       {op::attr::axes, op::attr::dilations, op::attr::dst_shape, op::attr::kernel, op::attr::order,
        op::attr::output_padding, op::attr::pads_begin, op::attr::pads_end, op::attr::shape, op::attr::sizes,
        op::attr::src_shape, op::attr::strides, op::attr::weights_shape, op::attr::zps, op::attr::group_shape})
    one.set_attr<std::vector<std::int64_t>>(attribute, {1, 2});
  for (const auto attribute :
       {op::attr::exclude_pad, op::attr::keep_dims, op::attr::keep_stats, op::attr::per_channel_broadcast,
        op::attr::special_zero, op::attr::transpose_a, op::attr::transpose_b, op::attr::use_affine, op::attr::use_dst})
    one.set_attr<bool>(attribute, true);
  for (const auto attribute : {op::attr::auto_broadcast, op::attr::auto_pad, op::attr::coordinate_transformation_mode,
                               op::attr::data_format, op::attr::mode, op::attr::qtype, op::attr::rounding_type,
                               op::attr::weights_format, op::attr::accumulation_mode})
    one.set_attr<std::string>(attribute, "text");
  one.set_attr<std::int64_t>(op::attr::keepdims, 1).set_attr<std::int64_t>("select_last_index", 0);
  EXPECT_THROWS(one.set_attr<bool>(op::attr::undef, true), tenfold_invalid_arguments);
  EXPECT_THROWS(one.set_attr<bool>(op::attr::end, true), tenfold_invalid_arguments);
  EXPECT_THROWS(one.set_attr<bool>("", true), tenfold_invalid_arguments);
}

TEST(CppOp, RefusesTensorsThatAreNone) {
  op one(0, op::kind::Abs);
  EXPECT_THROWS(one.add_input(logical_tensor()), tenfold_invalid_data_type);
  EXPECT_THROWS(one.add_input(logical_tensor(0, data_type::f32, dims{2}, std::size_t{1})), tenfold_unimplemented);
  EXPECT_THROWS(one.add_output(f32(std::numeric_limits<std::size_t>::max(), {2})), tenfold_invalid_arguments);
  EXPECT_THROWS(op(std::numeric_limits<std::size_t>::max(), op::kind::Abs), tenfold_invalid_arguments);
}

TEST(CppHandle, EmptyOnesThrowAndCopiesShare) {
  const partition none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.get(true), nullptr);
  EXPECT_THROWS(none.get(), tenfold_invalid_arguments);
  EXPECT_THROWS(none.get_ops(), tenfold_invalid_arguments);
  EXPECT_THROWS(compiled_partition().explain(), tenfold_invalid_arguments);
  const op one(0, op::kind::Abs), same = one;
  EXPECT_EQ(one, same);
  EXPECT_NE(one, op(0, op::kind::Abs));
}

}  // namespace
}  // namespace tenfold::test
