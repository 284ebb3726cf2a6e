// SPDX-License-Identifier: Apache-2.0
//
// Statuses, the thread's last error, and the checks of arguments; see boundary.hpp.
#include "capi/boundary.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "capi/log.hpp"

namespace tenfold::capi {

namespace {

/// Not a string: keeping a message must work when memory has run out, and leaves nothing to destroy when the library
/// is unloaded.
constexpr std::size_t kMostText = 2048;
thread_local std::array<char, kMostText> last_error{};

void keep(const std::string& message) noexcept {
  constexpr std::string_view kCut = "...";
  const std::size_t count = std::min(message.size(), kMostText - 1);
  std::memcpy(last_error.data(), message.data(), count);
  last_error[count] = '\0';
  if (count < message.size()) std::memcpy(last_error.data() + count - kCut.size(), kCut.data(), kCut.size());
}

/// By number; oneDNN Graph's names.
constexpr const char* kStatusNames[] = {
    "success",      "out_of_memory", "invalid_arguments", "unimplemented", "last_impl_reached", "runtime_error",
    "not_required", "invalid_graph", "invalid_graph_op",  "invalid_shape", "invalid_data_type",
};

}  // namespace

tenfold_status_t number_of(Code code) noexcept {
  switch (code) {
    case Code::ok: return tenfold_success;
    case Code::out_of_memory: return tenfold_out_of_memory;
    case Code::invalid_argument:
    case Code::invalid_file: return tenfold_invalid_arguments;
    case Code::invalid_graph: return tenfold_invalid_graph;
    case Code::invalid_op: return tenfold_invalid_graph_op;
    case Code::invalid_shape: return tenfold_invalid_shape;
    case Code::invalid_dtype: return tenfold_invalid_data_type;
    case Code::unsupported_op:
    case Code::unsupported_dtype:
    case Code::unsupported_shape:
    case Code::unsupported_target: return tenfold_unimplemented;
    case Code::internal_error: return tenfold_runtime_error;
  }
  return tenfold_runtime_error;
}

tenfold_status_t fail(const char* function, const Status& status) noexcept {
  const tenfold_status_t number = number_of(status.code());
  if (log_wants(tenfold_log_error)) {
    // A log line that cannot be put together is not worth more than the status itself.
    (void)api::guarded([&]() -> Status {
      log(tenfold_log_error, std::string(function) + ": " + tenfold_status_to_string(number) + ": " + status.message());
      return {};
    });
  }
  // Behind the log callback, which may call functions that fail.
  keep(status.message());
  return number;
}

Status require(std::initializer_list<Argument> arguments) {
  for (const Argument& argument : arguments)
    if (argument.pointer == nullptr)
      return Status(Code::invalid_argument, "argument '" + std::string(argument.name) + "' is null");
  return {};
}

Status require_list(const char* name, const void* list, std::size_t count) {
  constexpr std::size_t kMost = std::size_t{1} << 28;
  if (count > kMost)
    return Status(Code::invalid_argument,
                  "'" + std::string(name) + "' has " + std::to_string(count) + " elements; the most are 2^28");
  return count == 0 ? Status() : require({{name, list}});
}

Status require_array(const char* name, const void* array, std::size_t given, std::size_t wanted) {
  if (given != wanted)
    return Status(Code::invalid_argument, "'" + std::string(name) + "' has " + std::to_string(given) +
                                              " elements; there are " + std::to_string(wanted));
  return wanted == 0 ? Status() : require({{name, array}});
}

}  // namespace tenfold::capi

const char* tenfold_status_to_string(tenfold_status_t status) {
  const auto number = static_cast<std::size_t>(status);
  return number < std::size(tenfold::capi::kStatusNames) ? tenfold::capi::kStatusNames[number] : "unknown";
}

const char* tenfold_last_error(void) { return tenfold::capi::last_error.data(); }

tenfold_status_t tenfold_version(int32_t* major, int32_t* minor, int32_t* patch) {
  if (major != nullptr) *major = TENFOLD_VERSION_MAJOR;
  if (minor != nullptr) *minor = TENFOLD_VERSION_MINOR;
  if (patch != nullptr) *patch = TENFOLD_VERSION_PATCH;
  return tenfold_success;
}
