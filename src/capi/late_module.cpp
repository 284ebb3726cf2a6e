// SPDX-License-Identifier: Apache-2.0
#include "capi/late_module.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>

#include "target/fork.hpp"

namespace tenfold::capi {

namespace {

/// The library's RUNPATH says where it is, too, but only to a dlopen() that knows who calls: AddressSanitizer's, which
/// stands in for it, does not.
void* open_beside_library(const char* file) {
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&load_module), &library) == 0 || library.dli_fname == nullptr)
    return nullptr;
  const std::string_view path = library.dli_fname;
  const std::size_t folder = path.rfind('/');
  if (folder == std::string_view::npos) return nullptr;
  return dlopen((std::string(path.substr(0, folder + 1)) + file).c_str(), RTLD_NOW | RTLD_LOCAL);
}

std::string loader_fault() {
  const char* const fault = dlerror();
  return fault == nullptr ? "no reason is known" : fault;
}

/// The loader ends in the system's words for it, in whatever language. All else, such as too many open files, may be
/// otherwise the next time.
bool says_missing(std::string_view fault) { return fault.ends_with(std::generic_category().message(ENOENT)); }

/// The loader of the system has locks that a child would inherit, so fork() waits for it.
struct LoaderLock {
  std::mutex mutex;
  target::HeldAcrossFork held{mutex};
};

}  // namespace

LateModule load_module(const char* file, const char* symbol) {
  static std::atomic<LoaderLock*> made;
  const std::lock_guard guard(target::one_of_process(made).mutex);
  void* handle = open_beside_library(file);
  if (handle == nullptr) {
    const char* const beside = dlerror();  // null where there is no folder to look in
    const bool is_missing = beside == nullptr || says_missing(beside);
    handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const std::string fault = loader_fault();
      return {nullptr, fault, is_missing && says_missing(fault)};
    }
  }
  const void* const door = dlsym(handle, symbol);
  if (door == nullptr) return {nullptr, loader_fault()};
  const std::string_view version = *static_cast<const char* const*>(door);
  if (version != TENFOLD_VERSION) return {nullptr, std::string(file) + " is of version " + std::string(version)};
  return {door, {}};
}

LateModule late_module(std::atomic<const LateModule*>& kept, const char* file, const char* symbol) {
  if (const LateModule* const known = kept.load(std::memory_order_acquire)) return *known;
  LateModule found = load_module(file, symbol);
  return found.is_final ? target::one_of_process(kept, [&] { return found; }) : found;
}

}  // namespace tenfold::capi
