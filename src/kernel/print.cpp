// SPDX-License-Identifier: Apache-2.0
//
// The text form of KernelSpec (spec.hpp shows one). Parsing is strict: what print() writes, and blanks.
#include <charconv>
#include <sstream>

#include "kernel/read_number.hpp"
#include "kernel/spec.hpp"
#include "kernel/text_stream.hpp"

namespace tenfold::kernel {
namespace {

void print_operand(std::ostringstream& out, std::string_view way, std::size_t index, const Operand& operand) {
  out << way << index << ' ' << to_string(operand.dtype) << " [";
  for (std::size_t i = 0; i < operand.strides.size(); ++i) out << (i ? ", " : "") << operand.strides[i];
  out << "]\n";
}

std::string shortest(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

void print_node(std::ostringstream& out, std::size_t index, const Node& node) {
  out << '%' << index << " = ";
  switch (node.kind) {
    case Node::Kind::load: out << "load x" << node.index << (node.total ? " total" : ""); break;
    case Node::Kind::count: out << "count"; break;
    case Node::Kind::constant: out << "constant " << to_string(node.dtype) << ' ' << shortest(node.value); break;
    case Node::Kind::cast: out << "cast " << to_string(node.dtype); break;
    case Node::Kind::apply: out << row(node.function).name; break;
    case Node::Kind::scan:
      out << "scan" << (node.exclusive ? " exclusive" : "") << (node.reverse ? " reverse" : "");
      break;
    case Node::Kind::rank: out << "rank " << row(node.monoid).name << ' ' << node.index; break;
    case Node::Kind::reduce:
      out << "reduce " << row(node.monoid).name << (node.last ? " last" : "") << (node.centred ? " centred" : "");
      break;
  }
  for (const int arg : node.args) out << " %" << arg;
  out << '\n';
}

/// Words of one line, with a message that names the line when one is missing or wrong.
class Line {
 public:
  Line(std::string_view text, int number) : text_(text), number_(number) {}

  std::string_view word() {
    skip();
    std::size_t end = 0;
    while (end < text_.size() && text_[end] != ' ' && text_[end] != ',' && text_[end] != '[' && text_[end] != ']')
      ++end;
    if (end == 0 && !text_.empty()) end = 1;
    const std::string_view result = text_.substr(0, end);
    text_.remove_prefix(end);
    return result;
  }
  bool empty() {
    skip();
    return text_.empty();
  }
  bool take(std::string_view expected) {
    const std::string_view before = text_;
    if (word() == expected) return true;
    text_ = before;
    return false;
  }
  template <class T>
  bool number(T& value) {
    return read_number(word(), value);
  }
  bool reference(int& value) {
    const std::string_view w = word();
    return w.size() > 1 && w[0] == '%' && read_number(w.substr(1), value);
  }
  Status error(const std::string& expected) const {
    return {Code::invalid_argument, "line " + std::to_string(number_) + ": expected " + expected};
  }

 private:
  void skip() {
    while (!text_.empty() && text_[0] == ' ') text_.remove_prefix(1);
  }
  std::string_view text_;
  int number_;
};

/// x17: 17; -1 for anything else.
int name_index(std::string_view name, char letter) {
  int index = -1;
  return name.size() > 1 && name[0] == letter && read_number(name.substr(1), index) ? index : -1;
}

Status parse_space(Line& line, KernelSpec& spec) {
  while (!line.empty()) {
    Level level;
    if (line.take("reduced")) {
      level.reduced = true;
    } else if (!line.take("kept")) {
      return line.error("'kept' or 'reduced'");
    }
    if (!line.number(level.extent)) return line.error("an extent");
    spec.levels.push_back(level);
    line.take(",");
  }
  return {};
}

Status parse_operand(Line& line, char letter, std::vector<Operand>& operands) {
  if (name_index(line.word(), letter) != static_cast<int>(operands.size()))
    return line.error(std::string("operand ") + letter + std::to_string(operands.size()));
  const std::optional<DType> dtype = dtype_from_name(line.word());
  if (!dtype) return line.error("a dtype");
  Operand operand{*dtype, {}};
  if (!line.take("[")) return line.error("'['");
  while (!line.take("]")) {
    std::int64_t stride = 0;
    if (!line.number(stride)) return line.error("a stride");
    operand.strides.push_back(stride);
    line.take(",");
  }
  operands.push_back(std::move(operand));
  return {};
}

Status parse_node(Line& line, KernelSpec& spec) {
  if (!line.take("=")) return line.error("'='");
  Node node;
  const std::string_view what = line.word();
  if (what == "load") {
    node.index = name_index(line.word(), 'x');
    if (node.index < 0) return line.error("an input");
    node.total = line.take("total");
  } else if (what == "count") {
    node.kind = Node::Kind::count;
  } else if (what == "constant" || what == "cast") {
    node.kind = what == "cast" ? Node::Kind::cast : Node::Kind::constant;
    const std::optional<DType> dtype = dtype_from_name(line.word());
    if (!dtype) return line.error("a dtype");
    node.dtype = *dtype;
    if (what == "constant" && !line.number(node.value)) return line.error("a number");
  } else if (what == "reduce") {
    node.kind = Node::Kind::reduce;
    const std::optional<Monoid> monoid = monoid_from_name(line.word());
    if (!monoid) return line.error("a monoid");
    node.monoid = *monoid;
    node.last = line.take("last");
    node.centred = line.take("centred");
  } else if (what == "scan") {
    node.kind = Node::Kind::scan;
    node.exclusive = line.take("exclusive");
    node.reverse = line.take("reverse");
  } else if (what == "rank") {
    node.kind = Node::Kind::rank;
    const std::optional<Monoid> monoid = monoid_from_name(line.word());
    if (!monoid || *monoid == Monoid::sum || *monoid == Monoid::prod) return line.error("an extreme or its index");
    node.monoid = *monoid;
    if (!line.number(node.index)) return line.error("a place");
  } else {
    node.kind = Node::Kind::apply;
    const std::optional<Function> function = function_from_name(what);
    if (!function) return line.error("load, count, constant, cast, reduce, scan, rank or a function");
    node.function = *function;
  }
  while (!line.empty()) {
    int arg = 0;
    if (!line.reference(arg)) return line.error("an argument such as %0");
    node.args.push_back(arg);
  }
  spec.body.push_back(std::move(node));
  return {};
}

Status parse_line(Line& line, KernelSpec& spec) {
  if (line.take("kernel")) return {};
  if (line.take("space")) return parse_space(line, spec);
  if (line.take("in")) return parse_operand(line, 'x', spec.inputs);
  if (line.take("out")) return parse_operand(line, 'y', spec.outputs);
  if (line.take("store")) {
    Store store;
    store.output = name_index(line.word(), 'y');
    if (store.output < 0 || !line.reference(store.node)) return line.error("an output and a value");
    spec.stores.push_back(store);
    return {};
  }
  int index = 0;
  if (!line.reference(index) || index != static_cast<int>(spec.body.size()))
    return line.error("%" + std::to_string(spec.body.size()));
  return parse_node(line, spec);
}

}  // namespace

std::string print(const KernelSpec& spec) {
  TextStream out;
  out << "kernel\nspace";
  for (std::size_t i = 0; i < spec.levels.size(); ++i)
    out << (i ? ", " : " ") << (spec.levels[i].reduced ? "reduced " : "kept ") << spec.levels[i].extent;
  out << '\n';
  for (std::size_t i = 0; i < spec.inputs.size(); ++i) print_operand(out, "in x", i, spec.inputs[i]);
  for (std::size_t i = 0; i < spec.outputs.size(); ++i) print_operand(out, "out y", i, spec.outputs[i]);
  for (std::size_t i = 0; i < spec.body.size(); ++i) print_node(out, i, spec.body[i]);
  for (const Store& store : spec.stores) out << "store y" << store.output << " %" << store.node << '\n';
  return out.str();
}

Result<KernelSpec> parse(std::string_view text) {
  KernelSpec spec;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    Line line(text.substr(0, end), ++number);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty()) continue;
    Status status = parse_line(line, spec);
    if (!status.ok()) return status;
    if (!line.empty()) return line.error("the end of the line");
  }
  Status status = check(spec);
  if (!status.ok()) return Status(Code::invalid_argument, status.message());
  return spec;
}

}  // namespace tenfold::kernel
