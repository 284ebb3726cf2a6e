// SPDX-License-Identifier: Apache-2.0
//
// Heavy ops from graph to result: what oneDNN is asked for, through which views, and whether what comes out is the
// reference's within the stated bound.
#include "compile/heavy/heavy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <regex>

#include "compile/compile.hpp"
#include "graph/eval/bound.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"
#include "runtime/default_pool.hpp"

namespace tenfold::compiler {
namespace {

using Bytes = std::vector<std::byte>;

graph::Graph parsed(const std::string& lines, const std::string& output) {
  Result<graph::Graph> graph = graph::parse("graph {\n" + lines + "  output " + output + "\n}\n");
  EXPECT_TRUE(graph.ok()) << graph.status().message() << "\n" << lines;
  return std::move(graph).value();
}

graph::Graph piped(graph::Graph graph) {
  const Status status = graph::run_pipeline(graph);
  EXPECT_TRUE(status.ok()) << status.message();
  return graph;
}

const target::Target& host() { return target::host().value(); }

Result<Compiled> compiled(const std::string& lines, const std::string& output) {
  return compile(piped(parsed(lines, output)), host());
}

/// One letter a region: K(ernel), O(neDNN), R(eference).
std::string kinds(const Compiled& made) {
  std::string letters;
  for (const RegionReport& region : made.regions) {
    if (region.kind == RegionReport::Kind::kernel) letters += 'K';
    if (region.kind == RegionReport::Kind::onednn) letters += 'O';
    if (region.kind == RegionReport::Kind::reference) letters += 'R';
  }
  return letters;
}

Bytes random_bytes(const TensorDesc& desc, std::mt19937& random) {
  std::normal_distribution<double> values;
  Bytes data(static_cast<std::size_t>(span_bytes(desc).value()));
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(data.size()) / byte_size(desc.dtype); ++i)
    graph::store_real(desc.dtype, data.data(), i, values(random));
  return data;
}

std::vector<double> row_major(const TensorDesc& desc, const Bytes& data) {
  std::vector<double> elements;
  const Dims strides = strides_of(desc);
  const std::int64_t count = numel(desc.shape).value();
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t offset = 0, left = i;
    for (std::size_t dim = desc.shape.size(); dim-- > 0; left /= desc.shape[dim])
      offset += left % desc.shape[dim] * strides[dim];
    elements.push_back(graph::load_real(desc.dtype, data.data(), offset));
  }
  return elements;
}

/// Compiles and runs the graph, with one thread and with two, and compares with the reference.
void expect_right(const graph::Graph& source, const std::string& expected_kinds) {
  const Result<Compiled> made = compile(piped(source), host());
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(kinds(made.value()), expected_kinds) << explain(made.value(), host());
  std::mt19937 random(7);
  std::vector<Bytes> inputs, outputs, wanted;
  std::vector<const void*> in;
  std::vector<void*> out;
  std::vector<graph::ConstTensor> in_tensors;
  std::vector<graph::MutableTensor> out_tensors;
  for (const graph::ValueId v : source.inputs) inputs.push_back(random_bytes(graph::desc_of(source.values[v]), random));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    in.push_back(inputs[i].data());
    in_tensors.push_back({graph::desc_of(source.values[source.inputs[i]]), in[i]});
  }
  for (const graph::ValueId v : source.outputs) {
    outputs.push_back(random_bytes(graph::desc_of(source.values[v]), random));
    wanted.push_back(outputs.back());
  }
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    out.push_back(outputs[o].data());
    out_tensors.push_back({graph::desc_of(source.values[source.outputs[o]]), wanted[o].data()});
  }
  std::vector<std::vector<double>> bounds;
  ASSERT_TRUE(graph::evaluate_with_bounds(source, in_tensors, out_tensors, bounds).ok());
  Status status = runtime::run(made.value().program, in, out, nullptr, 1);
  ASSERT_TRUE(status.ok()) << status.message();
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const TensorDesc& desc = out_tensors[o].desc;
    const std::vector<double> want = row_major(desc, wanted[o]), got = row_major(desc, outputs[o]);
    for (std::size_t i = 0; i < want.size(); ++i)
      ASSERT_TRUE(graph::agree(desc.dtype, want[i], got[i], bounds[o].empty() ? 0 : bounds[o][i]))
          << "output " << o << ", element " << i << ": " << got[i] << ", not " << want[i];
  }
  const std::vector<Bytes> once = outputs;
  status = runtime::run(made.value().program, in, out, &runtime::default_pool(), 2);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(outputs, once) << "two threads, other bits";
}

void expect_right(const std::string& lines, const std::string& output, const std::string& expected_kinds = "O") {
  expect_right(parsed(lines, output), expected_kinds);
}

TEST(MatMul, OfAnyRankAndTransposed) {
  expect_right("  %0 = input : f32[5,7]\n  %1 = input : f32[7,3]\n  %2 = onednn.MatMul (%0, %1) {} : f32[5,3]\n", "%2");
  expect_right(
      "  %0 = input : f32[7,5]\n  %1 = input : f32[3,7]\n"
      "  %2 = onednn.MatMul (%0, %1) {transpose_a = true, transpose_b = true} : f32[5,3]\n",
      "%2");
  expect_right("  %0 = input : f32[7]\n  %1 = input : f32[7,3]\n  %2 = onednn.MatMul (%0, %1) {} : f32[3]\n", "%2");
  expect_right("  %0 = input : f32[4,5,7]\n  %1 = input : f32[7]\n  %2 = onednn.MatMul (%0, %1) {} : f32[4,5]\n", "%2");
  expect_right("  %0 = input : f32[7]\n  %1 = input : f32[7]\n  %2 = onednn.MatMul (%0, %1) {} : f32[]\n", "%2");
  expect_right(
      "  %0 = input : f32[2,1,5,7]\n  %1 = input : f32[3,7,4]\n"
      "  %2 = onednn.MatMul (%0, %1) {} : f32[2,3,5,4]\n",
      "%2");
}

/// The spec that is asked for.
std::string spec_of(const std::string& lines, const std::string& output) {
  const Result<Compiled> made = compiled(lines, output);
  EXPECT_TRUE(made.ok() && made.value().regions[0].heavy);
  return made.value().regions[0].heavy->spec;
}

TEST(MatMul, WhatSharesTheWeightsIsOneMatrix) {
  const std::string shared =
      "  %0 = input : f32[2,3,5,7]\n  %1 = input : f32[7,4]\n  %2 = input : f32[1,1,4]\n"
      "  %3 = onednn.MatMul (%0, %1, %2) {} : f32[2,3,5,4]\n";
  EXPECT_EQ(spec_of(shared, "%3"),
            "matmul f32 [30, 7]:[7, 1] f32 [7, 4]:[4, 1] f32 [1, 4]:[4, 1] -> f32 [30, 4]:[4, 1]");
  expect_right(shared, "%3");
  // Rows of one, and rows that lie apart.
  expect_right("  %0 = input : f32[3,1,7]\n  %1 = input : f32[7,4]\n  %2 = onednn.MatMul (%0, %1) {} : f32[3,1,4]\n",
               "%2");
  const std::string apart =
      "  %0 = input : f32[5,3,7]\n  %1 = input : f32[7,4]\n"
      "  %2 = onednn.StaticTranspose (%0) {order = [1,0,2]} : f32[3,5,7]\n"
      "  %3 = onednn.MatMul (%2, %1) {} : f32[3,5,4]\n";
  EXPECT_EQ(spec_of(apart, "%3"),
            "matmul f32 [3, 5, 7]:[7, 21, 1] f32 [1, 7, 4]:[28, 4, 1] -> f32 [3, 5, 4]:[20, 4, 1]");
  expect_right(apart, "%3");
}

TEST(MatMul, LargeEnoughForSeveralTasks) {
  expect_right(
      "  %0 = input : f32[8,96,128]\n  %1 = input : f32[8,128,112]\n"
      "  %2 = onednn.MatMul (%0, %1) {} : f32[8,96,112]\n",
      "%2");
}

TEST(MatMul, WithABiasForEachColumn) {
  expect_right(
      "  %0 = input : f32[5,7]\n  %1 = input : f32[7,3]\n  %2 = input : f32[3]\n"
      "  %3 = onednn.MatMul (%0, %1, %2) {} : f32[5,3]\n",
      "%3");
}

TEST(MatMul, ReadsABiasThroughViews) {
  expect_right(
      "  %0 = input : f32[3,5]\n  %1 = input : f32[5,8]\n  %2 = input : f32[2,4]\n"
      "  %3 = onednn.StaticReshape (%2) {shape = [8], special_zero = false} : f32[8]\n"
      "  %4 = onednn.MatMul (%0, %1, %3) {} : f32[3,8]\n",
      "%4");
  // One column of a tensor, whose elements lie apart, is written out; a part of a row is not.
  const std::string product = "  %0 = input : f32[3,5]\n  %1 = input : f32[5,8]\n";
  expect_right(product +
                   "  %2 = input : f32[8,4]\n"
                   "  %3 = core.slice (%2) {starts = [0,1], steps = [1,1], shape = [8,1]} : f32[8,1]\n"
                   "  %4 = core.reshape (%3) {shape = [8]} : f32[8]\n"
                   "  %5 = onednn.MatMul (%0, %1, %4) {} : f32[3,8]\n",
               "%5", "KO");
  expect_right(product +
                   "  %2 = input : f32[2,20]\n"
                   "  %3 = core.slice (%2) {starts = [1,5], steps = [1,1], shape = [1,8]} : f32[1,8]\n"
                   "  %4 = core.reshape (%3) {shape = [8]} : f32[8]\n"
                   "  %5 = onednn.MatMul (%0, %1, %4) {} : f32[3,8]\n",
               "%5");
}

TEST(MatMul, OfNoRowsNeedsNothing) {
  for (const char* const dims : {"0", "2,0"})
    expect_right("  %0 = input : f32[" + std::string(dims) +
                     ",4]\n  %1 = input : f32[4,5]\n  %2 = input : f32[5]\n"
                     "  %3 = onednn.MatMul (%0, %1, %2) {} : f32[" +
                     dims + ",5]\n",
                 "%3", "");
}

TEST(MatMul, AnyOtherBiasIsAddedByAKernel) {
  for (const char* const bias : {"f32[5,1]", "f32[]", "f32[1]", "f32[5,3]"})
    expect_right(std::string("  %0 = input : f32[5,7]\n  %1 = input : f32[7,3]\n  %2 = input : ") + bias +
                     "\n  %3 = onednn.MatMul (%0, %1, %2) {} : f32[5,3]\n",
                 "%3", "OK");
}

TEST(MatMul, ReadsViewsWhereTheyLie) {
  // Heads of one tensor [batch, rows, heads * width], as attention reads them; keys transposed besides.
  expect_right(
      "  %0 = input : f32[2,6,12]\n  %1 = input : f32[2,6,12]\n"
      "  %2 = onednn.StaticReshape (%0) {shape = [2,6,3,4], special_zero = false} : f32[2,6,3,4]\n"
      "  %3 = onednn.StaticTranspose (%2) {order = [0,2,1,3]} : f32[2,3,6,4]\n"
      "  %4 = onednn.StaticReshape (%1) {shape = [2,6,3,4], special_zero = false} : f32[2,6,3,4]\n"
      "  %5 = onednn.StaticTranspose (%4) {order = [0,2,3,1]} : f32[2,3,4,6]\n"
      "  %6 = onednn.MatMul (%3, %5) {} : f32[2,3,6,6]\n",
      "%6");
}

TEST(MatMul, CopiesAViewThatHasNoStridesOrNoDenseRows) {
  expect_right(
      "  %0 = input : f32[3,4,5]\n  %1 = input : f32[15,2]\n"
      "  %2 = onednn.StaticTranspose (%0) {order = [1,0,2]} : f32[4,3,5]\n"
      "  %3 = onednn.StaticReshape (%2) {shape = [4,15], special_zero = false} : f32[4,15]\n"
      "  %4 = onednn.MatMul (%3, %1) {} : f32[4,2]\n",
      "%4", "KO");
  expect_right(
      "  %0 = input : f32[4,6,3]\n  %1 = input : f32[4,6,2]\n"
      "  %2 = onednn.StaticTranspose (%0) {order = [2,0,1]} : f32[3,4,6]\n"
      "  %3 = onednn.StaticTranspose (%1) {order = [2,1,0]} : f32[2,6,4]\n"
      "  %4 = onednn.StaticReshape (%3) {shape = [2,1,6,4], special_zero = false} : f32[2,1,6,4]\n"
      "  %5 = onednn.MatMul (%2, %4) {transpose_a = true, transpose_b = true} : f32[2,3,6,6]\n",
      "%5", "KKO");
}

TEST(MatMul, WritesRowsAndColumnsWithGaps) {
  for (const Dims& strides : {Dims{3, 1}, Dims{9, 1}, Dims{1, 5}, Dims{1, 8}}) {
    graph::Graph graph =
        parsed("  %0 = input : f32[5,7]\n  %1 = input : f32[7,3]\n  %2 = onednn.MatMul (%0, %1) {} : f32[5,3]\n", "%2");
    graph.values[2].strides = strides;
    expect_right(graph, "O");
  }
}

TEST(MatMul, Of16BitsIsWidenedBetweenKernels) {
  for (const std::string& dtype : {std::string("bf16"), std::string("f16")}) {
    expect_right("  %0 = input : " + dtype + "[5,7]\n  %1 = input : " + dtype + "[7,3]\n" +
                     "  %2 = onednn.MatMul (%0, %1) {} : " + dtype + "[5,3]\n  %3 = onednn.ReLU (%2) {} : " + dtype +
                     "[5,3]\n",
                 "%3", "KKOK");
    expect_right("  %0 = input : " + dtype + "[5,7]\n  %1 = input : " + dtype + "[7,3]\n" +
                     "  %2 = onednn.MatMul (%0, %1) {} : f32[5,3]\n",
                 "%2", "KKO");
  }
}

TEST(MatMul, BetweenDequantizeAndQuantize) {
  expect_right(
      "  %0 = input : u8[5,7]\n  %1 = input : s8[7,3]\n"
      "  %2 = onednn.Dequantize (%0) {scales = [0.5], zps = [3]} : f32[5,7]\n"
      "  %3 = onednn.Dequantize (%1) {scales = [0.25], zps = [0]} : f32[7,3]\n"
      "  %4 = onednn.MatMul (%2, %3) {} : f32[5,3]\n"
      "  %5 = onednn.Quantize (%4) {scales = [0.5], zps = [3]} : u8[5,3]\n",
      "%5", "KKOK");
}

/// A convolution of either format, with its two gradients.
void expect_convolutions(const std::string& attributes, const std::string& input, const std::string& weights,
                         const std::string& output, const std::string& transposed_attributes) {
  const auto two = [](const std::string& a, const std::string& b, const std::string& op) {
    return "  %0 = input : f32[" + a + "]\n  %1 = input : f32[" + b + "]\n  %2 = onednn." + op + "\n";
  };
  expect_right(two(input, weights, "Convolution (%0, %1) {" + attributes + "} : f32[" + output + "]"), "%2");
  expect_right(
      two(output, weights,
          "ConvolutionBackwardData (%0, %1) {" + attributes + ", dst_shape = [" + input + "]} : f32[" + input + "]"),
      "%2");
  expect_right(two(input, output,
                   "ConvolutionBackwardWeights (%0, %1) {" + attributes + ", weights_shape = [" + weights +
                       "]} : f32[" + weights + "]"),
               "%2");
  expect_right(two(output, weights, "ConvTranspose (%0, %1) {" + transposed_attributes + "} : f32[" + input + "]"),
               "%2");
  expect_right(
      two(input, weights, "ConvTransposeBackwardData (%0, %1) {" + transposed_attributes + "} : f32[" + output + "]"),
      "%2");
  expect_right(two(output, input,
                   "ConvTransposeBackwardWeights (%0, %1) {" + transposed_attributes + ", weights_shape = [" + weights +
                       "]} : f32[" + weights + "]"),
               "%2");
}

TEST(Convolution, InBothFormatsForwardsAndBackwards) {
  const std::string sliding = "strides = [2,1], dilations = [1,2], pads_begin = [1,2], pads_end = [1,2]";
  expect_convolutions(sliding + ", data_format = \"NCX\", weights_format = \"OIX\"", "2,4,7,8", "6,4,3,3", "2,6,4,8",
                      sliding + ", data_format = \"NCX\", weights_format = \"IOX\"");
  expect_convolutions(sliding + ", data_format = \"NXC\", weights_format = \"XIO\"", "2,7,8,4", "3,3,4,6", "2,4,8,6",
                      sliding + ", data_format = \"NXC\", weights_format = \"XOI\"");
}

TEST(Convolution, InOneAndThreeDimsAndGroups) {
  const std::string grouped = "strides = [1], dilations = [1], pads_begin = [1], pads_end = [1], groups = 2";
  expect_convolutions(grouped + ", data_format = \"NCX\", weights_format = \"OIX\"", "3,8,9", "4,4,3", "3,4,9",
                      grouped + ", data_format = \"NCX\", weights_format = \"IOX\"");
  const std::string spatial = "strides = [1,1,1], dilations = [1,1,1], pads_begin = [0,0,0], pads_end = [0,0,0]";
  expect_convolutions(spatial + ", data_format = \"NXC\", weights_format = \"XIO\"", "1,5,5,5,3", "2,2,2,3,4",
                      "1,4,4,4,4", spatial + ", data_format = \"NXC\", weights_format = \"XOI\"");
}

TEST(MatMul, ABiasOfOneColumnIsAddedByAKernel) {
  expect_right(
      "  %0 = input : f32[5,7]\n  %1 = input : f32[7,1]\n  %2 = input : f32[1]\n"
      "  %3 = onednn.MatMul (%0, %1, %2) {} : f32[5,1]\n",
      "%3", "OK");
}

/// oneDNN reads a bias of any strides as a dense one.
TEST(Convolution, TakesABiasWithGaps) {
  const std::string tensors = "  %0 = input : f32[2,5,3]\n  %1 = input : f32[1,3,4]\n";
  const std::string last = " : f32[2,5,4]\n";
  const std::string attributes = "{strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]}";
  for (const std::string& op : {"Convolution (%0, %1, %2) " + attributes, std::string("MatMul (%0, %1, %2) {}")})
    for (const std::int64_t stride : {0, 2, 3}) {
      graph::Graph graph = parsed(tensors + "  %2 = input : f32[4]\n  %3 = onednn." + op + last, "%3");
      graph.values[2].strides = {stride};
      expect_right(graph, "OK");
    }
  expect_right(
      tensors +
          "  %2 = input : f32[8]\n"
          "  %3 = onednn.StaticReshape (%2) {shape = [4,2], special_zero = false} : f32[4,2]\n"
          "  %4 = constant : s64[1] property constant = [0]\n  %5 = constant : s64[1] property constant = [1]\n"
          "  %6 = constant : s64[1] property constant = [1]\n"
          "  %7 = onnx.Slice (%3, %4, %5, %6) : f32[4,1]\n"
          "  %8 = onednn.StaticReshape (%7) {shape = [4], special_zero = false} : f32[4]\n"
          "  %9 = onednn.Convolution (%0, %1, %8) " +
          attributes + last,
      "%9", "KKKO");
}

TEST(Convolution, ManyImagesAreSeveralTasks) {
  expect_right(
      "  %0 = input : f32[4,16,24,24]\n  %1 = input : f32[32,16,3,3]\n  %2 = input : f32[32]\n"
      "  %3 = onednn.Convolution (%0, %1, %2) {strides = [1,1], dilations = [1,1], pads_begin = [0,0], "
      "pads_end = [0,0], data_format = \"NCX\", weights_format = \"OIX\", auto_pad = \"SAME_UPPER\"} : "
      "f32[4,32,24,24]\n  %4 = onednn.ReLU (%3) {} : f32[4,32,24,24]\n",
      "%4", "OK");
}

TEST(Convolution, OfOneImageIsSeveralTasksToo) {
  const std::string sliding =
      "strides = [1,1], dilations = [1,1], pads_begin = [1,1], pads_end = [1,1], data_format = ";
  for (const char* const format : {"\"NCX\", weights_format = \"OIX\"", "\"NXC\", weights_format = \"XIO\""}) {
    const bool first = format[2] == 'C';
    const std::string image = first ? "1,64,20,20" : "1,20,20,64", weights = first ? "80,64,3,3" : "3,3,64,80";
    const std::string out = first ? "1,80,20,20" : "1,20,20,80";
    const std::string lines = "  %0 = input : f32[" + image + "]\n  %1 = input : f32[" + weights +
                              "]\n  %2 = input : f32[80]\n  %3 = onednn.Convolution (%0, %1, %2) {" + sliding + format +
                              "} : f32[" + out + "]\n";
    expect_right(lines, "%3");
    EXPECT_EQ(compiled(lines, "%3").value().regions[0].heavy->tasks, 3);
    expect_right("  %0 = input : f32[" + out + "]\n  %1 = input : f32[" + weights +
                     "]\n  %2 = onednn.ConvolutionBackwardData (%0, %1) {" + sliding + format + ", dst_shape = [" +
                     image + "]} : f32[" + image + "]\n",
                 "%2");
  }
}

TEST(Convolution, ATransposedOnesBiasIsAddedByAKernel) {
  expect_right(
      "  %0 = input : f32[1,3,3,4]\n  %1 = input : f32[2,2,5,4]\n  %2 = input : f32[5]\n"
      "  %3 = onednn.ConvTranspose (%0, %1, %2) {strides = [2,2], dilations = [1,1], pads_begin = [0,0], "
      "pads_end = [0,0]} : f32[1,6,6,5]\n",
      "%3", "OK");
}

TEST(Pool, ForwardsAndBackwards) {
  const std::string sliding = "kernel = [3,2], strides = [2,1], pads_begin = [1,0], pads_end = [1,1], data_format = ";
  struct Case {
    std::string format, input, output;
  };
  for (const Case& c : {Case{"\"NCX\"", "2,8,7,6", "2,8,4,6"}, Case{"\"NXC\"", "2,7,6,8", "2,4,6,8"}}) {
    const auto one = [&c](const std::string& from, const std::string& op, const std::string& to) {
      return "  %0 = input : f32[" + from + "]\n  %1 = onednn." + op + "} : f32[" + to + "]\n";
    };
    const std::string max = "(%0) {dilations = [1,1], " + sliding + c.format;
    expect_right(one(c.input, "MaxPool " + max, c.output), "%1");
    for (const char* const excludes : {", exclude_pad = true", ", exclude_pad = false"}) {
      expect_right(one(c.input, "AvgPool (%0) {" + sliding + c.format + excludes, c.output), "%1");
      expect_right(
          one(c.output, "AvgPoolBackward (%0) {" + sliding + c.format + excludes + ", src_shape = [" + c.input + "]",
              c.input),
          "%1");
    }
    expect_right("  %0 = input : f32[" + c.input + "]\n  %1 = input : f32[" + c.output +
                     "]\n  %2 = onednn.MaxPoolBackward (%0, %1) {dilations = [1,1], " + sliding + c.format +
                     "} : f32[" + c.input + "]\n",
                 "%2");
  }
}

TEST(Pool, RoundsTheNumberOfWindowsUp) {
  const std::string windows =
      "kernel = [2,2], strides = [2,2], pads_begin = [0,0], pads_end = [0,0], rounding_type = "
      "\"ceil\", data_format = \"NCX\"";
  const std::string input = "  %0 = input : f32[1,8,5,5]\n";
  expect_right(input + "  %1 = onednn.MaxPool (%0) {" + windows + "} : f32[1,8,3,3]\n", "%1");
  expect_right(input + "  %1 = onednn.AvgPool (%0) {exclude_pad = true, " + windows + "} : f32[1,8,3,3]\n", "%1");
  expect_right(input + "  %1 = onednn.AvgPool (%0) {exclude_pad = false, " + windows + "} : f32[1,8,3,3]\n", "%1", "R");
}

/// An interpolation of `input` and its gradient.
void expect_interpolations(const std::string& mode, const std::string& format, const std::string& input,
                           const std::string& sizes, const std::string& output, const std::string& backward = "O") {
  const std::string how = "mode = \"" + mode + "\", data_format = \"" + format + "\", sizes = [" + sizes + "]}";
  expect_right("  %0 = input : f32[" + input + "]\n  %1 = onednn.Interpolate (%0) {" + how + " : f32[" + output + "]\n",
               "%1");
  expect_right("  %0 = input : f32[" + input + "]\n  %1 = input : f32[" + output +
                   "]\n  %2 = onednn.InterpolateBackward (%0, %1) {" + how + " : f32[" + input + "]\n",
               "%2", backward);
}

TEST(Interpolate, InBothFormatsForwardsAndBackwards) {
  expect_interpolations("nearest", "NCX", "2,8,5,6", "10,3", "2,8,10,3");
  expect_interpolations("nearest", "NXC", "2,5,6,8", "7,9", "2,7,9,8");
  expect_interpolations("linear", "NCX", "2,3,5,6", "10,3", "2,3,10,3");
  expect_interpolations("linear", "NXC", "2,5,6,3", "7,9", "2,7,9,3", "R");
  expect_interpolations("nearest", "NCX", "1,3,7", "11", "1,3,11");
  expect_interpolations("trilinear", "NXC", "1,4,3,2,8", "8,6,1", "1,8,6,1,8");
}

/// Every number of elements to every other: the nearest, of two as near the later, or it is the reference's.
TEST(Interpolate, TakesTheNearestElement) {
  int by_onednn = 0;
  for (int from = 1; from <= 40; from += 3)
    for (int to = 1; to <= 40; ++to) {
      const std::string lines =
          "  %0 = input : f32[1,1," + std::to_string(from) +
          "]\n  %1 = onednn.Interpolate (%0) {mode = \"nearest\", data_format = \"NCX\", sizes = [" +
          std::to_string(to) + "]} : f32[1,1," + std::to_string(to) + "]\n";
      const std::string kind = kinds(compiled(lines, "%1").value());
      by_onednn += kind == "O" ? 1 : 0;
      expect_right(lines, "%1", kind);
      const std::string back =
          "  %0 = input : f32[1,1," + std::to_string(from) + "]\n  %1 = input : f32[1,1," + std::to_string(to) +
          "]\n  %2 = onednn.InterpolateBackward (%0, %1) {mode = \"nearest\", " + "data_format = \"NCX\", sizes = [" +
          std::to_string(to) + "]} : f32[1,1," + std::to_string(from) + "]\n";
      expect_right(back, "%2", kinds(compiled(back, "%2").value()));
    }
  EXPECT_GT(by_onednn, 500) << "of 560";
}

TEST(Interpolate, OfAlignedCornersRunsOnTheReference) {
  const std::string lines =
      "  %0 = input : f32[1,1,3]\n  %1 = onednn.Interpolate (%0) {mode = \"linear\", data_format = \"NCX\", "
      "coordinate_transformation_mode = \"align_corners\", sizes = [5]} : f32[1,1,5]\n";
  expect_right(lines, "%1", "R");
  EXPECT_NE(explain(compiled(lines, "%1").value(), host()).find("align_corners"), std::string::npos);
}

TEST(Interpolate, Of16BitsIsWidened) {
  expect_right(
      "  %0 = input : bf16[1,4,3,8]\n"
      "  %1 = onednn.Interpolate (%0) {mode = \"linear\", sizes = [8, 6]} : bf16[1,8,6,8]\n",
      "%1", "KOK");
}

TEST(Onnx, HeavyOpsRunAsOneDnnsDo) {
  const std::string image = "  %0 = input : f32[2,4,9,8]\n", weights = "  %1 = input : f32[6,2,3,3]\n";
  expect_right(image + weights +
                   "  %2 = input : f32[6]\n"
                   "  %3 = onnx.Conv (%0, %1, %2) {group = 2, pads = [0, 1, 2, 1], strides = [2, 1]} : f32[2,6,5,8]\n",
               "%3");
  expect_right(image +
                   "  %1 = input : f32[4,3,3,3]\n"
                   "  %2 = onnx.ConvTranspose (%0, %1) {strides = [2, 2], output_shape = [18, 16]} : f32[2,3,18,16]\n",
               "%2");
  expect_right(image +
                   "  %1 = onnx.MaxPool (%0) {kernel_shape = [3, 2], strides = [2, 2], ceil_mode = 1} : "
                   "f32[2,4,4,4]\n",
               "%1");
  expect_right(image +
                   "  %1 = onnx.AveragePool (%0) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], count_include_pad = 1} "
                   ": f32[2,4,9,8]\n",
               "%1");
  expect_right(
      "  %0 = input : f32[5,7]\n  %1 = input : f32[3,7]\n  %2 = input : f32[3]\n"
      "  %3 = onnx.Gemm (%0, %1, %2) {transB = 1} : f32[5,3]\n",
      "%3");
  expect_right(
      "  %0 = input : bf16[5,7]\n  %1 = input : bf16[7,3]\n  %2 = input : bf16[5,1]\n"
      "  %3 = onnx.Gemm (%0, %1, %2) {alpha = 0.3, beta = -1.7} : bf16[5,3]\n",
      "%3", "KKOK");
}

TEST(Onnx, WhatOneDnnHasNotRunsOnTheReference) {
  expect_right("  %0 = input : f64[5,7]\n  %1 = input : f64[7,3]\n  %2 = onnx.MatMul (%0, %1) : f64[5,3]\n", "%2", "R");
  expect_right(
      "  %0 = input : f32[1,2,9]\n  %1, %2 = onnx.MaxPool (%0) {kernel_shape = [3]} : f32[1,2,7], s64[1,2,7]\n",
      "%1, %2", "R");
  expect_right(
      "  %0 = input : f32[1,2,9]\n"
      "  %1 = onnx.AveragePool (%0) {kernel_shape = [2], dilations = [2]} : f32[1,2,7]\n",
      "%1", "R");
}

TEST(Attention, HasOneKernelBetweenTheProducts) {
  const std::string graph =
      "  %0 = input : f32[1,2,16,8]\n  %1 = input : f32[1,2,16,8]\n  %2 = input : f32[1,2,16,8]\n"
      "  %3 = input : f32[1,1,1,16]\n  %4 = input : f32[1]\n"
      "  %5 = onednn.MatMul (%0, %1) {transpose_b = true} : f32[1,2,16,16]\n"
      "  %6 = onednn.Divide (%5, %4) {} : f32[1,2,16,16]\n"
      "  %7 = onednn.Add (%6, %3) {} : f32[1,2,16,16]\n"
      "  %8 = onednn.SoftMax (%7) {axis = -1} : f32[1,2,16,16]\n"
      "  %9 = onednn.MatMul (%8, %2) {} : f32[1,2,16,8]\n"
      "  %10 = onednn.StaticTranspose (%9) {order = [0,2,1,3]} : f32[1,16,2,8]\n";
  expect_right(graph, "%10", "OKOK");
}

TEST(Explain, SaysWhatOneDnnRuns) {
  const Result<Compiled> made = compiled(
      "  %0 = input : f32[5,7]\n  %1 = input : f32[7,3]\n  %2 = onednn.MatMul \"m\" (%0, %1) {} : f32[5,3]\n", "%2");
  ASSERT_TRUE(made.ok()) << made.status().message();
  const std::string text = explain(made.value(), host());
  EXPECT_TRUE(std::regex_search(text, std::regex("region 0: oneDNN [^\n]*, 1 task\n"))) << text;
  EXPECT_NE(text.find("    matmul f32 [5, 7]:[7, 1] f32 [7, 3]:[3, 1] -> f32 [5, 3]:[3, 1]\n"), std::string::npos)
      << text;
}

TEST(Explain, SaysWhatIsWidened) {
  const std::string dequantized =
      "  %0 = input : u8[5,7]\n  %1 = input : s8[3,7]\n"
      "  %2 = onednn.Dequantize (%0) {scales = [0.5], zps = [3]} : f32[5,7]\n"
      "  %3 = onednn.Dequantize (%1) {scales = [0.25], zps = [0]} : f32[3,7]\n"
      "  %4 = onednn.MatMul (%2, %3) {transpose_b = true} : f32[5,3]\n";
  EXPECT_NE(explain(compiled(dequantized, "%4").value(), host()).find("its u8 s8 operands as f32"), std::string::npos);
  const std::string narrow =
      "  %0 = input : f16[5,7]\n  %1 = input : f16[7,3]\n  %2 = onnx.MatMul (%0, %1) : f16[5,3]\n";
  EXPECT_NE(explain(compiled(narrow, "%2").value(), host()).find("its f16 operands as f32"), std::string::npos);
  const std::string wide =
      "  %0 = input : f16[5,7]\n  %1 = onednn.TypeCast (%0) {} : f32[5,7]\n  %2 = input : f32[7,3]\n"
      "  %3 = onednn.MatMul (%1, %2) {} : f32[5,3]\n";
  EXPECT_EQ(explain(compiled(wide, "%3").value(), host()).find("operands as f32"), std::string::npos);
}

TEST(Explain, SaysWhyNot) {
  const auto reason = [](const std::string& lines) -> std::string {
    const Result<Compiled> made = compiled(lines, "%3");
    if (!made.ok()) return made.status().message();
    EXPECT_EQ(kinds(made.value()), "R");
    return made.value().regions[0].reason;
  };
  EXPECT_EQ(reason("  %0 = input : f32[5,0]\n  %1 = input : f32[0,3]\n  %2 = input : f32[3]\n"
                   "  %3 = onednn.MatMul (%0, %1, %2) {} : f32[5,3]\n"),
            "sums of no products");
  target::Target reference = host();
  reference.isa = target::Isa::reference;
  const Result<Compiled> made = compile(
      piped(parsed("  %0 = input : f32[5,7]\n  %1 = input : f32[7,3]\n  %2 = onednn.MatMul (%0, %1) {} : f32[5,3]\n",
                   "%2")),
      reference);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made.value().regions[0].reason, "the target is 'reference'");
}

}  // namespace
}  // namespace tenfold::compiler
