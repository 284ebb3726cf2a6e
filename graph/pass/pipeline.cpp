// SPDX-License-Identifier: Apache-2.0
//
// The ordered list of all passes over the graph IR.
#include <string_view>

#include "graph/check/check.hpp"
#include "graph/pass/pass.hpp"

namespace tenfold::graph {
namespace {

struct Pass {
  std::string_view name;
  Status (*run)(Graph& graph);
};

constexpr Pass kPipeline[] = {
    // First: everything after it may index, count and recurse over ops without asking, and meets them sorted.
    {"verify", verify},

    // Must run after verify (topological order), and before canonicalize, which needs the rank of what BiasAdd and
    // PReLU broadcast to.
    {"infer", infer},

    // Must run after infer, which it goes on with, and before canonicalize, which turns reshapes of known shapes.
    {"fold-shapes", fold_shapes},

    // Must run after infer. Gives the shape of every value that it makes itself, so infer need not run again.
    {"canonicalize", canonicalize},

    // Must run after infer (it asks for ranks and dtypes), and after canonicalize, which has the constants in place.
    {"decompose", decompose},

    // Must run after canonicalize (it knows core.reduce only) and after infer (the rank wraps negative axes).
    {"fold-axes", fold_axes},

    // Must run after fold-axes (it reads axes as attributes). Leaves ops that nobody needs.
    {"simplify", simplify},

    // Must run after simplify, which has the last say on what an op reads.
    {"fold-constants", fold_constants},

    // Must run after both: it drops what they left.
    {"eliminate", eliminate},

    // Last: what the passes made is judged by the same rules as what the user wrote.
    {"verify", verify},
};

}  // namespace

Status run_pipeline(Graph& graph, const PassObserver& observer) {
  for (const Pass& pass : kPipeline) {
    if (Status s = pass.run(graph); !s.ok()) return s;
    if (observer) observer(pass.name, graph);
  }
  return {};
}

}  // namespace tenfold::graph
