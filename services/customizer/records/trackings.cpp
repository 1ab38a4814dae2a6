// What is to be sent to experiment trackers.
#include <fmt/format.h>

#include "services/customizer/records/records.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::customizer {

sql::Expected<std::vector<Tracking>> Records::take_trackings(std::chrono::seconds lease, std::int64_t limit) const {
  const std::string_view now = sql::now_seconds(database_.engine());
  // Mostly there is nothing to do: to see that, nothing is locked.
  const std::string due = fmt::format(
      "SELECT customization, tracker FROM customization_tracking WHERE over = 0 AND next_at <= {} ORDER BY next_at "
      "LIMIT $1",
      now);
  if (TRY(database_.run(due, {limit})).rows.empty()) return std::vector<Tracking>();
  const auto taken = TRY(database_.run(
      fmt::format(
          "UPDATE customization_tracking SET next_at = {0} + $2 WHERE (customization, tracker) IN ({1}) AND "
          "over = 0 AND next_at <= {0} RETURNING customization, tracker, run, sent, lines, secret, failing_since",
          now, due),
      {limit, std::int64_t{lease.count()}}));
  std::vector<Tracking> out;
  out.reserve(taken.rows.size());
  for (const sql::Row& row : taken.rows)
    out.push_back({.customization = row.text(0),
                   .tracker = row.text(1),
                   .run = row.text(2),
                   .sent = row.integer(3),
                   .lines = row.integer(4),
                   .secret = row.text(5),
                   .failing_since = row.integer(6)});
  return out;
}

sql::Expected<void> Records::store_tracking(const Tracking& tracking, Seconds again) const {
  TRY(database_.run(fmt::format("UPDATE customization_tracking SET run = $3, sent = $4, lines = $5, failing_since = "
                                "$6, next_at = {} + $7 WHERE customization = $1 AND tracker = $2",
                                sql::now_seconds(database_.engine())),
                    {tracking.customization, tracking.tracker, tracking.run, tracking.sent, tracking.lines,
                     tracking.failing_since, again}));
  return {};
}

sql::Expected<void> Records::end_tracking(const Tracking& tracking, bool keeps_secret) const {
  TRY(
      database_.run("UPDATE customization_tracking SET run = $3, sent = $4, lines = $5, over = 1, failing_since = 0, "
                    "secret = CASE WHEN $6 = 1 THEN secret ELSE '' END WHERE customization = $1 AND tracker = $2",
                    {tracking.customization, tracking.tracker, tracking.run, tracking.sent, tracking.lines,
                     std::int64_t{keeps_secret ? 1 : 0}}));
  return {};
}

sql::Expected<void> Records::resume_trackings(std::string_view id) const {
  TRY(database_.run(
      "UPDATE customization_tracking SET over = 0, next_at = 0, failing_since = 0 WHERE customization = $1",
      {std::string(id)}));
  return {};
}

}  // namespace stackgate::customizer
