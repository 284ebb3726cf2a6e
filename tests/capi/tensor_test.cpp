// SPDX-License-Identifier: Apache-2.0
//
// Logical tensors: what the initialisers write, sizes in bytes, equality; and the numbers of the enumerators, which are
// the ABI.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

#include "tests/capi/small_graph.hpp"

namespace tenfold::test {
namespace {

std::size_t size_of(const tenfold_logical_tensor_t& tensor) {
  std::size_t size = 12345;
  EXPECT_OK(tenfold_logical_tensor_get_mem_size(&tensor, &size));
  return size;
}

TEST(CTensor, HasOneLayoutForEver) {
  EXPECT_EQ(sizeof(tenfold_logical_tensor_t), 216U);
  EXPECT_EQ(offsetof(tenfold_logical_tensor_t, ndims), 8U);
  EXPECT_EQ(offsetof(tenfold_logical_tensor_t, data_type), 12U);
  EXPECT_EQ(offsetof(tenfold_logical_tensor_t, dims), 16U);
  EXPECT_EQ(offsetof(tenfold_logical_tensor_t, property), 112U);
  EXPECT_EQ(offsetof(tenfold_logical_tensor_t, layout_type), 116U);
  EXPECT_EQ(offsetof(tenfold_logical_tensor_t, strides), 120U);
  EXPECT_EQ(offsetof(tenfold_compile_options_t, output_count), 48U) << "its size in the first version";
  EXPECT_EQ(offsetof(tenfold_compile_options_t, tuning_file), 64U);
  EXPECT_EQ(sizeof(tenfold_compile_options_t), 72U);
  EXPECT_EQ(sizeof(tenfold_execute_options_t), 40U);
  EXPECT_EQ(sizeof(tenfold_inplace_port_t), 16U);
  EXPECT_EQ(sizeof(tenfold_thread_pool_t), 32U);
  EXPECT_EQ(sizeof(tenfold_allocator_t), 32U);
  EXPECT_EQ(sizeof(tenfold_onnx_options_t), 24U);
}

TEST(CTensor, StatusesHaveTheNumbersAndNamesOfOneDnnGraph) {
  const char* const names[] = {"success",           "out_of_memory", "invalid_arguments", "unimplemented",
                               "last_impl_reached", "runtime_error", "not_required",      "invalid_graph",
                               "invalid_graph_op",  "invalid_shape", "invalid_data_type"};
  for (int number = 0; number <= 10; ++number)
    EXPECT_STREQ(tenfold_status_to_string(static_cast<tenfold_status_t>(number)), names[number]);
  EXPECT_STREQ(tenfold_status_to_string(static_cast<tenfold_status_t>(11)), "unknown");
  EXPECT_STREQ(tenfold_status_to_string(tenfold_status_max), "unknown");
}

TEST(CTensor, SizesOfEveryDtype) {
  const std::pair<tenfold_data_type_t, std::size_t> bits[] = {
      {tenfold_f16, 16}, {tenfold_bf16, 16}, {tenfold_f32, 32},    {tenfold_s32, 32},    {tenfold_s8, 8},
      {tenfold_u8, 8},   {tenfold_f64, 64},  {tenfold_boolean, 8}, {tenfold_f8_e5m2, 8}, {tenfold_f8_e4m3, 8},
      {tenfold_s4, 4},   {tenfold_u4, 4},    {tenfold_s64, 64},    {tenfold_s16, 16},    {tenfold_u16, 16},
      {tenfold_u32, 32}, {tenfold_u64, 64}};
  for (const auto& [data_type, width] : bits) {
    EXPECT_EQ(size_of(tensor(0, data_type, {3, 5})), (15 * width + 7) / 8) << data_type;
    EXPECT_EQ(size_of(tensor(0, data_type, {})), (width + 7) / 8) << data_type;
    EXPECT_EQ(size_of(tensor(0, data_type, {4, 0})), 0U) << data_type;
  }
}

TEST(CTensor, StridesCountInTheSize) {
  const std::int64_t dims[] = {3, 2}, strides[] = {10, 4};
  tenfold_logical_tensor_t t;
  ASSERT_OK(tenfold_logical_tensor_init_with_strides(&t, 5, tenfold_f32, 2, dims, strides, tenfold_property_variable));
  EXPECT_EQ(size_of(t), (2 * 10 + 1 * 4 + 1) * sizeof(float));
  EXPECT_EQ(t.id, 5);
  EXPECT_EQ(t.property, tenfold_property_variable);
}

TEST(CTensor, InitialisersFillEveryField) {
  tenfold_logical_tensor_t t;
  std::memset(&t, 0x5a, sizeof t);
  ASSERT_OK(tenfold_logical_tensor_init(&t, 3, tenfold_bf16, 2, tenfold_layout_type_any, tenfold_property_constant));
  EXPECT_EQ(t.ndims, 2);
  EXPECT_EQ(t.dims[0], TENFOLD_UNKNOWN_DIM);
  EXPECT_EQ(t.dims[1], TENFOLD_UNKNOWN_DIM);
  EXPECT_EQ(t.dims[2], 0);
  EXPECT_EQ(t.strides[11], 0);
  const std::int64_t dims[] = {2, 3, 4};
  ASSERT_OK(tenfold_logical_tensor_init_with_dims(&t, 3, tenfold_bf16, 3, dims, tenfold_layout_type_strided,
                                                  tenfold_property_host_scalar));
  EXPECT_EQ(t.strides[0], 12);
  EXPECT_EQ(t.strides[1], 4);
  EXPECT_EQ(t.strides[2], 1);
}

TEST(CTensor, Equality) {
  const auto equal = [](const tenfold_logical_tensor_t& a, const tenfold_logical_tensor_t& b) {
    std::int32_t is = -1;
    EXPECT_OK(tenfold_logical_tensor_is_equal(&a, &b, &is));
    return is;
  };
  const tenfold_logical_tensor_t t = tensor(1, tenfold_f32, {2, 3});
  EXPECT_EQ(equal(t, t), 1);
  EXPECT_EQ(equal(t, tensor(2, tenfold_f32, {2, 3})), 0);
  EXPECT_EQ(equal(t, tensor(1, tenfold_f16, {2, 3})), 0);
  EXPECT_EQ(equal(t, tensor(1, tenfold_f32, {3, 2})), 0);
  EXPECT_EQ(equal(t, tensor(1, tenfold_f32, {2, 3, 1})), 0);
  tenfold_logical_tensor_t other = t;
  other.strides[0] = 4;
  EXPECT_EQ(equal(t, other), 0);
  other = t;
  other.dims[7] = 9;  // beyond the rank
  other.strides[7] = 9;
  EXPECT_EQ(equal(t, other), 1);
  other.property = tenfold_property_constant;
  EXPECT_EQ(equal(t, other), 0);
  other = t;
  other.layout_type = tenfold_layout_type_any;
  EXPECT_EQ(equal(t, other), 0);
}

TEST(CTensor, BuffersAreAlignedAndLargeEnough) {
  for (const Dims& dims : {Dims{}, Dims{1}, Dims{1000, 7}, Dims{0, 3}}) {
    const tenfold_logical_tensor_t t = tensor(0, tenfold_f64, dims);
    void* buffer = nullptr;
    ASSERT_OK(tenfold_buffer_create(&buffer, &t, nullptr));
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer) % 64, 0U);
    std::memset(buffer, 0, size_of(t));
    EXPECT_OK(tenfold_memory_release(buffer, nullptr));
  }
  EXPECT_OK(tenfold_memory_release(nullptr, nullptr));
}

TEST(CTensor, LargeBuffersBeginWhereHugePagesDo) {
  constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
  for (const std::int64_t elements : {1 << 20, 1300000, 8 << 20}) {
    const tenfold_logical_tensor_t t = tensor(0, tenfold_f32, {elements});
    void* buffer = nullptr;
    ASSERT_OK(tenfold_buffer_create(&buffer, &t, nullptr));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer) % kHugePage, 0U) << elements;
    std::memset(buffer, 0, size_of(t));
    EXPECT_OK(tenfold_memory_release(buffer, nullptr));
  }
}

}  // namespace
}  // namespace tenfold::test
