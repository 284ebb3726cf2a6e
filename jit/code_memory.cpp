// SPDX-License-Identifier: Apache-2.0
//
// CodeMemory: slabs of executable memory that are filled from the front and unmapped when their last kernel goes; the
// one that is being filled stays without kernels, too, so that a host that holds one partition at a time does not make
// and map a file for each.
//
// A slab is a memfd with one view, readable and executable. Kernels get into it by pwrite(), so there is no writable
// view of code, at any address, at any time; kernels in the slab keep running meanwhile. This also works where the
// system forbids turning writable pages into executable ones (PR_SET_MDWE, SELinux execmem). Where memfd is refused,
// each kernel gets private pages of its own: mapped writable, filled, then made executable and read-only for good.
//
// Space in a slab is never given out twice and a file that is no longer appended to is closed: a forked child shares
// the pages, and may still run a kernel that its parent has released. The child itself appends to no inherited slab.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "jit/code.hpp"
#include "target/fork.hpp"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

namespace tenfold::jit {
namespace {

constexpr std::size_t kSlabBytes = std::size_t{64} << 10;
/// A cache line: no two kernels share one, so publishing never touches a line that another core is decoding.
constexpr std::size_t kAlignment = 64;
/// int3, so that a jump to where no kernel is stops at once.
constexpr std::uint8_t kFiller = 0xCC;

/// One lock for all CodeMemory of the process: publishing takes microseconds and is rare.
struct CodeLock {
  std::mutex mutex;
  target::HeldAcrossFork held{mutex};
};

std::mutex& code_lock() {
  static std::atomic<CodeLock*> made;
  return target::one_of_process(made).mutex;
}

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

constexpr std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }

/// The system's refusal: it has no memory, or its policy forbids this.
Status refusal(const char* call, int error) {
  const Code code =
      error == ENOMEM || error == ENOSPC || error == EFBIG ? Code::out_of_memory : Code::unsupported_target;
  return Status(code, std::string("code memory: ") + call + ": " + std::system_category().message(error));
}

/// A mapping and, while it can still take kernels, its file.
struct Slab {
  std::uint8_t* view = nullptr;
  std::size_t size = 0;
  std::size_t filled = 0;
  std::size_t kernels = 0;
  int file = -1;
  pid_t owner = 0;  ///< the process that may append

  Slab() = default;
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;
  ~Slab() {
    close_file();
    if (view != nullptr) munmap(view, size);
  }
  void close_file() noexcept {
    if (file >= 0) close(file);
    file = -1;
  }
  std::size_t next_offset() const noexcept { return round_up(filled, kAlignment); }
  bool takes(std::size_t bytes) const noexcept {
    return file >= 0 && owner == getpid() && next_offset() <= size && bytes <= size - next_offset();
  }
};

/// memfd_create as an executable file; Linux before 6.3 does not know MFD_EXEC and needs none.
int create_file() noexcept {
  const int file = memfd_create("tenfold-code", MFD_CLOEXEC | MFD_EXEC);
  return file >= 0 || errno != EINVAL ? file : memfd_create("tenfold-code", MFD_CLOEXEC);
}

/// Maps `slab.size` bytes of a new memfd. Pages come into being as they are written; a jump beyond them is a SIGBUS.
Status map_file(Slab& slab) {
  slab.file = create_file();
  if (slab.file < 0) return refusal("memfd_create", errno);
  void* const view = mmap(nullptr, slab.size, PROT_READ | PROT_EXEC, MAP_SHARED, slab.file, 0);
  if (view == MAP_FAILED) {
    const Status status = refusal("mmap of a memfd", errno);
    slab.close_file();
    return status;
  }
  slab.view = static_cast<std::uint8_t*>(view);
  slab.owner = getpid();
  return {};
}

/// Appends `bytes` to the slab's file, and int3 up to the end of the page, which the next kernel overwrites.
Status append(Slab& slab, std::span<const std::uint8_t> bytes) {
  const std::size_t begin = slab.next_offset();
  std::vector<std::uint8_t> image(round_up(begin + bytes.size(), page_bytes()) - begin, kFiller);
  std::copy(bytes.begin(), bytes.end(), image.begin());
  for (std::size_t done = 0; done < image.size();) {
    const ssize_t n = pwrite(slab.file, image.data() + done, image.size() - done, static_cast<off_t>(begin + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return refusal("pwrite", n < 0 ? errno : ENOSPC);
    done += static_cast<std::size_t>(n);
  }
  slab.filled = begin + bytes.size();
  return {};
}

/// Private pages for one kernel, written before they become executable.
Status map_private(Slab& slab, std::span<const std::uint8_t> bytes) {
  void* const view = mmap(nullptr, slab.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (view == MAP_FAILED) return refusal("mmap", errno);
  slab.view = static_cast<std::uint8_t*>(view);
  std::copy(bytes.begin(), bytes.end(), slab.view);
  std::memset(slab.view + bytes.size(), kFiller, slab.size - bytes.size());
  if (mprotect(view, slab.size, PROT_READ | PROT_EXEC) != 0) return refusal("mprotect to executable", errno);
  slab.filled = bytes.size();
  return {};
}

/// Has the pages of `bytes` in the page table before a kernel runs. Constants lie behind its code, perhaps on a page of
/// their own, and a load that a mask turns off brings no page in: it finds out that it need not fault by an assist of
/// some 130 ns, each time.
void touch(std::span<const std::uint8_t> bytes) noexcept {
  const volatile std::uint8_t* const first = bytes.data();
  for (std::size_t i = 0; i < bytes.size(); i += page_bytes()) static_cast<void>(first[i]);
  static_cast<void>(first[bytes.size() - 1]);
}

}  // namespace

struct CodeMemory::Impl {
  explicit Impl(std::size_t capacity_bytes) : capacity(capacity_bytes) {}

  /// A kernel in a slab; keeps the slab, and with it this Impl.
  class Kernel final : public KernelCode {
   public:
    Kernel(std::shared_ptr<Impl> memory, std::int64_t scratch_bytes, std::string name) : memory_(std::move(memory)) {
      scratch_bytes_ = scratch_bytes;
      name_ = std::move(name);
    }
    ~Kernel() override {
      if (slab_ != nullptr) memory_->release(slab_, bytes_.size());
    }
    void live_in(Slab* slab, std::span<const std::uint8_t> bytes) noexcept {
      slab_ = slab;
      bytes_ = bytes;
      function_ = reinterpret_cast<KernelFunction>(reinterpret_cast<std::uintptr_t>(bytes.data()));
    }

   private:
    std::shared_ptr<Impl> memory_;
    Slab* slab_ = nullptr;
  };

  const std::size_t capacity;
  CodeMemoryStats stats;
  std::vector<std::unique_ptr<Slab>> slabs;
  Slab* open = nullptr;  ///< the one that is being filled

  std::size_t room() const { return capacity - std::min(capacity, stats.mapped_bytes); }

  /// `bytes` in a slab that counts one kernel more. Needs the lock.
  Result<Slab*> place(std::span<const std::uint8_t> bytes) {
    if (open != nullptr && open->takes(bytes.size())) {
      const Status status = append(*open, bytes);
      if (!status.ok()) return status;
      return open;
    }
    if (open != nullptr && open->kernels == 0) unmap(std::exchange(open, nullptr));
    const std::size_t least = round_up(bytes.size(), page_bytes());
    if (least > room())
      return Status(Code::out_of_memory, "code memory: " + std::to_string(least) + " more bytes exceed the bound of " +
                                             std::to_string(capacity) + " (" + std::to_string(stats.mapped_bytes) +
                                             " are mapped); release compiled partitions");
    slabs.reserve(slabs.size() + 1);
    auto slab = std::make_unique<Slab>();
    const Status status = fill_new(*slab, bytes, least);
    if (!status.ok()) return status;
    stats.mapped_bytes += slab->size;
    slabs.push_back(std::move(slab));
    Slab* const placed = slabs.back().get();
    if (placed->takes(1)) {
      if (open != nullptr) open->close_file();
      open = placed;
    } else {
      placed->close_file();
    }
    return placed;
  }

  Status fill_new(Slab& slab, std::span<const std::uint8_t> bytes, std::size_t least) {
    slab.size = std::max(least, std::min(kSlabBytes, room() / page_bytes() * page_bytes()));
    const Status mapped = map_file(slab);
    if (mapped.ok()) return append(slab, bytes);
    if (mapped.code() == Code::out_of_memory) return mapped;
    slab.size = least;
    const Status status = map_private(slab, bytes);
    if (status.code() != Code::unsupported_target) return status;
    return Status(Code::unsupported_target,
                  status.message() + "; the system allows no executable memory, by memfd nor by mprotect");
  }

  void release(Slab* slab, std::size_t bytes) noexcept {
    const std::lock_guard<std::mutex> lock(code_lock());
    stats.kernels -= 1;
    stats.used_bytes -= bytes;
    if (--slab->kernels == 0 && slab != open) unmap(slab);
  }

  /// A slab without kernels. Needs the lock.
  void unmap(Slab* slab) noexcept {
    stats.mapped_bytes -= slab->size;
    const auto found = std::find_if(slabs.begin(), slabs.end(), [slab](const auto& s) { return s.get() == slab; });
    std::swap(*found, slabs.back());
    slabs.pop_back();
  }
};

CodeMemory::CodeMemory(std::size_t capacity_bytes) : impl_(std::make_shared<Impl>(capacity_bytes)) {}

CodeMemory::~CodeMemory() = default;

Result<std::shared_ptr<const KernelCode>> CodeMemory::publish(std::span<const std::uint8_t> bytes,
                                                              std::int64_t scratch_bytes, std::string name) try {
  if (bytes.empty()) return Status(Code::internal_error, "code memory: kernel '" + name + "' has no code");
  auto code = std::make_shared<Impl::Kernel>(impl_, scratch_bytes, std::move(name));
  const std::lock_guard<std::mutex> lock(code_lock());
  Result<Slab*> placed = impl_->place(bytes);
  if (!placed.ok()) return placed.status();
  Slab* const slab = placed.value();
  slab->kernels += 1;
  impl_->stats.kernels += 1;
  impl_->stats.used_bytes += bytes.size();
  code->live_in(slab, {slab->view + slab->filled - bytes.size(), bytes.size()});
  touch(code->bytes());
  return std::shared_ptr<const KernelCode>(std::move(code));
} catch (const std::bad_alloc&) {
  return Status(Code::out_of_memory,
                "code memory: no memory for a kernel of " + std::to_string(bytes.size()) + " bytes");
}

CodeMemoryStats CodeMemory::stats() const {
  const std::lock_guard<std::mutex> lock(code_lock());
  return impl_->stats;
}

}  // namespace tenfold::jit
