// How long somebody must wait who keeps failing to sign in: per account and address, and per address over all accounts.
// Pure: time comes in; not thread-safe. Bounded: what was forgotten longest makes room.
#pragma once
#include <chrono>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "services/kit/sql/database.hpp"

namespace stackgate::datastore {

class FailedSignIns {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Limits {
    unsigned free = 5;                         // failures without a wait, per account and address
    unsigned free_per_address = 40;            // over all accounts
    std::chrono::seconds first{2}, most{300};  // the wait doubles
    std::chrono::seconds forget{900};          // without a failure for this long, all is forgotten
    std::size_t entries = 10'000;
  };

  FailedSignIns() : FailedSignIns(Limits{}) {}
  explicit FailedSignIns(Limits limits) : limits_(limits) {}

  /// 0: may try. `account` in lower case, `address` without port.
  std::chrono::seconds wait(std::string_view account, std::string_view address, Time now) const;
  void failed(std::string_view account, std::string_view address, Time now);
  void succeeded(std::string_view account, std::string_view address);
  /// How long whoever has failed so often waits from the last time on, when the first `free` cost nothing.
  static std::chrono::seconds wait_after(unsigned failures, unsigned free, const Limits& limits);
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    unsigned failures = 0;
    Time last{}, until{};
    std::list<std::string>::iterator place{};
  };
  std::chrono::seconds wait_of(const std::string& key, Time now) const;
  void count(const std::string& key, unsigned free, Time now);

  Limits limits_;
  std::unordered_map<std::string, Entry> entries_;
  std::list<std::string> order_;  // newest failure last
};

/// The same count for all replicas, in the PostgreSQL that they share; with SQLite there is one process, and
/// FailedSignIns does. Best effort: while the database is away nobody is held up by it (nor signs in, but for who is
/// remembered). Thread-safe; calls block on the database.
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
