// SPDX-License-Identifier: Apache-2.0
//
// Cuts a graph file into its members and ops, and hands them on one at a time. Here is where syntax, encoding, depth,
// counts and duplicate keys are judged; what the members mean is for the receiver.
#pragma once

#include <string_view>

#include "graph/read/json.hpp"
#include "graph/read/tape.hpp"
#include "tenfold/status.hpp"

namespace tenfold::graph {

/// Gets what a file holds. Items live only until the call returns; a bad Status ends the reading.
class DocumentReceiver {
 public:
  virtual ~DocumentReceiver() = default;
  /// A member of the root other than `graph`.
  virtual Status on_member(Item member) = 0;
  /// An element of `graph`.
  virtual Status on_op(Item op) = 0;
};

/// May throw what the parser and the receiver throw: std::bad_alloc, and nothing else that we know of.
Status read_document(std::string_view text, const ReadLimits& limits, DocumentReceiver& receiver);

}  // namespace tenfold::graph
