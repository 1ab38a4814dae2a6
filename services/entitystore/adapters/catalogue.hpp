// All living adapters in memory, so that lists and details cost no database: a thousand pollers that are told 304 cost
// one look at a counter now and then.
//
// Every change of a row adds one to the database's change counter in the same transaction and notes it in the row.
// refresh() reads the counter, and the rows behind the last one seen; a thread calls it every few hundred milliseconds,
// and each replica calls it after its own changes. So an answer is at most one such period older than another replica's
// change and never older than this replica's own. While the database is away the last state is served.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "services/entitystore/adapters/listing.hpp"
#include "services/kit/sql/database.hpp"

namespace stackgate::entitystore {

/// One state of all adapters; immutable but for its answers. Thread-safe.
class Snapshot {
 public:
  explicit Snapshot(std::vector<ListedPtr> in_order, std::int64_t counter);

  const std::vector<ListedPtr>& all() const { return all_; }
  ListedPtr find(std::string_view id) const;
  std::int64_t counter() const { return counter_; }

  /// The entity tag of a list, remembered by the query's text so that it is made once for each state.
  struct Answer {
    std::string etag;
    std::uint64_t total = 0;
    std::int64_t period = 0;                  // as in etag_of()
    std::shared_ptr<const std::string> body;  // {"adapters":[…]}; null when it was not kept
  };
  std::shared_ptr<const Answer> remembered(std::string_view query) const;
  /// Replaces one of another period only.
  void remember(std::string_view query, const std::shared_ptr<const Answer>& answer) const;

 private:
  std::vector<ListedPtr> all_;  // by created_at, then id
  std::unordered_map<std::string_view, ListedPtr> by_id_;
  std::int64_t counter_;
  mutable std::mutex mutex_;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  mutable std::unordered_map<std::string, std::shared_ptr<const Answer>, Hash, std::equal_to<>> answers_;
  mutable std::size_t kept_bytes_ = 0;
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

class Catalogue {
 public:
  explicit Catalogue(sql::Database& database) : database_(database) {}

  /// Never null. Takes no lock that refresh() holds while it waits for the database.
  SnapshotPtr snapshot() const { return snapshot_.load(); }
  /// Brings the snapshot up to date. One at a time; others wait for it.
  sql::Expected<void> refresh();
  /// False until the first refresh() that worked.
  bool loaded() const { return loaded_; }

 private:
  sql::Expected<void> reload(std::int64_t counter, std::int64_t from);

  sql::Database& database_;
  std::mutex refreshing_;
  std::atomic<SnapshotPtr> snapshot_{std::make_shared<const Snapshot>(std::vector<ListedPtr>{}, 0)};
  std::atomic<bool> loaded_{false};
};

}  // namespace stackgate::entitystore
