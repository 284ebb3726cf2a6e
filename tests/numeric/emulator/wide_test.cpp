// SPDX-License-Identifier: Apache-2.0
//
// The 512-bit and masked forms, which many machines cannot run. A lanewise instruction at 512 bits is its 256-bit form
// on each half, and a masked one is its unmasked form with the lanes outside the mask kept or cleared. Where the CPU
// has AVX-512, every form is also compared with it.
#include "snippet.hpp"

namespace tenfold::emulator {
namespace {

using namespace Xbyak::util;

/// Operands 0, 1, 2 of one vector length, halves and quarters of the first two, xmm2, and opmask 2. `d` carries the
/// mask.
struct Registers {
  Xbyak::Ymm d, a, b;
  Xbyak::Xmm half_d, half_a;
  Xbyak::Xmm quarter_d = Xbyak::Xmm(0), quarter_a = Xbyak::Xmm(1);
  Xbyak::Xmm low = Xbyak::Xmm(2);
  Xbyak::Opmask k = Xbyak::Opmask(2);
};

/// How the halves of the result follow from halves of the sources: the result or the source may be as wide as the
/// vector length, half of it, or a quarter.
enum class Kind { same, widen, widen_quarter, narrow, narrow_quarter, compare, blend };

/// Bytes of half a source, and of half a result.
std::size_t half_source(Kind kind) { return kind == Kind::widen ? 16 : kind == Kind::widen_quarter ? 8 : 32; }
std::size_t half_result(Kind kind) { return kind == Kind::narrow ? 16 : kind == Kind::narrow_quarter ? 8 : 32; }

struct Wide {
  const char* name;
  void (*body)(Xbyak::CodeGenerator&, const Registers&);
  int lane_bytes;  ///< of the result, for masks; 0: cannot be masked
  Kind kind;
};

// The text of the call is the row's name, which a function could not have.
#define T_ROW(call, bytes, kind)                                                     \
  {                                                                                  \
#call, [](Xbyak::CodeGenerator & g, const Registers& r) { g.call; }, bytes, kind \
  }

const Wide kWide[] = {
    T_ROW(vaddps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vaddpd(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vsubps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vsubpd(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vmulps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vmulpd(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vdivps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vdivpd(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vmaxps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vmaxpd(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vminps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vminpd(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vandps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vandpd(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vandnps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vandnpd(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vorps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vorpd(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vxorps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vxorpd(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vunpcklps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vunpcklpd(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vunpckhps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vunpckhpd(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vfmadd132ps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vfmadd132pd(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vfmadd213ps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vfmadd213pd(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vfmadd231ps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vfmadd231pd(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vfmsub132ps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vfmsub132pd(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vfmsub213ps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vfmsub213pd(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vfmsub231ps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vfmsub231pd(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vfnmadd132ps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vfnmadd132pd(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vfnmadd213ps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vfnmadd213pd(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vfnmadd231ps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vfnmadd231pd(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vpaddb(r.d, r.a, r.b), 1, Kind::same),
    T_ROW(vpsubb(r.d, r.a, r.b), 1, Kind::same),
    T_ROW(vpmaxsb(r.d, r.a, r.b), 1, Kind::same),
    T_ROW(vpmaxub(r.d, r.a, r.b), 1, Kind::same),
    T_ROW(vpminsb(r.d, r.a, r.b), 1, Kind::same),
    T_ROW(vpminub(r.d, r.a, r.b), 1, Kind::same),
    T_ROW(vpabsb(r.d, r.a), 1, Kind::same),
    T_ROW(vpblendmb(r.d, r.a, r.b), 1, Kind::blend),
    T_ROW(vpbroadcastb(r.d, r.low), 1, Kind::same),
    T_ROW(vpcmpeqb(r.k, r.a, r.b), 1, Kind::compare),
    T_ROW(vpcmpgtb(r.k, r.a, r.b), 1, Kind::compare),
    T_ROW(vpcmpb(r.k, r.a, r.b, 0), 1, Kind::compare),
    T_ROW(vpcmpub(r.k, r.a, r.b, 0), 1, Kind::compare),
    T_ROW(vpcmpb(r.k, r.a, r.b, 1), 1, Kind::compare),
    T_ROW(vpcmpub(r.k, r.a, r.b, 1), 1, Kind::compare),
    T_ROW(vpcmpb(r.k, r.a, r.b, 2), 1, Kind::compare),
    T_ROW(vpcmpub(r.k, r.a, r.b, 2), 1, Kind::compare),
    T_ROW(vpcmpb(r.k, r.a, r.b, 3), 1, Kind::compare),
    T_ROW(vpcmpub(r.k, r.a, r.b, 3), 1, Kind::compare),
    T_ROW(vpcmpb(r.k, r.a, r.b, 4), 1, Kind::compare),
    T_ROW(vpcmpub(r.k, r.a, r.b, 4), 1, Kind::compare),
    T_ROW(vpcmpb(r.k, r.a, r.b, 5), 1, Kind::compare),
    T_ROW(vpcmpub(r.k, r.a, r.b, 5), 1, Kind::compare),
    T_ROW(vpcmpb(r.k, r.a, r.b, 6), 1, Kind::compare),
    T_ROW(vpcmpub(r.k, r.a, r.b, 6), 1, Kind::compare),
    T_ROW(vpcmpb(r.k, r.a, r.b, 7), 1, Kind::compare),
    T_ROW(vpcmpub(r.k, r.a, r.b, 7), 1, Kind::compare),
    T_ROW(vptestmb(r.k, r.a, r.b), 1, Kind::compare),
    T_ROW(vptestnmb(r.k, r.a, r.b), 1, Kind::compare),
    T_ROW(vpaddw(r.d, r.a, r.b), 2, Kind::same),
    T_ROW(vpsubw(r.d, r.a, r.b), 2, Kind::same),
    T_ROW(vpmaxsw(r.d, r.a, r.b), 2, Kind::same),
    T_ROW(vpmaxuw(r.d, r.a, r.b), 2, Kind::same),
    T_ROW(vpminsw(r.d, r.a, r.b), 2, Kind::same),
    T_ROW(vpminuw(r.d, r.a, r.b), 2, Kind::same),
    T_ROW(vpabsw(r.d, r.a), 2, Kind::same),
    T_ROW(vpblendmw(r.d, r.a, r.b), 2, Kind::blend),
    T_ROW(vpbroadcastw(r.d, r.low), 2, Kind::same),
    T_ROW(vpcmpeqw(r.k, r.a, r.b), 2, Kind::compare),
    T_ROW(vpcmpgtw(r.k, r.a, r.b), 2, Kind::compare),
    T_ROW(vpcmpw(r.k, r.a, r.b, 0), 2, Kind::compare),
    T_ROW(vpcmpuw(r.k, r.a, r.b, 0), 2, Kind::compare),
    T_ROW(vpcmpw(r.k, r.a, r.b, 1), 2, Kind::compare),
    T_ROW(vpcmpuw(r.k, r.a, r.b, 1), 2, Kind::compare),
    T_ROW(vpcmpw(r.k, r.a, r.b, 2), 2, Kind::compare),
    T_ROW(vpcmpuw(r.k, r.a, r.b, 2), 2, Kind::compare),
    T_ROW(vpcmpw(r.k, r.a, r.b, 3), 2, Kind::compare),
    T_ROW(vpcmpuw(r.k, r.a, r.b, 3), 2, Kind::compare),
    T_ROW(vpcmpw(r.k, r.a, r.b, 4), 2, Kind::compare),
    T_ROW(vpcmpuw(r.k, r.a, r.b, 4), 2, Kind::compare),
    T_ROW(vpcmpw(r.k, r.a, r.b, 5), 2, Kind::compare),
    T_ROW(vpcmpuw(r.k, r.a, r.b, 5), 2, Kind::compare),
    T_ROW(vpcmpw(r.k, r.a, r.b, 6), 2, Kind::compare),
    T_ROW(vpcmpuw(r.k, r.a, r.b, 6), 2, Kind::compare),
    T_ROW(vpcmpw(r.k, r.a, r.b, 7), 2, Kind::compare),
    T_ROW(vpcmpuw(r.k, r.a, r.b, 7), 2, Kind::compare),
    T_ROW(vptestmw(r.k, r.a, r.b), 2, Kind::compare),
    T_ROW(vptestnmw(r.k, r.a, r.b), 2, Kind::compare),
    T_ROW(vpaddd(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vpsubd(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vpmaxsd(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vpmaxud(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vpminsd(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vpminud(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vpabsd(r.d, r.a), 4, Kind::same),
    T_ROW(vpblendmd(r.d, r.a, r.b), 4, Kind::blend),
    T_ROW(vpbroadcastd(r.d, r.low), 4, Kind::same),
    T_ROW(vpcmpeqd(r.k, r.a, r.b), 4, Kind::compare),
    T_ROW(vpcmpgtd(r.k, r.a, r.b), 4, Kind::compare),
    T_ROW(vpcmpd(r.k, r.a, r.b, 0), 4, Kind::compare),
    T_ROW(vpcmpud(r.k, r.a, r.b, 0), 4, Kind::compare),
    T_ROW(vpcmpd(r.k, r.a, r.b, 1), 4, Kind::compare),
    T_ROW(vpcmpud(r.k, r.a, r.b, 1), 4, Kind::compare),
    T_ROW(vpcmpd(r.k, r.a, r.b, 2), 4, Kind::compare),
    T_ROW(vpcmpud(r.k, r.a, r.b, 2), 4, Kind::compare),
    T_ROW(vpcmpd(r.k, r.a, r.b, 3), 4, Kind::compare),
    T_ROW(vpcmpud(r.k, r.a, r.b, 3), 4, Kind::compare),
    T_ROW(vpcmpd(r.k, r.a, r.b, 4), 4, Kind::compare),
    T_ROW(vpcmpud(r.k, r.a, r.b, 4), 4, Kind::compare),
    T_ROW(vpcmpd(r.k, r.a, r.b, 5), 4, Kind::compare),
    T_ROW(vpcmpud(r.k, r.a, r.b, 5), 4, Kind::compare),
    T_ROW(vpcmpd(r.k, r.a, r.b, 6), 4, Kind::compare),
    T_ROW(vpcmpud(r.k, r.a, r.b, 6), 4, Kind::compare),
    T_ROW(vpcmpd(r.k, r.a, r.b, 7), 4, Kind::compare),
    T_ROW(vpcmpud(r.k, r.a, r.b, 7), 4, Kind::compare),
    T_ROW(vptestmd(r.k, r.a, r.b), 4, Kind::compare),
    T_ROW(vptestnmd(r.k, r.a, r.b), 4, Kind::compare),
    T_ROW(vpaddq(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vpsubq(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vpmaxsq(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vpmaxuq(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vpminsq(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vpminuq(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vpabsq(r.d, r.a), 8, Kind::same),
    T_ROW(vpblendmq(r.d, r.a, r.b), 8, Kind::blend),
    T_ROW(vpbroadcastq(r.d, r.low), 8, Kind::same),
    T_ROW(vpcmpeqq(r.k, r.a, r.b), 8, Kind::compare),
    T_ROW(vpcmpgtq(r.k, r.a, r.b), 8, Kind::compare),
    T_ROW(vpcmpq(r.k, r.a, r.b, 0), 8, Kind::compare),
    T_ROW(vpcmpuq(r.k, r.a, r.b, 0), 8, Kind::compare),
    T_ROW(vpcmpq(r.k, r.a, r.b, 1), 8, Kind::compare),
    T_ROW(vpcmpuq(r.k, r.a, r.b, 1), 8, Kind::compare),
    T_ROW(vpcmpq(r.k, r.a, r.b, 2), 8, Kind::compare),
    T_ROW(vpcmpuq(r.k, r.a, r.b, 2), 8, Kind::compare),
    T_ROW(vpcmpq(r.k, r.a, r.b, 3), 8, Kind::compare),
    T_ROW(vpcmpuq(r.k, r.a, r.b, 3), 8, Kind::compare),
    T_ROW(vpcmpq(r.k, r.a, r.b, 4), 8, Kind::compare),
    T_ROW(vpcmpuq(r.k, r.a, r.b, 4), 8, Kind::compare),
    T_ROW(vpcmpq(r.k, r.a, r.b, 5), 8, Kind::compare),
    T_ROW(vpcmpuq(r.k, r.a, r.b, 5), 8, Kind::compare),
    T_ROW(vpcmpq(r.k, r.a, r.b, 6), 8, Kind::compare),
    T_ROW(vpcmpuq(r.k, r.a, r.b, 6), 8, Kind::compare),
    T_ROW(vpcmpq(r.k, r.a, r.b, 7), 8, Kind::compare),
    T_ROW(vpcmpuq(r.k, r.a, r.b, 7), 8, Kind::compare),
    T_ROW(vptestmq(r.k, r.a, r.b), 8, Kind::compare),
    T_ROW(vptestnmq(r.k, r.a, r.b), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 0), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 0), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 1), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 1), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 2), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 2), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 3), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 3), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 4), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 4), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 5), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 5), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 6), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 6), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 7), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 7), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 8), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 8), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 9), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 9), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 10), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 10), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 11), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 11), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 12), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 12), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 13), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 13), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 14), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 14), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 15), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 15), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 16), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 16), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 17), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 17), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 18), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 18), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 19), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 19), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 20), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 20), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 21), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 21), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 22), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 22), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 23), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 23), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 24), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 24), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 25), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 25), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 26), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 26), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 27), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 27), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 28), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 28), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 29), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 29), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 30), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 30), 8, Kind::compare),
    T_ROW(vcmpps(r.k, r.a, r.b, 31), 4, Kind::compare),
    T_ROW(vcmppd(r.k, r.a, r.b, 31), 8, Kind::compare),
    T_ROW(vfpclassps(r.k, r.a, 1), 4, Kind::compare),
    T_ROW(vfpclasspd(r.k, r.a, 1), 8, Kind::compare),
    T_ROW(vfpclassps(r.k, r.a, 6), 4, Kind::compare),
    T_ROW(vfpclasspd(r.k, r.a, 6), 8, Kind::compare),
    T_ROW(vfpclassps(r.k, r.a, 24), 4, Kind::compare),
    T_ROW(vfpclasspd(r.k, r.a, 24), 8, Kind::compare),
    T_ROW(vfpclassps(r.k, r.a, 129), 4, Kind::compare),
    T_ROW(vfpclasspd(r.k, r.a, 129), 8, Kind::compare),
    T_ROW(vfpclassps(r.k, r.a, 255), 4, Kind::compare),
    T_ROW(vfpclasspd(r.k, r.a, 255), 8, Kind::compare),
    T_ROW(vblendmps(r.d, r.a, r.b), 4, Kind::blend),
    T_ROW(vblendmpd(r.d, r.a, r.b), 8, Kind::blend),
    T_ROW(vpmullw(r.d, r.a, r.b), 2, Kind::same),
    T_ROW(vpmulld(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vpmullq(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vpmuludq(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vpackssdw(r.d, r.a, r.b), 2, Kind::same),
    T_ROW(vpackusdw(r.d, r.a, r.b), 2, Kind::same),
    T_ROW(vpacksswb(r.d, r.a, r.b), 1, Kind::same),
    T_ROW(vpackuswb(r.d, r.a, r.b), 1, Kind::same),
    T_ROW(vpunpcklbw(r.d, r.a, r.b), 1, Kind::same),
    T_ROW(vpunpckhbw(r.d, r.a, r.b), 1, Kind::same),
    T_ROW(vpunpcklwd(r.d, r.a, r.b), 2, Kind::same),
    T_ROW(vpunpckhwd(r.d, r.a, r.b), 2, Kind::same),
    T_ROW(vpunpckldq(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vpunpckhdq(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vpunpcklqdq(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vpunpckhqdq(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vpshufb(r.d, r.a, r.b), 1, Kind::same),
    T_ROW(vpsllvw(r.d, r.a, r.b), 2, Kind::same),
    T_ROW(vpsllvd(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vpsllvq(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vpsrlvw(r.d, r.a, r.b), 2, Kind::same),
    T_ROW(vpsrlvd(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vpsrlvq(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vpsravw(r.d, r.a, r.b), 2, Kind::same),
    T_ROW(vpsravd(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vpsravq(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vpermilps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vpermilpd(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vpandd(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vpandq(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vpandnd(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vpandnq(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vpord(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vporq(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vpxord(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vpxorq(r.d, r.a, r.b), 8, Kind::same),
    T_ROW(vscalefps(r.d, r.a, r.b), 4, Kind::same),
    T_ROW(vsqrtps(r.d, r.a), 4, Kind::same),
    T_ROW(vsqrtpd(r.d, r.a), 8, Kind::same),
    T_ROW(vmovups(r.d, r.a), 4, Kind::same),
    T_ROW(vmovupd(r.d, r.a), 8, Kind::same),
    T_ROW(vmovaps(r.d, r.a), 4, Kind::same),
    T_ROW(vmovdqu8(r.d, r.a), 1, Kind::same),
    T_ROW(vmovdqu16(r.d, r.a), 2, Kind::same),
    T_ROW(vmovdqu32(r.d, r.a), 4, Kind::same),
    T_ROW(vmovdqu64(r.d, r.a), 8, Kind::same),
    T_ROW(vmovdqa32(r.d, r.a), 4, Kind::same),
    T_ROW(vmovdqa64(r.d, r.a), 8, Kind::same),
    T_ROW(vmovshdup(r.d, r.a), 4, Kind::same),
    T_ROW(vmovsldup(r.d, r.a), 4, Kind::same),
    T_ROW(vmovddup(r.d, r.a), 8, Kind::same),
    T_ROW(vcvtdq2ps(r.d, r.a), 4, Kind::same),
    T_ROW(vcvtps2dq(r.d, r.a), 4, Kind::same),
    T_ROW(vcvttps2dq(r.d, r.a), 4, Kind::same),
    T_ROW(vpshufd(r.d, r.a, 27), 4, Kind::same),
    T_ROW(vpshuflw(r.d, r.a, 27), 2, Kind::same),
    T_ROW(vpshufhw(r.d, r.a, 27), 2, Kind::same),
    T_ROW(vpermilps(r.d, r.a, 27), 4, Kind::same),
    T_ROW(vshufps(r.d, r.a, r.b, 27), 4, Kind::same),
    T_ROW(vpermq(r.d, r.a, 27), 8, Kind::same),
    T_ROW(vpermpd(r.d, r.a, 27), 8, Kind::same),
    T_ROW(vpshufd(r.d, r.a, 216), 4, Kind::same),
    T_ROW(vpshuflw(r.d, r.a, 216), 2, Kind::same),
    T_ROW(vpshufhw(r.d, r.a, 216), 2, Kind::same),
    T_ROW(vpermilps(r.d, r.a, 216), 4, Kind::same),
    T_ROW(vshufps(r.d, r.a, r.b, 216), 4, Kind::same),
    T_ROW(vpermq(r.d, r.a, 216), 8, Kind::same),
    T_ROW(vpermpd(r.d, r.a, 216), 8, Kind::same),
    T_ROW(vshufpd(r.d, r.a, r.b, 0), 8, Kind::same),
    T_ROW(vpalignr(r.d, r.a, r.b, 0), 1, Kind::same),
    T_ROW(vpermilpd(r.d, r.a, 0), 8, Kind::same),
    T_ROW(vshufpd(r.d, r.a, r.b, 85), 8, Kind::same),
    T_ROW(vpalignr(r.d, r.a, r.b, 5), 1, Kind::same),
    T_ROW(vpermilpd(r.d, r.a, 85), 8, Kind::same),
    T_ROW(vshufpd(r.d, r.a, r.b, 255), 8, Kind::same),
    T_ROW(vpalignr(r.d, r.a, r.b, 15), 1, Kind::same),
    T_ROW(vpermilpd(r.d, r.a, 255), 8, Kind::same),
    T_ROW(vpsllw(r.d, r.a, 3), 2, Kind::same),
    T_ROW(vpsllw(r.d, r.a, 40), 2, Kind::same),
    T_ROW(vpsllw(r.d, r.a, r.low), 2, Kind::same),
    T_ROW(vpslld(r.d, r.a, 3), 4, Kind::same),
    T_ROW(vpslld(r.d, r.a, 40), 4, Kind::same),
    T_ROW(vpslld(r.d, r.a, r.low), 4, Kind::same),
    T_ROW(vpsllq(r.d, r.a, 3), 8, Kind::same),
    T_ROW(vpsllq(r.d, r.a, 40), 8, Kind::same),
    T_ROW(vpsllq(r.d, r.a, r.low), 8, Kind::same),
    T_ROW(vpsrlw(r.d, r.a, 3), 2, Kind::same),
    T_ROW(vpsrlw(r.d, r.a, 40), 2, Kind::same),
    T_ROW(vpsrlw(r.d, r.a, r.low), 2, Kind::same),
    T_ROW(vpsrld(r.d, r.a, 3), 4, Kind::same),
    T_ROW(vpsrld(r.d, r.a, 40), 4, Kind::same),
    T_ROW(vpsrld(r.d, r.a, r.low), 4, Kind::same),
    T_ROW(vpsrlq(r.d, r.a, 3), 8, Kind::same),
    T_ROW(vpsrlq(r.d, r.a, 40), 8, Kind::same),
    T_ROW(vpsrlq(r.d, r.a, r.low), 8, Kind::same),
    T_ROW(vpsraw(r.d, r.a, 3), 2, Kind::same),
    T_ROW(vpsraw(r.d, r.a, 40), 2, Kind::same),
    T_ROW(vpsraw(r.d, r.a, r.low), 2, Kind::same),
    T_ROW(vpsrad(r.d, r.a, 3), 4, Kind::same),
    T_ROW(vpsrad(r.d, r.a, 40), 4, Kind::same),
    T_ROW(vpsrad(r.d, r.a, r.low), 4, Kind::same),
    T_ROW(vpsraq(r.d, r.a, 3), 8, Kind::same),
    T_ROW(vpsraq(r.d, r.a, 40), 8, Kind::same),
    T_ROW(vpsraq(r.d, r.a, r.low), 8, Kind::same),
    T_ROW(vpslldq(r.d, r.a, 5), 0, Kind::same),
    T_ROW(vpsrldq(r.d, r.a, 5), 0, Kind::same),
    T_ROW(vpternlogd(r.d, r.a, r.b, 150), 4, Kind::same),
    T_ROW(vpternlogq(r.d, r.a, r.b, 150), 8, Kind::same),
    T_ROW(vpternlogd(r.d, r.a, r.b, 232), 4, Kind::same),
    T_ROW(vpternlogq(r.d, r.a, r.b, 232), 8, Kind::same),
    T_ROW(vpternlogd(r.d, r.a, r.b, 202), 4, Kind::same),
    T_ROW(vpternlogq(r.d, r.a, r.b, 202), 8, Kind::same),
    T_ROW(vpternlogd(r.d, r.a, r.b, 1), 4, Kind::same),
    T_ROW(vpternlogq(r.d, r.a, r.b, 1), 8, Kind::same),
    T_ROW(vprold(r.d, r.a, 7), 4, Kind::same),
    T_ROW(vprorq(r.d, r.a, 7), 8, Kind::same),
    T_ROW(vrndscaleps(r.d, r.a, 0), 4, Kind::same),
    T_ROW(vrndscalepd(r.d, r.a, 0), 8, Kind::same),
    T_ROW(vrndscaleps(r.d, r.a, 1), 4, Kind::same),
    T_ROW(vrndscalepd(r.d, r.a, 1), 8, Kind::same),
    T_ROW(vrndscaleps(r.d, r.a, 2), 4, Kind::same),
    T_ROW(vrndscalepd(r.d, r.a, 2), 8, Kind::same),
    T_ROW(vrndscaleps(r.d, r.a, 3), 4, Kind::same),
    T_ROW(vrndscalepd(r.d, r.a, 3), 8, Kind::same),
    T_ROW(vrndscaleps(r.d, r.a, 8), 4, Kind::same),
    T_ROW(vrndscalepd(r.d, r.a, 8), 8, Kind::same),
    T_ROW(vpmovzxbw(r.d, r.half_a), 2, Kind::widen),
    T_ROW(vpmovsxbw(r.d, r.half_a), 2, Kind::widen),
    T_ROW(vpmovzxwd(r.d, r.half_a), 4, Kind::widen),
    T_ROW(vpmovsxwd(r.d, r.half_a), 4, Kind::widen),
    T_ROW(vpmovzxdq(r.d, r.half_a), 8, Kind::widen),
    T_ROW(vpmovsxdq(r.d, r.half_a), 8, Kind::widen),
    T_ROW(vcvtph2ps(r.d, r.half_a), 4, Kind::widen),
    T_ROW(vcvtps2pd(r.d, r.half_a), 8, Kind::widen),
    T_ROW(vcvtdq2pd(r.d, r.half_a), 8, Kind::widen),
    T_ROW(vcvtudq2pd(r.d, r.half_a), 8, Kind::widen),
    T_ROW(vpmovzxbd(r.d, r.quarter_a), 4, Kind::widen_quarter),
    T_ROW(vpmovsxbd(r.d, r.quarter_a), 4, Kind::widen_quarter),
    T_ROW(vpmovzxwq(r.d, r.quarter_a), 8, Kind::widen_quarter),
    T_ROW(vpmovsxwq(r.d, r.quarter_a), 8, Kind::widen_quarter),
    T_ROW(vpmovdb(r.quarter_d, r.a), 1, Kind::narrow_quarter),
    T_ROW(vpmovqw(r.quarter_d, r.a), 2, Kind::narrow_quarter),
    T_ROW(vpmovwb(r.half_d, r.a), 1, Kind::narrow),
    T_ROW(vpmovdw(r.half_d, r.a), 2, Kind::narrow),
    T_ROW(vpmovqd(r.half_d, r.a), 4, Kind::narrow),
    T_ROW(vpmovswb(r.half_d, r.a), 1, Kind::narrow),
    T_ROW(vpmovsdw(r.half_d, r.a), 2, Kind::narrow),
    T_ROW(vpmovusdw(r.half_d, r.a), 2, Kind::narrow),
    T_ROW(vpmovsqd(r.half_d, r.a), 4, Kind::narrow),
    T_ROW(vcvtps2ph(r.half_d, r.a, 0), 2, Kind::narrow),
    T_ROW(vcvtps2ph(r.half_d, r.a, 1), 2, Kind::narrow),
    T_ROW(vcvtps2ph(r.half_d, r.a, 2), 2, Kind::narrow),
    T_ROW(vcvtps2ph(r.half_d, r.a, 3), 2, Kind::narrow),
    T_ROW(vcvtps2ph(r.half_d, r.a, 4), 2, Kind::narrow),
    T_ROW(vcvtpd2ps(r.half_d, r.a), 4, Kind::narrow),
    T_ROW(vcvtpd2dq(r.half_d, r.a), 4, Kind::narrow),
    T_ROW(vcvttpd2dq(r.half_d, r.a), 4, Kind::narrow),
};

#undef T_ROW

enum class Masking { none, merge, zero };

Registers registers(bool wide, Masking masking) {
  Registers r;
  r.d = wide ? Xbyak::Ymm(Xbyak::Zmm(0)) : Xbyak::Ymm(0);
  r.a = wide ? Xbyak::Ymm(Xbyak::Zmm(1)) : Xbyak::Ymm(1);
  r.b = wide ? Xbyak::Ymm(Xbyak::Zmm(2)) : Xbyak::Ymm(2);
  r.half_d = wide ? Xbyak::Xmm(Xbyak::Ymm(0)) : Xbyak::Xmm(0);
  r.half_a = wide ? Xbyak::Xmm(Xbyak::Ymm(1)) : Xbyak::Xmm(1);
  if (masking != Masking::none) {
    for (Xbyak::Xmm* reg : {static_cast<Xbyak::Xmm*>(&r.d), &r.half_d, &r.quarter_d}) {
      reg->setOpmaskIdx(1);
      if (masking == Masking::zero) reg->setZero();
    }
    r.k.setOpmaskIdx(1);
  }
  return r;
}

Machine run(const Wide& row, bool wide, Masking masking, const Machine& from) {
  Xbyak::CodeGenerator g(4096, Xbyak::DontSetProtectRWE);
  row.body(g, registers(wide, masking));
  g.ret();
  Emulator emulator({g.getCode(), g.getSize()}, target::Isa::avx512_core);
  emulator.set_registers(from);
  const Status status = emulator.run(nullptr);
  EXPECT_TRUE(status.ok()) << row.name << ": " << status.message();
  return emulator.machine();
}

Machine random_machine(std::mt19937_64& random) {
  Block block;
  randomize(block, random);
  Machine m;
  for (std::size_t i = 0; i < kSlots; ++i) {
    m.vector[i] = block.vector[i];
    m.opmask[i + 1] = block.opmask[i];
  }
  return m;
}

/// The machine with `bytes` of operand `reg`, from `offset`, at its start.
void take_part(Machine& m, std::size_t reg, std::size_t offset, std::size_t bytes) {
  const Vector whole = m.vector[reg];
  m.vector[reg] = Vector{};
  std::copy_n(whole.bytes.data() + offset, bytes, m.vector[reg].bytes.data());
}

void expect_halves(const Wide& row, const Machine& from) {
  const Machine whole = run(row, true, Masking::none, from);
  const bool counts = std::string(row.name).find("r.low") != std::string::npos;
  std::uint64_t bits = 0;
  for (std::size_t half = 0; half < 2; ++half) {
    Machine part = from;
    const std::size_t in = half_source(row.kind), out = half_result(row.kind);
    take_part(part, 0, half * out, out);
    take_part(part, 1, half * in, in);
    // xmm2 as a count, or as what is broadcast, is the same for both halves.
    if (!counts) take_part(part, 2, half * in, in);
    const Machine result = run(row, false, Masking::none, part);
    if (row.kind == Kind::compare) {
      bits |= result.opmask[2] << (half == 0 ? 0 : 32 / row.lane_bytes);
      continue;
    }
    EXPECT_TRUE(std::equal(result.vector[0].bytes.begin(), result.vector[0].bytes.begin() + static_cast<int>(out),
                           whole.vector[0].bytes.begin() + static_cast<int>(half * out)))
        << row.name << ": half " << half;
    EXPECT_EQ(result.vector[0].get<std::uint64_t>(static_cast<int>(out / 8)), 0U) << row.name << ": upper bits";
  }
  if (row.kind == Kind::compare) {
    EXPECT_EQ(bits, whole.opmask[2]) << row.name;
  }
}

void expect_masked(const Wide& row, const Machine& from) {
  const Machine plain = run(row, true, Masking::none, from), merged = run(row, true, Masking::merge, from);
  const std::uint64_t mask = from.opmask[1];
  if (row.kind == Kind::compare) {
    EXPECT_EQ(merged.opmask[2], plain.opmask[2] & mask) << row.name;
    return;
  }
  const Machine zeroed = run(row, true, Masking::zero, from);
  const Vector& outside = from.vector[row.kind == Kind::blend ? 1 : 0];
  for (std::size_t at = 0; at < 2 * half_result(row.kind); ++at) {
    const bool in = ((mask >> (at / static_cast<std::size_t>(row.lane_bytes))) & 1) != 0;
    // Without a mask a blend takes every lane of the second source.
    EXPECT_EQ(merged.vector[0].bytes[at], in ? plain.vector[0].bytes[at] : outside.bytes[at]) << row.name << " " << at;
    EXPECT_EQ(zeroed.vector[0].bytes[at], in ? plain.vector[0].bytes[at] : 0) << row.name << " " << at;
  }
}

class WideForms : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
    std::printf("%zu instructions, seed %llu\n", std::size(kWide), static_cast<unsigned long long>(seed_));
  }
  const std::uint64_t seed_ = std::random_device{}();
  std::mt19937_64 random_{seed_};
};

TEST_F(WideForms, AreTheirHalves) {
  for (const Wide& row : kWide)
    for (int round = 0; round < 8; ++round) expect_halves(row, random_machine(random_));
}

TEST_F(WideForms, UnderAMaskKeepOrClearTheOtherLanes) {
  for (const Wide& row : kWide)
    for (int round = 0; round < 4 && row.lane_bytes > 0; ++round) expect_masked(row, random_machine(random_));
}

bool cpu_has_avx512() {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}

TEST_F(WideForms, AgreeWithTheCpu) {
  for (const Wide& row : kWide)
    for (const bool wide : {false, true})
      for (const Masking masking : {Masking::none, Masking::merge, Masking::zero}) {
        if (masking != Masking::none && row.lane_bytes == 0) continue;
        if (masking == Masking::zero && row.kind == Kind::compare) continue;
        const Body body = [&](Xbyak::CodeGenerator& g) { row.body(g, registers(wide, masking)); };
        const Case test{row.name, body, ""};
        if (cpu_has_avx512())
          expect_same_as_cpu(test, true, target::Isa::avx512_core, seed_, 10);
        else
          expect_runs(test, target::Isa::avx512_core);
      }
  if (!cpu_has_avx512()) GTEST_SKIP() << "NOT RUN on the CPU, which has no AVX-512: emulated only";
}

}  // namespace
}  // namespace tenfold::emulator
