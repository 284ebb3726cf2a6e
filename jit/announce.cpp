// SPDX-License-Identifier: Apache-2.0
//
// Files are kept open for the life of the process, and made anew in a child of fork(), which has kernels and a process
// id of its own.
#include "jit/announce.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <exception>
#include <string>

#include "kernel/tables.hpp"
#include "target/environment.hpp"

namespace tenfold::jit {
namespace {

/// Not through a link that somebody else put there, and for nobody else to read.
int open_file(const std::string& path, int flags) {
  return open(path.c_str(), O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

bool write_all(int file, const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = write(file, at, bytes);
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

/// A file that belongs to one process.
struct ProcessFile {
  int file = -1;
  pid_t owner = 0;

  /// True when this process has it open; `make` opens it, once.
  template <class Make>
  bool ready(Make&& make) {
    if (owner != getpid()) {
      owner = getpid();
      file = make();
    }
    return file >= 0;
  }
};

/// perf looks in this one place for symbols of code that no file has: lines of start, size and name.
void add_to_perf_map(const PublishedKernel& kernel) {
  static ProcessFile map;
  if (!map.ready([] { return open_file("/tmp/perf-" + std::to_string(getpid()) + ".map", O_WRONLY | O_APPEND); }))
    return;
  char line[64];
  const int length =
      std::snprintf(line, sizeof line, "%llx %llx ",
                    static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(kernel.bytes.data())),
                    static_cast<unsigned long long>(kernel.bytes.size()));
  const std::string text = std::string(line, static_cast<std::size_t>(length)) + std::string(kernel.name) + "\n";
  write_all(map.file, text.data(), text.size());
}

/// The header of a jitdump file, as perf's specification has it.
struct DumpHeader {
  std::uint32_t magic = 0x4A695444;
  std::uint32_t version = 1;
  std::uint32_t total_size = sizeof(DumpHeader);
  std::uint32_t machine = 62;  // EM_X86_64
  std::uint32_t padding = 0;
  std::uint32_t process = 0;
  std::uint64_t timestamp = 0;
  std::uint64_t flags = 0;
};

/// A record that code was loaded; the name, with its zero, and the code follow.
struct DumpRecord {
  std::uint32_t id = 0;
  std::uint32_t total_size = 0;
  std::uint64_t timestamp = 0;
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
  std::uint64_t address = 0;
  std::uint64_t code_address = 0;
  std::uint64_t code_size = 0;
  std::uint64_t index = 0;
};

/// The clock of `perf record -k 1`.
std::uint64_t timestamp() {
  std::timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000U + static_cast<std::uint64_t>(now.tv_nsec);
}

int open_jit_dump() {
  const std::string& folder = target::environment().dump_folder;
  const std::string name = "jit-" + std::to_string(getpid()) + ".dump";
  const int file = open_file(folder.empty() ? name : folder + "/" + name, O_RDWR | O_TRUNC);
  if (file < 0) return file;
  DumpHeader header;
  header.process = static_cast<std::uint32_t>(getpid());
  header.timestamp = timestamp();
  write_all(file, &header, sizeof header);
  // perf records executable mappings, and finds the file by this one, which nobody uses.
  [[maybe_unused]] const void* const mark =
      mmap(nullptr, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  return file;
}

void add_to_jit_dump(const PublishedKernel& kernel) {
  static ProcessFile dump;
  static std::uint64_t index = 0;
  if (!dump.ready(&open_jit_dump)) return;
  DumpRecord record;
  record.total_size = static_cast<std::uint32_t>(sizeof record + kernel.name.size() + 1 + kernel.bytes.size());
  record.timestamp = timestamp();
  record.process = static_cast<std::uint32_t>(getpid());
  record.thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
  record.address = record.code_address = reinterpret_cast<std::uintptr_t>(kernel.bytes.data());
  record.code_size = kernel.bytes.size();
  record.index = index++;
  std::string text(reinterpret_cast<const char*>(&record), sizeof record);
  text.append(kernel.name).push_back('\0');
  text.append(reinterpret_cast<const char*>(kernel.bytes.data()), kernel.bytes.size());
  write_all(dump.file, text.data(), text.size());
}

void write_to_folder(const PublishedKernel& kernel) {
  static std::uint64_t index = 0;
  char number[32];
  std::snprintf(number, sizeof number, "/%d-%04llu-", static_cast<int>(getpid()),
                static_cast<unsigned long long>(index++));
  const std::string stem = target::environment().dump_folder + number + std::string(kernel.name);
  const std::string text = std::string(kernel.description) + "\n";
  const auto save = [](const std::string& path, const void* data, std::size_t bytes) {
    const int file = open_file(path, O_WRONLY | O_TRUNC);
    if (file < 0) return;
    write_all(file, data, bytes);
    close(file);
  };
  save(stem + ".bin", kernel.bytes.data(), kernel.bytes.size());
  save(stem + ".txt", text.data(), text.size());
}

}  // namespace

std::string kernel_name(const kernel::KernelSpec& spec, const schedule::Schedule& schedule,
                        std::string_view class_key) {
  constexpr int kMostWords = 4;
  std::string name =
      "tenfold_" + std::string(target::to_string(schedule.isa)) + "_" + std::string(schedule::to_string(schedule.nest));
  int words = 0;
  for (const kernel::Node& node : spec.body) {
    const bool reduces = node.kind == kernel::Node::Kind::reduce || kernel::is_ordered(node);
    if ((!reduces && node.kind != kernel::Node::Kind::apply) || ++words > kMostWords) continue;
    name += "_" + std::string(reduces ? kernel::row(node.monoid).name : kernel::row(node.function).name);
  }
  if (!spec.inputs.empty()) name += "_" + std::string(to_string(spec.inputs[0].dtype));
  if (!spec.outputs.empty()) name += "_" + std::string(to_string(spec.outputs[0].dtype));
  // FNV-1a.
  std::uint32_t hash = 2166136261U;
  for (const char c : class_key) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  char text[16];
  std::snprintf(text, sizeof text, "_%08x", hash);
  return name + text;
}

bool announces() {
  const target::Environment& asked = target::environment();
  return asked.perf_map || asked.jit_dump || !asked.dump_folder.empty();
}

void announce(const PublishedKernel& kernel) noexcept {
  try {
    const target::Environment& asked = target::environment();
    if (asked.perf_map) add_to_perf_map(kernel);
    if (asked.jit_dump) add_to_jit_dump(kernel);
    if (!asked.dump_folder.empty()) write_to_folder(kernel);
  } catch (const std::exception&) {
    return;  // No memory for a line of text is no reason to fail a compile.
  }
}

}  // namespace tenfold::jit
