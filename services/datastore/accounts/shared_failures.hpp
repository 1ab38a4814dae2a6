// The same count for all replicas, in the PostgreSQL that they share; with SQLite there is one process, and
// failures.hpp does. Best effort: while the database is away nobody is held up by it (nor signs in, but for who is
// remembered). Thread-safe; calls block on the database.
#pragma once
#include <chrono>
#include <cstdint>
#include <string_view>

#include "services/datastore/accounts/failures.hpp"
#include "services/kit/sql/database.hpp"

namespace stackgate::datastore {

class SharedFailures {
 public:
  explicit SharedFailures(sql::Database& database, FailedSignIns::Limits limits = {});

  struct Found {
    std::chrono::seconds wait{0};
    bool any = false;  // there are failures to be forgotten on success
  };
  /// `now`: seconds since 1970.
  Found look(std::string_view account, std::string_view address, std::int64_t now);
  void failed(std::string_view account, std::string_view address, std::int64_t now);
  void succeeded(std::string_view account, std::string_view address);

 private:
  sql::Database& database_;
  const bool shared_;
  const FailedSignIns::Limits limits_;
};

}  // namespace stackgate::datastore
