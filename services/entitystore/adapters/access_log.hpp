// Who did what with an adapter. Noted in memory on the request's way, written in batches by a thread of its own.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/metrics/registry.hpp"
#include "services/kit/run/periodic.hpp"
#include "services/kit/sql/database.hpp"

namespace stackgate::entitystore {

struct Access {
  std::string adapter, at, actor,
      action;  // action: "upload", "read", "download", "redirect" (to the datastore), "status:ready", "delete"
  std::uint64_t bytes = 0;
  std::string client, trace;
};

/// Thread-safe. While the database is away rows wait, 50,000 of them; what comes then is dropped and counted.
class AccessLog {
 public:
  AccessLog(sql::Database& database, metrics::Registry& metrics);
  /// Writes what waits, once.
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  void note(Access access);
  /// For tests and for whoever wants to read what was just noted.
  sql::Expected<void> flush();

  struct PageOf {
    std::vector<Access> rows;  // the newest first
    std::uint64_t total = 0;
  };
  static sql::Expected<PageOf> read(sql::Database& database, std::string_view adapter, std::uint64_t offset,
                                    std::uint64_t limit);
  /// Removes rows from before `time` (a timestamp()).
  static sql::Expected<std::int64_t> forget(sql::Database& database, std::string_view time);

 private:
  sql::Database& database_;
  metrics::Counter& dropped_;
  std::mutex mutex_, writing_;
  std::vector<Access> waiting_;
  std::optional<run::Periodic> flushing_;
};

}  // namespace stackgate::entitystore
