#include "services/datastore/accounts/shared_failures.hpp"

#include <algorithm>
#include <string>

#include "services/kit/crypto/digest.hpp"

namespace stackgate::datastore {
namespace shared_failures_detail {

/// Whatever was typed as a name has a bounded key, and is not readable in the table: it may be a password.
std::string key_of(std::string_view account, std::string_view address) {
  std::string text(account);
  text += '\0';
  text += address;
  return crypto::to_hex(crypto::sha256(text));
}

}  // namespace shared_failures_detail

SharedFailures::SharedFailures(sql::Database& database, FailedSignIns::Limits limits)
    : database_(database), shared_(database.engine() == sql::Engine::postgresql), limits_(limits) {}

SharedFailures::Found SharedFailures::look(std::string_view account, std::string_view address, std::int64_t now) {
  if (!shared_) return {};
  const std::string pair = shared_failures_detail::key_of(account, address);
  auto rows =
      database_.run("SELECT key, failures, last_at FROM failed_sign_ins WHERE (key = $1 OR key = $2) AND last_at >= $3",
                    {pair, shared_failures_detail::key_of("", address), now - limits_.forget.count()});
  if (!rows) return {};
  Found out;
  for (const sql::Row& row : rows->rows) {
    const bool of_pair = row.text(0) == pair;
    const auto failures = static_cast<unsigned>(std::min<std::int64_t>(row.integer(1), 1'000'000));
    const auto wait =
        FailedSignIns::wait_after(failures, of_pair ? limits_.free : limits_.free_per_address, limits_).count();
    // A replica whose clock is ahead must not make it longer than it is.
    out.wait = std::max(out.wait, std::chrono::seconds(std::clamp<std::int64_t>(row.integer(2) + wait - now, 0, wait)));
    out.any = out.any || of_pair;
  }
  return out;
}

void SharedFailures::failed(std::string_view account, std::string_view address, std::int64_t now) {
  if (!shared_) return;
  // In one order, so that two at once do not wait for each other.
  std::string one = shared_failures_detail::key_of(account, address);
  std::string other = shared_failures_detail::key_of("", address);
  if (other < one) std::swap(one, other);
  (void)database_.run(
      "INSERT INTO failed_sign_ins (key, failures, last_at) VALUES ($1, 1, $2), ($3, 1, $4) "
      "ON CONFLICT (key) DO UPDATE SET last_at = excluded.last_at, failures = CASE "
      "WHEN failed_sign_ins.last_at < $5 THEN 1 ELSE failed_sign_ins.failures + 1 END",
      {one, now, other, now, now - limits_.forget.count()});
  (void)database_.run("DELETE FROM failed_sign_ins WHERE last_at < $1", {now - limits_.forget.count()});
}

void SharedFailures::succeeded(std::string_view account, std::string_view address) {
  if (!shared_) return;
  (void)database_.run("DELETE FROM failed_sign_ins WHERE key = $1", {shared_failures_detail::key_of(account, address)});
}

}  // namespace stackgate::datastore
