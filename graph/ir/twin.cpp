// SPDX-License-Identifier: Apache-2.0
//
// See twin.hpp.
#include "graph/ir/twin.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "graph/ir/attribute.hpp"

namespace tenfold::graph {
namespace {

using Integers = std::vector<std::int64_t>;

struct Row {
  std::string_view kind, twin;
  void (*write)(const Op& op, std::span<const Dims> inputs, Twin& twin);
};

/// Beyond these the judge refuses; below no product of two of them overflows.
constexpr std::int64_t kMostEntry = std::int64_t{1} << 30;

bool is_sound(const Integers& list, std::size_t entries) {
  return list.size() == entries &&
         std::all_of(list.begin(), list.end(), [](auto x) { return x >= -kMostEntry && x <= kMostEntry; });
}

/// One spatial dim of a window, by the ONNX op's attributes.
struct Along {
  std::int64_t stride, reach, begin, end;
};

/// An ONNX op whose windows slide over the spatial dims.
class Windows {
 public:
  Windows(const Op& op, std::span<const Dims> inputs, Twin& twin)
      : op_(op), twin_(twin), mode_(attribute_or<std::string>(op, "auto_pad", "NOTSET")) {
    if (inputs.empty() || inputs[0].size() < 3) return;
    spatial_.assign(inputs[0].begin() + 2, inputs[0].end());
    kernel_ = list("kernel_shape", 1);
    // A convolution's is that of its weights.
    if (inputs.size() > 1 && inputs[1].size() == inputs[0].size())
      kernel_.assign(inputs[1].begin() + 2, inputs[1].end());
    strides_ = list("strides", 1);
    dilations_ = list("dilations", 1);
    const Integers pads = list("pads", 0, 2);
    const auto half = pads.begin() + static_cast<std::ptrdiff_t>(pads.size() / 2);
    begin_.assign(pads.begin(), half);
    end_.assign(half, pads.end());
  }

  const Integers& dilations() const { return dilations_; }

  /// auto_pad VALID, in words: pads that drop_late_windows() may lessen.
  void take_no_pads() {
    mode_ = "NOTSET";
    begin_.assign(spatial_.size(), 0);
    end_.assign(spatial_.size(), 0);
  }

  const std::string& mode() const { return mode_; }

  /// Writes what all of them have.
  void write() const {
    set("strides", strides_);
    set("pads_begin", begin_);
    set("pads_end", end_);
    set("auto_pad", mode_ == "NOTSET" ? "None" : mode_);
    set("data_format", std::string("NCX"));
  }

  template <class T>
  void set(std::string_view name, T value) const {
    set_attribute(twin_.op, name, Attribute(std::move(value)));
  }
  void set(std::string_view name, const char* value) const { set(name, std::string(value)); }

  /// ONNX does not count a window that would begin in the pads at the end: then fewer pads are there.
  void drop_late_windows() {
    if (mode_ != "NOTSET" || !is_sound()) return;
    for (std::size_t i = 0; i < spatial_.size(); ++i) {
      if (spatial_[i] == kUnknownDim) {
        twin_.is_whole = false;
        continue;
      }
      const Along dim = along(i);
      const std::int64_t room = spatial_[i] + dim.begin + dim.end - dim.reach;
      if (room < 0) return;
      const std::int64_t last = (room + dim.stride - 1) / dim.stride;
      if (last > 0 && last * dim.stride >= spatial_[i] + dim.begin)
        end_[i] = (last - 1) * dim.stride + dim.reach - spatial_[i] - dim.begin;
    }
  }

  /// A transposed convolution whose result is given, or is a multiple of its source: the pads follow, and what they
  /// would have to add is added at the end.
  void spread_to_shape() {
    Integers more = list("output_padding", 0);
    const Integers wanted = attribute_or(op_, "output_shape", Integers());
    const bool same = mode_.starts_with("SAME");
    if ((!same && wanted.empty()) || !is_sound() || !graph_sound(more)) return write_padding(more);
    if (!wanted.empty() && !graph_sound(wanted)) {
      // The judge says so: there is an entry for each spatial dim.
      return write_padding(wanted);
    }
    for (std::size_t i = 0; i < spatial_.size(); ++i) {
      const Along dim = along(i);
      // Of [stride * source] the source's extent makes no difference.
      std::int64_t total = dim.reach + more[i] - dim.stride;
      if (!wanted.empty()) {
        if (spatial_[i] == kUnknownDim) {
          twin_.is_whole = false;
          continue;
        }
        total += dim.stride * spatial_[i] - wanted[i];
      }
      const std::int64_t pads = std::max<std::int64_t>(0, total);
      more[i] += pads - total;
      begin_[i] = mode_ == "SAME_UPPER" ? pads / 2 : pads - pads / 2;
      end_[i] = pads - begin_[i];
    }
    write_padding(more);
    set("auto_pad", "None");
    set("pads_begin", begin_);
    set("pads_end", end_);
  }

 private:
  Integers list(std::string_view name, std::int64_t fallback, std::size_t per_dim = 1) const {
    return attribute_or(op_, name, Integers(spatial_.size() * per_dim, fallback));
  }
  bool graph_sound(const Integers& list) const { return graph::is_sound(list, spatial_.size()); }
  bool is_sound() const {
    const auto positive = [](std::int64_t x) { return x > 0; };
    const auto all_positive = [&](const Integers& list) {
      return graph_sound(list) && std::all_of(list.begin(), list.end(), positive);
    };
    const auto countable = [](std::int64_t dim) { return dim <= kMostEntry; };
    return !spatial_.empty() && all_positive(kernel_) && all_positive(strides_) && all_positive(dilations_) &&
           graph_sound(begin_) && graph_sound(end_) && std::all_of(spatial_.begin(), spatial_.end(), countable);
  }
  Along along(std::size_t i) const { return {strides_[i], (kernel_[i] - 1) * dilations_[i] + 1, begin_[i], end_[i]}; }
  void write_padding(const Integers& more) const { set("output_padding", more); }

  const Op& op_;
  Twin& twin_;
  Dims spatial_;
  std::string mode_;
  Integers kernel_, strides_, dilations_, begin_, end_;
};

void write_matmul(const Op&, std::span<const Dims>, Twin&) {}

/// With alpha and beta of 1 it is a MatMul with a bias.
void write_gemm(const Op& op, std::span<const Dims>, Twin& twin) {
  set_attribute(twin.op, "transpose_a", attribute_or<std::int64_t>(op, "transA", 0) != 0);
  set_attribute(twin.op, "transpose_b", attribute_or<std::int64_t>(op, "transB", 0) != 0);
  const bool has_bias = twin.op.inputs.size() > 2;
  twin.is_whole = f32_attribute(op, "alpha") == 1 && (!has_bias || f32_attribute(op, "beta") == 1);
}

void write_convolution(const Op& op, std::span<const Dims> inputs, Twin& twin) {
  Windows windows(op, inputs, twin);
  windows.write();
  windows.set("dilations", windows.dilations());
  windows.set("groups", attribute_or<std::int64_t>(op, "group", 1));
  if (op.kind == "Conv") return windows.set("weights_format", "OIX");
  windows.set("weights_format", "IOX");
  windows.spread_to_shape();
}

void write_pool(const Op& op, std::span<const Dims> inputs, Twin& twin) {
  Windows windows(op, inputs.first(std::min<std::size_t>(inputs.size(), 1)), twin);
  // Automatic pads make as many windows as there are strides in the source, whatever the rounding.
  const bool rounds_up = attribute_or<std::int64_t>(op, "ceil_mode", 0) != 0 && !windows.mode().starts_with("SAME");
  if (rounds_up && windows.mode() == "VALID") windows.take_no_pads();
  if (rounds_up) windows.drop_late_windows();
  windows.write();
  windows.set("kernel", attribute_or(op, "kernel_shape", Integers()));
  windows.set("rounding_type", rounds_up ? "ceil" : "floor");
  if (op.kind == "MaxPool") return windows.set("dilations", windows.dilations());
  const bool counts_pads = attribute_or<std::int64_t>(op, "count_include_pad", 0) != 0;
  windows.set("exclude_pad", !counts_pads);
  // oneDNN's AvgPool has no dilations, and counts what a window has beyond the pads.
  const Integers& dilations = windows.dilations();
  if (std::any_of(dilations.begin(), dilations.end(), [](auto dilation) { return dilation != 1; })) {
    windows.set("dilations", dilations);
    twin.is_whole = false;
  }
  if (counts_pads && rounds_up) twin.is_whole = false;
}

constexpr Row kRows[] = {
    {"AveragePool", "AvgPool", write_pool},
    {"Conv", "Convolution", write_convolution},
    {"ConvTranspose", "ConvTranspose", write_convolution},
    {"Gemm", "MatMul", write_gemm},
    {"MatMul", "MatMul", write_matmul},
    {"MaxPool", "MaxPool", write_pool},
};

}  // namespace

std::optional<Twin> onednn_twin(const Op& op, std::span<const Dims> inputs) {
  if (op.dialect != Dialect::onnx) return std::nullopt;
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.kind == op.kind; });
  if (row == std::end(kRows)) return std::nullopt;
  Twin twin;
  twin.op = op;
  twin.op.dialect = Dialect::onednn;
  twin.op.opset = 0;
  twin.op.kind = std::string(row->twin);
  twin.op.attributes.clear();
  while (!twin.op.inputs.empty() && twin.op.inputs.back() == kNone) twin.op.inputs.pop_back();
  row->write(op, inputs, twin);
  set_attribute(twin.op, "source_kind", op.kind);
  return twin;
}

}  // namespace tenfold::graph
