// Accounts (persons and organisations), passwords, personal tokens: who is asking. Thread-safe; calls block on the
// database, except that the configured administrator and recently proven passwords need none.
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/datastore/accounts/identity.hpp"
#include "services/kit/base/service_error.hpp"
#include "services/kit/sql/database.hpp"

namespace stackgate::datastore {

enum class AccountKind : std::uint8_t { user, organization };

/// A name space: repositories belong to one.
struct Account {
  std::int64_t id = 0;
  std::string name{};  // as it was spelt; compared without case
  AccountKind kind = AccountKind::user;
  std::string full_name{}, email{};
  bool admin = false;
  bool active = true;
  std::int64_t steward_id = 0;             // organisations: the person who made it and may write in it
  std::string created_at{}, updated_at{};  // RFC 3339, UTC
};

struct Token {
  std::int64_t id = 0;
  std::string name{};
  Scope scope = Scope::write;
  std::string last_eight{};  // of the secret, to tell tokens apart
  std::string created_at{};
  std::string expires_at{}, last_used_at{};  // empty: never
};

struct AccountOptions {
  std::string admin_name, admin_password;  // the configured administrator; kept only as a keyed hash
  std::chrono::seconds proven_for{60};     // a proven password is good without scrypt for this long
  std::function<std::chrono::system_clock::time_point()> now{};  // for tests; the system's clock otherwise
};

class Accounts {
 public:
  template <typename T>
  using Expected = std::expected<T, ServiceError>;

  Accounts(sql::Database& database, AccountOptions options);
  ~Accounts();
  Accounts(const Accounts&) = delete;
  Accounts& operator=(const Accounts&) = delete;

  /// Makes the configured administrator's row. serve does it at its start; a database that is away then is tried again
  /// when the administrator first asks.
  Expected<void> prepare();

  /// `authorization`: the header's value; empty is an anonymous identity. Basic (password or personal token; a token
  /// may also stand as the user name), "token T", "Bearer T", "Bearer base64(user:password)". `peer`: "address:port".
  Expected<Identity> authenticate(std::string_view authorization, std::string_view peer);
  /// A sign-in form. The same limits.
  Expected<Identity> sign_in(std::string_view name, std::string_view password, std::string_view peer);

  Expected<Account> find(std::string_view name);
  Expected<Account> find(std::int64_t id);
  /// By name; `search` is part of it. `total` may be null.
  Expected<std::vector<Account>> list(AccountKind kind, std::string_view search, std::size_t skip, std::size_t limit,
                                      std::size_t* total);
  /// `password` is empty for an account that signs in by token only.
  Expected<Account> create_user(std::string_view name, std::string_view password, bool admin,
                                std::string_view full_name = {}, std::string_view email = {});
  Expected<Account> create_organization(std::string_view name, std::int64_t steward, std::string_view full_name = {});
  Expected<void> set_password(std::string_view name, std::string_view password);
  /// Whether that changed anything; sessions end only then.
  Expected<bool> set_active(std::string_view name, bool active);
  /// `exists` while repositories belong to it.
  Expected<void> remove(std::string_view name);

  struct NewToken {
    Token token;
    std::string secret;  // shown once; only its hash is stored
  };
  /// `valid`: 0 is for ever. Names are unique within the account.
  Expected<NewToken> create_token(std::int64_t account, std::string_view name, Scope scope, std::chrono::seconds valid);
  Expected<std::vector<Token>> list_tokens(std::int64_t account);
  /// By id, else by name.
  Expected<void> remove_token(std::int64_t account, std::string_view id_or_name);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// 1 to 40 letters, digits, "-", "_", ".", beginning and ending with a letter or digit, none of the words that URLs use
/// (names.cpp). Nothing, or what is wrong.
std::optional<std::string> fault_of_account_name(std::string_view name);

}  // namespace stackgate::datastore
