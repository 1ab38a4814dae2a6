#include "services/inference/engine/engine.hpp"

#include <utility>

namespace stackgate::inference {
namespace {

using namespace std::chrono_literals;

constexpr auto look_again = 100ms;  // for deadlines, while all that is left is paused
constexpr auto for_ever = std::chrono::milliseconds(24h);

}  // namespace

Engine::Engine(const EngineOptions& options, Vocabulary vocabulary, Open open)
    : options_(options), vocabulary_(std::move(vocabulary)), open_(std::move(open)), thread_([this] { run(); }) {}

Engine::~Engine() { stop(); }

void Engine::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  opened_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::string Engine::not_ready(std::chrono::milliseconds limit) const {
  std::unique_lock lock(mutex_);
  opened_.wait_for(lock, limit, [this] { return !loading_ || stopping_; });
  return not_ready_;
}

bool Engine::broken() const {
  const std::lock_guard lock(mutex_);
  return broken_;
}

BatchFacts Engine::facts() const {
  const std::lock_guard lock(mutex_);
  BatchFacts out = facts_;
  out.waiting_jobs += submitted_;
  return out;
}

std::optional<JobId> Engine::submit(Job job) {
  JobId id = 0;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || facts_.waiting_jobs + submitted_ >= options_.max_queue) return std::nullopt;
    id = next_++;
    ++submitted_;
    inbox_.emplace_back(Submitted{id, std::move(job)});
  }
  changed_.notify_one();
  return id;
}

void Engine::post(Message message) {
  {
    const std::lock_guard lock(mutex_);
    inbox_.push_back(std::move(message));
  }
  changed_.notify_one();
}

void Engine::cancel(JobId id) { post(Cancelled{id}); }
void Engine::resume(JobId id) { post(Resumed{id}); }
void Engine::forget(std::uint64_t adapter) { post(Forgotten{adapter}); }

std::vector<Engine::Message> Engine::received(std::chrono::milliseconds idle) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, idle, [this] { return stopping_ || !inbox_.empty(); });
  submitted_ = 0;
  return std::exchange(inbox_, {});
}

void Engine::run() {
  auto graph = open_();
  {
    const std::lock_guard lock(mutex_);
    loading_ = false;
    broken_ = !graph;
    not_ready_ = graph ? std::string() : graph.error();
  }
  opened_.notify_all();
  if (!graph) return refuse_all({JobFault::broken, "the model cannot be served: " + graph.error()});
  Batch batch(**graph, options_.limits, vocabulary_);
  serve(batch);
}

void Engine::refuse_all(const JobFailure& failure) {
  const auto stopping = [this] {
    const std::lock_guard lock(mutex_);
    return stopping_;
  };
  do {
    for (Message& each : received(for_ever))
      if (auto* submitted = std::get_if<Submitted>(&each)) submitted->job.events.failed(JobFailure(failure));
  } while (!stopping());
}

void Engine::serve(Batch& batch) {
  std::chrono::milliseconds idle = for_ever;
  std::uint64_t tokens = 0;  // of all steps so far
  while (true) {
    std::vector<Message> messages = received(idle);
    for (Message& each : messages) {
      if (auto* submitted = std::get_if<Submitted>(&each)) batch.add(submitted->id, std::move(submitted->job));
      if (const auto* cancelled = std::get_if<Cancelled>(&each)) batch.cancel(cancelled->id);
      if (const auto* resumed = std::get_if<Resumed>(&each)) batch.resume(resumed->id);
      if (const auto* forgotten = std::get_if<Forgotten>(&each)) batch.forget(forgotten->adapter);
    }
    const bool computed = batch.step(Batch::Clock::now());
    idle = batch.empty() ? for_ever : computed ? 0ms : look_again;
    BatchFacts now = batch.facts();
    if (computed && options_.stepped) options_.stepped(now.step_tokens - std::exchange(tokens, now.step_tokens));
    const std::lock_guard lock(mutex_);
    facts_ = std::move(now);
    if (stopping_) break;
  }
  batch.fail_all({JobFault::stopping, "the server is shutting down"});
  refuse_all({JobFault::stopping, "the server is shutting down"});
}

}  // namespace stackgate::inference
