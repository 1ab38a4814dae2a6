#include "services/datastore/accounts/accounts.hpp"

#include "services/datastore/accounts/accounts_impl.hpp"
#include "services/datastore/accounts/names.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/password.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::datastore {
namespace {

std::unexpected<ServiceError> refused(ServiceFault fault, std::string message) {
  return std::unexpected(ServiceError{fault, std::move(message)});
}

Accounts::Expected<void> check_password(std::string_view password) {
  if (!password.empty() && password.size() < 8)
    return refused(ServiceFault::invalid, "the password has fewer than 8 characters");
  if (password.size() > 1024) return refused(ServiceFault::invalid, "the password has more than 1,024 bytes");
  return {};
}

sql::Value text_or_null(const std::string& text) { return text.empty() ? sql::Value(nullptr) : sql::Value(text); }

}  // namespace

ServiceError wrong_credentials() {
  return {ServiceFault::unauthenticated, "the credentials are wrong, expired or withdrawn"};
}

Account Accounts::Impl::account_of(const sql::Row& row) const {
  Account out{.id = row.integer(0),
              .name = row.text(1),
              .kind = row.text(2) == "organization" ? AccountKind::organization : AccountKind::user,
              .full_name = row.text(3),
              .email = row.text(4),
              .admin = row.integer(5) != 0,
              .active = row.integer(6) != 0,
              .steward_id = row.integer(7),
              .created_at = row.text(8),
              .updated_at = row.text(9)};
  if (!admin_key_.empty() && ascii::to_lower(out.name) == admin_key_) out.admin = true;
  return out;
}

Accounts::Accounts(sql::Database& database, AccountOptions options)
    : impl_(std::make_unique<Impl>(database, std::move(options))) {}
Accounts::~Accounts() = default;

Accounts::Expected<Identity> Accounts::Impl::administrator() {
  if (admin_id_ == 0) {
    constexpr std::string_view look = "SELECT id, kind FROM accounts WHERE name_key = $1";
    auto found = database_.run(look, {admin_key_});
    if (found && found->rows.empty()) {  // writes only then: a full disk keeps nobody out
      const std::string time = now();
      (void)TRY(database_.run(
          "INSERT INTO accounts (name, name_key, kind, is_admin, created_at, updated_at) VALUES ($1, $2, 'user', 0, "
          "$3, $3) ON CONFLICT (name_key) DO NOTHING",
          {admin_name_, admin_key_, time}));
      found = database_.run(look, {admin_key_});
    }
    if (!found) return std::unexpected(found.error());
    if (found->rows.empty()) return refused(ServiceFault::unavailable, "try again");
    if (found->rows[0].text(1) != "user")
      return refused(ServiceFault::forbidden,
                     "the configured administrator's name belongs to an organisation; choose another");
    admin_id_ = found->rows[0].integer(0);
  }
  return Identity{.account = admin_id_, .name = admin_name_, .admin = true};
}

Accounts::Expected<void> Accounts::prepare() {
  if (impl_->admin_key_.empty()) return {};
  TRY(impl_->administrator());
  return {};
}

Accounts::Expected<Account> Accounts::find(std::string_view name) {
  auto found =
      TRY(impl_->database_.run(std::string("SELECT ").append(account_columns) + " FROM accounts a WHERE name_key = $1",
                               {ascii::to_lower(name)}));
  if (found.rows.empty()) return refused(ServiceFault::missing, "there is no account of that name");
  return impl_->account_of(found.rows[0]);
}

Accounts::Expected<Account> Accounts::find(std::int64_t id) {
  auto found = TRY(
      impl_->database_.run(std::string("SELECT ").append(account_columns) + " FROM accounts a WHERE id = $1", {id}));
  if (found.rows.empty()) return refused(ServiceFault::missing, "there is no such account");
  return impl_->account_of(found.rows[0]);
}

Accounts::Expected<std::vector<Account>> Accounts::list(AccountKind kind, std::string_view search, std::size_t skip,
                                                        std::size_t limit, std::size_t* total) {
  const std::string word = kind == AccountKind::organization ? "organization" : "user";
  const std::string pattern = containing(ascii::to_lower(search));
  const std::string where = " FROM accounts a WHERE kind = $1 AND name_key LIKE $2 ESCAPE '!'";
  if (total != nullptr) {
    auto count = TRY(impl_->database_.run("SELECT COUNT(*)" + where, {word, pattern}));
    *total = static_cast<std::size_t>(count.rows.at(0).integer(0));
  }
  auto found = TRY(impl_->database_.run(
      std::string("SELECT ").append(account_columns) + where + " ORDER BY name_key LIMIT $3 OFFSET $4",
      {word, pattern, static_cast<std::int64_t>(limit), static_cast<std::int64_t>(skip)}));
  std::vector<Account> out;
  out.reserve(found.rows.size());
  for (const sql::Row& row : found.rows) out.push_back(impl_->account_of(row));
  return out;
}

Accounts::Expected<Account> Accounts::create_user(std::string_view name, std::string_view password, bool admin,
                                                  std::string_view full_name, std::string_view email) {
  if (auto fault = fault_of_account_name(name)) return refused(ServiceFault::invalid, *fault);
  TRY(check_password(password));
  const std::string hash = password.empty() ? std::string() : crypto::hash_password(password);
  auto made = impl_->database_.run(
      "INSERT INTO accounts (name, name_key, kind, full_name, email, password, is_admin, created_at, updated_at) "
      "VALUES ($1, $2, 'user', $3, $4, $5, $6, $7, $7)",
      {std::string(name), ascii::to_lower(name), std::string(full_name), std::string(email), text_or_null(hash),
       std::int64_t{admin ? 1 : 0}, impl_->now()});
  if (!made && made.error().fault == sql::Fault::duplicate)
    return refused(ServiceFault::exists, "an account of that name exists");
  if (!made) return std::unexpected(made.error());
  log::info("account made", {{"account", name}, {"kind", "user"}, {"admin", admin}});
  return find(name);
}

Accounts::Expected<Account> Accounts::create_organization(std::string_view name, std::int64_t steward,
                                                          std::string_view full_name) {
  if (auto fault = fault_of_account_name(name)) return refused(ServiceFault::invalid, *fault);
  auto made = impl_->database_.run(
      "INSERT INTO accounts (name, name_key, kind, full_name, steward_id, created_at, updated_at) "
      "VALUES ($1, $2, 'organization', $3, $4, $5, $5)",
      {std::string(name), ascii::to_lower(name), std::string(full_name), steward, impl_->now()});
  if (!made && made.error().fault == sql::Fault::duplicate)
    return refused(ServiceFault::exists, "an account of that name exists");
  if (!made) return std::unexpected(made.error());
  log::info("account made", {{"account", name}, {"kind", "organization"}});
  return find(name);
}

Accounts::Expected<void> Accounts::set_password(std::string_view name, std::string_view password) {
  const std::string key = ascii::to_lower(name);
  if (key == impl_->admin_key_)
    return refused(ServiceFault::forbidden,
                   "the administrator's password is configured (GIT_ADMIN_PASSWORD); change it there");
  TRY(check_password(password));
  const std::string hash = password.empty() ? std::string() : crypto::hash_password(password);
  auto changed =
      impl_->database_.run("UPDATE accounts SET password = $1, updated_at = $2 WHERE name_key = $3 AND kind = 'user'",
                           {text_or_null(hash), impl_->now(), key});
  impl_->forget(key);
  if (!changed) return std::unexpected(changed.error());
  if (changed->affected == 0) return refused(ServiceFault::missing, "there is no user of that name");
  log::info("password changed", {{"account", name}});
  return {};
}

Accounts::Expected<bool> Accounts::set_active(std::string_view name, bool active) {
  const std::string key = ascii::to_lower(name);
  if (key == impl_->admin_key_ && !active)
    return refused(ServiceFault::forbidden, "the configured administrator stays active");
  auto changed = impl_->database_.run(
      "UPDATE accounts SET is_active = $1, updated_at = $2 WHERE name_key = $3 AND is_active <> $1",
      {std::int64_t{active ? 1 : 0}, impl_->now(), key});
  if (!changed) {
    impl_->forget(key);  // whether it was done is not known
    return std::unexpected(changed.error());
  }
  if (changed->affected == 0) {
    TRY(find(name));
    return false;
  }
  impl_->forget(key);
  log::info(active ? "account switched on" : "account switched off", {{"account", name}});
  return true;
}

Accounts::Expected<void> Accounts::remove(std::string_view name) {
  const std::string key = ascii::to_lower(name);
  if (key == impl_->admin_key_)
    return refused(ServiceFault::forbidden, "the configured administrator cannot be deleted");
  auto removed = impl_->database_.run("DELETE FROM accounts WHERE name_key = $1", {key});
  impl_->forget(key);
  if (!removed && removed.error().fault == sql::Fault::refers)
    return refused(ServiceFault::exists, "repositories belong to this account; delete or transfer them first");
  if (!removed) return std::unexpected(removed.error());
  if (removed->affected == 0) return refused(ServiceFault::missing, "there is no account of that name");
  log::info("account deleted", {{"account", name}});
  return {};
}

}  // namespace stackgate::datastore
