// Conversations of thread_ids, for handlers that must not block: the database is asked on threads of its own. Turns of
// one thread wait here for each other, and for those of other replicas, so that they hold none of these.
#pragma once
#include <chrono>
#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "services/guardrail/memory/conversations.hpp"
#include "services/guardrail/memory/upkeep.hpp"
#include "services/kit/run/periodic.hpp"
#include "services/kit/run/pool.hpp"
#include "services/kit/web/answer.hpp"

namespace stackgate::guardrail {

/// Thread-safe. Held by whatever waits for it.
class Threads : public std::enable_shared_from_this<Threads> {
 public:
  using Opened = std::move_only_function<void(std::expected<OpenConversation, web::Failure>)>;
  using Then = std::move_only_function<void(std::expected<void, web::Failure>)>;

  Threads(std::shared_ptr<sql::Database> database, std::string owner, const ConversationOptions& options);

  /// `then` once, on one of our threads; close() must follow.
  void open(const std::string& thread_id, Opened then);
  /// Appends the turn, if there is one, and lets the next one begin; `then` is called when that is done.
  void close(OpenConversation conversation, std::vector<StoredMessage> messages, std::string state, Then then);
  /// True: it was there.
  void remove(std::string thread_id, std::move_only_function<void(std::expected<bool, web::Failure>)> then);

  /// Waits until nothing is under way; nobody may ask any more.
  void settle();

 private:
  using Clock = std::chrono::steady_clock;
  /// A turn whose thread another replica has locked.
  struct Locked {
    std::string thread_id;
    std::shared_ptr<Opened> then;
    Clock::time_point until, again;  // the last attempt, and the next one
  };

  bool begin(const std::string& thread_id, const std::shared_ptr<Opened>& then);
  bool submit(const Locked& turn);
  void attempt(const Locked& turn);
  std::chrono::milliseconds attempt_again();
  void next(const std::string& thread_id);

  const std::shared_ptr<sql::Database> database_;
  Conversations conversations_;
  Upkeep upkeep_;
  std::mutex mutex_;
  std::map<std::string, std::deque<std::shared_ptr<Opened>>>
      busy_{};  // threads with a turn under way, and who waits for it
  std::vector<Locked> locked_{};
  run::Pool pool_;       // its tasks use the others
  run::Periodic retry_;  // last: its rounds use the pool
};

}  // namespace stackgate::guardrail
