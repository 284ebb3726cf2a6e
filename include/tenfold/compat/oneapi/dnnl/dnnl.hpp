// SPDX-License-Identifier: Apache-2.0
//
// Stands where oneDNN's header of primitives would be found behind Tenfold's compat folder, to say that it is not here.
#error \
    "Tenfold's compat folder has oneDNN Graph alone: include oneapi/dnnl/dnnl_graph.hpp, or keep files that use \
oneDNN's primitives apart and compile them without tenfold::dnnl_graph_compat"
