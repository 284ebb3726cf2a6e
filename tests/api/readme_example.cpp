// SPDX-License-Identifier: Apache-2.0
//
// The example of README.md, compiled and run: the greatest element of each row of a matrix.
#include <cstdio>
#include <tenfold/tenfold.hpp>
#include <vector>

namespace {

int fail(const tenfold::Status& status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}

}  // namespace

int main() {
  tenfold::GraphBuilder builder;
  const tenfold::TensorId x = builder.input({tenfold::DType::f32, {4096, 1024}, {}});
  builder.op("ReduceMax", {x}, {{"axes", std::vector<std::int64_t>{1}}});
  const auto graph = builder.finish();
  if (!graph.ok()) return fail(graph.status());

  const auto partition = tenfold::compile(graph.value());
  if (!partition.ok()) return fail(partition.status());

  std::vector<float> in(4096 * 1024, 1.0F), out(4096);
  in[3 * 1024 + 5] = 7.0F;
  const tenfold::Status status = partition.value().execute({in.data()}, {out.data()});
  if (!status.ok()) return fail(status);

  std::printf("row 2: %g, row 3: %g\n", static_cast<double>(out[2]), static_cast<double>(out[3]));
  return out[2] == 1.0F && out[3] == 7.0F ? 0 : 1;
}
