// Conversations by thread_id, in SQLite or PostgreSQL. Turns of one thread are appended one after the other: a turn
// takes the thread's lock, reads, and appends what came of it. The lock is a lease by the database's clock, so that
// several replicas serve one conversation, and one that dies holds nobody up for longer than that.
//
//   open(id) → messages, state → (a turn) → append(…)        or release(), when nothing came of it
//
// Thread-safe; calls block for the database.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/sql/database.hpp"
#include "services/kit/sql/migrate.hpp"

namespace stackgate::guardrail {

/// Tables `conversation` and `conversation_message`, and those of kept_configurations.hpp.
std::span<const sql::Migration> conversation_migrations();

struct StoredMessage {
  std::string role;  // "user", "assistant"
  std::string content;
};

struct ConversationOptions {
  std::chrono::seconds lease{30};        // of a lock; renew() or Upkeep prolong it
  std::chrono::seconds expiry{86'400};   // since the last turn; the database's clock
  std::size_t most_messages = 200;       // kept and read; the newest
  std::size_t most_bytes = 512U << 10U;  // of their contents
};

/// A thread that is locked for one turn.
struct OpenConversation {
  std::string thread_id, token;           // of the lock
  std::vector<StoredMessage> messages{};  // the oldest first; begins with a message of the user
  std::string state{};                    // JSON, as it was appended; "": none
};

class Conversations {
 public:
  /// `owner`: this replica, different at each start. `database` must outlive it and have the migrations.
  Conversations(sql::Database& database, std::string owner, const ConversationOptions& options);

  /// Nothing: another turn has the lock.
  sql::Expected<std::optional<OpenConversation>> try_open(std::string_view thread_id);
  /// The same, waiting for the lock.
  sql::Expected<std::optional<OpenConversation>> open(std::string_view thread_id, std::chrono::milliseconds wait);

  // Each ends the turn and gives the lock back. False: the lock was lost, because it was not renewed in time or the
  // thread was removed; then nothing is appended.
  sql::Expected<bool> append(const OpenConversation& open, std::span<const StoredMessage> messages,
                             std::string_view state);
  sql::Expected<bool> release(const OpenConversation& open);

  /// False: there was none. A turn under way will append nothing.
  sql::Expected<bool> remove(std::string_view thread_id);

  /// Prolongs the locks of all turns under way here.
  sql::Expected<void> renew();
  /// Conversations without a turn for `expiry`; how many. A batch at a time.
  sql::Expected<std::int64_t> remove_expired();

  const ConversationOptions& options() const { return options_; }

 private:
  void forget(const OpenConversation& open);

  sql::Database& database_;
  const std::string owner_;
  const ConversationOptions options_;
  std::atomic<std::uint64_t> turns_ = 0;
  std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> held_;  // token → thread_id
};

}  // namespace stackgate::guardrail
