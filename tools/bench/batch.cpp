// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/batch.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <utility>

#include "tools/bench/wildcard.hpp"
#include "tools/run_inputs.hpp"

namespace tenfold::tools::bench {
namespace {

namespace fs = std::filesystem;

Status usage(const std::string& message) { return Status(Code::invalid_argument, message); }

/// The parts between separators; of an empty text one empty part.
std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

Result<std::vector<std::string>> expand_ops(const std::string& text) {
  std::vector<std::string> ops;
  for (const std::string& pattern : split(text, ',')) {
    const std::size_t before = ops.size();
    for (const ReductionRow& row : reductions())
      if (matches(pattern, row.name)) ops.emplace_back(row.name);
    if (ops.size() == before)
      return usage("--op '" + pattern + "' is no reduction, such as ReduceMax, ReduceLogSumExp or ArgMax");
  }
  return ops;
}

Result<std::vector<DType>> expand_dtypes(const std::string& text) {
  std::vector<DType> dtypes;
  for (const std::string& pattern : split(text, ',')) {
    const std::size_t before = dtypes.size();
    for (const DType dtype : kernel_dtypes())
      if (matches(pattern, to_string(dtype))) dtypes.push_back(dtype);
    if (dtypes.size() == before)
      return usage("--dtype '" + pattern + "' is none of f32, f64, bf16, f16, s8 to s64, u8 to u64, boolean");
  }
  return dtypes;
}

Result<std::vector<Dims>> read_shapes(const std::string& text) {
  std::vector<Dims> shapes;
  for (const std::string& part : split(text, ',')) {
    Result<Dims> shape = parse_shape(part);
    if (!shape.ok()) return shape.status();
    shapes.push_back(std::move(shape).value());
  }
  return shapes;
}

bool read_integer(const std::string& text, std::int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// The sets of axes that one part between semicolons means for a shape of this rank.
Result<std::vector<Dims>> read_axes(const std::string& text, std::size_t rank) {
  std::vector<Dims> sets;
  if (text == "*") {
    for (std::size_t axis = 0; axis < rank; ++axis) sets.push_back({static_cast<std::int64_t>(axis)});
    return sets;
  }
  sets.emplace_back();
  if (text == "all") {
    for (std::size_t axis = 0; axis < rank; ++axis) sets[0].push_back(static_cast<std::int64_t>(axis));
    return sets;
  }
  if (text.empty()) return sets;
  for (const std::string& part : split(text, ',')) {
    std::int64_t axis = 0;
    if (!read_integer(part, axis))
      return usage("--axes '" + text + "' is not integers separated by commas, such as 0,2");
    sets[0].push_back(axis);
  }
  return sets;
}

Result<std::vector<Dims>> expand_axes(const std::string& text, std::size_t rank) {
  std::vector<Dims> all;
  for (const std::string& part : split(text, ';')) {
    Result<std::vector<Dims>> sets = read_axes(part, rank);
    if (!sets.ok()) return sets;
    all.insert(all.end(), sets.value().begin(), sets.value().end());
  }
  return all;
}

Result<std::vector<int>> read_threads(const std::string& text) {
  std::vector<int> threads;
  for (const std::string& part : split(text, ',')) {
    std::int64_t value = 0;
    if (!read_integer(part, value) || value < 1 || value > 1024)
      return usage("--threads '" + part + "' is not a number from 1 to 1024");
    threads.push_back(static_cast<int>(value));
  }
  return threads;
}

Result<std::vector<bool>> read_caches(const std::string& text) {
  std::vector<bool> cold;
  for (const std::string& part : split(text, ',')) {
    if (part != "warm" && part != "cold") return usage("--cache '" + part + "' is neither warm nor cold");
    cold.push_back(part == "cold");
  }
  return cold;
}

/// Everything but what it runs on.
Result<std::vector<Case>> expand_reductions(const CaseTexts& texts) {
  const auto ops = expand_ops(texts.op);
  if (!ops.ok()) return ops.status();
  const auto dtypes = expand_dtypes(texts.dtype);
  if (!dtypes.ok()) return dtypes.status();
  const auto shapes = read_shapes(texts.shape);
  if (!shapes.ok()) return shapes.status();
  const auto strides = texts.strides.empty() ? Result<std::vector<Dims>>({Dims()}) : read_shapes(texts.strides);
  if (!strides.ok())
    return usage(
        "--strides '" + texts.strides +
        "' is not strides in elements, 0 or more, such as 2048x1, with commas between those of several shapes");
  std::vector<Case> cases;
  for (const std::string& op : ops.value()) {
    if (texts.with_extreme && !find_reduction(op)->is_index) return usage("--with-extreme is for ArgMax and ArgMin");
    for (const DType dtype : dtypes.value())
      for (const Dims& shape : shapes.value())
        for (const Dims& stride : strides.value()) {
          if (!texts.strides.empty() && stride.size() != shape.size())
            return usage("--strides of rank " + std::to_string(stride.size()) + " for a shape of rank " +
                         std::to_string(shape.size()));
          const auto axes = expand_axes(texts.axes, shape.size());
          if (!axes.ok()) return axes.status();
          for (const Dims& set : axes.value()) {
            if (find_reduction(op)->is_index && set.size() != 1)
              return usage("--axes '" + texts.axes + "' is not the one axis that " + op + " has");
            Case made;
            made.op = op;
            made.dtype = dtype;
            made.shape = shape;
            made.strides = stride;
            made.axes = set;
            made.keep_dims = texts.keep_dims;
            made.with_extreme = texts.with_extreme;
            cases.push_back(std::move(made));
            if (cases.size() > kMostCases)
              return usage("the options stand for more than " + std::to_string(kMostCases) + " cases");
          }
        }
  }
  return cases;
}

bool names_inputs(const std::string& shape) { return shape.find('=') != std::string::npos; }

Result<std::vector<Case>> expand_graphs(const CaseTexts& texts) {
  std::vector<std::vector<std::string>> shapes;
  if (names_inputs(texts.shape))
    for (const std::string& set : split(texts.shape, ';')) shapes.push_back(split(set, ','));
  if (shapes.empty()) shapes.emplace_back();
  std::vector<Case> cases;
  for (const std::string& part : split(texts.graph, ',')) {
    const auto files = graph_files(part);
    if (!files.ok()) return files.status();
    for (const std::string& file : files.value())
      for (const std::vector<std::string>& set : shapes) {
        Case made;
        made.graph = file;
        made.data_dir = texts.data_dir;
        made.input_shapes = set;
        cases.push_back(std::move(made));
      }
  }
  return cases;
}

std::string in_folder(const std::string& folder, const std::string& paths) {
  std::string all;
  for (const std::string& path : split(paths, ',')) {
    if (!all.empty()) all += ',';
    all += fs::path(path).is_relative() ? (fs::path(folder) / path).string() : path;
  }
  return all;
}

/// An option of a batch line that takes a value.
struct TextRow {
  std::string_view name;
  std::string CaseTexts::*text;
};
constexpr std::array<TextRow, 9> kTexts{{
    {"op", &CaseTexts::op},
    {"dtype", &CaseTexts::dtype},
    {"shape", &CaseTexts::shape},
    {"strides", &CaseTexts::strides},
    {"axes", &CaseTexts::axes},
    {"graph", &CaseTexts::graph},
    {"target", &CaseTexts::target},
    {"threads", &CaseTexts::threads},
    {"cache", &CaseTexts::cache},
}};

struct FlagRow {
  std::string_view name;
  bool CaseTexts::*flag;
};
constexpr std::array<FlagRow, 2> kFlags{
    {{"keep-dims", &CaseTexts::keep_dims}, {"with-extreme", &CaseTexts::with_extreme}}};

constexpr std::array<std::string_view, 7> kReductionOptions{
    {"op", "dtype", "shape", "strides", "axes", "keep-dims", "with-extreme"}};

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  std::vector<std::string_view> words;
  for (line = line.substr(0, line.find('#')); !line.empty();) {
    const std::size_t begin = line.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
    words.push_back(word);
    line.remove_prefix(word.size());
  }
  return words;
}

/// An option stands once in a line.
Status note_option(std::string_view name, std::vector<std::string_view>& seen) {
  if (std::find(seen.begin(), seen.end(), name) != seen.end()) return usage("--" + std::string(name) + " stands twice");
  seen.push_back(name);
  return {};
}

/// Reads the option at `words[at]`, and its value, and moves on. `seen` has the names before it.
Status read_option(const std::vector<std::string_view>& words, std::size_t& at, CaseTexts& texts,
                   std::vector<std::string_view>& seen) {
  const std::string_view word = words[at++];
  if (word.substr(0, 2) != "--") return usage("'" + std::string(word) + "' is no option; options begin with --");
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(2, equals == std::string_view::npos ? equals : equals - 2);
  for (const FlagRow& row : kFlags) {
    if (row.name != name) continue;
    if (equals != std::string_view::npos) return usage("--" + std::string(name) + " takes no value");
    texts.*row.flag = true;
    return note_option(name, seen);
  }
  for (const TextRow& row : kTexts) {
    if (row.name != name) continue;
    if (equals == std::string_view::npos && at == words.size())
      return usage("--" + std::string(name) + " has no value");
    texts.*row.text = equals == std::string_view::npos ? words[at++] : word.substr(equals + 1);
    return note_option(name, seen);
  }
  std::string known;
  for (const TextRow& row : kTexts) known += "--" + std::string(row.name) + ", ";
  return usage("there is no option '--" + std::string(name) + "' for a case; there are " + known +
               "--keep-dims and --with-extreme");
}

}  // namespace

std::span<const std::string_view> reduction_options() noexcept { return kReductionOptions; }

Status check_beside_graph(const CaseTexts& texts, std::string_view name) {
  if (std::find(kReductionOptions.begin(), kReductionOptions.end(), name) == kReductionOptions.end()) return {};
  if (name != "shape") return usage("--" + std::string(name) + " is for reductions, not for --graph");
  if (names_inputs(texts.shape)) return {};
  return usage("--shape '" + texts.shape + "' names no input of a graph, as 0=" + texts.shape + " does");
}

Result<std::vector<Case>> expand(const CaseTexts& texts) {
  const auto cases = texts.graph.empty() ? expand_reductions(texts) : expand_graphs(texts);
  if (!cases.ok()) return cases.status();
  const auto threads = read_threads(texts.threads);
  if (!threads.ok()) return threads.status();
  const auto caches = read_caches(texts.cache);
  if (!caches.ok()) return caches.status();
  const std::vector<std::string> targets = split(texts.target, ',');
  if (cases.value().size() * targets.size() * threads.value().size() * caches.value().size() > kMostCases)
    return usage("the options stand for more than " + std::to_string(kMostCases) + " cases");
  std::vector<Case> all;
  for (const Case& what : cases.value())
    for (const std::string& target : targets)
      for (const int count : threads.value())
        for (const bool cold : caches.value()) {
          all.push_back(what);
          all.back().target = target;
          all.back().threads = count;
          all.back().cold = cold;
        }
  return all;
}

Result<std::vector<Case>> parse_line(std::string_view line, const CaseTexts& defaults, const std::string& folder) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.empty()) return std::vector<Case>();
  CaseTexts texts = defaults;
  std::vector<std::string_view> seen;
  for (std::size_t at = 0; at < words.size();)
    if (Status status = read_option(words, at, texts, seen); !status.ok()) return status;
  if (!texts.graph.empty())
    for (const std::string_view name : seen)
      if (Status status = check_beside_graph(texts, name); !status.ok()) return status;
  if (texts.graph != defaults.graph) texts.graph = in_folder(folder, texts.graph);
  return expand(texts);
}

Result<std::vector<Case>> parse_batch(std::string_view text, const CaseTexts& defaults, const std::string& folder) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) text.remove_prefix(kByteOrderMark.size());
  std::vector<Case> all;
  std::size_t number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    Result<std::vector<Case>> cases = parse_line(line, defaults, folder);
    if (!cases.ok()) return cases.status().about("line " + std::to_string(number));
    if (all.size() + cases.value().size() > kMostCases)
      return usage("line " + std::to_string(number) + ": the file stands for more than " + std::to_string(kMostCases) +
                   " cases");
    all.insert(all.end(), cases.value().begin(), cases.value().end());
  }
  return all;
}

}  // namespace tenfold::tools::bench
