// SPDX-License-Identifier: Apache-2.0
//
// .npy files: what is written is read back, NumPy's variants are understood, hostile files are errors.
#include "tools/npy.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace tenfold::tools {
namespace {

std::string temp_path() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  return testing::TempDir() + "tenfold_" + test->test_suite_name() + "_" + test->name() + ".npy";
}

/// A header of version `major` around `dict`, followed by `data`.
std::string npy(const std::string& dict, const std::string& data = "", int major = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(major);
  text += '\0';
  for (std::size_t i = 0; i < (major == 1 ? 2U : 4U); ++i) text += static_cast<char>(dict.size() >> (8 * i) & 0xFF);
  return text + dict + data;
}

Result<NpyHeader> parse(const std::string& bytes) { return parse_npy_header(std::span(bytes.data(), bytes.size())); }

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

TEST(Npy, RoundTripsEveryDtypeRankAndStride) {
  const std::string path = temp_path();
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::s8, DType::u8, DType::s16,
                            DType::u16, DType::s32, DType::u32, DType::s64, DType::u64, DType::boolean}) {
    for (const TensorDesc& desc : {TensorDesc{dtype, {}, {}}, TensorDesc{dtype, {5}, {}}, TensorDesc{dtype, {0, 3}, {}},
                                   TensorDesc{dtype, {2, 3, 4}, {1, 2, 6}}, TensorDesc{dtype, {3, 2}, {5, 2}}}) {
      Result<Tensor> tensor = make_tensor(desc);
      ASSERT_TRUE(tensor.ok());
      for_each_element(desc, [&](std::int64_t index, std::int64_t offset) {
        const auto size = static_cast<std::size_t>(byte_size(dtype));
        std::memset(static_cast<char*>(tensor.value().data()) + offset * byte_size(dtype), static_cast<int>(index % 2),
                    size);
      });
      const Status written = write_npy(path, tensor.value());
      ASSERT_TRUE(written.ok()) << written.message();
      const Result<Tensor> read = read_npy(path, desc);
      ASSERT_TRUE(read.ok()) << read.status().message();
      EXPECT_EQ(read.value().desc.shape, desc.shape);
      for_each_element(desc, [&](std::int64_t, std::int64_t offset) {
        EXPECT_EQ(std::memcmp(static_cast<const char*>(read.value().data()) + offset * byte_size(dtype),
                              static_cast<const char*>(tensor.value().data()) + offset * byte_size(dtype),
                              static_cast<std::size_t>(byte_size(dtype))),
                  0);
      });
    }
  }
}

TEST(Npy, FortranOrderIsTransposedOnReading) {
  const std::string path = temp_path();
  const std::string data{1, 4, 2, 5, 3, 6};
  write_file(path, npy("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }\n", data));
  const Result<Tensor> read = read_npy(path, {DType::s8, {2, 3}, {}});
  ASSERT_TRUE(read.ok()) << read.status().message();
  const auto* elements = static_cast<const std::int8_t*>(read.value().data());
  EXPECT_EQ(std::vector<std::int8_t>(elements, elements + 6), (std::vector<std::int8_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, Bf16IsTwoByteVoidsOrU16) {
  for (const char* descr : {"<V2", "|V2", "<u2"}) {
    const auto header = parse(npy(std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (1,)}"));
    ASSERT_TRUE(header.ok()) << header.status().message();
    EXPECT_TRUE(npy_matches(header.value(), DType::bf16));
    EXPECT_FALSE(npy_matches(header.value(), DType::f16));
  }
}

TEST(Npy, VersionsAndSpellings) {
  for (const int major : {1, 2, 3}) {
    const auto header = parse(npy("{'shape':(3L,1L),'fortran_order':False,\"descr\":'<f4'}", "", major));
    ASSERT_TRUE(header.ok()) << header.status().message();
    EXPECT_EQ(header.value().desc.shape, (Dims{3, 1}));
  }
}

TEST(Npy, TheMachinesOwnOrderIsLittleEndian) {
  const auto typed = [](const std::string& descr) {
    return parse(npy("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (3,), }"));
  };
  for (const std::string kind : {"f4", "f8", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "b1", "V2"}) {
    const auto own = typed("=" + kind), little = typed("<" + kind);
    ASSERT_TRUE(own.ok()) << own.status().message();
    ASSERT_TRUE(little.ok()) << little.status().message();
    EXPECT_EQ(own.value().desc, little.value().desc) << kind;
  }
  const auto complex = typed("=c8");
  ASSERT_FALSE(complex.ok());
  EXPECT_NE(complex.status().message().find("'=c8'"), std::string::npos) << complex.status().message();
}

struct Hostile {
  std::string bytes;
  const char* part;
};

TEST(Npy, HostileHeadersAreErrors) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
  const auto shaped = [](const std::string& shape) {
    return npy("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }");
  };
  const auto typed = [](const std::string& descr) {
    return npy("{'descr': " + descr + ", 'fortran_order': False, 'shape': (3,), }");
  };
  const std::vector<Hostile> all{
      {"", "does not start"},
      {"PK\x03\x04 a zip archive", "does not start"},
      {"\x93NUMPY", "first 10 bytes"},
      {npy(good, "", 4), "version 4"},
      {npy(good, "", 0), "version 0"},
      {npy(good).substr(0, 40), "within its header"},
      {std::string("\x93NUMPY\2\0\xFF\xFF\xFF\xFF", 12), "above 65536"},
      {npy(""), "no dict"},
      {npy("[1, 2]"), "no dict"},
      {npy("{'descr': '<f4'"), "expected"},
      {npy("{'descr': '<f4'}"), "lacks"},
      {npy("{}"), "lacks"},
      {npy(good + "x"), "goes on"},
      {npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}"), "twice"},
      {npy("{'evil': '<f4'}"), "'evil'"},
      {npy("{'descr': '<f4, }"), "no string"},
      {npy("{'fortran_order': Maybe}"), "neither True nor False"},
      {npy(std::string("{\0}", 3)), "zero byte"},
      {shaped("3"), "no tuple"},
      {shaped("(3"), "expected"},
      {shaped("(3 4)"), "expected"},
      {shaped("(-1,)"), "expected a dim"},
      {shaped("(,)"), "expected a dim"},
      {shaped("(99999999999999999999,)"), "above 2^63"},
      {shaped("(9223372036854775807, 2)"), "2^47"},
      {shaped("(0, 4611686018427387904)"), "2^47"},
      {shaped("(1,1,1,1,1,1,1,1,1,1,1,1,1)"), "rank 13"},
      {typed("'>f4'"), "big-endian"},
      {typed("'|O'"), "no counterpart"},
      {typed("'<c8'"), "no counterpart"},
      {typed("''"), "no counterpart"},
      {typed("[('a', '<f4')]"), "structured"},
  };
  for (const Hostile& hostile : all) {
    const auto header = parse(hostile.bytes);
    ASSERT_FALSE(header.ok()) << hostile.part;
    EXPECT_NE(header.status().message().find(hostile.part), std::string::npos)
        << "expected '" << hostile.part << "' in: " << header.status().message();
  }
}

TEST(Npy, EveryTruncationOfAFileIsAnError) {
  const std::string path = temp_path();
  const std::string whole = npy("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }\n", "abc");
  for (std::size_t n = 0; n < whole.size(); ++n) {
    write_file(path, whole.substr(0, n));
    EXPECT_FALSE(read_npy(path, {DType::u8, {3}, {}}).ok()) << n;
  }
  write_file(path, whole + "d");
  const auto longer = read_npy(path, {DType::u8, {3}, {}});
  ASSERT_FALSE(longer.ok());
  EXPECT_NE(longer.status().message().find("asks for"), std::string::npos) << longer.status().message();
  write_file(path, whole);
  EXPECT_TRUE(read_npy(path, {DType::u8, {3}, {}}).ok());
}

TEST(Npy, FilesThatAreNoFiles) {
  for (const std::string& path : {std::string("/dev/zero"), testing::TempDir(), testing::TempDir() + "no_such.npy"})
    EXPECT_EQ(read_npy(path, {DType::u8, {3}, {}}).status().code(), Code::invalid_file) << path;
}

}  // namespace
}  // namespace tenfold::tools
