#include "services/evaluator/retrieval/embed_all.hpp"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "services/kit/base/current_trace.hpp"

namespace stackgate::evaluator {
namespace {

using Clock = std::chrono::steady_clock;

struct Batch {
  std::size_t first = 0, count = 0;
};

class Embedding {
 public:
  Embedding(const Endpoint& endpoint, std::size_t count, const std::function<std::string_view(std::size_t)>& text,
            const EmbedOptions& options, const std::function<bool()>& stop)
      : endpoint_(endpoint), count_(count), text_(text), options_(options), stop_(stop) {}

  std::expected<void, NoAnswer> run(
      const std::function<std::expected<void, NoAnswer>(std::size_t, const Embeddings&)>& take) {
    std::vector<std::jthread> threads;
    running_ = std::max(options_.parallelism, 1U);
    for (unsigned i = running_; i > 0; --i) threads.emplace_back([this] { work(); });
    for (std::size_t taken = 0; taken < count_;) {
      std::unique_lock lock(mutex_);
      // After a failure what is under way still counts.
      changed_.wait(lock, [&] { return done_.contains(taken) || (failure_ && running_ == 0); });
      if (!done_.contains(taken)) return std::unexpected(*failure_);
      const Embeddings vectors = std::move(done_.extract(taken).mapped());
      changed_.notify_all();  // there is room for another one
      lock.unlock();
      auto ok = take(taken, vectors);
      if (!ok) {
        fail(ok.error());
        return ok;
      }
      taken += vectors.values.size() / vectors.dimension;
    }
    return {};
  }

 private:
  void work() {
    std::optional<TraceScope> scope;
    while (const auto batch = next()) {
      scope.reset();
      trace_.enter(scope, batch->first == 0);  // one call stands for all of them in the trace
      std::vector<std::string> texts;
      texts.reserve(batch->count);
      for (std::size_t i = 0; i < batch->count; ++i) texts.emplace_back(text_(batch->first + i));
      auto vectors = ask(texts);
      if (!vectors) {
        fail(vectors.error());
        break;
      }
      const std::lock_guard lock(mutex_);
      done_.emplace(batch->first, std::move(*vectors));
      changed_.notify_all();
    }
    const std::lock_guard lock(mutex_);
    --running_;
    changed_.notify_all();
  }

  /// Not much further than what was taken, so that vectors do not pile up behind one slow call.
  std::optional<Batch> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failure_ || next_ >= count_ || done_.size() < 2UL * options_.parallelism; });
    if (failure_ || next_ >= count_) return std::nullopt;
    Batch out{.first = next_, .count = 0};
    const std::size_t most = std::clamp<std::size_t>(options_.batch_texts, 1, most_texts);
    for (std::size_t bytes = 0; next_ < count_ && out.count < most; ++next_, ++out.count) {
      bytes += text_(next_).size();
      if (out.count > 0 && bytes > options_.batch_bytes) break;
    }
    return out;
  }

  std::expected<Embeddings, NoAnswer> ask(const std::vector<std::string>& texts) {
    const auto until = Clock::now() + options_.patience;
    for (;;) {
      auto out = endpoint_.embed(texts);
      if (out || out.error().kind != NoAnswer::Kind::away || Clock::now() + options_.pause > until) return out;
      for (const auto end = Clock::now() + options_.pause; Clock::now() < end;) {
        if (is_over()) return out;
        std::this_thread::sleep_for(
            std::min<std::chrono::milliseconds>(options_.pause, std::chrono::milliseconds(100)));
      }
    }
  }

  bool is_over() {
    if (stop_ && stop_()) {
      fail({NoAnswer::Kind::stopped, "stopped"});
      return true;
    }
    const std::lock_guard lock(mutex_);
    return failure_.has_value();
  }

  void fail(NoAnswer failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    changed_.notify_all();
  }

  const Endpoint& endpoint_;
  const std::size_t count_;
  const std::function<std::string_view(std::size_t)>& text_;
  const EmbedOptions& options_;
  const std::function<bool()>& stop_;
  const TraceCopy trace_{};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;
  unsigned running_ = 0;                      // threads
  std::map<std::size_t, Embeddings> done_{};  // by the first text's number
  std::optional<NoAnswer> failure_{};
};

}  // namespace

std::expected<void, NoAnswer> embed_all(
    const Endpoint& endpoint, std::size_t count, const std::function<std::string_view(std::size_t)>& text,
    const EmbedOptions& options,
    const std::function<std::expected<void, NoAnswer>(std::size_t first, const Embeddings&)>& take,
    const std::function<bool()>& stop) {
  return Embedding(endpoint, count, text, options, stop).run(take);
}

}  // namespace stackgate::evaluator
