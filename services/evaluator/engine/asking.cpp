#include "services/evaluator/engine/asking.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "services/kit/base/current_trace.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array<std::string_view, whom_count> nobody = {"no model is configured", "no judge is configured",
                                                             "no model of embeddings is configured",
                                                             "no documents are searched", "no programs are run"};

constexpr std::size_t most_waiting = 256;  // samples, to be kept

/// Between the threads that ask and the one that keeps what came of it.
class Asking {
 public:
  Asking(const Task& task, const Answerers& answerers, const AskingOptions& options, const Progress& progress)
      : task_(task), answerers_(answerers), options_(options), progress_(progress) {}

  bool run() {
    const std::size_t count = std::min<std::size_t>(options_.parallelism, task_.samples());
    running_ = count;
    std::vector<std::jthread> threads;
    threads.reserve(count);
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back([this] { work(); });
    for (bool more = count > 0; more;) {
      std::vector<std::pair<std::string, std::string>> answers;
      std::vector<std::pair<std::size_t, Scored>> samples;
      {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, std::chrono::milliseconds(200),
                          [this] { return !answers_.empty() || !samples_.empty() || running_ == 0; });
        answers.swap(answers_);
        samples.swap(samples_);
        more = running_ > 0 || !answers.empty() || !samples.empty();
      }
      room_.notify_all();
      // An answer is kept before the scores that were made of it.
      if (!answers.empty() && progress_.answers) progress_.answers(std::move(answers));
      if (!samples.empty() && progress_.samples) progress_.samples(std::move(samples));
      if (progress_.stop && progress_.stop()) {
        stopped_ = true;
        room_.notify_all();
      }
    }
    return !stopped_;
  }

 private:
  void work() {
    for (;;) {
      const std::size_t sample = next_.fetch_add(1);
      if (sample >= task_.samples() || stopped_) break;
      std::optional<TraceScope> scope;
      trace_.enter(scope, sample < traced_samples);
      auto scored = one(sample);
      if (!scored) break;
      std::unique_lock lock(mutex_);
      samples_.emplace_back(sample, std::move(*scored));
      changed_.notify_one();
      // Whoever asks nobody is faster than what keeps it.
      room_.wait(lock, [this] { return samples_.size() < most_waiting || stopped_; });
    }
    const std::lock_guard lock(mutex_);
    --running_;
    changed_.notify_one();
  }

  /// Nothing: stopped.
  std::optional<Scored> one(std::size_t sample) {
    std::vector<Reply> replies;
    for (;;) {
      const std::vector<Asked> questions = task_.next(sample, replies);
      if (questions.empty()) return task_.score(sample, replies);
      for (const Asked& each : questions) {
        auto reply = ask(sample, replies.size(), each);
        if (!reply) return std::nullopt;
        replies.push_back(std::move(*reply));
      }
    }
  }

  std::optional<Reply> ask(std::size_t sample, std::size_t place, const Asked& asked) {
    const Answerer& answerer = answerers_.at(static_cast<std::size_t>(asked.whom));
    if (!answerer.ask) return Reply{.fault = std::string(nobody.at(static_cast<std::size_t>(asked.whom)))};
    const std::string digest = digest_of(task_.name(), sample, place, answerer.name, asked.question);
    if (progress_.known)
      if (const auto known = progress_.known(digest))
        if (auto answer = read_stored_answer(*known)) return Reply{.answer = std::move(answer)};
    const auto until = Clock::now() + options_.patience;
    for (;;) {
      auto answer = answerer.ask(asked.question);
      if (answer) {
        const std::lock_guard lock(mutex_);
        answers_.emplace_back(digest, stored_answer(*answer));
        changed_.notify_one();
        return Reply{.answer = std::move(*answer)};
      }
      if (stopped_ || answer.error().kind == NoAnswer::Kind::stopped) return std::nullopt;
      if (answer.error().kind != NoAnswer::Kind::away || Clock::now() + options_.pause > until)
        return Reply{.fault = std::move(answer.error().message)};
      for (auto wait_until = Clock::now() + options_.pause; Clock::now() < wait_until && !stopped_;)
        std::this_thread::sleep_for(
            std::min<std::chrono::milliseconds>(options_.pause, std::chrono::milliseconds(100)));
    }
  }

  const Task& task_;
  const Answerers& answerers_;
  const AskingOptions options_;
  const Progress& progress_;
  const TraceCopy trace_{};
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::condition_variable changed_, room_;
  std::size_t running_ = 0;
  std::vector<std::pair<std::string, std::string>> answers_{};
  std::vector<std::pair<std::size_t, Scored>> samples_{};
};

}  // namespace

Answerer answerer(const Endpoint& endpoint) {
  return {.name = endpoint.model(), .ask = [&endpoint](const Question& question) { return endpoint.ask(question); }};
}

bool ask_all(const Task& task, const Answerers& answerers, const AskingOptions& options, const Progress& progress) {
  return Asking(task, answerers, options, progress).run();
}

std::string digest_of(std::string_view task, std::size_t sample, std::size_t place, std::string_view model,
                      const Question& question) {
  return crypto::to_hex(crypto::sha256(fmt::format("{}\n{}\n{}\n{}\n{}\n{}", task, sample, place, path_of(question),
                                                   question.context_characters, write_question(question, model))));
}

std::string stored_answer(const Answer& answer) {
  return json::object_text([&](json::Writer& w) {
    w.member("text", answer.text);
    if (!answer.tool_calls.empty()) w.member("tool_calls", answer.tool_calls);
    w.member("finish_reason", answer.finish_reason);
    w.member("prompt_tokens", answer.prompt_tokens);
    w.member("completion_tokens", answer.completion_tokens);
    if (answer.likelihood)
      w.object("likelihood", [&] {
        w.member("sum", answer.likelihood->sum);
        w.member("tokens", answer.likelihood->tokens);
        w.member("is_greedy", answer.likelihood->is_greedy);
      });
  });
}

std::optional<Answer> read_stored_answer(std::string_view text) {
  json::Document document;
  const auto root = json::parse(text, document);
  if (!root || !root->is_object()) return std::nullopt;
  Answer out{.text = std::string(json::text(&*root, {"text"})),
             .tool_calls = std::string(json::text(&*root, {"tool_calls"})),
             .finish_reason = std::string(json::text(&*root, {"finish_reason"})),
             .prompt_tokens = static_cast<std::uint32_t>(json::integer(&*root, {"prompt_tokens"})),
             .completion_tokens = static_cast<std::uint32_t>(json::integer(&*root, {"completion_tokens"}))};
  if (const json::Value* likelihood = root->find("likelihood"))
    out.likelihood = {.sum = json::value_at(likelihood, {"sum"}).number(),
                      .tokens = static_cast<std::uint32_t>(json::integer(likelihood, {"tokens"})),
                      .is_greedy = json::flag(likelihood, {"is_greedy"})};
  return out;
}

}  // namespace stackgate::evaluator
