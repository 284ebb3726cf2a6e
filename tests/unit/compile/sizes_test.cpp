// SPDX-License-Identifier: Apache-2.0
//
// Schedules differ by size, up to tensors that no test has the time to fill. Here all of them are emitted, and none is
// run: whatever is chosen for every reduction, element type and instruction set, within the caches and beyond, is legal
// and becomes code.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"

namespace tenfold::compiler {
namespace {

struct Space {
  std::string shape, axes, out;
};

/// Last, first, middle, apart and all axes; from 256 KiB to 2 GiB of f32.
std::vector<Space> spaces() {
  return {
      {"64, 1024", "1", "64"},           {"64, 1024", "0", "1024"},         {"256, 1024", "0", "1024"},
      {"4096, 1024", "1", "4096"},       {"131072, 1024", "1", "131072"},   {"131072, 1024", "0", "1024"},
      {"131072, 1024", "0, 1", ""},      {"33554432, 4", "1", "33554432"},  {"33554432, 4", "0", "4"},
      {"33554431, 13", "1", "33554431"}, {"33554431, 13", "0", "13"},       {"1000003, 100", "1", "1000003"},
      {"4, 33554432", "1", "4"},         {"4, 33554432", "0", "33554432"},  {"16, 21, 513, 513", "1", "16, 513, 513"},
      {"512, 512, 512", "0, 2", "512"},  {"512, 512, 512", "1", "512, 512"}};
}

std::vector<target::Target> targets() {
  std::vector<target::Target> all;
  for (const target::Isa isa : {target::Isa::avx2, target::Isa::avx512_core, target::Isa::avx512_core_fp16})
    for (const target::L3 l3 : {target::L3::near, target::L3::far, target::L3::fast, target::L3::late}) {
      target::Target target;
      target.isa = target.native = isa;
      target.cores = 2;
      target.l3 = l3;
      if (l3 == target::L3::far) target.l1_bytes = 48 << 10;
      all.push_back(target);
    }
  return all;
}

void expect_kernels(const std::string& text) {
  Result<graph::Graph> graph = graph::parse(text);
  ASSERT_TRUE(graph.ok()) << graph.status().message() << "\n" << text;
  const Status status = graph::run_pipeline(graph.value());
  ASSERT_TRUE(status.ok()) << status.message() << "\n" << text;
  for (const target::Target& target : targets()) {
    const Result<Compiled> compiled = compile(graph.value(), target);
    const std::string on =
        std::string(to_string(target.isa)) + ", L3 of kind " + std::to_string(static_cast<int>(target.l3)) + ": ";
    ASSERT_TRUE(compiled.ok()) << on << compiled.status().message() << "\n" << text;
    for (const RegionReport& region : compiled.value().regions)
      EXPECT_FALSE(region.kernels.empty()) << on << "interpreted\n" << text;
  }
}

std::string reduce(const std::string& reduction, const std::string& dtype, const Space& space) {
  return "graph {\n  %0 = input : " + dtype + "[" + space.shape + "]\n  %1 = core.reduce \"r\" (%0) {reduction = \"" +
         reduction + "\", axes = [" + space.axes + "], keep_dims = false} : " + dtype + "[" + space.out +
         "]\n  output %1\n}\n";
}

TEST(Sizes, EveryReductionOfFloatsBecomesCode) {
  for (const char* dtype : {"f32", "bf16", "f16", "f64"})
    for (const char* reduction : {"max", "min", "sum", "prod", "mean", "l1", "l2", "sum_square", "log_sum_exp"})
      for (const Space& space : spaces()) expect_kernels(reduce(reduction, dtype, space));
}

TEST(Sizes, EveryReductionOfIntegersBecomesCode) {
  for (const char* dtype : {"s8", "u8", "s16", "s32", "s64"})
    for (const char* reduction : {"max", "min", "sum"})
      for (const Space& space : spaces()) expect_kernels(reduce(reduction, dtype, space));
}

TEST(Sizes, EveryArgReductionBecomesCode) {
  for (const char* dtype : {"f32", "bf16", "f16", "f64", "s8", "u8", "s16", "s32", "s64"})
    for (const char* last : {"false", "true"})
      for (const Space& space : spaces()) {
        if (space.axes.size() > 1) continue;
        expect_kernels(std::string("graph {\n  %0 = input : ") + dtype + "[" + space.shape +
                       "]\n  %1 = core.arg_reduce \"a\" (%0) {mode = \"argmax\", axis = " + space.axes +
                       ", keep_dims = false, select_last = " + last + "} : s64[" + space.out + "]\n  output %1\n}\n");
      }
}

/// An op of one input, whose output has its type.
std::string unary(const std::string& op, const std::string& attributes, const std::string& dtype, const Space& space) {
  const std::string type = dtype + "[" + space.shape + "]";
  return "graph {\n  %0 = input : " + type + "\n  %1 = onednn." + op + " \"u\" (%0)" + attributes + " : " + type +
         "\n  output %1\n}\n";
}

TEST(Sizes, EveryChainBecomesCode) {
  for (const char* dtype : {"f32", "bf16", "f16"})
    for (const char* op : {"SoftMax", "LogSoftmax"})
      for (const Space& space : spaces())
        if (space.axes.size() == 1) expect_kernels(unary(op, " {axis = " + space.axes + "}", dtype, space));
}

TEST(Sizes, EveryFlatKernelBecomesCode) {
  for (const char* dtype : {"f32", "bf16", "f16"})
    for (const char* op : {"Abs", "Exp"})
      for (const Space& space : spaces()) expect_kernels(unary(op, "", dtype, space));
}

}  // namespace
}  // namespace tenfold::compiler
