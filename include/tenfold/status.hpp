// SPDX-License-Identifier: Apache-2.0
//
// Status and Result: how every room of Tenfold reports failure. Nothing in Tenfold throws; nothing prints.
// A message is lower-case, carries the offending values, and ends in the number of the rule where there is one:
// "op 7 'reduce_0' (ReduceMax): axis 3 is out of range [-2, 1] for rank 2 (reduce.C3)".
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace tenfold {

/// What went wrong. `invalid_*` is the caller's to mend, `unsupported_*` an honest limit of this version (the message
/// says which), `internal_error` a bug of ours.
enum class Code : int {
  ok = 0,
  out_of_memory,
  invalid_argument,
  invalid_file,
  invalid_graph,
  invalid_op,
  invalid_shape,
  invalid_dtype,
  unsupported_op,
  unsupported_dtype,
  unsupported_shape,
  unsupported_target,
  internal_error,
};

/// The code's name as messages and JSON output spell it, such as "invalid_shape".
constexpr const char* to_string(Code code) noexcept {
  switch (code) {
    case Code::ok: return "ok";
    case Code::out_of_memory: return "out_of_memory";
    case Code::invalid_argument: return "invalid_argument";
    case Code::invalid_file: return "invalid_file";
    case Code::invalid_graph: return "invalid_graph";
    case Code::invalid_op: return "invalid_op";
    case Code::invalid_shape: return "invalid_shape";
    case Code::invalid_dtype: return "invalid_dtype";
    case Code::unsupported_op: return "unsupported_op";
    case Code::unsupported_dtype: return "unsupported_dtype";
    case Code::unsupported_shape: return "unsupported_shape";
    case Code::unsupported_target: return "unsupported_target";
    case Code::internal_error: return "internal_error";
  }
  return "unknown";
}

/// Whether it is an honest limit of this version.
constexpr bool is_unsupported(Code code) noexcept {
  return code == Code::unsupported_op || code == Code::unsupported_dtype || code == Code::unsupported_shape ||
         code == Code::unsupported_target;
}

/// Success, or a code with a message.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const noexcept { return code_ == Code::ok; }
  Code code() const noexcept { return code_; }
  const std::string& message() const noexcept { return message_; }

  /// The same failure, said of `what`: "what: message". Success stays success.
  Status about(const std::string& what) const { return ok() ? *this : Status(code_, what + ": " + message_); }

 private:
  Code code_ = Code::ok;
  std::string message_;
};

/// A value, or the Status that says why there is none. `value()` may be called only when `ok()`.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) { assert(!status_.ok()); }

  bool ok() const noexcept { return value_.has_value(); }
  const Status& status() const noexcept { return status_; }
  T& value() & {
    assert(ok());
    return *value_;
  }
  const T& value() const& {
    assert(ok());
    return *value_;
  }
  T&& value() && {
    assert(ok());
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace tenfold
