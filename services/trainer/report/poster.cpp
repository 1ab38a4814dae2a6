#include "services/trainer/report/poster.hpp"

#include <algorithm>
#include <utility>

#include "services/kit/http_client/retry.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::trainer {
namespace poster_detail {

using namespace std::chrono_literals;

constexpr auto limit_of_call = 10s, last_limit = 10s;
constexpr std::chrono::milliseconds longest_pause = 10s;
constexpr std::size_t largest_body = 32U << 10U;

bool comes_again(int status) { return status >= 500 || status == 429 || status == 408; }

std::chrono::milliseconds pause_of(const http_client::Response& answer, std::chrono::milliseconds otherwise) {
  const auto header = answer.header("Retry-After");
  const auto wanted = header ? http_client::parse_retry_after(*header, std::chrono::system_clock::now()) : std::nullopt;
  return wanted ? std::min<std::chrono::milliseconds>(*wanted, longest_pause) : otherwise;
}

}  // namespace poster_detail

using namespace poster_detail;

Poster::Poster(PosterSettings settings)
    : settings_(std::move(settings)),
      client_({.whole = limit_of_call, .retries = 0, .ca_file = settings_.ca_file, .user_agent = "stackgate-trainer"}),
      thread_([this](const std::stop_token& stop) { send_all(stop); }) {}

Poster::~Poster() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, last_limit, [&] { return waiting_.empty(); });
  }
  given_up_ = true;
  thread_.request_stop();
}

void Poster::add(std::string event) {
  const std::scoped_lock lock(mutex_);
  if (waiting_.size() >= settings_.waiting) {
    waiting_.pop_front();
    ++dropped_;
  }
  waiting_.push_back(std::move(event));
  changed_.notify_all();
}

Poster::Body Poster::next_body() const {
  Body out{.text = waiting_.front(), .events = 1};
  if (one_at_a_time_) return out;
  for (; out.events < waiting_.size(); ++out.events) {
    const std::string& next = waiting_[out.events];
    if (out.text.size() + next.size() > largest_body) break;
    out.text += ',';
    out.text += next;
  }
  if (out.events > 1) out.text = "[" + out.text + "]";
  return out;
}

void Poster::send_all(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return !waiting_.empty(); }) && !stop.stop_requested()) {
    const Body body = next_body();
    const std::uint64_t dropped = dropped_;
    lock.unlock();
    const Outcome outcome = send(body);
    lock.lock();
    // What is pushed out meanwhile was the oldest: of these.
    const std::uint64_t gone = std::min<std::uint64_t>(dropped_ - dropped, body.events);
    if (outcome.settled)
      waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(body.events - gone));
    changed_.notify_all();
    if (outcome.pause.count() > 0) changed_.wait_for(lock, stop, outcome.pause, [] { return false; });
  }
}

Poster::Outcome Poster::send(const Body& body) {
  http_client::Request request{.method = "POST", .url = settings_.url, .body = body.text};
  request.headers.emplace_back("Content-Type", "application/json");
  if (!settings_.token.empty()) request.headers.emplace_back("Authorization", "Bearer " + settings_.token);
  request.give_up = [this] { return given_up_.load(); };
  const auto answer = client_.call(request);
  if (answer && answer->status < 300) {
    warned_ = false;
    return {.settled = true};
  }
  // To be asked to wait is nothing that anybody has to know of.
  if (answer && answer->status == 429) return {.pause = pause_of(*answer, settings_.pause)};
  const bool is_refused = answer && !comes_again(answer->status);
  if (is_refused && body.events > 1) {
    // It takes no arrays, or not this one.
    one_at_a_time_ = true;
    return {};
  }
  if (!std::exchange(warned_, true))
    log::warning("progress is not reported",
                 {{"cause", answer ? "HTTP " + std::to_string(answer->status) : answer.error().message}});
  if (is_refused) return {.settled = true};
  return {.pause = answer ? pause_of(*answer, settings_.pause) : settings_.pause};
}

}  // namespace stackgate::trainer
