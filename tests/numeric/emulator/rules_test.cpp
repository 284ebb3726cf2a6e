// SPDX-License-Identifier: Apache-2.0
//
// What the emulator must refuse, and the rules of opmasks and memory that no other form can be compared with: expected
// values are written out by hand.
#include "snippet.hpp"

namespace tenfold::emulator {
namespace {

using namespace Xbyak::util;

class Rules : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
    for (std::size_t i = 0; i < data_.size(); ++i) data_[i] = static_cast<std::uint32_t>(100 + i);
  }

  /// Runs the generator's code with rdi at `data_`, of which `allowed` elements from the start may be touched.
  Status run(std::size_t allowed, Access access = Access::read_write, target::Isa isa = target::Isa::avx512_core,
             std::int64_t limit = 10'000) {
    emulator_ = std::make_unique<Emulator>(std::span<const std::uint8_t>{g_.getCode(), g_.getSize()}, isa);
    emulator_->memory().allow(data_.data(), allowed * 4, access, "data");
    emulator_->set_step_limit(limit);
    return emulator_->run(data_.data());
  }
  void expect_refused(const Status& status, const std::string& what) {
    EXPECT_EQ(status.code(), Code::internal_error);
    EXPECT_NE(status.message().find(what), std::string::npos) << status.message();
  }
  std::uint32_t lane(int reg, int i) const {
    return emulator_->machine().vector[static_cast<std::size_t>(reg)].get<std::uint32_t>(i);
  }

  Xbyak::CodeGenerator g_{4096, Xbyak::DontSetProtectRWE};
  alignas(64) std::array<std::uint32_t, 64> data_{};
  std::unique_ptr<Emulator> emulator_;
};

TEST_F(Rules, ReadPastTheEndIsNamedWithInstructionAndDistance) {
  g_.nop();
  g_.vmovups(zmm3, ptr[rdi + 4]);
  g_.ret();
  const Status status = run(16);
  expect_refused(status, "emulated '+0x1 vmovups zmm3, zmmword ptr [rdi+0x04]': read of 64 bytes at 0x");
  expect_refused(status, "crosses an end of 'data'");
}

TEST_F(Rules, ReadBeforeTheStartIsRefused) {
  g_.movzx(eax, byte[rdi - 1]);
  g_.ret();
  expect_refused(run(16), "1 bytes before 'data'");
}

TEST_F(Rules, WriteToReadOnlyIsRefused) {
  g_.vmovss(ptr[rdi], xmm0);
  g_.ret();
  expect_refused(run(16, Access::read), "write of 4 bytes");
}

TEST_F(Rules, NullIsRefused) {
  g_.xor_(eax, eax);
  g_.mov(rcx, ptr[rax]);
  g_.ret();
  expect_refused(run(16), "at 0x0 is outside every range");
}

TEST_F(Rules, MaskedOutLanesAreNotAccessed) {
  g_.mov(eax, 0x0007);
  g_.kmovw(k1, eax);
  g_.vmovups(zmm0 | k1 | Xbyak::util::T_z, ptr[rdi]);
  g_.vmovups(ptr[rdi + 12] | k1, zmm0);
  g_.ret();
  ASSERT_TRUE(run(6).ok());
  EXPECT_EQ(lane(0, 2), 102U);
  EXPECT_EQ(lane(0, 3), 0U);
  EXPECT_EQ(data_[5], 102U);
  EXPECT_EQ(data_[6], 106U);
}

TEST_F(Rules, MaskedInLanesAre) {
  g_.mov(eax, 0x0008);
  g_.kmovw(k1, eax);
  g_.vmovups(zmm0 | k1 | Xbyak::util::T_z, ptr[rdi]);
  g_.ret();
  expect_refused(run(3), "read of 4 bytes");
}

TEST_F(Rules, AvxMasksSpareMemoryToo) {
  g_.vpcmpeqd(ymm1, ymm1, ymm1);
  g_.vpsrldq(xmm1, xmm1, 8);
  g_.vmovdqa(xmm1, xmm1);
  g_.vpmaskmovd(ymm0, ymm1, ptr[rdi]);
  g_.ret();
  ASSERT_TRUE(run(2, Access::read, target::Isa::avx2).ok());
  EXPECT_EQ(lane(0, 1), 101U);
  EXPECT_EQ(lane(0, 2), 0U);
}

TEST_F(Rules, ConvertingLoadsAreMaskedByTheirResult) {
  g_.mov(eax, 1);
  g_.kmovw(k1, eax);
  g_.vpmovzxwd(zmm0 | k1 | Xbyak::util::T_z, ptr[rdi]);
  g_.vpmovdw(ptr[rdi + 2] | k1, zmm0);
  g_.ret();
  ASSERT_TRUE(run(1).ok());
  EXPECT_EQ(lane(0, 0), 100U);
  EXPECT_EQ(data_[0], 100U | 100U << 16);
}

TEST_F(Rules, ConvertingStoresAreMaskedByTheirResult) {
  data_ = {0x3f80'0000, 0x4000'0000, 0x1234'5678};
  g_.mov(eax, 3);
  g_.kmovw(k1, eax);
  g_.vmovups(zmm0 | k1 | Xbyak::util::T_z, ptr[rdi]);
  g_.vcvtps2ph(ptr[rdi + 8] | k1, zmm0, 0);
  g_.vpmovdb(ptr[rdi + 2] | k1, zmm0);
  g_.vcvtph2ps(zmm1 | k1 | Xbyak::util::T_z, ptr[rdi + 8]);
  g_.ret();
  const Status status = run(3);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(data_[0], 0U);
  EXPECT_EQ(data_[1], 0x4000'0000U);
  EXPECT_EQ(data_[2], 0x4000'3c00U);
  EXPECT_EQ(lane(1, 0), 0x3f80'0000U);
  EXPECT_EQ(lane(1, 1), 0x4000'0000U);
  EXPECT_EQ(lane(1, 2), 0U);
}

TEST_F(Rules, BroadcastsFromGeneralRegisters) {
  g_.mov(rax, 0x123456789abcdef0);
  g_.vpbroadcastd(zmm0, eax);
  g_.vpbroadcastq(zmm1, rax);
  g_.ret();
  ASSERT_TRUE(run(0).ok());
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(lane(0, i), 0x9abc'def0U);
    EXPECT_EQ(lane(1, i), i % 2 == 0 ? 0x9abc'def0U : 0x1234'5678U);
  }
}

TEST_F(Rules, DivisionFaultsAreErrors) {
  g_.xor_(ecx, ecx);
  g_.xor_(edx, edx);
  g_.div(rcx);
  expect_refused(run(0), "division by zero");
  g_.reset();
  g_.mov(eax, 0x80000000);
  g_.mov(ecx, -1);
  g_.cdq();
  g_.idiv(ecx);
  expect_refused(run(0), "the quotient does not fit");
  g_.reset();
  g_.mov(edx, 7);
  g_.mov(ecx, 7);
  g_.div(ecx);
  expect_refused(run(0), "the quotient does not fit");
}

TEST_F(Rules, DivisionGivesTheLeastInteger) {
  g_.mov(rax, 0x8000000000000000);
  g_.mov(ecx, 1);
  g_.cqo();
  g_.idiv(rcx);
  g_.ret();
  ASSERT_TRUE(run(0).ok());
  EXPECT_EQ(emulator_->machine().gpr[kRax], 0x8000000000000000U);
  EXPECT_EQ(emulator_->machine().gpr[kRdx], 0U);
}

TEST_F(Rules, EmbeddedBroadcastReadsOneElement) {
  g_.vpxord(zmm1, zmm1, zmm1);
  g_.vpaddd(zmm0, zmm1, ptr_b[rdi + 8]);
  g_.ret();
  ASSERT_TRUE(run(3, Access::read).ok());
  for (int i = 0; i < 16; ++i) EXPECT_EQ(lane(0, i), 102U);
}

TEST_F(Rules, VexClearsUpToBit511) {
  g_.vpternlogd(zmm0, zmm0, zmm0, 0xff);
  g_.vpternlogd(zmm5, zmm5, zmm5, 0xff);
  g_.vaddps(xmm0, xmm0, xmm0);
  g_.vmovdqa(ymm5, ymm5);
  g_.ret();
  ASSERT_TRUE(run(1).ok());
  EXPECT_NE(lane(0, 3), 0U);
  EXPECT_EQ(lane(0, 4), 0U);
  EXPECT_EQ(lane(5, 7), 0xffff'ffffU);
  EXPECT_EQ(lane(5, 8), 0U);
}

TEST_F(Rules, VzeroupperSparesTheUpperRegisters) {
  g_.vpternlogd(zmm0, zmm0, zmm0, 0xff);
  g_.vpternlogd(zmm16, zmm16, zmm16, 0xff);
  g_.vzeroupper();
  g_.ret();
  ASSERT_TRUE(run(1).ok());
  EXPECT_EQ(lane(0, 3), 0xffff'ffffU);
  EXPECT_EQ(lane(0, 4), 0U);
  EXPECT_EQ(lane(16, 15), 0xffff'ffffU);
}

TEST_F(Rules, OpmaskArithmetic) {
  g_.mov(eax, 0xa5f0);
  g_.kmovw(k1, eax);
  g_.knotw(k2, k1);
  g_.kshiftrw(k3, k1, 4);
  g_.kandw(k4, k1, k2);
  g_.korw(k5, k1, k2);
  g_.kortestw(k5, k5);
  g_.setc(al);
  g_.kortestw(k4, k4);
  g_.setz(cl);
  g_.kshiftlb(k6, k1, 1);
  g_.kunpckbw(k7, k3, k1);
  g_.ret();
  ASSERT_TRUE(run(1).ok());
  const auto& k = emulator_->machine().opmask;
  EXPECT_EQ(k[2], 0x5a0fU);
  EXPECT_EQ(k[3], 0x0a5fU);
  EXPECT_EQ(k[4], 0U);
  EXPECT_EQ(k[5], 0xffffU);
  EXPECT_EQ(k[6], 0xe0U);
  EXPECT_EQ(k[7], 0x5ff0U);
  EXPECT_EQ(emulator_->machine().gpr[kRax] & 0xff, 1U);
  EXPECT_EQ(emulator_->machine().gpr[kRcx] & 0xff, 1U);
}

TEST_F(Rules, OpmaskToVectorAndBack) {
  g_.mov(eax, 0x8001);
  g_.kmovw(k1, eax);
  g_.vpmovm2d(zmm0, k1);
  g_.vpmovd2m(k2, zmm0);
  g_.ret();
  ASSERT_TRUE(run(1).ok());
  EXPECT_EQ(lane(0, 0), 0xffff'ffffU);
  EXPECT_EQ(lane(0, 1), 0U);
  EXPECT_EQ(emulator_->machine().opmask[2], 0x8001U);
}

TEST_F(Rules, OpmaskToVectorAndBackByWidth) {
  g_.mov(eax, 0x0182);
  g_.kmovd(k1, eax);
  g_.vpmovm2q(zmm0, k1);
  g_.vpmovm2d(ymm1, k1);
  g_.vpmovq2m(k2, zmm0);
  g_.vpmovd2m(k3, ymm1);
  g_.vpmovw2m(k4, xmm1);
  g_.ret();
  ASSERT_TRUE(run(1).ok());
  const Machine& m = emulator_->machine();
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(lane(0, i), i / 2 == 1 || i / 2 == 7 ? 0xffff'ffffU : 0U);
    EXPECT_EQ(lane(1, i), i == 1 || i == 7 ? 0xffff'ffffU : 0U);
  }
  EXPECT_EQ(m.opmask[2], 0x82U);
  EXPECT_EQ(m.opmask[3], 0x82U);
  EXPECT_EQ(m.opmask[4], 0x0cU);
}

TEST_F(Rules, PermutesAcrossPieces) {
  g_.vmovups(zmm1, ptr[rdi]);
  g_.vmovups(zmm2, ptr[rdi + 64]);
  g_.vshuff32x4(zmm3, zmm1, zmm2, 0b01'00'11'10);
  g_.valignd(zmm4, zmm2, zmm1, 3);
  g_.vextractf64x4(ymm5, zmm1, 1);
  g_.vinserti32x4(zmm6, zmm1, xmm2, 2);
  g_.mov(eax, 31);
  g_.vpbroadcastd(zmm7, eax);
  g_.vpermt2d(zmm1, zmm7, zmm2);
  g_.vbroadcastf32x4(zmm8, ptr[rdi]);
  g_.vpermd(zmm9, zmm7, zmm2);
  g_.ret();
  ASSERT_TRUE(run(32, Access::read).ok());
  EXPECT_EQ(lane(3, 0), 108U);
  EXPECT_EQ(lane(3, 4), 112U);
  EXPECT_EQ(lane(3, 8), 116U);
  EXPECT_EQ(lane(3, 12), 120U);
  EXPECT_EQ(lane(4, 0), 103U);
  EXPECT_EQ(lane(4, 13), 116U);
  EXPECT_EQ(lane(5, 0), 108U);
  EXPECT_EQ(lane(6, 8), 116U);
  EXPECT_EQ(lane(6, 12), 112U);
  EXPECT_EQ(lane(1, 5), 131U);
  EXPECT_EQ(lane(8, 14), 102U);
  EXPECT_EQ(lane(9, 0), 131U);
}

TEST_F(Rules, BfloatConversionRoundsToEvenAndFlushesDenormals) {
  data_[0] = 0x3f80'8000;
  data_[1] = 0x3f81'8000;
  data_[2] = 0x7f80'0001;
  data_[3] = 0x8000'0001;
  g_.vmovups(xmm1, ptr[rdi]);
  g_.vcvtneps2bf16(xmm0, xmm1);
  g_.ret();
  expect_refused(run(4), "AVX512_BF16_128 in a kernel for avx512_core");
  ASSERT_TRUE(run(4, Access::read, target::Isa::avx512_core_bf16).ok());
  EXPECT_EQ(lane(0, 0), 0x3f82'3f80U);
  EXPECT_EQ(lane(0, 1), 0x8000'7fc0U);
  EXPECT_EQ(lane(0, 2), 0U);
}

TEST_F(Rules, BytesArePermutedFromMemoryWhereFp16Is) {
  for (std::uint32_t at = 0; at < 8; ++at) data_[at] = 0x03020100 + 0x04040404 * at;
  // Indices from the end on, beyond the 32 bytes in their upper bits.
  for (std::uint32_t at = 0; at < 8; ++at) data_[8 + at] = 0xdcdddedf - 0x04040404 * at;
  g_.vmovups(ymm1, ptr[rdi + 32]);
  g_.vpermb(ymm0, ymm1, ptr[rdi]);
  g_.vpermb(ymm2, ymm1, ymm0);
  g_.ret();
  expect_refused(run(16), "AVX512_VBMI_256 in a kernel for avx512_core");
  ASSERT_TRUE(run(16, Access::read, target::Isa::avx512_core_fp16).ok());
  EXPECT_EQ(lane(0, 0), 0x1c1d1e1fU);
  EXPECT_EQ(lane(0, 7), 0x00010203U);
  EXPECT_EQ(lane(2, 0), 0x03020100U);
  EXPECT_EQ(lane(2, 7), 0x1f1e1d1cU);
}

TEST_F(Rules, IsaLeaksAreFound) {
  g_.vaddps(xmm17, xmm1, xmm2);
  g_.ret();
  expect_refused(run(1, Access::read, target::Isa::avx2), "AVX512F_128 in a kernel for avx2");
  g_.reset();
  g_.kmovw(k1, eax);
  g_.ret();
  expect_refused(run(1, Access::read, target::Isa::avx2), "AVX512F_KOP");
  g_.reset();
  g_.addps(xmm0, xmm1);
  g_.ret();
  expect_refused(run(1), "instruction of set SSE ");
}

TEST_F(Rules, UnknownInstructionIsNamed) {
  g_.rdtsc();
  g_.ret();
  EXPECT_FALSE(run(1).ok());
  g_.reset();
  g_.vhaddps(xmm0, xmm0, xmm0);
  g_.ret();
  expect_refused(run(1), "vhaddps xmm0, xmm0, xmm0': the emulator does not know");
}

TEST_F(Rules, StackPointerMovesOnlyAsAllowed) {
  g_.lea(rsp, ptr[rsp - 64]);
  g_.add(rsp, 64);
  g_.ret();
  expect_refused(run(1), "lea rsp, [rsp-0x40]': the stack pointer moves other than");
  g_.reset();
  g_.sub(rsp, 8);
  g_.pop(rax);
  g_.push(rbx);
  g_.pop(rbx);
  g_.ret();
  EXPECT_TRUE(run(1).ok());
}

TEST_F(Rules, UnbalancedStackIsFound) {
  g_.push(rbx);
  g_.ret();
  EXPECT_FALSE(run(1).ok());
}

TEST_F(Rules, CallersFrameMayNotBeTouched) {
  g_.mov(rax, ptr[rsp + 8]);
  g_.ret();
  expect_refused(run(1), "outside every range");
}

TEST_F(Rules, CalleeSavedRegistersMustBeRestored) {
  g_.xor_(r13, r13);
  g_.ret();
  expect_refused(run(1), "callee-saved register 13 is not restored");
}

TEST_F(Rules, EndlessLoopEnds) {
  Xbyak::Label again;
  g_.L(again);
  g_.jmp(again);
  expect_refused(run(1), "limit of 10000 steps");
}

TEST_F(Rules, ConstantsInTheCodeAreReadable) {
  Xbyak::Label table;
  g_.vbroadcastss(zmm0, ptr[rip + table]);
  g_.ret();
  g_.align(4);
  g_.L(table);
  g_.dd(77);
  ASSERT_TRUE(run(1).ok());
  EXPECT_EQ(lane(0, 15), 77U);
}

TEST_F(Rules, CodeIsNotWritable) {
  Xbyak::Label here;
  g_.L(here);
  g_.mov(dword[rip + here], 1);
  g_.ret();
  expect_refused(run(1), "read-only range 'code'");
}

TEST_F(Rules, ComputedJumpsWork) {
  Xbyak::Label target;
  g_.lea(rax, ptr[rip + target]);
  g_.jmp(rax);
  g_.ud2();
  g_.L(target);
  g_.ret();
  EXPECT_TRUE(run(1).ok());
}

TEST_F(Rules, AlignedMovesCheckTheirAddress) {
  g_.vmovaps(ymm0, ptr[rdi + 4]);
  g_.ret();
  expect_refused(run(64), "is not aligned to 32 bytes");
}

}  // namespace
}  // namespace tenfold::emulator
