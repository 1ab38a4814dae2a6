
#include "services/datastore/accounts/accounts_impl.hpp"
#include "services/datastore/accounts/credentials.hpp"
#include "services/kit/base/number.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::datastore {
namespace {

std::string new_secret() { return std::string(token_mark) + crypto::random_hex(20); }

constexpr std::string_view token_columns = "id, name, scope, last_eight, created_at, expires_at, last_used_at";

Token token_of(const sql::Row& row) {
  return {.id = row.integer(0),
          .name = row.text(1),
          .scope = row.text(2) == "read" ? Scope::read : Scope::write,
          .last_eight = row.text(3),
          .created_at = row.text(4),
          .expires_at = row.text(5),
          .last_used_at = row.text(6)};
}

std::optional<std::string> fault_of_token_name(std::string_view name) {
  if (name.empty()) return "the token needs a name";
  if (name.size() > 255) return "the token's name has more than 255 bytes";
  for (const char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return "the token's name holds a control character";
  return std::nullopt;
}

}  // namespace

Accounts::Expected<Accounts::NewToken> Accounts::create_token(std::int64_t account, std::string_view name, Scope scope,
                                                              std::chrono::seconds valid) {
  if (auto fault = fault_of_token_name(name)) return std::unexpected(ServiceError{ServiceFault::invalid, *fault});
  const std::string secret = new_secret();
  const std::string last = secret.substr(secret.size() - 8);
  const sql::Value expires = valid.count() > 0 ? sql::Value(to_rfc3339(impl_->now_() + valid)) : sql::Value(nullptr);
  auto made = impl_->database_.run(
      std::string("INSERT INTO tokens (account_id, name, hash, last_eight, scope, created_at, expires_at) "
                  "VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ")
          .append(token_columns),
      {account, std::string(name), crypto::to_hex(crypto::sha256(secret)), last,
       std::string(scope == Scope::read ? "read" : "write"), impl_->now(), expires});
  if (!made && made.error().fault == sql::Fault::duplicate)
    return std::unexpected(ServiceError{ServiceFault::exists, "the account has a token of that name"});
  if (!made && made.error().fault == sql::Fault::refers)
    return std::unexpected(ServiceError{ServiceFault::missing, "there is no such account"});
  if (!made) return std::unexpected(made.error());
  log::info("token made",
            {{"account_id", account}, {"token", last}, {"scope", scope == Scope::read ? "read" : "write"}});
  return NewToken{token_of(made->rows.at(0)), secret};
}

Accounts::Expected<std::vector<Token>> Accounts::list_tokens(std::int64_t account) {
  auto found = TRY(impl_->database_.run(
      std::string("SELECT ").append(token_columns) + " FROM tokens WHERE account_id = $1 ORDER BY id", {account}));
  std::vector<Token> out;
  out.reserve(found.rows.size());
  for (const sql::Row& row : found.rows) out.push_back(token_of(row));
  return out;
}

Accounts::Expected<void> Accounts::remove_token(std::int64_t account, std::string_view id_or_name) {
  const std::int64_t id = to_number<std::int64_t>(id_or_name).value_or(0);
  auto removed = impl_->database_.run("DELETE FROM tokens WHERE account_id = $1 AND id = $2", {account, id});
  if (removed && removed->affected == 0)
    removed = impl_->database_.run("DELETE FROM tokens WHERE account_id = $1 AND name = $2",
                                   {account, std::string(id_or_name)});
  if (!removed) return std::unexpected(removed.error());
  if (removed->affected == 0)
    return std::unexpected(ServiceError{ServiceFault::missing, "the account has no such token"});
  log::info("token withdrawn", {{"account_id", account}});
  return {};
}

}  // namespace stackgate::datastore
