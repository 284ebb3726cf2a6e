// SPDX-License-Identifier: Apache-2.0
//
// The oracle is graph::evaluate on the graph as read, before any pass; the judge knows only the stated bounds.
#include "prepared_case.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "graph/eval/bound.hpp"
#include "graph/eval/eval.hpp"

namespace tenfold::numeric {
namespace {

/// What outputs hold before a run.
constexpr std::byte kUntouched{0xa5};

std::string hex_of(const std::byte* at, int size) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, at, static_cast<std::size_t>(size));
  std::ostringstream out;
  out << std::hex << "0x" << bits;
  return out.str();
}

/// Through the reader, or, where the builder can say the same (it has no strides for outputs), now and then through it.
Result<Graph> make_graph(const ReductionCase& c) {
  if (c.data_seed % 4 != 0 || c.output.strides != row_major_strides(c.output.shape)) return Graph::from_json(c.json());
  GraphBuilder builder;
  const TensorId x = builder.input(c.input);
  const TensorId y = builder.op(c.op, {x}, {{"axes", c.axes}, {"keep_dims", c.keep_dims}});
  return builder.finish({y});
}

}  // namespace

Result<std::unique_ptr<PreparedCase>> PreparedCase::make(const ReductionCase& c) {
  std::unique_ptr<PreparedCase> made(new PreparedCase(c));
  Result<Graph> graph = make_graph(c);
  if (!graph.ok()) return graph.status();
  made->graph_ = std::move(graph).value();
  const Result<std::int64_t> in = span_bytes(c.input), out = span_bytes(c.output);
  if (!in.ok()) return in.status();
  if (!out.ok()) return out.status();
  made->output_bytes_ = static_cast<std::size_t>(out.value());
  made->input_offsets_ = element_offsets(c.input);
  made->output_offsets_ = element_offsets(c.output);

  const auto bytes = static_cast<std::size_t>(in.value());
  made->input_after_ = std::make_unique<GuardedBuffer>(bytes, GuardedBuffer::Guard::after);
  made->input_before_ = std::make_unique<GuardedBuffer>(bytes, GuardedBuffer::Guard::before);
  const auto size = static_cast<std::size_t>(byte_size(c.input.dtype));
  std::mt19937_64 random(c.data_seed);
  std::byte* const data = made->input_after_->data();
  std::fill_n(data, bytes, std::byte{0xff});
  Elements drawn(made->input_offsets_.size() * size);
  fill(c.values, c.input.dtype, drawn.data(), static_cast<std::int64_t>(made->input_offsets_.size()), random);
  for (std::size_t i = 0; i < made->input_offsets_.size(); ++i)
    std::memcpy(data + static_cast<std::size_t>(made->input_offsets_[i]) * size, drawn.data() + i * size, size);
  if (bytes > 0) std::memcpy(made->input_before_->data(), data, bytes);
  if (Status status = made->solve(); !status.ok()) return status;
  return made;
}

void PreparedCase::put_input(std::int64_t index, std::uint32_t bits) {
  const auto size = static_cast<std::size_t>(byte_size(case_.input.dtype));
  const std::size_t at = static_cast<std::size_t>(input_offsets_[static_cast<std::size_t>(index)]) * size;
  std::memcpy(input_after_->data() + at, &bits, size);
  std::memcpy(input_before_->data() + at, &bits, size);
}

Status PreparedCase::solve() {
  const auto size = static_cast<std::size_t>(byte_size(case_.output.dtype));
  expected_.resize(output_offsets_.size() * size);
  const TensorDesc row_major{case_.output.dtype, case_.output.shape, {}};
  const graph::ConstTensor in{case_.input, input_after_->data()};
  const graph::MutableTensor out{row_major, expected_.data()};
  std::vector<std::vector<double>> bounds;
  Status status = graph::evaluate_with_bounds(graph_->ir(), {&in, 1}, {&out, 1}, bounds);
  if (status.ok()) bounds_ = bounds.empty() ? std::vector<double>{} : std::move(bounds[0]);
  return status;
}

std::unique_ptr<GuardedBuffer> PreparedCase::make_output(GuardedBuffer::Guard guard) const {
  auto output = std::make_unique<GuardedBuffer>(output_bytes_, guard);
  std::fill_n(output->data(), output_bytes_, kUntouched);
  return output;
}

std::string PreparedCase::judge(const GuardedBuffer& output) const {
  if (!output.canary_intact()) return "bytes beside the output were written";
  if (!input_after_->canary_intact() || !input_before_->canary_intact()) return "bytes beside the input were written";
  const auto size = static_cast<std::size_t>(byte_size(case_.output.dtype));
  for (std::size_t i = 0; i < output_offsets_.size(); ++i) {
    const std::byte* const got = output.data() + static_cast<std::size_t>(output_offsets_[i]) * size;
    const std::byte* const want = expected_.data() + i * size;
    const double a = graph::load_real(case_.output.dtype, want, 0), b = graph::load_real(case_.output.dtype, got, 0);
    const double bound = bounds_.empty() ? 0 : bounds_[i];
    std::byte canonical[8];
    graph::store_real(case_.output.dtype, canonical, 0, std::numeric_limits<double>::quiet_NaN());
    const bool strange_nan = std::isnan(b) && std::memcmp(got, canonical, size) != 0;
    if (!strange_nan && graph::agree(case_.output.dtype, a, b, bound)) continue;
    std::ostringstream out;
    if (strange_nan) out << "not the canonical NaN: ";
    out.precision(17);
    out << "element " << i << " is " << b << " (" << hex_of(got, static_cast<int>(size)) << "), expected " << a << " ("
        << hex_of(want, static_cast<int>(size)) << ") within " << bound;
    return out.str();
  }
  std::vector<bool> written(output_bytes_, false);
  for (const std::int64_t at : output_offsets_)
    for (std::size_t k = 0; k < size; ++k) written[static_cast<std::size_t>(at) * size + k] = true;
  for (std::size_t at = 0; at < output_bytes_; ++at)
    if (!written[at] && output.data()[at] != kUntouched)
      return "byte " + std::to_string(at) + " of the output, between elements, was written";
  return "";
}

std::string difference(DType dtype, const Elements& a, const Elements& b) {
  if (a.size() != b.size()) return std::to_string(a.size()) + " bytes against " + std::to_string(b.size());
  const int size = byte_size(dtype);
  const auto step = static_cast<std::size_t>(size);
  std::string first;
  std::int64_t count = 0;
  for (std::size_t at = 0; at < a.size(); at += step) {
    if (std::memcmp(a.data() + at, b.data() + at, step) == 0) continue;
    if (count++ == 0)
      first = "element " + std::to_string(at / step) + ": " + hex_of(a.data() + at, size) + " against " +
              hex_of(b.data() + at, size);
  }
  return count == 0 ? "" : first + "; " + std::to_string(count) + " of " + std::to_string(a.size() / step) + " differ";
}

Elements PreparedCase::elements(const GuardedBuffer& output) const {
  const auto size = static_cast<std::size_t>(byte_size(case_.output.dtype));
  Elements result(output_offsets_.size() * size);
  for (std::size_t i = 0; i < output_offsets_.size(); ++i)
    std::memcpy(result.data() + i * size, output.data() + static_cast<std::size_t>(output_offsets_[i]) * size, size);
  return result;
}

std::vector<target::Isa> all_levels() {
  std::vector<target::Isa> levels;
  for (const target::IsaRow& row : target::all_isas())
    if (row.isa != target::Isa::reference) levels.push_back(row.isa);
  std::sort(levels.begin(), levels.end());
  return levels;
}

std::vector<target::Isa> native_levels() {
  std::vector<target::Isa> levels = all_levels();
  const Result<target::Target>& host = target::host();
  const target::Isa best = host.ok() ? host.value().isa : target::Isa::reference;
  std::erase_if(levels, [&](target::Isa isa) { return isa > best; });
  return levels;
}

std::vector<std::string> nests(const std::string& explained) {
  std::vector<std::string> result;
  std::istringstream lines(explained);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first, second, third;
    words >> first >> second >> third;
    if (first == "schedule") result.push_back(third);
    if (first == "region" && third == "reference") result.push_back("reference");
    if (first == "region" && third == "nothing") result.push_back("nothing");
  }
  return result;
}

}  // namespace tenfold::numeric
