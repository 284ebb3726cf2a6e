// SPDX-License-Identifier: Apache-2.0
//
// How the C++ API reports failure, as oneDNN's does: an exception with the C API's status, and with what
// tenfold_last_error() had to say. And handle, by which its classes hold the C API's references.
#ifndef TENFOLD_GRAPH_ERROR_HPP
#define TENFOLD_GRAPH_ERROR_HPP

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>

#include "tenfold/tenfold.h"

/// 0 where exceptions are switched off: a failure then writes its message to stderr and ends the program.
#ifndef TENFOLD_ENABLE_EXCEPTIONS
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
#define TENFOLD_ENABLE_EXCEPTIONS 1
#else
#define TENFOLD_ENABLE_EXCEPTIONS 0
#endif
#endif

namespace tenfold {

/// What a failing call throws. `status` is the C API's number, `message` what was asked and what is wrong with it.
struct error : public std::exception {
  tenfold_status_t status;
  const char* message;

  error(tenfold_status_t the_status, const std::string& text)
      : status(the_status), message(nullptr), text_(std::make_shared<const std::string>(text)) {
    message = text_->c_str();
  }
  const char* what() const noexcept override { return message; }

  [[noreturn]] static void raise(tenfold_status_t status, const std::string& text) {
#if TENFOLD_ENABLE_EXCEPTIONS
    throw error(status, text);
#else
    std::fprintf(stderr, "tenfold: %s: %s\n", tenfold_status_to_string(status), text.c_str());
    std::abort();
#endif
  }

  /// Throws unless `status` is success; `what` says what could not be done.
  static void wrap_c_api(tenfold_status_t status, const char* what) {
    if (status != tenfold_success) raise(status, std::string(what) + ": " + tenfold_last_error());
  }

 private:
  std::shared_ptr<const std::string> text_;
};

/// Knows how a C handle is given back.
template <typename T>
struct handle_traits {};

/// A counted reference to a C handle: copies share it, the last one gives it back.
template <typename T, typename Traits = handle_traits<T>>
struct handle {
 public:
  handle() = default;
  handle(const handle&) = default;
  handle(handle&&) = default;
  handle& operator=(const handle&) = default;
  handle& operator=(handle&&) = default;
  /// Takes over the caller's reference; a weak one stays the caller's.
  explicit handle(T held, bool weak = false) { reset(held, weak); }

  void reset(T held, bool weak = false) {
    if (weak)
      data_.reset(held, [](T) {});
    else
      data_.reset(held, [](T given) { Traits::destructor(given); });
  }

  /// Null only where `allow_empty`; else an empty handle throws.
  T get(bool allow_empty = false) const {
    T held = data_.get();
    if (!allow_empty && held == nullptr) error::raise(tenfold_invalid_arguments, "the object holds nothing");
    return held;
  }
  explicit operator T() const { return get(true); }
  explicit operator bool() const { return get(true) != nullptr; }

  bool operator==(const handle& other) const { return other.data_.get() == data_.get(); }
  bool operator!=(const handle& other) const { return !(*this == other); }

 private:
  std::shared_ptr<typename std::remove_pointer<T>::type> data_;
};

namespace graph {

/// The C API's statuses, by the same numbers.
enum class status {
  success = tenfold_success,
  out_of_memory = tenfold_out_of_memory,
  invalid_arguments = tenfold_invalid_arguments,
  unimplemented = tenfold_unimplemented,
  last_impl_reached = tenfold_last_impl_reached,
  runtime_error = tenfold_runtime_error,
  not_required = tenfold_not_required,
  invalid_graph = tenfold_invalid_graph,
  invalid_graph_op = tenfold_invalid_graph_op,
  invalid_shape = tenfold_invalid_shape,
  invalid_data_type = tenfold_invalid_data_type,
};

}  // namespace graph
}  // namespace tenfold

#endif  // TENFOLD_GRAPH_ERROR_HPP
