// What the parts of Accounts share. Only for the .cpp files of this folder.
#pragma once
#include <atomic>
#include <chrono>
#include <mutex>
#include <semaphore>
#include <string>
#include <string_view>
#include <unordered_map>

#include "services/datastore/accounts/accounts.hpp"
#include "services/datastore/accounts/failures.hpp"
#include "services/kit/sql/database.hpp"

namespace stackgate::datastore {

struct Accounts::Impl {
  using SteadyTime = std::chrono::steady_clock::time_point;

  /// A password that was right not long ago, by the keyed hash of account and password.
  struct Proven {
    Identity identity;
    std::string account_key;
    SteadyTime until;      // good without asking until then
    SteadyTime forget_at;  // until then its owner is not held up by the failures of others
  };

  Impl(sql::Database& database, AccountOptions options);

  Expected<Identity> by_password(const std::string& name, const std::string& password, std::string_view peer);
  Expected<Identity> by_token(const std::string& secret);
  Expected<Identity> administrator();
  /// The rows, without limits and memory. `wrong` takes as long as a right one.
  /// `known_as`: the name of the account that there is, whether or not the password is right.
  Expected<Identity> check_password(const std::string& key, const std::string& password, std::string& known_as);
  bool is_configured_admin(std::string_view key, std::string_view password) const;
  std::string keyed(std::string_view key, std::string_view password) const;
  /// Of account_columns.
  Account account_of(const sql::Row& row) const;
  std::string now() const;
  void remember(const std::string& mac, const Identity& identity, const std::string& key, SteadyTime at);
  void forget(std::string_view key);

  sql::Database& database_;
  const std::string process_key_;  // of the keyed hashes; new in each process
  const std::string admin_name_, admin_key_, admin_mac_;
  const std::chrono::seconds proven_for_;
  const std::function<std::chrono::system_clock::time_point()> now_;
  std::atomic<std::int64_t> admin_id_ = 0;
  std::mutex mutex_;  // the two below
  FailedSignIns failures_;
  std::unordered_map<std::string, Proven> proven_;
  SharedFailures shared_failures_{database_};
  std::counting_semaphore<8> scrypt_{2};  // 16 MiB each
};

ServiceError wrong_credentials();

inline constexpr std::string_view account_columns =
    "a.id, a.name, a.kind, a.full_name, a.email, a.is_admin, a.is_active, COALESCE(a.steward_id, 0), a.created_at, "
    "a.updated_at";

}  // namespace stackgate::datastore
