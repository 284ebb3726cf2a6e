// SPDX-License-Identifier: Apache-2.0
//
// A process that forks while other threads of it compile: no child waits for a thread that it does not have.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "compile/compile.hpp"
#include "graph/pass/pass.hpp"
#include "graph/text/text.hpp"

namespace tenfold::compiler {
namespace {

graph::Graph sum_of(int columns) {
  const std::string n = std::to_string(columns);
  Result<graph::Graph> graph = graph::parse("graph {\n  %0 = input : f32[64," + n +
                                            "]\n  %1 = onednn.ReduceSum (%0) {axes = [1]} : f32[64]\n  output %1\n}\n");
  EXPECT_TRUE(graph.ok() && graph::run_pipeline(graph.value()).ok());
  return std::move(graph).value();
}

bool compiles(const graph::Graph& graph) {
  target::Target target;
  target.isa = target.native = target::Isa::avx2;
  return compile(graph, target).ok();
}

TEST(Fork, AChildCompilesWhateverItsParentsThreadsDid) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "NOT RUN: the thread sanitizer does not follow forks of programs with threads";
#elif defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "NOT RUN: a child may wait for the address sanitizer's allocator, which its parent's thread was in";
#endif
  constexpr int kChildren = 60, kWidths = 40;
  std::vector<graph::Graph> graphs;
  for (int columns = 3; columns < 3 + kWidths; ++columns) graphs.push_back(sum_of(columns));
  std::atomic<bool> stop{false};
  std::thread other([&] {
    // A kernel each time, as nobody keeps them.
    for (std::size_t i = 0; !stop; ++i) EXPECT_TRUE(compiles(graphs[i % graphs.size()]));
  });
  for (int child = 0; child < kChildren; ++child) {
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(20);
      _exit(compiles(graphs[static_cast<std::size_t>(child) % graphs.size()]) ? 0 : 1);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    ASSERT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
    ASSERT_EQ(WEXITSTATUS(status), 0);
  }
  stop = true;
  other.join();
}

}  // namespace
}  // namespace tenfold::compiler
