// SPDX-License-Identifier: Apache-2.0
//
// Instructions of lane operations that AVX2 and AVX-512 write alike, by the width of lanes; for avx2_operation.cpp
// and avx512_operation.cpp alone.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "jit/assembler/assembler.hpp"
#include "jit/lane/lane.hpp"

namespace tenfold::jit {

using EmitInteger = void (Xbyak::CodeGenerator::*)(const Xbyak::Xmm&, const Xbyak::Xmm&, const Xbyak::Operand&);
using EmitReal = void (Xbyak::CodeGenerator::*)(const Xbyak::Xmm&, const Xbyak::Operand&, const Xbyak::Operand&);
using EmitShift = void (Xbyak::CodeGenerator::*)(const Xbyak::Xmm&, const Xbyak::Operand&, std::uint8_t);

/// Of instructions for lanes of 8, 16, 32 and 64 bits.
template <class Instruction>
constexpr Instruction of_width(const Instruction (&instructions)[4], int bytes) {
  return instructions[std::countr_zero(static_cast<unsigned>(bytes))];
}

/// One instruction of two sources; null where there is none of that width.
template <class Instruction>
struct TwoRow {
  LaneOp op;
  bool commutes;
  Instruction instructions[4];
};

/// Null: the table has not the operation.
template <class Row, std::size_t n>
constexpr const Row* find_row(const Row (&rows)[n], LaneOp op) {
  for (const Row& row : rows)
    if (row.op == op) return &row;
  return nullptr;
}

namespace instructions {

using G = Xbyak::CodeGenerator;

inline constexpr TwoRow<EmitReal> kReal[] = {
    {LaneOp::add, true, {nullptr, nullptr, &G::vaddps, &G::vaddpd}},
    {LaneOp::subtract, false, {nullptr, nullptr, &G::vsubps, &G::vsubpd}},
    {LaneOp::multiply, true, {nullptr, nullptr, &G::vmulps, &G::vmulpd}},
    {LaneOp::divide, false, {nullptr, nullptr, &G::vdivps, &G::vdivpd}},
    {LaneOp::lesser, false, {nullptr, nullptr, &G::vminps, &G::vminpd}},
    {LaneOp::greater, false, {nullptr, nullptr, &G::vmaxps, &G::vmaxpd}},
};

/// Of 64 bits, AVX2 has sums, differences and shifts that bring in zeros.
inline constexpr TwoRow<EmitInteger> kInteger[] = {
    {LaneOp::add, true, {&G::vpaddb, &G::vpaddw, &G::vpaddd, &G::vpaddq}},
    {LaneOp::subtract, false, {&G::vpsubb, &G::vpsubw, &G::vpsubd, &G::vpsubq}},
    {LaneOp::multiply, true, {nullptr, &G::vpmullw, &G::vpmulld, &G::vpmullq}},
    {LaneOp::shift_left_by, false, {nullptr, nullptr, &G::vpsllvd, &G::vpsllvq}},
    {LaneOp::shift_right_by, false, {nullptr, nullptr, &G::vpsrlvd, &G::vpsrlvq}},
    {LaneOp::shift_right_arithmetic_by, false, {nullptr, nullptr, &G::vpsravd, &G::vpsravq}},
    {LaneOp::greatest_signed, true, {&G::vpmaxsb, &G::vpmaxsw, &G::vpmaxsd, &G::vpmaxsq}},
    {LaneOp::greatest_unsigned, true, {&G::vpmaxub, &G::vpmaxuw, &G::vpmaxud, &G::vpmaxuq}},
    {LaneOp::least_signed, true, {&G::vpminsb, &G::vpminsw, &G::vpminsd, &G::vpminsq}},
    {LaneOp::least_unsigned, true, {&G::vpminub, &G::vpminuw, &G::vpminud, &G::vpminuq}},
};

/// Shifts by a number of bits, from LaneOp::shift_left on.
inline constexpr EmitShift kShifts[][4] = {{nullptr, &G::vpsllw, &G::vpslld, &G::vpsllq},
                                           {nullptr, &G::vpsrlw, &G::vpsrld, &G::vpsrlq},
                                           {nullptr, &G::vpsraw, &G::vpsrad, &G::vpsraq}};

constexpr EmitShift shift(LaneOp op, int bytes) {
  return of_width(kShifts[static_cast<std::size_t>(op) - static_cast<std::size_t>(LaneOp::shift_left)], bytes);
}

}  // namespace instructions
}  // namespace tenfold::jit
