#include "services/entitystore/adapters/access_log.hpp"

#include <chrono>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::entitystore {
namespace access_log_detail {

constexpr std::size_t most_waiting = 50'000, batch = 100;
constexpr std::chrono::milliseconds period{500};

sql::Expected<void> write(sql::Session& session, const Access* rows, std::size_t count) {
  std::string statement = "INSERT INTO access_log (adapter_id, at, actor, action, bytes, client, trace_id) VALUES ";
  std::vector<sql::Value> values;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t n = i * 7;
    statement += fmt::format("{}(${}, ${}, ${}, ${}, ${}, ${}, ${})", i == 0 ? "" : ", ", n + 1, n + 2, n + 3, n + 4,
                             n + 5, n + 6, n + 7);
    const Access& row = rows[i];
    values.insert(values.end(), {row.adapter, row.at, row.actor, row.action, static_cast<std::int64_t>(row.bytes),
                                 row.client, row.trace});
  }
  TRY(session.run(statement, values));
  return {};
}

}  // namespace access_log_detail

AccessLog::AccessLog(sql::Database& database, metrics::Registry& metrics)
    : database_(database),
      dropped_(metrics
                   .counter("entitystore_access_rows_dropped_total",
                            "Rows of the access log that were dropped because the database was away too long")
                   .at()),
      flushing_(std::in_place, access_log_detail::period, [this, logged = false](const std::stop_token&) mutable {
        const auto done = flush();
        if (!done && !logged) log::warning("the access log waits for the database", {{"reason", done.error().message}});
        logged = !done;
        return access_log_detail::period;
      }) {}

AccessLog::~AccessLog() {
  flushing_.reset();
  (void)flush();
}

void AccessLog::note(Access access) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= access_log_detail::most_waiting) return dropped_.add();
  waiting_.push_back(std::move(access));
}

sql::Expected<void> AccessLog::flush() {
  namespace d = access_log_detail;
  const std::lock_guard writing(writing_);
  std::vector<Access> rows;
  {
    const std::lock_guard lock(mutex_);
    rows.swap(waiting_);
  }
  if (rows.empty()) return {};
  auto done = database_.transact([&](sql::Session& session) -> sql::Expected<void> {
    for (std::size_t at = 0; at < rows.size(); at += d::batch)
      TRY(d::write(session, rows.data() + at, std::min(d::batch, rows.size() - at)));
    return {};
  });
  if (done) return {};
  // Back in front of what came in the meantime, as far as there is room.
  const std::lock_guard lock(mutex_);
  if (rows.size() + waiting_.size() <= d::most_waiting) {
    rows.insert(rows.end(), std::make_move_iterator(waiting_.begin()), std::make_move_iterator(waiting_.end()));
    waiting_ = std::move(rows);
  } else {
    dropped_.add(rows.size());
  }
  return done;
}

sql::Expected<AccessLog::PageOf> AccessLog::read(sql::Database& database, std::string_view adapter,
                                                 std::uint64_t offset, std::uint64_t limit) {
  const auto count = TRY(database.run("SELECT count(*) FROM access_log WHERE adapter_id = $1", {std::string(adapter)}));
  const auto result = TRY(database.run(
      "SELECT at, actor, action, bytes, client, trace_id FROM access_log WHERE adapter_id = $1 ORDER BY id DESC LIMIT "
      "$2 OFFSET $3",
      {std::string(adapter), static_cast<std::int64_t>(limit), static_cast<std::int64_t>(offset)}));
  PageOf out;
  out.total = static_cast<std::uint64_t>(count.rows.at(0).integer(0));
  for (const sql::Row& row : result.rows)
    out.rows.push_back({std::string(adapter), row.text(0), row.text(1), row.text(2),
                        static_cast<std::uint64_t>(row.integer(3)), row.text(4), row.text(5)});
  return out;
}

sql::Expected<std::int64_t> AccessLog::forget(sql::Database& database, std::string_view time) {
  const auto done = TRY(database.run("DELETE FROM access_log WHERE at < $1", {std::string(time)}));
  return done.affected;
}

}  // namespace stackgate::entitystore
