
#include "services/datastore/accounts/accounts_impl.hpp"
#include "services/datastore/accounts/credentials.hpp"
#include "services/datastore/clock.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/crypto/password.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::datastore {
namespace {

constexpr std::size_t most_proven = 4'096;
constexpr std::chrono::hours known_for{24};
constexpr std::chrono::seconds token_use_noted_each{60};

/// "10.0.0.7:41234" and "[::1]:41234" without the port.
std::string_view address_of(std::string_view peer) {
  const auto colon = peer.rfind(':');
  return colon == std::string_view::npos || peer.ends_with(']') ? peer : peer.substr(0, colon);
}

std::string mac_of(std::string_view process_key, std::string_view text) {
  const crypto::Sha256 mac = crypto::hmac_sha256(process_key, text);
  return {reinterpret_cast<const char*>(mac.data()), mac.size()};
}

}  // namespace

Accounts::Impl::Impl(sql::Database& database, AccountOptions options)
    : database_(database),
      process_key_(crypto::random_bytes(32)),
      admin_name_(options.admin_name),
      admin_key_(ascii::to_lower(options.admin_name)),
      admin_mac_(options.admin_name.empty() ? std::string() : mac_of(process_key_, options.admin_password)),
      proven_for_(options.proven_for),
      now_(options.now ? std::move(options.now) : [] { return std::chrono::system_clock::now(); }) {}

std::string Accounts::Impl::now() const { return to_rfc3339(now_()); }

std::string Accounts::Impl::keyed(std::string_view key, std::string_view password) const {
  std::string text(key);
  text += '\0';
  text += password;
  return mac_of(process_key_, text);
}

bool Accounts::Impl::is_configured_admin(std::string_view key, std::string_view password) const {
  return !admin_key_.empty() && key == admin_key_ &&
         crypto::equal_in_constant_time(mac_of(process_key_, password), admin_mac_);
}

void Accounts::Impl::remember(const std::string& mac, const Identity& identity, const std::string& key, SteadyTime at) {
  const std::lock_guard lock(mutex_);
  if (proven_.size() >= most_proven) std::erase_if(proven_, [&](const auto& each) { return each.second.until <= at; });
  if (proven_.size() >= most_proven) proven_.clear();
  proven_[mac] = {identity, key, at + proven_for_, at + known_for};
}

void Accounts::Impl::forget(std::string_view key) {
  const std::lock_guard lock(mutex_);
  std::erase_if(proven_, [&](const auto& each) { return each.second.account_key == key; });
}

Accounts::Expected<Identity> Accounts::Impl::check_password(const std::string& key, const std::string& password,
                                                            std::string& known_as) {
  if (is_configured_admin(key, password)) return administrator();
  if (!admin_key_.empty() && key == admin_key_) known_as = admin_name_;
  auto found = database_.run(
      "SELECT id, name, password, is_admin, is_active FROM accounts WHERE name_key = $1 AND kind = 'user'", {key});
  // A name that no account can have is as wrong as one that none has.
  if (!found && found.error().fault != sql::Fault::unfit) return std::unexpected(found.error());
  scrypt_.acquire();
  struct Release {
    std::counting_semaphore<8>& semaphore;
    ~Release() { semaphore.release(); }
  } const release{scrypt_};
  const sql::Row* row = !found || found->rows.empty() ? nullptr : found->rows.data();
  if (row != nullptr) known_as = row->text(1);
  if (row == nullptr || row->is_null(2) || row->integer(4) == 0) {
    crypto::waste_password_check(password);
    return std::unexpected(wrong_credentials());
  }
  const std::string stored = row->text(2);
  if (!crypto::verify_password(password, stored)) return std::unexpected(wrong_credentials());
  if (crypto::needs_rehash(stored))  // best effort: the old hash stays good
    (void)database_.run("UPDATE accounts SET password = $1 WHERE id = $2 AND password = $3",
                        {crypto::hash_password(password), row->integer(0), stored});
  return Identity{.account = row->integer(0),
                  .name = row->text(1),
                  .admin = row->integer(3) != 0 || (!admin_key_.empty() && key == admin_key_)};
}

Accounts::Expected<Identity> Accounts::Impl::by_password(const std::string& name, const std::string& password,
                                                         std::string_view peer) {
  const std::string key = ascii::to_lower(name);
  const std::string mac = keyed(key, password);
  const std::string_view address = address_of(peer);
  const auto at = std::chrono::steady_clock::now();
  const std::int64_t clock = unix_seconds(now_());
  const auto limited = [](std::chrono::seconds wait) {
    return std::unexpected(ServiceError{
        ServiceFault::limited, "too many failed sign-ins; try again in " + std::to_string(wait.count()) + " s", wait});
  };
  bool known = false;
  {
    const std::lock_guard lock(mutex_);
    const auto proven = proven_.find(mac);
    if (proven != proven_.end() && proven->second.until > at) return proven->second.identity;
    known = proven != proven_.end() && proven->second.forget_at > at;
    if (const auto wait = failures_.wait(key, address, at); wait.count() > 0 && !known) return limited(wait);
  }
  const SharedFailures::Found shared = shared_failures_.look(key, address, clock);
  if (shared.wait.count() > 0 && !known) return limited(shared.wait);
  std::string known_as;
  auto identity = check_password(key, password, known_as);
  if (identity) {
    remember(mac, *identity, key, at);
    if (shared.any) shared_failures_.succeeded(key, address);
    const std::lock_guard lock(mutex_);
    failures_.succeeded(key, address);
  } else if (identity.error().fault == ServiceFault::unauthenticated) {
    {
      const std::lock_guard lock(mutex_);
      proven_.erase(mac);
      failures_.failed(key, address, std::chrono::steady_clock::now());
    }
    shared_failures_.failed(key, address, clock);
    // What stands where a name belongs may be a password that slipped: only a name that exists is written down.
    if (known_as.empty())
      log::warning("sign-in failed", {{"account", "(none of that name)"}, {"address", address}});
    else
      log::warning("sign-in failed", {{"account", known_as}, {"address", address}});
  }
  return identity;
}

Accounts::Expected<Identity> Accounts::Impl::by_token(const std::string& secret) {
  if (!looks_like_token(secret)) return std::unexpected(wrong_credentials());
  auto found = TRY(database_.run(
      "SELECT t.id, t.scope, t.expires_at, t.last_used_at, a.id, a.name, a.is_admin, a.is_active, a.name_key "
      "FROM tokens t JOIN accounts a ON a.id = t.account_id WHERE t.hash = $1",
      {crypto::to_hex(crypto::sha256(secret))}));
  if (found.rows.empty()) return std::unexpected(wrong_credentials());
  const sql::Row& row = found.rows.front();
  const std::string time = now();
  if (row.integer(7) == 0) return std::unexpected(wrong_credentials());
  if (!row.is_null(2) && row.text(2) <= time)
    return std::unexpected(ServiceError{ServiceFault::unauthenticated, "the token expired at " + row.text(2)});
  if (row.is_null(3) || row.text(3) < to_rfc3339(now_() - token_use_noted_each))
    (void)database_.run("UPDATE tokens SET last_used_at = $1 WHERE id = $2", {time, row.integer(0)});
  return Identity{.account = row.integer(4),
                  .name = row.text(5),
                  .admin = row.integer(6) != 0 || (!admin_key_.empty() && row.text(8) == admin_key_),
                  .scope = row.text(1) == "read" ? Scope::read : Scope::write};
}

Accounts::Expected<Identity> Accounts::authenticate(std::string_view authorization, std::string_view peer) {
  using Kind = Credentials::Kind;
  const Credentials shown = read_credentials(authorization);
  switch (shown.kind) {
    case Kind::none:
      return Identity{};
    case Kind::password:
      return impl_->by_password(shown.name, shown.secret, peer);
    case Kind::token:
      break;
    case Kind::malformed:
      return std::unexpected(ServiceError{ServiceFault::unauthenticated,
                                          "the Authorization header is none that is understood; send Basic, "
                                          "\"Bearer TOKEN\" or \"token TOKEN\""});
  }
  auto identity = impl_->by_token(shown.secret);
  if (!identity && identity.error().fault == ServiceFault::unauthenticated)
    log::info("token refused", {{"address", address_of(peer)}});
  return identity;
}

Accounts::Expected<Identity> Accounts::sign_in(std::string_view name, std::string_view password,
                                               std::string_view peer) {
  return impl_->by_password(std::string(name), std::string(password), peer);
}

}  // namespace stackgate::datastore
