#include "services/guardrail/memory/conversations.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::guardrail {
namespace {

using sql::Value;

constexpr std::int64_t batch = 500;
constexpr std::chrono::milliseconds look{50};

std::string stored(std::string_view content) {
  std::string out;
  json::append_quoted(out, content);
  return out;
}

std::string loaded(const std::string& content) {
  json::Document document;
  const auto value = json::parse(content, document);
  return value ? std::string(value->string()) : std::string();
}

std::int64_t number(std::size_t value) { return static_cast<std::int64_t>(value); }

/// The newest messages within the bounds, the oldest first, beginning with one of the user.
sql::Expected<std::vector<StoredMessage>> read_messages(sql::Session& session, const std::string& thread_id,
                                                        const ConversationOptions& options) {
  const auto found = TRY(session.run(
      "SELECT role, content, bytes FROM conversation_message WHERE thread_id = $1 ORDER BY number DESC LIMIT $2",
      {thread_id, number(options.most_messages)}));
  std::vector<StoredMessage> out;
  std::size_t bytes = 0;
  for (const sql::Row& row : found.rows) {
    bytes += static_cast<std::size_t>(row.integer(2));
    if (bytes > options.most_bytes) break;
    out.push_back({.role = row.text(0), .content = loaded(row.text(1))});
  }
  while (!out.empty() && out.back().role != "user") out.pop_back();
  std::ranges::reverse(out);
  return out;
}

/// What read_messages would not read any more.
sql::Expected<void> remove_old(sql::Session& session, const std::string& thread_id,
                               const ConversationOptions& options) {
  const auto found = TRY(
      session.run("SELECT number, bytes FROM conversation_message WHERE thread_id = $1 ORDER BY number DESC LIMIT $2",
                  {thread_id, number(options.most_messages)}));
  std::int64_t oldest = found.rows.empty() ? 0 : found.rows[0].integer(0) + 1;
  std::size_t bytes = 0;
  for (const sql::Row& row : found.rows) {
    bytes += static_cast<std::size_t>(row.integer(1));
    if (bytes > options.most_bytes) break;
    oldest = row.integer(0);
  }
  TRY(session.run("DELETE FROM conversation_message WHERE thread_id = $1 AND number < $2", {thread_id, oldest}));
  return {};
}

}  // namespace

Conversations::Conversations(sql::Database& database, std::string owner, const ConversationOptions& options)
    : database_(database), owner_(std::move(owner)), options_(options) {}

sql::Expected<std::optional<OpenConversation>> Conversations::try_open(std::string_view thread_id) {
  OpenConversation out{.thread_id = std::string(thread_id),
                       .token = fmt::format("{}/{}", owner_, turns_.fetch_add(1) + 1)};
  bool ours = false;
  const auto now = sql::now_seconds(database_.engine());
  const auto done = database_.transact([&](sql::Session& session) -> sql::Expected<void> {
    ours = false;
    const auto taken = TRY(session.run(
        fmt::format(
            "INSERT INTO conversation (thread_id, owner, lease_until, changed_at) VALUES ($1, $2, {0} + $3, {0}) "
            "ON CONFLICT (thread_id) DO UPDATE SET owner = $2, lease_until = {0} + $3 "
            "WHERE conversation.owner = '' OR conversation.lease_until < {0} "
            "RETURNING state, {0} - changed_at",
            now),
        {out.thread_id, out.token, std::int64_t{options_.lease.count()}}));
    if (taken.rows.empty()) return {};
    ours = true;
    out.state = taken.rows[0].text(0);
    out.messages.clear();
    if (taken.rows[0].integer(1) > options_.expiry.count()) {
      out.state.clear();
      TRY(session.run("DELETE FROM conversation_message WHERE thread_id = $1", {out.thread_id}));
      TRY(session.run("UPDATE conversation SET state = '' WHERE thread_id = $1", {out.thread_id}));
      return {};
    }
    out.messages = TRY(read_messages(session, out.thread_id, options_));
    return {};
  });
  if (!done) return std::unexpected(done.error());
  if (!ours) return std::nullopt;
  const std::lock_guard lock(mutex_);
  held_.emplace(out.token, out.thread_id);
  return out;
}

sql::Expected<std::optional<OpenConversation>> Conversations::open(std::string_view thread_id,
                                                                   std::chrono::milliseconds wait) {
  const auto end = std::chrono::steady_clock::now() + wait;
  while (true) {
    auto opened = TRY(try_open(thread_id));
    if (opened || std::chrono::steady_clock::now() + look > end) return opened;
    std::this_thread::sleep_for(look);
  }
}

void Conversations::forget(const OpenConversation& open) {
  const std::lock_guard lock(mutex_);
  held_.erase(open.token);
}

sql::Expected<bool> Conversations::append(const OpenConversation& open, std::span<const StoredMessage> messages,
                                          std::string_view state) {
  forget(open);
  bool ours = false;
  const auto done = database_.transact([&](sql::Session& session) -> sql::Expected<void> {
    ours = false;
    const auto updated = TRY(session.run(
        fmt::format("UPDATE conversation SET state = $1, messages = messages + $2, owner = '', lease_until = 0, "
                    "changed_at = {} WHERE thread_id = $3 AND owner = $4 RETURNING messages",
                    sql::now_seconds(database_.engine())),
        {std::string(state), number(messages.size()), open.thread_id, open.token}));
    if (updated.rows.empty()) return {};
    ours = true;
    std::int64_t at = updated.rows[0].integer(0) - number(messages.size());
    for (const StoredMessage& each : messages)
      TRY(session.run(
          "INSERT INTO conversation_message (thread_id, number, role, content, bytes) VALUES ($1, $2, $3, $4, $5)",
          {open.thread_id, ++at, each.role, stored(each.content), number(each.content.size())}));
    return remove_old(session, open.thread_id, options_);
  });
  if (!done) return std::unexpected(done.error());
  return ours;
}

sql::Expected<bool> Conversations::release(const OpenConversation& open) {
  forget(open);
  bool ours = false;
  const auto done = database_.transact([&](sql::Session& session) -> sql::Expected<void> {
    // A thread that nothing was ever said in leaves no row.
    const auto gone = TRY(session.run("DELETE FROM conversation WHERE thread_id = $1 AND owner = $2 AND messages = 0",
                                      {open.thread_id, open.token}));
    const auto freed =
        TRY(session.run("UPDATE conversation SET owner = '', lease_until = 0 WHERE thread_id = $1 AND owner = $2",
                        {open.thread_id, open.token}));
    ours = gone.affected + freed.affected > 0;
    return {};
  });
  if (!done) return std::unexpected(done.error());
  return ours;
}

sql::Expected<bool> Conversations::remove(std::string_view thread_id) {
  bool was = false;
  const auto done = database_.transact([&](sql::Session& session) -> sql::Expected<void> {
    const std::string id(thread_id);
    TRY(session.run("DELETE FROM conversation_message WHERE thread_id = $1", {id}));
    was = TRY(session.run("DELETE FROM conversation WHERE thread_id = $1", {id})).affected > 0;
    return {};
  });
  if (!done) return std::unexpected(done.error());
  return was;
}

sql::Expected<void> Conversations::renew() {
  std::vector<std::pair<std::string, std::string>> held;
  {
    const std::lock_guard lock(mutex_);
    held.assign(held_.begin(), held_.end());
  }
  const std::string statement =
      fmt::format("UPDATE conversation SET lease_until = {} + $1 WHERE thread_id = $2 AND owner = $3",
                  sql::now_seconds(database_.engine()));
  for (const auto& [token, thread_id] : held)
    TRY(database_.run(statement, {std::int64_t{options_.lease.count()}, thread_id, token}));
  return {};
}

sql::Expected<std::int64_t> Conversations::remove_expired() {
  std::int64_t removed = 0;
  const auto now = sql::now_seconds(database_.engine());
  const auto done = database_.transact([&](sql::Session& session) -> sql::Expected<void> {
    removed = 0;
    const auto old = TRY(session.run(
        fmt::format(
            "SELECT thread_id FROM conversation WHERE changed_at < {0} - $1 AND (owner = '' OR lease_until < {0}) "
            "ORDER BY changed_at LIMIT $2",
            now),
        {std::int64_t{options_.expiry.count()}, batch}));
    for (const sql::Row& row : old.rows) {
      TRY(session.run("DELETE FROM conversation_message WHERE thread_id = $1", {row.text(0)}));
      removed += TRY(session.run("DELETE FROM conversation WHERE thread_id = $1", {row.text(0)})).affected;
    }
    return {};
  });
  if (!done) return std::unexpected(done.error());
  return removed;
}

}  // namespace stackgate::guardrail
