// What the trainer reports, what stages wrote, what happened.
#include <algorithm>
#include <map>

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

sql::Expected<void> put_point(Session& session, std::string_view id, const ReportChange::Point& point) {
  TRY(session.run(
      fmt::format("INSERT INTO customization_point (customization, step, train_loss, val_loss, learning_rate, "
                  "tokens_per_second, epoch, at) VALUES ($1, $2, $3, $4, $5, $6, $7, {}) "
                  "ON CONFLICT (customization, step) DO UPDATE SET "
                  "train_loss = coalesce(excluded.train_loss, customization_point.train_loss), "
                  "val_loss = coalesce(excluded.val_loss, customization_point.val_loss), "
                  "learning_rate = coalesce(excluded.learning_rate, customization_point.learning_rate), "
                  "tokens_per_second = coalesce(excluded.tokens_per_second, customization_point.tokens_per_second), "
                  "epoch = coalesce(excluded.epoch, customization_point.epoch)",
                  sql::now_seconds(session.engine())),
      {std::string(id), static_cast<std::int64_t>(point.step), value_of(point.train_loss), value_of(point.val_loss),
       value_of(point.learning_rate), value_of(point.tokens_per_second), value_of(point.epoch)}));
  return {};
}

std::vector<MetricPoint> points_of(const sql::Result& found) {
  std::vector<MetricPoint> out;
  out.reserve(found.rows.size());
  for (const Row& row : found.rows)
    out.push_back({.step = static_cast<std::uint64_t>(row.integer(0)),
                   .train_loss = number_of(row, 1),
                   .val_loss = number_of(row, 2),
                   .at = row.integer(3),
                   .learning_rate = number_of(row, 4),
                   .tokens_per_second = number_of(row, 5),
                   .epoch = number_of(row, 6)});
  return out;
}

std::vector<Event> events_of(const sql::Result& found) {
  std::vector<Event> out;
  out.reserve(found.rows.size());
  for (const Row& row : found.rows)
    out.push_back({row.integer(0), row.integer(1), row.text(2), row.text(3), row.integer(4) != 0});
  return out;
}

/// A customization while reports of it are taken.
struct Reporting {
  bool is_there = false, changed = false, trained = false;
  std::string token{};
  State state = State::failed;
  Progress progress{};
  std::vector<ReportChange::Point> points{};
};

sql::Expected<Reporting> read_reporting(Session& session, const std::string& id) {
  Reporting out;
  const auto found = TRY(session.run("SELECT progress, state, token FROM customization WHERE id = $1", {id}));
  if (found.rows.empty()) return out;
  const Row& row = found.rows.front();
  out.is_there = true;
  out.progress = read_progress(row.text(0));
  out.state = state_named(row.text(1)).value_or(State::failed);
  out.token = row.text(2);
  return out;
}

bool is_known(const Reporting& of, std::string_view token) {
  return of.is_there && !of.token.empty() && crypto::equal_in_constant_time(token, of.token);
}

sql::Expected<void> store_reporting(Session& session, const std::string& id, const Reporting& of) {
  if ((!of.changed && !of.trained) || is_final(of.state) || of.state == State::cancelling) return {};
  const std::string_view now = sql::now_seconds(session.engine());
  const sql::Value progress = progress_json(of.progress);
  // The index over `woken` is left alone by what does not set it.
  if (of.trained)
    TRY(session.run(fmt::format("UPDATE customization SET progress = $2, reported_at = {}, "
                                "woken = CASE WHEN trained = 0 THEN 1 ELSE woken END, trained = 1 WHERE id = $1",
                                now),
                    {id, progress}));
  else
    TRY(session.run(fmt::format("UPDATE customization SET progress = $2, reported_at = {} WHERE id = $1", now),
                    {id, progress}));
  for (const ReportChange::Point& each : of.points) TRY(put_point(session, id, each));
  return {};
}

}  // namespace reports_detail

using namespace reports_detail;

sql::Expected<std::vector<Records::Reported>> Records::apply(std::span<const Report> reports, bool is_logged) {
  std::vector<Reported> out;
  TRY(database_.transact([&](Session& session) -> sql::Expected<void> {
    out.assign(reports.size(), {});
    // In the order of their ids: replicas that store many at a time do not wait for each other in a circle.
    std::map<std::string, Reporting, std::less<>> all;
    for (const Report& each : reports) all.try_emplace(each.id);
    for (auto& [id, of] : all) of = TRY(read_reporting(session, id));
    for (std::size_t i = 0; i < reports.size(); ++i) {
      Reporting& of = all.find(reports[i].id)->second;
      out[i].known = is_logged ? of.is_there : is_known(of, reports[i].token);
      if (!out[i].known) continue;
      ReportChange change = apply_report(of.progress, reports[i].body, reports[i].id);
      out[i].problem = std::move(change.problem);
      of.changed = of.changed || change.changed;
      of.trained = of.trained || change.trained;
      of.points.insert(of.points.end(), change.points.begin(), change.points.end());
    }
    for (const auto& [id, of] : all) TRY(store_reporting(session, id, of));
    return {};
  }));
  return out;
}

sql::Expected<std::vector<Records::Reported>> Records::report(std::span<const Report> reports) {
  return apply(reports, false);
}

sql::Expected<Records::Reported> Records::report(std::string_view id, std::string_view token, std::string_view body) {
  const Report one{std::string(id), std::string(token), std::string(body)};
  return TRY(apply({&one, 1}, false)).front();
}

sql::Expected<void> Records::report_logged(const std::string& id, std::span<const std::string> events) {
  std::vector<Report> all;
  for (const std::string& each : events) all.push_back({.id = id, .body = each});
  (void)TRY(apply(all, true));
  return {};
}

sql::Expected<std::vector<MetricPoint>> Records::points(std::string_view id, std::int64_t after,
                                                        std::int64_t limit) const {
  return points_of(
      TRY(database_.run("SELECT step, train_loss, val_loss, at, learning_rate, tokens_per_second, epoch "
                        "FROM customization_point WHERE customization = $1 AND step > $2 ORDER BY step LIMIT $3",
                        {std::string(id), after, limit})));
}

sql::Expected<std::vector<MetricPoint>> Records::curves(std::string_view id, std::int64_t most) const {
  return points_of(TRY(database_.run(
      "SELECT step, train_loss, val_loss, at, learning_rate, tokens_per_second, epoch FROM (SELECT step, train_loss, "
      "val_loss, at, learning_rate, tokens_per_second, epoch, "
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

sql::Expected<void> Records::add_warning(std::string_view id, const Change& change, std::string_view warning) {
  return database_.transact([&](Session& session) -> sql::Expected<void> {
    TRY(
        session.run("UPDATE customization SET warnings = CASE WHEN warnings IN ('', '[]') THEN '[' || $2 || ']' ELSE "
                    "substr(warnings, 1, length(warnings) - 1) || ',' || $2 || ']' END WHERE id = $1",
                    {std::string(id), std::string(warning)}));
    return rows::put_event(session, id, change);
  });
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
