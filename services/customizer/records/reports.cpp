// What the trainer reports, what stages wrote, what happened.
#include <algorithm>

#include <fmt/format.h>

#include "services/customizer/records/rows.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"

namespace stackgate::customizer {
namespace reports_detail {

using sql::Row;
using sql::Session;

sql::Value value_of(const std::optional<double>& number) { return number ? sql::Value(*number) : sql::Value(nullptr); }
std::optional<double> number_of(const Row& row, std::size_t column) {
  return row.is_null(column) ? std::nullopt : std::optional(row.real(column));
}

sql::Expected<void> put_point(Session& session, std::string_view id, const ProgressChange::Point& point) {
  TRY(session.run(
      fmt::format("INSERT INTO customization_point (customization, step, train_loss, val_loss, at) "
                  "VALUES ($1, $2, $3, $4, {}) ON CONFLICT (customization, step) DO UPDATE SET "
                  "train_loss = coalesce(excluded.train_loss, customization_point.train_loss), "
                  "val_loss = coalesce(excluded.val_loss, customization_point.val_loss)",
                  sql::now_seconds(session.engine())),
      {std::string(id), static_cast<std::int64_t>(point.step), value_of(point.train_loss), value_of(point.val_loss)}));
  return {};
}

std::vector<MetricPoint> points_of(const sql::Result& found) {
  std::vector<MetricPoint> out;
  for (const Row& row : found.rows)
    out.push_back({static_cast<std::uint64_t>(row.integer(0)), number_of(row, 1), number_of(row, 2), row.integer(3)});
  return out;
}

std::vector<Event> events_of(const sql::Result& found) {
  std::vector<Event> out;
  for (const Row& row : found.rows)
    out.push_back({row.integer(0), row.integer(1), row.text(2), row.text(3), row.integer(4) != 0});
  return out;
}

}  // namespace reports_detail

using namespace reports_detail;

sql::Expected<Records::Reported> Records::apply(std::string_view id, const std::string* token,
                                                std::string_view event_json) {
  Reported out;
  TRY(database_.transact([&](Session& session) -> sql::Expected<void> {
    out = {};
    const auto found =
        TRY(session.run("SELECT progress, state, token FROM customization WHERE id = $1", {std::string(id)}));
    if (found.rows.empty() ||
        (token != nullptr &&
         (found.rows.front().text(2).empty() || !crypto::equal_in_constant_time(*token, found.rows.front().text(2))))) {
      out.known = false;
      return {};
    }
    Progress progress = read_progress(found.rows.front().text(0));
    const auto change = apply_event(progress, event_json, id);
    if (!change) {
      out.problem = change.error();
      return {};
    }
    const State state = state_named(found.rows.front().text(1)).value_or(State::failed);
    if ((!change->changed && !change->trained) || is_final(state) || state == State::cancelling) return {};
    TRY(session.run(fmt::format("UPDATE customization SET progress = $2, reported_at = {}, "
                                "woken = CASE WHEN $3 = 1 AND trained = 0 THEN 1 ELSE woken END, "
                                "trained = CASE WHEN $3 = 1 THEN 1 ELSE trained END WHERE id = $1",
                                sql::now_seconds(session.engine())),
                    {std::string(id), progress_json(progress), std::int64_t{change->trained ? 1 : 0}}));
    return change->point ? put_point(session, id, *change->point) : sql::Expected<void>();
  }));
  return out;
}

sql::Expected<Records::Reported> Records::report(std::string_view id, std::string_view token,
                                                 std::string_view event_json) {
  const std::string given(token);
  return apply(id, &given, event_json);
}

sql::Expected<void> Records::report_logged(std::string_view id, std::string_view event_json) {
  (void)TRY(apply(id, nullptr, event_json));
  return {};
}

sql::Expected<std::vector<MetricPoint>> Records::points(std::string_view id, std::int64_t after,
                                                        std::int64_t limit) const {
  return points_of(
      TRY(database_.run("SELECT step, train_loss, val_loss, at FROM customization_point WHERE customization = $1 AND "
                        "step > $2 ORDER BY step LIMIT $3",
                        {std::string(id), after, limit})));
}

sql::Expected<std::vector<MetricPoint>> Records::curves(std::string_view id, std::int64_t most) const {
  return points_of(TRY(database_.run(
      "SELECT step, train_loss, val_loss, at FROM (SELECT step, train_loss, val_loss, at, "
      "row_number() OVER (ORDER BY step) AS number, count(*) OVER () AS amount, "
      "count(val_loss) OVER (ORDER BY step) AS validation, count(val_loss) OVER () AS validations "
      "FROM customization_point WHERE customization = $1) AS point "
      "WHERE number = 1 OR number = amount OR number % (amount / $2 + 1) = 0 "
      "OR (val_loss IS NOT NULL AND (validation = validations OR validation % (validations / $2 + 1) = 0)) "
      "ORDER BY step",
      {std::string(id), most})));
}

sql::Expected<void> Records::add_event(std::string_view id, const Change& change) {
  return database_.transact([&](Session& session) { return rows::put_event(session, id, change); });
}

sql::Expected<void> Records::add_log(std::string_view id, std::string_view attempt,
                                     std::span<const std::string> lines) {
  return database_.transact([&](Session& session) -> sql::Expected<void> {
    for (const std::string& line : lines)
      TRY(session.run(fmt::format("INSERT INTO customization_event (customization, at, is_log, message, detail) "
                                  "VALUES ($1, {}, 1, $2, $3)",
                                  sql::now_seconds(session.engine())),
                      {std::string(id), line, std::string(attempt)}));
    return {};
  });
}

sql::Expected<std::int64_t> Records::log_lines(std::string_view id, std::string_view attempt) const {
  const auto found = TRY(
      database_.run("SELECT count(*) FROM customization_event WHERE customization = $1 AND is_log = 1 AND detail = $2",
                    {std::string(id), std::string(attempt)}));
  return found.rows.front().integer(0);
}

sql::Expected<std::vector<Event>> Records::events(std::string_view id, std::int64_t after, std::int64_t limit,
                                                  bool with_log) const {
  return events_of(
      TRY(database_.run("SELECT number, at, message, detail, is_log FROM customization_event WHERE customization = $1 "
                        "AND number > $2 AND is_log <= $4 ORDER BY number LIMIT $3",
                        {std::string(id), after, limit, std::int64_t{with_log ? 1 : 0}})));
}

sql::Expected<std::vector<Event>> Records::last_events(std::string_view id, bool is_log, std::int64_t limit) const {
  auto out = events_of(
      TRY(database_.run("SELECT number, at, message, detail, is_log FROM customization_event WHERE customization = $1 "
                        "AND is_log = $2 ORDER BY number DESC LIMIT $3",
                        {std::string(id), std::int64_t{is_log ? 1 : 0}, limit})));
  std::ranges::reverse(out);
  return out;
}

}  // namespace stackgate::customizer
