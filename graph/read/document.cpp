// SPDX-License-Identifier: Apache-2.0
//
// The SAX handler. nlohmann's parser keeps one bit a level and does not recurse, so depth costs nothing until this
// handler refuses it; its DOM is never built.
#include "graph/read/document.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/read/location.hpp"
#include "graph/read/tokens.hpp"

namespace tenfold::graph {
namespace {

constexpr std::uint32_t kNotOnTape = ~std::uint32_t{0};

class Handler {
 public:
  /// `text` is what the parser reads, `file` what the user wrote. They differ in bare numbers, and `text` may end
  /// before a string that is too long.
  Handler(std::string_view file, std::string_view text, const ReadLimits& limits, DocumentReceiver& receiver)
      : text_(text), limits_(limits), receiver_(receiver) {
    tape_.file = file;
  }

  Status status() const { return status_; }
  bool seen_graph() const { return seen_graph_; }

  bool null() { return scalar(Kind::null, {}); }
  bool boolean(bool value) { return scalar(Kind::boolean, {.integer = value ? 1 : 0}); }
  bool number_integer(std::int64_t value) { return scalar(Kind::integer, {.integer = value}); }
  bool number_unsigned(std::uint64_t value);
  bool number_float(double value, const std::string&) { return scalar(Kind::real, {.real = value}); }
  bool string(std::string& value);
  bool binary(nlohmann::json::binary_t&) { return false; }
  bool key(std::string& key);
  bool start_object(std::size_t) { return open(Kind::object); }
  bool start_array(std::size_t) { return open(Kind::array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error);

 private:
  struct Frame {
    Kind kind;
    std::uint32_t node;      ///< on the tape, or kNotOnTape for the root and `graph`
    std::string key;         ///< of an object: the member that is being read
    std::size_t count = 0;   ///< members or elements so far
    std::uint32_t text = 0;  ///< the key on the tape
  };

  void next_token();
  bool enter_value(Kind kind);
  bool scalar(Kind kind, Tape::Payload payload);
  bool open(Kind kind);
  bool close();
  bool deliver();
  bool unique_keys(std::uint32_t object);
  std::string pointer() const;
  bool fail(Status status);
  bool fail_here(std::string_view message) { return fail(error_at(tape_.file, begin_, pointer(), message)); }

  std::string_view text_;
  const ReadLimits& limits_;
  DocumentReceiver& receiver_;
  Tape tape_;
  std::vector<Frame> frames_;
  std::set<std::string> root_keys_;
  std::size_t begin_ = 0;  ///< of the current token
  std::size_t end_ = 0;
  bool seen_graph_ = false;
  Status status_;
};

bool Handler::fail(Status status) {
  status_ = std::move(status);
  return false;
}

void Handler::next_token() {
  begin_ = token_begin(text_, end_);
  end_ = token_end(text_, begin_);
}

std::string Handler::pointer() const {
  std::string result;
  for (const Frame& frame : frames_) {
    if (frame.count == 0) break;
    result += frame.kind == Kind::object ? pointer_step(frame.key) : "/" + std::to_string(frame.count - 1);
  }
  return result;
}

bool Handler::number_unsigned(std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return scalar(Kind::huge, {.huge = value});
  return scalar(Kind::integer, {.integer = static_cast<std::int64_t>(value)});
}

bool Handler::key(std::string& key) {
  next_token();
  Frame& frame = frames_.back();
  if (key.size() > limits_.string) {
    return fail_here("a key of " + std::to_string(key.size()) + " bytes exceeds the limit of " +
                     std::to_string(limits_.string));
  }
  frame.key = key;
  if (++frame.count > limits_.list)
    return fail_here("the object has more than the allowed " + std::to_string(limits_.list) + " members");
  if (frames_.size() == 1 && !root_keys_.insert(key).second) return fail_here("key " + shown(key) + " occurs twice");
  if (frames_.size() > 1) {
    frame.text = static_cast<std::uint32_t>(tape_.strings.size());
    tape_.strings.push_back(std::move(key));
  }
  return true;
}

bool Handler::string(std::string& value) {
  begin_ = token_begin(text_, end_);
  if (tape_.file[begin_] != '"') return scalar(Kind::real, {.real = bare_number(tape_.file, begin_)});
  if (value.size() > limits_.string) {
    return fail_here("a string of " + std::to_string(value.size()) + " bytes exceeds the limit of " +
                     std::to_string(limits_.string));
  }
  const auto index = static_cast<std::uint32_t>(tape_.strings.size());
  tape_.strings.push_back(std::move(value));
  return scalar(Kind::string, {.text = index});
}

/// Puts the value that begins now onto the tape, or starts a tape with it; false when it may not stand there.
bool Handler::enter_value(Kind kind) {
  next_token();
  if (frames_.empty()) {
    if (kind == Kind::object) return true;
    return fail_here("expected an object with the key 'graph', found " +
                     std::string(kind == Kind::array ? "an array" : "a single value"));
  }
  Frame& frame = frames_.back();
  if (frame.kind == Kind::array && ++frame.count > limits_.list)
    return fail_here("the array has more than the allowed " + std::to_string(limits_.list) + " elements");
  if (frames_.size() == 1 && frame.key == "graph") {
    seen_graph_ = true;
    return kind == Kind::array ? true : fail_here("expected an array of ops");
  }
  if (frame.node == kNotOnTape) tape_.prefix = pointer();
  if (tape_.nodes.size() >= limits_.values)
    return fail_here("more than the allowed " + std::to_string(limits_.values) + " values in one op or member");
  Tape::Node node;
  node.kind = kind;
  node.begin = static_cast<std::uint32_t>(begin_);
  if (frame.kind == Kind::object && frame.node != kNotOnTape) node.key = frame.text;
  if (frames_.size() == 1) {
    node.key = static_cast<std::uint32_t>(tape_.strings.size());
    tape_.strings.push_back(frame.key);
  }
  tape_.nodes.push_back(node);
  return true;
}

bool Handler::scalar(Kind kind, Tape::Payload payload) {
  if (!enter_value(kind)) return false;
  Tape::Node& node = tape_.nodes.back();
  node.payload = payload;
  // oneDNN's writer prints -0.0 as "-0", which is an integer without a sign to a JSON parser.
  if (kind == Kind::integer && payload.integer == 0 && text_[begin_] == '-') {
    node.kind = Kind::real;
    node.payload.real = -0.0;
  }
  node.end = static_cast<std::uint32_t>(end_);
  node.next = static_cast<std::uint32_t>(tape_.nodes.size());
  return tape_.nodes.size() > 1 || deliver();
}

bool Handler::open(Kind kind) {
  const bool is_root = frames_.empty();
  const bool is_graph = frames_.size() == 1 && frames_[0].key == "graph";
  if (!enter_value(kind)) return false;
  if (frames_.size() >= static_cast<std::size_t>(std::max(limits_.depth, 0)))
    return fail_here("nested deeper than the allowed " + std::to_string(limits_.depth) + " levels");
  Frame frame{};
  frame.kind = kind;
  frame.node = is_root || is_graph ? kNotOnTape : static_cast<std::uint32_t>(tape_.nodes.size() - 1);
  frames_.push_back(std::move(frame));
  return true;
}

bool Handler::close() {
  next_token();
  const Frame frame = std::move(frames_.back());
  frames_.pop_back();
  if (frame.node == kNotOnTape) return true;
  Tape::Node& node = tape_.nodes[frame.node];
  node.end = static_cast<std::uint32_t>(end_);
  node.next = static_cast<std::uint32_t>(tape_.nodes.size());
  if (frame.kind == Kind::object && !unique_keys(frame.node)) return false;
  return frame.node > 0 || deliver();
}

bool Handler::unique_keys(std::uint32_t object) {
  std::vector<std::pair<std::string_view, std::uint32_t>> keys;
  for (std::uint32_t i = object + 1; i < tape_.nodes[object].next; i = tape_.nodes[i].next)
    keys.emplace_back(tape_.strings[tape_.nodes[i].key], i);
  std::sort(keys.begin(), keys.end());
  const auto twice =
      std::adjacent_find(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice == keys.end()) return true;
  // Ancestors that are still open have no end yet, and a pointer needs one.
  for (const Frame& frame : frames_)
    if (frame.node != kNotOnTape) tape_.nodes[frame.node].next = tape_.nodes[object].next;
  return fail(Item(tape_, std::next(twice)->second).error("key " + shown(twice->first) + " occurs twice"));
}

bool Handler::deliver() {
  const Item item(tape_, 0);
  Status status = frames_.size() == 1 ? receiver_.on_member(item) : receiver_.on_op(item);
  tape_.clear();
  return status.ok() || fail(std::move(status));
}

bool Handler::parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) {
  // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while ...": keep what it says, and
  // not its own idea of the place.
  std::string_view message = error.what();
  if (const std::size_t bracket = message.find("] "); bracket != message.npos) message.remove_prefix(bracket + 2);
  if (message.starts_with("parse error at")) {
    if (const std::size_t colon = message.find(": "); colon != message.npos) message.remove_prefix(colon + 2);
  }
  std::string clean;
  for (const char c : message.substr(0, 240)) clean += c >= 0x20 && c < 0x7f ? c : '?';
  const std::size_t offset = std::min(position > 0 ? position - 1 : 0, text_.size());
  if (offset == text_.size() && text_.size() < tape_.file.size())
    clean = "a string exceeds the limit of " + std::to_string(limits_.string) + " bytes";
  return fail(error_at(tape_.file, offset, pointer(), clean));
}

Status parse(std::string_view text, const ReadLimits& limits, DocumentReceiver& receiver) {
  const std::optional<std::string> quoted = quote_bare_numbers(text);
  std::string_view parsed = quoted ? std::string_view(*quoted) : text;
  // The parser copies a string before anybody may refuse it. A character takes 6 bytes at most ("\u0041"), so what is
  // longer than that is refused unseen: the text ends before it.
  parsed = parsed.substr(0, find_long_string(parsed, 6 * limits.string + 2));
  Handler handler(text, parsed, limits, receiver);
  const bool done = nlohmann::json::sax_parse(parsed.data(), parsed.data() + parsed.size(), &handler);
  if (!handler.status().ok()) return handler.status();
  if (!done) return Status(Code::internal_error, "the JSON parser gave up without a reason");
  if (!handler.seen_graph()) return error_at(text, token_begin(text, 0), "", "key 'graph' is missing");
  return {};
}

}  // namespace

Status read_document(std::string_view text, const ReadLimits& limits, DocumentReceiver& receiver) {
  // Tapes hold 32-bit offsets.
  const std::size_t most_bytes = std::min<std::size_t>(limits.bytes, std::numeric_limits<std::uint32_t>::max());
  if (text.size() > most_bytes) {
    return Status(Code::invalid_file, "the file's " + std::to_string(text.size()) + " bytes exceed the limit of " +
                                          std::to_string(most_bytes));
  }
  if (token_begin(text, 0) == text.size())
    return error_at(text, text.size(), "", "the file is empty; expected an object with the key 'graph'");
  if (const std::size_t zero = text.find('\0'); zero != text.npos)
    return error_at(text, zero, "", "a NUL byte; the file is not JSON text in UTF-8");
  return parse(text, limits, receiver);
}

}  // namespace tenfold::graph
