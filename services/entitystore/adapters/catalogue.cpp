#include "services/entitystore/adapters/catalogue.hpp"

#include <algorithm>

#include "services/entitystore/adapters/rows.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::entitystore {
namespace catalogue_detail {

constexpr std::size_t most_answers = 512, most_bytes = std::size_t{4} << 20U, longest_query = 1024;

bool before(const ListedPtr& a, const ListedPtr& b) {
  return std::pair<std::string_view, std::string_view>(a->record.created_at, a->record.id) <
         std::pair<std::string_view, std::string_view>(b->record.created_at, b->record.id);
}

}  // namespace catalogue_detail

Snapshot::Snapshot(std::vector<ListedPtr> in_order, std::int64_t counter)
    : all_(std::move(in_order)), counter_(counter) {
  by_id_.reserve(all_.size());
  for (const ListedPtr& row : all_) by_id_.emplace(row->record.id, row);
}

ListedPtr Snapshot::find(std::string_view id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

std::shared_ptr<const Snapshot::Answer> Snapshot::remembered(std::string_view query) const {
  const std::lock_guard lock(mutex_);
  const auto found = answers_.find(query);
  return found == answers_.end() ? nullptr : found->second;
}

void Snapshot::remember(std::string_view query, const std::shared_ptr<const Answer>& answer) const {
  if (query.size() > catalogue_detail::longest_query) return;
  const std::lock_guard lock(mutex_);
  if (const auto found = answers_.find(query); found != answers_.end()) {
    if (found->second->period != answer->period) found->second = answer;
    return;
  }
  if (answers_.size() >= catalogue_detail::most_answers) return;
  const std::size_t bytes = answer->body ? answer->body->size() : 0;
  if (kept_bytes_ + bytes <= catalogue_detail::most_bytes) {
    kept_bytes_ += bytes;
    answers_.try_emplace(std::string(query), answer);
  } else {
    answers_.try_emplace(std::string(query),
                         std::make_shared<const Answer>(answer->etag, answer->total, answer->period, nullptr));
  }
}

sql::Expected<void> Catalogue::refresh() {
  const std::lock_guard lock(refreshing_);
  const auto counter = TRY(database_.run("SELECT value FROM change_counter WHERE id = 1"));
  const std::int64_t now = counter.rows.empty() ? 0 : counter.rows[0].integer(0);
  const std::int64_t seen = snapshot()->counter();
  if (loaded_ && now == seen) return {};
  // A counter that ran backwards is another database, or one that was restored.
  return reload(now, loaded_ && now > seen ? seen : -1);
}

sql::Expected<void> Catalogue::reload(std::int64_t counter, std::int64_t from) {
  auto rows = TRY(read_changed(database_, from));
  std::vector<ListedPtr> all;
  std::unordered_map<std::string_view, bool> replaced;
  for (const Record& record : rows) {
    replaced.emplace(record.id, true);
    counter = std::max(counter, record.changed);
  }
  const auto old = snapshot();
  if (from >= 0) {
    all.reserve(old->all().size() + rows.size());
    for (const ListedPtr& row : old->all())
      if (!replaced.contains(row->record.id)) all.push_back(row);
  }
  const auto kept = static_cast<std::ptrdiff_t>(all.size());
  replaced.clear();
  for (Record& record : rows)
    if (record.deleted_at.empty()) all.push_back(make_listed(std::move(record)));
  std::sort(all.begin() + kept, all.end(), catalogue_detail::before);
  std::inplace_merge(all.begin(), all.begin() + kept, all.end(), catalogue_detail::before);
  snapshot_.store(std::make_shared<const Snapshot>(std::move(all), counter));
  loaded_ = true;
  return {};
}

}  // namespace stackgate::entitystore
