// SPDX-License-Identifier: Apache-2.0
//
// parse(): one statement a value or op, no nesting, so no recursion. Whether the graph makes sense is verify()'s
// business: cycles, unknown kinds, two tensors of one id or two producers of one tensor are read as they stand, and %?7
// is index 7 into Graph::values, where there may be nothing. Without an `output` line the
// outputs follow from the edges.
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/text/grammar.hpp"
#include "graph/text/scan.hpp"
#include "graph/text/text.hpp"

namespace tenfold::graph {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : scan_(text) {}

  Result<Graph> run() {
    if (!statements() || !resolve()) return scan_.status();
    return std::move(graph_);
  }

 private:
  struct Use {
    std::size_t where;
    std::int64_t id;  ///< or an index, when `raw`
    bool raw;
    OpId op;           ///< kNone: the use is a graph output
    std::size_t port;  ///< of op
  };

  bool statements() {
    if (!scan_.expect_word("graph") || !header() || !scan_.expect('{')) return false;
    while (!scan_.take('}')) {
      if (scan_.take_word("output")) {
        if (!outputs() || !scan_.expect('}')) return false;
        break;
      }
      if (!statement()) return false;
    }
    return scan_.at_end() || scan_.fail("the graph has ended, but the text goes on");
  }

  bool header() {
    if (!scan_.take('(')) return true;
    const std::size_t where = scan_.mark();
    std::vector<NamedAttribute> facts;
    if (!scan_attributes(scan_, ')', facts, graph_.extras)) return false;
    for (NamedAttribute& fact : facts) {
      std::string* text = std::get_if<std::string>(&fact.value);
      std::string* target = fact.name == "version"       ? &graph_.version
                            : fact.name == "engine_kind" ? &graph_.engine_kind
                            : fact.name == "fpmath_mode" ? &graph_.fpmath_mode
                                                         : nullptr;
      if (text == nullptr || target == nullptr)
        return scan_.fail_at(
            where,
            "a graph has version, engine_kind, fpmath_mode (all strings) and json: keys, not '" + fact.name + "'");
      *target = std::move(*text);
    }
    return true;
  }

  bool outputs() {
    has_outputs_ = true;
    if (scan_.peek() != '%') return true;
    do {
      if (!use(kNone, 0)) return false;
    } while (scan_.take(','));
    return true;
  }

  bool statement() {
    std::vector<std::pair<std::size_t, std::int64_t>> results;
    if (scan_.peek() == '%') {
      do {
        results.emplace_back(scan_.mark(), 0);
        if (!value_id(results.back().second)) return false;
      } while (scan_.take(','));
      if (!scan_.expect('=')) return false;
    }
    if (results.size() == 1) {
      if (scan_.take_word("input")) return leaf(results[0], true, false);
      if (scan_.take_word("unbound")) return leaf(results[0], false, false);
      if (scan_.take_word("constant")) return leaf(results[0], false, true);
    }
    return op(results);
  }

  bool leaf(const std::pair<std::size_t, std::int64_t>& result, bool is_input, bool is_constant) {
    Value value;
    value.id = result.second;
    value.is_constant = is_constant;
    if (!scan_.expect(':') || !scan_type(scan_, value)) return false;
    if (is_constant && (!scan_.expect('=') || !scan_elements(scan_, value))) return false;
    ids_.emplace(value.id, static_cast<ValueId>(graph_.values.size()));
    if (is_input) graph_.inputs.push_back(static_cast<ValueId>(graph_.values.size()));
    graph_.values.push_back(std::move(value));
    return true;
  }

  bool op(const std::vector<std::pair<std::size_t, std::int64_t>>& results) {
    Op op;
    const auto index = static_cast<OpId>(graph_.ops.size());
    op.id = index;
    if (!dialect(op.dialect) || !scan_.identifier("an op kind", op.kind)) return false;
    if (scan_.take('@') && !opset(op.opset)) return false;
    if (scan_.take('#') && !scan_.integer("an op id", op.id)) return false;
    if (scan_.peek() == '"' && !scan_.string("an op name", op.name)) return false;
    if (!scan_.expect('(') || !operands(op, index)) return false;
    if (scan_.take('{') && !scan_attributes(scan_, '}', op.attributes, op.extras)) return false;
    for (std::size_t i = 0; i < results.size(); ++i) {
      Value value;
      value.id = results[i].second;
      value.producer = index;
      if (!scan_.expect(i == 0 ? ':' : ',') || !scan_type(scan_, value)) return false;
      const auto [at, fresh] = ids_.emplace(value.id, static_cast<ValueId>(graph_.values.size()));
      if (fresh) graph_.values.push_back(std::move(value));
      op.outputs.push_back(at->second);
    }
    graph_.ops.push_back(std::move(op));
    return true;
  }

  bool dialect(Dialect& out) {
    const std::size_t where = scan_.mark();
    std::string name;
    if (!scan_.identifier("an op such as onednn.ReduceMax", name)) return false;
    for (const Dialect d : {Dialect::onednn, Dialect::onnx, Dialect::core})
      if (schemas::to_string(d) == name) {
        out = d;
        return scan_.expect('.');
      }
    return scan_.fail_at(where,
                         "expected input, constant, or an op of dialect onednn, onnx or core, found '" + name + "'");
  }

  bool opset(int& out) {
    const std::size_t where = scan_.mark();
    std::int64_t number = 0;
    if (!scan_.integer("an opset", number)) return false;
    if (number < 0 || number > std::numeric_limits<int>::max()) return scan_.fail_at(where, "an opset has 31 bits");
    out = static_cast<int>(number);
    return true;
  }

  bool operands(Op& op, OpId index) {
    if (scan_.take(')')) return true;
    do {
      op.inputs.push_back(kNone);
      if (scan_.take_word("_")) continue;
      if (!use(index, op.inputs.size() - 1)) return false;
    } while (scan_.take(','));
    return scan_.expect(')');
  }

  bool use(OpId op, std::size_t port) {
    Use use{scan_.mark(), 0, false, op, port};
    if (!scan_.expect('%')) return false;
    use.raw = scan_.take('?');
    if (!scan_.integer(use.raw ? "an index" : "a value id", use.id)) return false;
    if (use.raw && (use.id < 0 || use.id >= kNone)) return scan_.fail_at(use.where, "an index has 32 bits");
    uses_.push_back(use);
    return true;
  }

  bool value_id(std::int64_t& id) { return scan_.expect('%') && scan_.integer("a value id", id); }

  bool resolve() {
    std::vector<ValueId> outputs;
    bool well_formed = true;
    for (const Use& use : uses_) {
      const auto at = ids_.find(use.id);
      if (!use.raw && at == ids_.end())
        return scan_.fail_at(use.where, "value %" + std::to_string(use.id) + " is not defined");
      const ValueId value = use.raw ? static_cast<ValueId>(use.id) : at->second;
      if (use.op == kNone)
        outputs.push_back(value);
      else
        graph_.ops[use.op].inputs[use.port] = value;
      well_formed = well_formed && value < graph_.values.size();
    }
    if (has_outputs_) {
      graph_.outputs = std::move(outputs);
      return true;
    }
    if (!well_formed) return true;
    std::vector<ValueId> inputs = graph_.inputs;
    connect(graph_);
    graph_.inputs = std::move(inputs);
    return true;
  }

  Scanner scan_;
  Graph graph_;
  std::unordered_map<std::int64_t, ValueId> ids_;
  std::vector<Use> uses_;
  bool has_outputs_ = false;
};

}  // namespace

Result<Graph> parse(std::string_view text) { return Parser(text).run(); }

}  // namespace tenfold::graph
