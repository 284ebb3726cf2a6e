// SPDX-License-Identifier: Apache-2.0
//
// Temporaries share memory where one has ended before the other begins, and never otherwise.
#include "compile/bind/arena.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "compile/compile.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"

namespace tenfold::compiler {
namespace {

TEST(Arena, WhatIsGivenBackIsTakenAgain) {
  ArenaLayout arena;
  const std::int64_t a = arena.take(100), b = arena.take(60), c = arena.take(200);
  EXPECT_EQ(a, 0);
  EXPECT_EQ(b, 128);
  EXPECT_EQ(c, 192);
  EXPECT_EQ(arena.bytes(), 192 + 256);
  arena.give(a);
  arena.give(c);
  EXPECT_EQ(arena.take(64), 0) << "the smallest hole that has room";
  EXPECT_EQ(arena.take(300), c) << "a hole at the end grows";
  EXPECT_EQ(arena.bytes(), 192 + 320);
  EXPECT_EQ(arena.take(64), 64) << "what was left of a hole";
  EXPECT_EQ(arena.take(0), 0);
}

TEST(Arena, HolesSideBySideAreOne) {
  ArenaLayout arena;
  const std::int64_t a = arena.take(64), b = arena.take(64), c = arena.take(64);
  arena.take(64);
  arena.give(a);
  arena.give(c);
  arena.give(b);
  EXPECT_EQ(arena.take(192), 0);
  EXPECT_EQ(arena.bytes(), 256);
}

TEST(Arena, CountsUpToWhatNoSystemHas) {
  ArenaLayout arena;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  arena.take(kMost - 100);
  arena.take(kMost - 100);
  EXPECT_EQ(arena.bytes(), kMost);
}

TEST(Arena, BlocksNeverOverlap) {
  std::mt19937 random(3);
  struct Block {
    std::int64_t offset, bytes;
  };
  for (int round = 0; round < 50; ++round) {
    ArenaLayout arena;
    std::vector<Block> taken;
    for (int step = 0; step < 200; ++step) {
      if (!taken.empty() && random() % 2 == 0) {
        const std::size_t at = random() % taken.size();
        arena.give(taken[at].offset);
        taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(at));
        continue;
      }
      const std::int64_t bytes = 1 + static_cast<std::int64_t>(random() % 1000);
      const Block block{arena.take(bytes), bytes};
      ASSERT_EQ(block.offset % ArenaLayout::kAlignment, 0);
      ASSERT_LE(block.offset + bytes, arena.bytes());
      for (const Block& other : taken)
        ASSERT_TRUE(block.offset + block.bytes <= other.offset || other.offset + other.bytes <= block.offset);
      taken.push_back(block);
    }
  }
}

/// A chain of any length takes what two of its tensors do.
TEST(Arena, AChainTakesTwoTensors) {
  constexpr std::int64_t kBytes = 256 * 512 * 4;
  for (const int length : {2, 3, 5, 20}) {
    std::string text = "graph {\n  %0 = input : f32[256,512]\n";
    for (int i = 1; i <= length; ++i)
      text += "  %" + std::to_string(i) + " = onednn.SoftMax (%" + std::to_string(i - 1) +
              ") {axis = " + std::to_string(i % 2) + "} : f32[256,512]\n";
    Result<graph::Graph> graph = graph::parse(text + "  output %" + std::to_string(length) + "\n}\n");
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    ASSERT_TRUE(graph::run_pipeline(graph.value()).ok());
    target::Target target;
    target.isa = target.native = target::Isa::avx2;
    const Result<Compiled> made = compile(graph.value(), target);
    ASSERT_TRUE(made.ok()) << made.status().message();
    ASSERT_EQ(made.value().regions.size(), static_cast<std::size_t>(length));
    EXPECT_EQ(made.value().program.arena_bytes, std::min(2, length - 1) * kBytes) << length;
  }
}

}  // namespace
}  // namespace tenfold::compiler
