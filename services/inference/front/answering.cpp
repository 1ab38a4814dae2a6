#include "services/inference/front/answering.hpp"

#include <algorithm>
#include <utility>

#include "services/kit/web/errors.hpp"
#include "services/kit/web/sse.hpp"

namespace stackgate::inference {
namespace {

constexpr int retry_seconds = 1;

web::Failure to_failure(JobFailure&& failure) {
  switch (failure.fault) {
    case JobFault::deadline:
      return {.status = 504, .message = std::move(failure.message)};
    case JobFault::stopping:
      return web::busy(failure.message, retry_seconds);
    case JobFault::broken:
      break;
  }
  return {.status = 500, .message = std::move(failure.message)};
}

web::Failure queue_is_full() {
  return {.status = 429,
          .message = "Too many requests are waiting for this model; try again in a moment.",
          .headers = {{"Retry-After", std::to_string(retry_seconds)}}};
}

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// The earlier of the two.
template <class T>
void lower(std::optional<T>& to, const std::optional<T>& other) {
  if (other && (!to || *other < *to)) to = other;
}

template <class T>
void append(std::vector<T>& to, std::vector<T>&& more) {
  std::ranges::move(more, std::back_inserter(to));
}

}  // namespace

Answering::Answering(std::shared_ptr<const Front> front, std::shared_ptr<web::Deferred> later, AnswerFacts facts)
    : front_(std::move(front)), later_(std::move(later)), facts_(std::move(facts)), created_(seconds_now()) {}

void Answering::begin(Job job, const std::string& adapter) {
  choices_.resize(job.sequences.size());
  job.stream = facts_.stream;
  job.ranked = facts_.best_of > facts_.n;
  job.deadline = began_ + front_->options.timeout;
  if (adapter.empty()) return submit(std::move(job), {});
  const auto held = std::make_shared<Job>(std::move(job));
  front_->adapters.acquire(adapter, [self = shared_from_this(), held](std::expected<AdapterUse, web::Failure> got) {
    if (!got) {
      self->record("");
      return self->later_->answer(std::move(got.error()));
    }
    self->submit(std::move(*held), std::move(*got));
  });
}

void Answering::submit(Job job, AdapterUse adapter) {
  const auto self = shared_from_this();
  job.adapter = std::move(adapter);
  job.events = {.progress = [self](Progress&& progress) { return self->progress(std::move(progress)); },
                .failed = [self](JobFailure&& failure) { self->failed(std::move(failure)); }};
  const std::weak_ptr<Answering> weak = self;
  later_->on_writable([weak] {
    const auto still = weak.lock();
    if (!still) return;
    const std::lock_guard lock(still->mutex_);
    if (still->job_) still->front_->engine->resume(*still->job_);
  });
  const auto id = front_->engine->submit(std::move(job));
  if (!id) {
    record("");
    return later_->answer(queue_is_full());
  }
  {
    const std::lock_guard lock(mutex_);
    job_ = id;
  }
  later_->on_closed([weak, engine = front_->engine, id = *id] {
    engine->cancel(id);
    if (const auto still = weak.lock()) still->record("");
  });
}

bool Answering::progress(Progress&& progress) {
  if (!std::exchange(started_, true) && facts_.stream) later_->start(web::event_stream_head(), std::nullopt);
  std::string out;
  if (facts_.stream) out = events(progress);
  Choice& choice = choices_[progress.sequence];
  choice.begun = true;
  choice.tokens += progress.tokens;
  choice.log_prob += progress.log_prob;
  if (progress.sequence % facts_.best_of == 0) cached_ += progress.cached_tokens;  // the others share its prompt
  if (!facts_.stream) {
    choice.text += progress.text;
    append(choice.log_probs, std::move(progress.log_probs));
    append(choice.prompt_log_probs, std::move(progress.prompt_log_probs));
    choice.embedding = std::move(progress.embedding);
  }
  if (progress.finish) {
    choice.finish = std::move(progress.finish);
    lower(begun_, progress.begun);
    lower(first_token_, progress.first_token);
    ++finished_;
  }
  if (finished_ < choices_.size()) return !facts_.stream || out.empty() || later_->write(out);
  Usage usage{.prompt_tokens = facts_.prompt_tokens, .cached_tokens = cached_};
  for (const Choice& each : choices_) usage.completion_tokens += each.tokens;
  record(to_string(choices_.front().finish->reason));
  if (!facts_.stream) {
    later_->answer(http::Response{.status = 200, .body = whole(usage)});
  } else {
    (void)later_->write(out + last_events(usage) + std::string(done_event));
    later_->finish();
  }
  return true;
}

void Answering::failed(JobFailure&& failure) {
  record("");
  web::Failure told = to_failure(std::move(failure));
  if (!started_ || !facts_.stream) return later_->answer(std::move(told));
  (void)later_->write(error_event(told));
  later_->finish();
}

/// Once: the first to know how it ended.
void Answering::record(std::string_view outcome) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(recorded_, true)) return;
  }
  RequestFigures figures{.outcome = outcome, .prompt_tokens = facts_.prompt_tokens};
  if (!outcome.empty()) {
    for (const Choice& each : choices_) figures.generated_tokens += each.tokens;
    figures.whole = std::chrono::steady_clock::now() - began_;
    if (begun_) figures.begun = *begun_ - began_;
    if (first_token_) figures.first_token = *first_token_ - began_;
  }
  front_->metrics->ended(figures);
}

std::vector<const Answering::Choice*> Answering::chosen() const {
  std::vector<const Choice*> out;
  const auto mean = [](const Choice* one) { return one->log_prob / std::max(one->tokens, 1U); };
  for (std::size_t first = 0; first < choices_.size(); first += facts_.best_of) {
    std::vector<const Choice*> of_prompt;
    for (std::size_t i = first; i < first + facts_.best_of; ++i) of_prompt.push_back(&choices_[i]);
    if (facts_.best_of > facts_.n) std::ranges::stable_sort(of_prompt, std::ranges::greater{}, mean);
    out.insert(out.end(), of_prompt.begin(), of_prompt.begin() + facts_.n);
  }
  return out;
}

}  // namespace stackgate::inference
