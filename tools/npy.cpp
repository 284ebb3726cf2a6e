// SPDX-License-Identifier: Apache-2.0
//
// .npy files in and out. The header is a Python dict literal; it is read by a small parser that knows exactly the three
// keys that NumPy writes. Nothing in the file is trusted before the sizes agree.
#include "tools/npy.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "tools/report.hpp"

namespace tenfold::tools {

namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
/// NumPy's own reader refuses headers above 10000 characters; there is no honest longer one without structured dtypes.
constexpr std::size_t kMaxHeader = 64 << 10;

struct DescrRow {
  std::string_view descr;
  DType dtype;
};
constexpr std::array<DescrRow, 13> kDescrs{{
    {"<f4", DType::f32},
    {"<f8", DType::f64},
    {"<f2", DType::f16},
    {"|i1", DType::s8},
    {"|u1", DType::u8},
    {"<i2", DType::s16},
    {"<u2", DType::u16},
    {"<i4", DType::s32},
    {"<u4", DType::u32},
    {"<i8", DType::s64},
    {"<u8", DType::u64},
    {"|b1", DType::boolean},
    {"<V2", DType::bf16},
}};

Status bad(const std::string& message) { return Status(Code::invalid_file, "not a .npy file: " + message); }

/// Reads {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } from a header's text.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Status parse(std::string& descr, bool& fortran, Dims& shape) {
    bool has_descr = false, has_order = false, has_shape = false;
    if (!take('{')) return bad("the header is no dict");
    while (!take('}')) {
      const std::optional<std::string> key = quoted();
      if (!key || !take(':')) return bad("expected a quoted key and ':' at byte " + std::to_string(at_));
      if (*key == "descr" && !has_descr) {
        has_descr = true;
        if (Status s = parse_descr(descr); !s.ok()) return s;
      } else if (*key == "fortran_order" && !has_order) {
        has_order = true;
        fortran = take_word("True");
        if (!fortran && !take_word("False")) return bad("'fortran_order' is neither True nor False");
      } else if (*key == "shape" && !has_shape) {
        has_shape = true;
        if (Status s = parse_shape(shape); !s.ok()) return s;
      } else {
        return bad("key '" + *key + "' is unknown or stands twice");
      }
      if (!take(',') && peek() != '}') return bad("expected ',' or '}' at byte " + std::to_string(at_));
    }
    if (peek() != '\0') return bad("the header goes on after its dict");
    if (!has_descr || !has_order || !has_shape) return bad("the header lacks 'descr', 'fortran_order' or 'shape'");
    return Status();
  }

 private:
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    peek();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  std::optional<std::string> quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return std::nullopt;
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  Status parse_descr(std::string& descr) {
    if (peek() == '[') return Status(Code::unsupported_dtype, ".npy file with a structured dtype; give a plain array");
    std::optional<std::string> value = quoted();
    if (!value) return bad("'descr' is no string");
    descr = std::move(*value);
    return Status();
  }
  Status parse_shape(Dims& shape) {
    if (!take('(')) return bad("'shape' is no tuple");
    while (!take(')')) {
      std::int64_t dim = 0;
      int digits = 0;
      for (char c = peek(); at_ < text_.size() && (c = text_[at_]) >= '0' && c <= '9'; ++at_, ++digits)
        if (__builtin_mul_overflow(dim, 10, &dim) || __builtin_add_overflow(dim, c - '0', &dim))
          return bad("a dim of 'shape' is above 2^63");
      if (digits == 0) return bad("expected a dim of 'shape' at byte " + std::to_string(at_));
      take('L');  // Python 2 wrote long integers so
      shape.push_back(dim);
      if (!take(',') && peek() != ')') return bad("expected ',' or ')' in 'shape' at byte " + std::to_string(at_));
    }
    return Status();
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Result<DType> dtype_of(const std::string& descr) {
  // '=' is the machine's own order: NumPy, too, takes it for that of the machine that reads.
  const std::string ordered = !descr.empty() && descr[0] == '=' ? "<" + descr.substr(1) : descr;
  if (ordered == "|V2" || ordered == "<V2") return DType::undef;
  for (const DescrRow& r : kDescrs)
    if (ordered == r.descr || (r.descr[0] == '|' && descr.size() == 3 && descr.substr(1) == r.descr.substr(1)))
      return r.dtype;
  if (!descr.empty() && descr[0] == '>')
    return Status(
        Code::unsupported_dtype,
        ".npy dtype '" + descr + "' is big-endian; convert it with array.astype(array.dtype.newbyteorder('<'))");
  return Status(Code::unsupported_dtype, ".npy dtype '" + descr + "' has no counterpart in a graph");
}

Dims fortran_strides(const Dims& shape) {
  Dims strides;
  std::int64_t step = 1;
  for (const std::int64_t dim : shape) {
    strides.push_back(step);
    step *= dim > 0 ? dim : 1;
  }
  return strides;
}

std::size_t data_bytes(const NpyHeader& header) {
  const std::size_t size =
      header.desc.dtype == DType::undef ? 2 : static_cast<std::size_t>(byte_size(header.desc.dtype));
  const Result<std::int64_t> count = numel(header.desc.shape);
  return count.ok() ? static_cast<std::size_t>(count.value()) * size : 0;
}

/// Asked before the file is opened, as opening a pipe waits for whoever writes to it.
Status check_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const char* const why = !fs::exists(status)            ? "no such file, or it cannot be read"
                          : fs::is_directory(status)     ? "it is a directory"
                          : !fs::is_regular_file(status) ? "not a regular file"
                                                         : nullptr;
  return why == nullptr ? Status() : Status(Code::invalid_file, "'" + path + "': " + why);
}

Result<NpyHeader> read_header(std::ifstream& file, const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error || !file) return Status(Code::invalid_file, "'" + path + "': no such file, or it cannot be read");
  std::vector<char> start(std::min<std::size_t>(size, kMaxHeader + 12));
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  Result<NpyHeader> header = parse_npy_header(start);
  if (!header.ok()) return header.status().about("'" + path + "'");
  const std::size_t wanted = header.value().data_offset + data_bytes(header.value());
  if (size != wanted)
    return Status(Code::invalid_file, "'" + path + "': the file has " + std::to_string(size) + " bytes, its header (" +
                                          header.value().descr + " " + to_string(header.value().desc.shape) +
                                          ") asks for " + std::to_string(wanted));
  return header;
}

}  // namespace

Result<NpyHeader> parse_npy_header(std::span<const char> bytes) {
  const std::string_view text(bytes.data(), bytes.size());
  if (text.substr(0, kMagic.size()) != kMagic) return bad("it does not start with \\x93NUMPY");
  if (text.size() < 10) return bad("it ends within its first 10 bytes");
  const int major = static_cast<unsigned char>(text[6]);
  if (major < 1 || major > 3) return bad("format version " + std::to_string(major) + " is not 1, 2 or 3");
  const std::size_t width = major == 1 ? 2 : 4;
  if (text.size() < 8 + width) return bad("it ends within its header's length");
  std::size_t length = 0;
  for (std::size_t i = width; i-- > 0;) length = length << 8 | static_cast<unsigned char>(text[8 + i]);
  if (length > kMaxHeader) return bad("its header of " + std::to_string(length) + " bytes is above 65536");
  NpyHeader header;
  header.data_offset = 8 + width + length;
  if (header.data_offset > text.size()) return bad("it ends within its header");
  const std::string_view dict = text.substr(8 + width, length);
  if (dict.find('\0') != std::string_view::npos) return bad("its header holds a zero byte");
  bool fortran = false;
  if (Status s = HeaderParser(dict).parse(header.descr, fortran, header.desc.shape); !s.ok()) return s;
  const Result<DType> dtype = dtype_of(header.descr);
  if (!dtype.ok()) return dtype.status();
  header.desc.dtype = dtype.value();
  const Result<std::int64_t> span = span_bytes(header.desc);
  if (!span.ok()) return Status(Code::invalid_file, "its shape is refused: " + span.status().message());
  if (fortran && header.desc.shape.size() > 1) header.desc.strides = fortran_strides(header.desc.shape);
  return header;
}

bool npy_matches(const NpyHeader& header, DType dtype) noexcept {
  if (dtype == DType::bf16) return header.desc.dtype == DType::undef || header.desc.dtype == DType::u16;
  if (dtype == DType::boolean && header.desc.dtype == DType::u8) return true;
  return header.desc.dtype == dtype;
}

Result<NpyHeader> read_npy_header(const std::string& path) {
  if (Status s = check_file(path); !s.ok()) return s;
  std::ifstream file(path, std::ios::binary);
  return read_header(file, path);
}

Result<Tensor> read_npy(const std::string& path, const TensorDesc& desc) {
  if (Status s = check_file(path); !s.ok()) return s;
  std::ifstream file(path, std::ios::binary);
  Result<NpyHeader> header = read_header(file, path);
  if (!header.ok()) return header.status();
  TensorDesc in_file = header.value().desc;
  if (!npy_matches(header.value(), desc.dtype) || in_file.shape != desc.shape)
    return Status(Code::invalid_file, "'" + path + "' holds " + header.value().descr + " (" +
                                          (in_file.dtype == DType::undef ? "bf16 or other raw bytes"
                                                                         : std::string(to_string(in_file.dtype))) +
                                          ") " + to_string(in_file.shape) + ", the graph wants " +
                                          std::string(to_string(desc.dtype)) + " " + to_string(desc.shape));
  in_file.dtype = desc.dtype;
  Result<Tensor> packed = make_tensor(in_file);
  if (!packed.ok()) return packed;
  file.clear();
  file.seekg(static_cast<std::streamoff>(header.value().data_offset));
  const auto bytes = static_cast<std::streamsize>(data_bytes(header.value()));
  file.read(static_cast<char*>(packed.value().data()), bytes);
  if (file.gcount() != bytes) return Status(Code::invalid_file, "'" + path + "': it cannot be read to its end");
  if (strides_of(in_file) == strides_of(desc)) return packed;
  Result<Tensor> placed = make_tensor(desc);
  if (!placed.ok()) return placed;
  copy_elements(in_file, packed.value().data(), desc, placed.value().data());
  return placed;
}

Status write_npy(const std::string& path, const Tensor& tensor) {
  std::string_view descr;
  for (const DescrRow& r : kDescrs)
    if (r.dtype == tensor.desc.dtype) descr = r.descr;
  if (descr.empty())
    return Status(Code::unsupported_dtype, ".npy has no form for " + std::string(to_string(tensor.desc.dtype)));
  std::string dict = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t dim : tensor.desc.shape) dict += std::to_string(dim) + ",";
  dict += "), }";
  // The format asks for data at a multiple of 64: magic, version and length take 10 bytes, the newline one.
  while ((10 + dict.size() + 1) % 64 != 0) dict += ' ';
  dict += '\n';
  std::ofstream file(path, std::ios::binary);
  file << kMagic << '\1' << '\0' << static_cast<char>(dict.size() & 0xFF) << static_cast<char>(dict.size() >> 8)
       << dict;
  const TensorDesc packed{tensor.desc.dtype, tensor.desc.shape, {}};
  Result<Tensor> row_major = make_tensor(packed);
  if (!row_major.ok()) return row_major.status();
  copy_elements(tensor.desc, tensor.data(), packed, row_major.value().data());
  const Result<std::int64_t> bytes = span_bytes(packed);
  if (!bytes.ok()) return bytes.status();
  file.write(static_cast<const char*>(row_major.value().data()), static_cast<std::streamsize>(bytes.value()));
  file.close();
  return file ? Status() : cannot_write(path);
}

}  // namespace tenfold::tools
