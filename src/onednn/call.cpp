// SPDX-License-Identifier: Apache-2.0
//
// Calls of oneDNN: recipes of all pieces, and the memory objects that a running task needs.
#include "onednn/call.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "onednn/pieces.hpp"
#include "onednn/primitive.hpp"
#include "target/fork.hpp"
#include "target/weak_cache.hpp"

namespace tenfold::onednn {
namespace {

/// While it lives, oneDNN uses no thread but this one. Primitives must be made and run under the same number.
class OneThread {
 public:
  OneThread() noexcept : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~OneThread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

/// oneDNN's handles for one run of a recipe, with no memory behind them until run() says which.
class Frame {
 public:
  explicit Frame(const Recipe& recipe) : stream_(cpu()) {
    for (const Stage& stage : recipe.stages)
      for (const Binding& binding : stage.bindings) {
        memories_.push_back(dnnl::memory(binding.desc, cpu(), DNNL_MEMORY_NONE));
        arguments_.push_back({binding.argument, memories_.back().get()});
      }
    addresses_.reserve(memories_.size());
  }

  void run(const Recipe& recipe, const Piece& piece, std::span<const void* const> inputs,
           std::span<void* const> outputs, void* scratch) {
    std::size_t first = 0;
    for (const Stage& stage : recipe.stages) {
      for (std::size_t i = 0; i < stage.bindings.size(); ++i)
        memories_[first + i].set_data_handle(address(stage.bindings[i], piece, inputs, outputs, scratch));
      if (stage.code) {
        run_code(stage, first);
        first += stage.bindings.size();
        continue;
      }
      dnnl::error::wrap_c_api(dnnl_primitive_execute(stage.primitive.get(), stream_.get(),
                                                     static_cast<int>(stage.bindings.size()), &arguments_[first]),
                              "execute");
      first += stage.bindings.size();
    }
    stream_.wait();
  }

 private:
  static void* address(const Binding& binding, const Piece& piece, std::span<const void* const> inputs,
                       std::span<void* const> outputs, void* scratch) noexcept {
    const std::size_t i = binding.index;
    switch (binding.place) {
      case Place::input:  // its type has no const; oneDNN writes no source
        return static_cast<std::byte*>(const_cast<void*>(inputs[i])) + piece.input_offsets[i];
      case Place::output: return static_cast<std::byte*>(outputs[i]) + piece.output_offsets[i];
      case Place::scratch: break;
    }
    return static_cast<std::byte*>(scratch) + binding.offset;
  }

  void run_code(const Stage& stage, std::size_t first) {
    stream_.wait();
    addresses_.clear();
    for (std::size_t i = 0; i < stage.bindings.size(); ++i)
      addresses_.push_back(memories_[first + i].get_data_handle());
    stage.code(addresses_);
  }

  dnnl::stream stream_;
  std::vector<void*> addresses_;
  std::vector<dnnl::memory> memories_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

/// Frames that nobody uses just now; as many are made as tasks ever ran at once.
class FramePool {
 public:
  std::unique_ptr<Frame> take(const Recipe& recipe) {
    {
      const std::lock_guard lock(mutex_);
      if (!frames_.empty()) {
        std::unique_ptr<Frame> frame = std::move(frames_.back());
        frames_.pop_back();
        return frame;
      }
    }
    return std::make_unique<Frame>(recipe);
  }
  void give(std::unique_ptr<Frame> frame) {
    const std::lock_guard lock(mutex_);
    frames_.push_back(std::move(frame));
  }

 private:
  std::mutex mutex_;  ///< guards frames_
  target::HeldAcrossFork held_{mutex_};
  std::vector<std::unique_ptr<Frame>> frames_;
};

Recipe make_recipe(const HeavySpec& spec) {
  switch (spec.kind) {
    case Kind::matmul: break;
    case Kind::convolution:
    case Kind::convolution_to_input:
    case Kind::convolution_to_weights: return convolution_recipe(spec);
    case Kind::average_pool:
    case Kind::average_pool_to_input:
    case Kind::max_pool:
    case Kind::max_pool_to_input: return pool_recipe(spec);
    case Kind::resample:
    case Kind::resample_to_input: return resample_recipe(spec);
  }
  return matmul_recipe(spec);
}

class DnnlCall final : public HeavyCall {
 public:
  explicit DnnlCall(const HeavySpec& spec) : pieces_(cut_into_pieces(spec)) {
    for (const Piece& piece : pieces_) {
      const auto same = std::find_if(contexts_.begin(), contexts_.end(),
                                     [&piece](const auto& context) { return context->spec == piece.spec; });
      recipe_of_.push_back(static_cast<std::size_t>(same - contexts_.begin()));
      if (same == contexts_.end()) contexts_.push_back(std::make_unique<Context>(piece.spec));
    }
    for (const auto& context : contexts_) scratch_bytes_ = std::max(scratch_bytes_, context->recipe.scratch_bytes);
    const auto slow = std::find_if(contexts_.begin(), contexts_.end(),
                                   [](const auto& context) { return is_reference(context->recipe); });
    shown_ = slow == contexts_.end() ? contexts_[0].get() : slow->get();
  }

  std::int64_t tasks() const noexcept override { return static_cast<std::int64_t>(pieces_.size()); }
  std::int64_t scratch_bytes() const noexcept override { return scratch_bytes_; }
  const std::string& implementation() const noexcept override { return shown_->recipe.implementation; }

  Status run(std::span<const void* const> inputs, std::span<void* const> outputs, std::int64_t task,
             void* scratch) const override try {
    const OneThread one;
    const auto at = static_cast<std::size_t>(task);
    Context& context = *contexts_[recipe_of_[at]];
    std::unique_ptr<Frame> frame = context.frames.take(context.recipe);
    frame->run(context.recipe, pieces_[at], inputs, outputs, scratch);
    context.frames.give(std::move(frame));
    return {};
  } catch (const dnnl::error& error) {
    return Status(error.status == dnnl_out_of_memory ? Code::out_of_memory : Code::internal_error,
                  std::string("oneDNN failed to run: ") + error.what());
  }

 private:
  /// A recipe, and frames to run it in.
  struct Context {
    explicit Context(const HeavySpec& of) : spec(of), recipe(make_recipe(of)) {}
    HeavySpec spec;
    Recipe recipe;
    FramePool frames;
  };

  std::vector<Piece> pieces_;
  std::vector<std::size_t> recipe_of_;  ///< by piece
  std::vector<std::unique_ptr<Context>> contexts_;
  const Context* shown_ = nullptr;  ///< whose name implementation() gives: reference code, should any be among them
  std::int64_t scratch_bytes_ = 0;
};

/// By the text of their specs.
using CallCache = target::WeakCache<const HeavyCall>;

Result<std::shared_ptr<const HeavyCall>> call_of(CallCache& cache, const HeavySpec& spec) {
  const std::string key = print(spec);
  if (std::shared_ptr<const HeavyCall> held = cache.find(key)) return held;
  // Outside the lock, as it takes milliseconds. Of two threads that make the same call, the first one's is used.
  const OneThread one;
  const auto made = std::make_shared<const DnnlCall>(spec);
  return cache.find_or_make(key, [&] { return Result<std::shared_ptr<const HeavyCall>>(made); });
}

/// Another oneDNN may come first in a process, such as one within libtorch: its functions have the same names.
Status check_library() {
  const dnnl_version_t* const found = dnnl_version();
  if (found->major == DNNL_VERSION_MAJOR && found->minor >= DNNL_VERSION_MINOR) return {};
  return Status(Code::unsupported_target, "oneDNN " + library_version() + " is in this process, built for " +
                                              std::to_string(DNNL_VERSION_MAJOR) + "." +
                                              std::to_string(DNNL_VERSION_MINOR));
}

}  // namespace

Result<std::shared_ptr<const HeavyCall>> make_call(const HeavySpec& spec) try {
  if (Status status = check_library(); !status.ok()) return status;
  static std::atomic<CallCache*> cache;
  Result<std::shared_ptr<const HeavyCall>> call = call_of(target::one_of_process(cache), spec);
  if (call.ok() && call.value()->implementation().starts_with("ref"))
    return Status(Code::unsupported_op,
                  "oneDNN has but reference code (" + call.value()->implementation() + ") for " + print(spec));
  return call;
} catch (const dnnl::error& error) {
  return Status(error.status == dnnl_out_of_memory ? Code::out_of_memory : Code::unsupported_op,
                std::string("oneDNN refuses ") + print(spec) + ": " + error.what());
}

std::string library_version() {
  const dnnl_version_t* const found = dnnl_version();
  return std::to_string(found->major) + "." + std::to_string(found->minor) + "." + std::to_string(found->patch);
}

}  // namespace tenfold::onednn
