#include "services/guardrail/front/threads.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "services/kit/log/log.hpp"
#include "services/kit/web/errors.hpp"

namespace stackgate::guardrail {
namespace {

constexpr unsigned database_threads = 4;
constexpr std::size_t most_queued = 4'096;
constexpr std::size_t most_waiting = 32;  // turns of one thread
constexpr std::chrono::seconds wait_for_lock{20};
constexpr std::chrono::milliseconds between_attempts{100};
constexpr std::chrono::hours until_woken{1};
constexpr int seconds_again = 1;

web::Failure unavailable(const sql::SqlError& error) {
  log::error("conversations cannot be reached", {{"why", error.message}});
  return {.status = 503,
          .message = "The conversation cannot be read now; try again in a moment.",
          .headers = {{"Retry-After", std::to_string(seconds_again)}}};
}

web::Failure too_many() {
  return {.status = 429,
          .message = "Too many requests of this thread wait for each other.",
          .headers = {{"Retry-After", std::to_string(seconds_again)}}};
}

}  // namespace

Threads::Threads(std::shared_ptr<sql::Database> database, std::string owner, const ConversationOptions& options)
    : database_(std::move(database)),
      conversations_(*database_, std::move(owner), options),
      upkeep_(conversations_),
      pool_(database_threads, most_queued),
      retry_(until_woken, [this](const std::stop_token&) { return attempt_again(); }) {}

void Threads::open(const std::string& thread_id, Opened then) {
  auto held = std::make_shared<Opened>(std::move(then));
  {
    const std::scoped_lock lock(mutex_);
    const auto found = busy_.find(thread_id);
    if (found == busy_.end()) {
      busy_.try_emplace(thread_id);
      if (begin(thread_id, held)) return;
      busy_.erase(thread_id);
    } else if (found->second.size() < most_waiting) {
      return found->second.push_back(std::move(held));
    }
  }
  (*held)(std::unexpected(too_many()));
}

/// False: too much is queued.
bool Threads::begin(const std::string& thread_id, const std::shared_ptr<Opened>& then) {
  return submit({.thread_id = thread_id, .then = then, .until = Clock::now() + wait_for_lock, .again = {}});
}

bool Threads::submit(const Locked& turn) {
  return pool_.submit([self = shared_from_this(), turn] { self->attempt(turn); });
}

void Threads::attempt(const Locked& turn) {
  auto opened = conversations_.try_open(turn.thread_id);
  if (opened && *opened) return (*turn.then)(std::move(**opened));
  if (opened && Clock::now() < turn.until) {
    {
      const std::scoped_lock lock(mutex_);
      locked_.push_back(turn);
      locked_.back().again = Clock::now() + between_attempts;
    }
    return retry_.wake();
  }
  (*turn.then)(std::unexpected(opened ? too_many() : unavailable(opened.error())));
  next(turn.thread_id);
}

/// A round of `retry_`; how long until the next one.
std::chrono::milliseconds Threads::attempt_again() {
  const std::scoped_lock lock(mutex_);
  const Clock::time_point now = Clock::now();
  auto next = now + until_woken;
  std::erase_if(locked_, [&](Locked& each) {
    if (each.again <= now) {
      if (submit(each)) return true;
      each.again = now + between_attempts;
    }
    next = std::min(next, each.again);
    return false;
  });
  return std::chrono::ceil<std::chrono::milliseconds>(next - now);
}

/// The turn of this thread has ended.
void Threads::next(const std::string& thread_id) {
  std::deque<std::shared_ptr<Opened>> refused;
  {
    const std::scoped_lock lock(mutex_);
    std::deque<std::shared_ptr<Opened>>& waiting = busy_[thread_id];
    while (!waiting.empty()) {
      const std::shared_ptr<Opened> then = std::move(waiting.front());
      waiting.pop_front();
      if (begin(thread_id, then)) return;
      refused.push_back(then);
    }
    busy_.erase(thread_id);
  }
  for (const auto& each : refused) (*each)(std::unexpected(too_many()));
}

void Threads::close(OpenConversation conversation, std::vector<StoredMessage> messages, std::string state, Then then) {
  const auto held = std::make_shared<Then>(std::move(then));
  auto work = [self = shared_from_this(), conversation = std::move(conversation), messages = std::move(messages),
               state = std::move(state), held] {
    const auto ended = messages.empty() ? self->conversations_.release(conversation)
                                        : self->conversations_.append(conversation, messages, state);
    if (!ended)
      (*held)(std::unexpected(unavailable(ended.error())));
    else if (!*ended && !messages.empty())
      (*held)(std::unexpected(web::Failure{409, "The conversation was removed, or went on elsewhere, meanwhile."}));
    else
      (*held)({});
    self->next(conversation.thread_id);
  };
  run::Pool::Task task = std::move(work);
  // A full pool leaves the task as it is; late is better than never: the thread would stay locked.
  if (!pool_.submit(std::move(task))) task();  // NOLINT(bugprone-use-after-move)
}

void Threads::remove(std::string thread_id, std::move_only_function<void(std::expected<bool, web::Failure>)> then) {
  const auto held = std::make_shared<decltype(then)>(std::move(then));
  const bool taken = pool_.submit([self = shared_from_this(), thread_id = std::move(thread_id), held] {
    auto removed = self->conversations_.remove(thread_id);
    if (!removed) return (*held)(std::unexpected(unavailable(removed.error())));
    (*held)(*removed);
  });
  if (!taken) (*held)(std::unexpected(too_many()));
}

void Threads::settle() {
  const auto busy = [this] {
    const auto load = pool_.load();
    const std::scoped_lock lock(mutex_);
    return load.running + load.waiting > 0 || !locked_.empty();
  };
  while (busy()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

}  // namespace stackgate::guardrail
