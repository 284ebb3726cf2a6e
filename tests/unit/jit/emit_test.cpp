// SPDX-License-Identifier: Apache-2.0
//
// The emitter, on any host: every class of kernel emits on every level, the same each time; codes of one key are equal.
#include "jit/emit.hpp"

#include <gtest/gtest.h>

#include <map>

#include "jit/stage/body_program.hpp"

namespace tenfold::jit {
namespace {

struct Class {
  kernel::KernelSpec spec;
  std::string name;
};

/// Every combination of dtype, reduction with what goes around it, contiguity and place of the reduced level.
std::vector<Class> all_classes() {
  const char* const bodies[] = {
      "%0 = load x0\n%1 = reduce max %0\nstore y0 %1\n",
      "%0 = load x0\n%1 = reduce min %0\nstore y0 %1\n",
      "%0 = load x0\n%1 = reduce sum %0\nstore y0 %1\n",
      "%0 = load x0\n%1 = reduce prod %0\nstore y0 %1\n",
      "%0 = load x0\n%1 = reduce sum %0\n%2 = count\n%3 = div %1 %2\nstore y0 %3\n",
      "%0 = load x0\n%1 = abs %0\n%2 = reduce sum %1\nstore y0 %2\n",
      "%0 = load x0\n%1 = square %0\n%2 = reduce sum %1\n%3 = sqrt %2\nstore y0 %3\n",
  };
  const char* const spaces[] = {
      "kept 70, reduced 300 | [300, 1] | [1, 0]",
      "kept 70, reduced 300 | [600, 2] | [1, 0]",
      "reduced 300, kept 70 | [70, 1] | [0, 1]",
      "reduced 300, kept 70 | [140, 2] | [0, 1]",
      "reduced 300, kept 70 | [70, 1] | [0, 3]",
      "reduced 9, kept 70 | [70, 1] | [0, 1]",
      "reduced 3, kept 4, reduced 5, kept 6 | [120, 30, 6, 1] | [0, 6, 0, 1]",
      "kept 3, reduced 4, kept 5, reduced 6 | [120, 30, 6, 1] | [5, 0, 1, 0]",
      "kept 17 | [1] | [1]",
      "kept 70, reduced 2 | [2, 1] | [1, 0]",
      "kept 70, reduced 13 | [13, 1] | [1, 0]",
      "kept 3, kept 70, reduced 63 | [5000, 63, 1] | [70, 1, 0]",
      "reduced 300, kept 8 | [8, 1] | [0, 1]",
  };
  std::vector<Class> classes;
  for (const char* dtype : {"f32", "bf16", "f16"}) {
    for (const std::string space : spaces) {
      for (const std::string body : bodies) {
        const std::size_t first = space.find(" | ");
        const std::size_t second = space.find(" | ", first + 1);
        const std::string text = "kernel\nspace " + space.substr(0, first) + "\nin x0 " + dtype + " " +
                                 space.substr(first + 3, second - first - 3) + "\nout y0 " + dtype + " " +
                                 space.substr(second + 3) + "\n" + body;
        const Result<kernel::KernelSpec> spec = kernel::parse(text);
        EXPECT_TRUE(spec.ok()) << text << spec.status().message();
        classes.push_back({spec.value(), text});
      }
    }
  }
  return classes;
}

TEST(Emit, EveryClassOnEveryLevel) {
  std::map<std::string, std::vector<std::uint8_t>> codes;
  for (const target::Isa isa : {target::Isa::avx2, target::Isa::avx512_core, target::Isa::avx512_core_fp16}) {
    target::Target target;
    target.isa = isa;
    for (const Class& c : all_classes()) {
      const schedule::Schedule schedule = schedule::choose(c.spec, target);
      const Result<EmittedCode> code = emit(c.spec, schedule);
      ASSERT_TRUE(code.ok()) << c.name << schedule::print(schedule) << '\n' << code.status().message();
      EXPECT_GT(code.value().bytes.size(), 100U);
      EXPECT_LT(code.value().bytes.size(), 8192U) << c.name;
      const Result<EmittedCode> again = emit(c.spec, schedule);
      ASSERT_TRUE(again.ok());
      EXPECT_EQ(code.value().bytes, again.value().bytes);
      const auto known = codes.emplace(class_key(c.spec, schedule), code.value().bytes).first;
      EXPECT_EQ(known->second, code.value().bytes) << known->first;
    }
  }
  EXPECT_GT(codes.size(), 300U);
}

TEST(Emit, ExtentsDoNotEnterTheCode) {
  target::Target target;
  target.isa = target::Isa::avx2;
  std::vector<Class> classes = all_classes();
  kernel::KernelSpec small = classes[0].spec;
  kernel::KernelSpec large = small;
  large.levels[0].extent = 71;
  large.levels[1].extent = 301;
  large.inputs[0].strides = {301, 1};
  const schedule::Schedule schedule = schedule::choose(small, target);
  EXPECT_EQ(class_key(small, schedule), class_key(large, schedule::choose(large, target)));
  EXPECT_EQ(emit(small, schedule).value().bytes, emit(large, schedule).value().bytes);
}

/// Of the columns past the last vector step, only whether there is a whole one before them.
TEST(Emit, OfColumnsAWholeStepEntersTheCode) {
  target::Target target;
  target.isa = target::Isa::avx2;
  const auto made = [&](const std::string& columns) {
    const Result<kernel::KernelSpec> spec =
        kernel::parse("kernel\nspace reduced 5, kept " + columns +
                      "\nin x0 f32 [100, 1]\nout y0 f32 [0, 1]\n%0 = load x0\n%1 = reduce max %0\nstore y0 %1\n");
    EXPECT_TRUE(spec.ok()) << spec.status().message();
    const schedule::Schedule schedule = schedule::choose(spec.value(), target);
    return std::pair(class_key(spec.value(), schedule), emit(spec.value(), schedule).value().bytes);
  };
  const auto columns = made("20");
  EXPECT_EQ(made("75"), columns);
  const auto few = made("15");
  EXPECT_NE(few.first, columns.first);
  EXPECT_NE(few.second, columns.second);
}

/// What is inside a block of turned rows does, and what lies between blocks does not.
TEST(Emit, OfTurnedRowsBlocksEnterTheCode) {
  target::Target target;
  target.isa = target::Isa::avx2;
  const auto made = [&](const std::string& space, const std::string& in, const std::string& out) {
    const Result<kernel::KernelSpec> spec =
        kernel::parse("kernel\nspace " + space + "\nin x0 f32 " + in + "\nout y0 f32 " + out +
                      "\n%0 = load x0\n%1 = reduce max %0\n%2 = sub %0 %1\nstore y0 %2\n");
    EXPECT_TRUE(spec.ok()) << spec.status().message();
    const schedule::Schedule schedule = schedule::choose(spec.value(), target);
    EXPECT_GT(schedule.width, 0) << schedule::print(schedule);
    return std::pair(class_key(spec.value(), schedule), emit(spec.value(), schedule).value().bytes);
  };
  const auto rows = made("kept 100, reduced 12", "[12, 1]", "[12, 1]");
  EXPECT_EQ(made("kept 300, reduced 12", "[12, 1]", "[20, 1]"), rows);
  const auto other = made("kept 100, reduced 13", "[13, 1]", "[13, 1]"),
             three = made("kept 100, reduced 4, kept 3", "[12, 3, 1]", "[12, 3, 1]"),
             two = made("kept 100, reduced 6, kept 2", "[12, 2, 1]", "[12, 2, 1]");
  EXPECT_NE(other.first, rows.first);
  EXPECT_NE(other.second, rows.second);
  EXPECT_NE(three.first, two.first);
  EXPECT_NE(three.second, two.second);
}

TEST(Emit, RefusesASpecThatItCannotFollow) {
  kernel::KernelSpec spec = all_classes()[0].spec;
  spec.body.push_back(spec.body[1]);
  EXPECT_EQ(emit(spec, schedule::Schedule{}).status().code(), Code::unsupported_op);
}

int lanes_of(const std::string& dtype, const std::string& function) {
  const Result<kernel::KernelSpec> spec =
      kernel::parse("kernel\nspace kept 64\nin x0 " + dtype + " [1]\nin x1 " + dtype + " [1]\nout y0 " + dtype +
                    " [1]\n%0 = load x0\n%1 = load x1\n%2 = " + function + " %0 %1\nstore y0 %2\n");
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  const Result<LaneProgram> program = body_program(spec.value());
  EXPECT_TRUE(program.ok()) << program.status().message();
  return program.value().lanes();
}

TEST(BodyProgram, HasLanesAsNarrowAsItsValuesWhereTheseCanDoIt) {
  EXPECT_EQ(lanes_of("u8", "add"), 64);
  EXPECT_EQ(lanes_of("s8", "mul"), 64);
  EXPECT_EQ(lanes_of("boolean", "logical_and"), 64);
  EXPECT_EQ(lanes_of("s16", "max"), 32);
  EXPECT_EQ(lanes_of("u8", "div"), 16);
  EXPECT_EQ(lanes_of("u16", "shift_left"), 16);
  EXPECT_EQ(lanes_of("bf16", "max"), 16);
  EXPECT_EQ(lanes_of("s64", "add"), 8);
}

}  // namespace
}  // namespace tenfold::jit
