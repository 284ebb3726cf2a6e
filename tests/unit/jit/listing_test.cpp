// SPDX-License-Identifier: Apache-2.0
//
// Listings of machine code: a golden of given bytes, what a kernel's begins and ends with, names of kernels.
#include "jit/listing.hpp"

#include <gtest/gtest.h>

#include "jit/announce.hpp"
#include "jit/emit.hpp"

namespace tenfold::jit {
namespace {

/// An empty text where there is no disassembler; whether there is one, the library knows.
std::string listed(const std::vector<std::uint8_t>& code) {
  const Result<std::string> text = listing(code);
  return text.ok() ? text.value() : std::string();
}

TEST(Listing, OneInstructionALine) {
  const std::vector<std::uint8_t> code = {0x53, 0xc5, 0xfc, 0x10, 0x06, 0x75, 0xfa, 0x06, 0x5b, 0xc3};
  const Result<std::string> text = listing(code);
  if (!text.ok()) {
    EXPECT_NE(text.status().message().find("libzydis-dev"), std::string::npos);
    GTEST_SKIP() << "NOT RUN: " << text.status().message();
  }
  EXPECT_EQ(text.value(),
            "     0  53                        push rbx\n"
            "     1  c5fc1006                  vmovups ymm0, [rsi]\n"
            "     5  75fa                      jnz 0x0000000000000001\n"
            "     7  06                        db\n"
            "     8  5b                        pop rbx\n"
            "     9  c3                        ret\n");
}

/// What an instruction reads of the code's own is where constants begin, whatever they would be as instructions.
TEST(Listing, ConstantsAreNumbers) {
  const std::vector<std::uint8_t> code = {0xc5, 0xfc, 0x10, 0x05, 0x08, 0,    0, 0, 0xc3, 0x90, 0x90,
                                          0x90, 0x90, 0x90, 0x90, 0x90, 0x00, 0, 0, 0x80, 0x53, 0};
  const std::string text = listed(code);
  if (text.empty()) GTEST_SKIP() << "NOT RUN: no disassembler";
  EXPECT_EQ(text.substr(0, text.find("     9")),
            "     0  c5fc100508000000          vmovups ymm0, [0x0000000000000010]\n"
            "     8  c3                        ret\n");
  EXPECT_EQ(text.substr(text.find("    10")), "    10  dd 80000000 00000053\n");
}

struct Emitted {
  kernel::KernelSpec spec = kernel::parse(
                                "kernel\nspace kept 64, reduced 1024\nin x0 f32 [1024, 1]\nout y0 f32 [1, 0]\n"
                                "%0 = load x0\n%1 = abs %0\n%2 = reduce sum %1\nstore y0 %2\n")
                                .value();
  schedule::Schedule schedule = schedule::parse("avx2 rows level=1 unroll=4").value();
};

TEST(Listing, OfAKernelReturns) {
  const Emitted kernel;
  const Result<EmittedCode> code = emit(kernel.spec, kernel.schedule);
  ASSERT_TRUE(code.ok()) << code.status().message();
  const std::string text = listed(code.value().bytes);
  if (text.empty()) GTEST_SKIP() << "NOT RUN: no disassembler";
  EXPECT_EQ(text.rfind("     0  ", 0), 0U) << text.substr(0, 100);
  EXPECT_EQ(text.find(" db\n"), std::string::npos) << "all is code up to the constants";
  ASSERT_NE(text.find("  dd 7fffffff"), std::string::npos);
  EXPECT_GT(text.find("  dd 7fffffff"), text.find("  ret\n"));
  EXPECT_NE(text.find("vzeroupper"), std::string::npos);
  EXPECT_NE(text.find("  ret\n"), std::string::npos);
}

TEST(KernelName, IsReadableAndTellsClassesApart) {
  Emitted kernel;
  const std::string name = kernel_name(kernel.spec, kernel.schedule, class_key(kernel.spec, kernel.schedule));
  EXPECT_EQ(name.rfind("tenfold_avx2_rows_abs_sum_f32_f32_", 0), 0U) << name;
  EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789"), std::string::npos)
      << "it names files, too";
  kernel.spec.inputs[0].strides[1] = 2;
  EXPECT_NE(kernel_name(kernel.spec, kernel.schedule, class_key(kernel.spec, kernel.schedule)), name);
}

}  // namespace
}  // namespace tenfold::jit
