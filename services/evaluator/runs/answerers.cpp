#include "services/evaluator/runs/answerers.hpp"

#include <algorithm>
#include <array>
#include <thread>

#include <fmt/format.h>

#include "services/evaluator/retrieval/retriever.hpp"

namespace stackgate::evaluator {
namespace answerers_detail {

constexpr std::array<std::string_view, 4> outcomes = {"away", "refused", "broken", "stopped"};  // by NoAnswer::Kind
constexpr std::array<std::string_view, whom_count> who_names = {"the model", "the judge", "the model of embeddings",
                                                                "the retriever", "the runner"};

/// Until it is there, or its patience ends. `check` returns what Endpoint's checks do.
template <class Check>
std::expected<void, NoAnswer> wait_for(RunJournal& journal, const Waiting& waiting, std::string_view who,
                                       const Check& check) {
  const auto until = std::chrono::steady_clock::now() + waiting.patience;
  for (;;) {
    auto there = check();
    if (journal.stopping()) return std::unexpected(NoAnswer{NoAnswer::Kind::stopped, "stopped"});
    if (there || there.error().kind != NoAnswer::Kind::away || std::chrono::steady_clock::now() > until) {
      journal.waits("");
      return there;
    }
    journal.waits(fmt::format("waits for {}: {}", who, there.error().message));
    const auto next = std::chrono::steady_clock::now() + waiting.pause;
    while (std::chrono::steady_clock::now() < next && !journal.stopping())
      std::this_thread::sleep_for(std::min(waiting.pause, std::chrono::milliseconds(100)));
  }
}

}  // namespace answerers_detail

using namespace answerers_detail;

RunAnswerers::RunAnswerers(const EvaluationRequest& request, http_client::Pem authorities, std::function<bool()> stop,
                           RunMetrics& metrics)
    : request_(request), authorities_(std::move(authorities)), stop_(std::move(stop)), metrics_(metrics) {
  if (asks_model(request)) add(Whom::model, request.target);
  add(Whom::judge, request.judge);
  add(Whom::embedder, request.embeddings);
  if (request.framework == Framework::bigcode_eval_harness)
    sandbox_ = std::make_unique<Sandbox>(SandboxOptions{.timeout = std::chrono::seconds(request.code.run_seconds),
                                                        .at_once = std::max(1U, std::thread::hardware_concurrency())});
}

void RunAnswerers::add(Whom whom, const std::optional<ModelEndpoint>& endpoint) {
  if (!endpoint) return;
  endpoints_.at(static_cast<std::size_t>(whom)) =
      std::make_unique<Endpoint>(EndpointOptions{.url = endpoint->url,
                                                 .model = endpoint->model,
                                                 .api_key = endpoint->api_key,
                                                 .timeout_seconds = request_.requests.timeout_seconds,
                                                 .max_retries = request_.requests.max_retries,
                                                 .authorities = authorities_},
                                 stop_);
}

Answerer RunAnswerers::counted(Whom whom, Answerer answerer) {
  return {.name = std::move(answerer.name),
          .ask = [this, whom, ask = std::move(answerer.ask)](const Question& question) {
            const auto begun = std::chrono::steady_clock::now();
            auto answer = ask(question);
            metrics_.question(whom, answer ? "answered" : outcomes.at(static_cast<std::size_t>(answer.error().kind)),
                              std::chrono::steady_clock::now() - begun);
            if (answer) metrics_.tokens(whom, answer->prompt_tokens, answer->completion_tokens);
            if (answer)
              away_since_.at(static_cast<std::size_t>(whom)) = 0;
            else
              lose_patience(whom, answer.error());
            return answer;
          }};
}

void RunAnswerers::lose_patience(Whom whom, NoAnswer& answer) {
  std::atomic<std::int64_t>& since = away_since_.at(static_cast<std::size_t>(whom));
  if (answer.kind != NoAnswer::Kind::away) {
    since = 0;
    return;
  }
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
  std::int64_t none = 0;
  since.compare_exchange_strong(none, now);
  // Nobody waits for what is broken.
  if (now - since.load() > patience_.count()) answer.kind = NoAnswer::Kind::broken;
}

Answerer RunAnswerers::programs() {
  return {.name = "sandbox", .ask = [this](const Question& question) -> std::expected<Answer, NoAnswer> {
            const auto outcome = sandbox_->run(question.prompt, stop_);
            if (outcome) return Answer{.text = to_json(*outcome)};
            return std::unexpected(
                NoAnswer{stop_ && stop_() ? NoAnswer::Kind::stopped : NoAnswer::Kind::refused, outcome.error()});
          }};
}

std::expected<void, std::string> RunAnswerers::prepare(RunJournal& journal, bool likelihoods, const Waiting& model,
                                                       const Waiting& others) {
  patience_ = others.patience;
  if (sandbox_) {
    if (auto can = sandbox_->check(); !can) return std::unexpected(std::move(can.error()));
    all_.at(static_cast<std::size_t>(Whom::runner)) = counted(Whom::runner, programs());
  }
  for (std::size_t i = 0; i < whom_count; ++i) {
    Endpoint* endpoint = endpoints_.at(i).get();
    if (endpoint == nullptr) continue;
    const Whom whom = static_cast<Whom>(i);
    const bool is_model = whom == Whom::model;
    auto there = wait_for(journal, is_model ? model : others, who_names.at(i), [&] { return endpoint->check(); });
    if (there && is_model && likelihoods)
      there = wait_for(journal, model, who_names.at(i), [&] { return endpoint->check_likelihoods(); });
    if (!there && there.error().kind == NoAnswer::Kind::stopped) return std::unexpected("");
    if (!there && is_model) return std::unexpected(there.error().message);
    if (!there) away_since_.at(i) = 1;
    if (!there) journal.note(fmt::format("goes on without {}: {}", who_names.at(i), there.error().message));
    all_.at(i) = counted(whom, whom == Whom::embedder ? embedder(*endpoint) : answerer(*endpoint));
  }
  return {};
}

}  // namespace stackgate::evaluator
