#include "services/datastore/accounts/failures.hpp"

#include <algorithm>
#include <string>

#include "services/kit/crypto/digest.hpp"

namespace stackgate::datastore {
namespace {

// A NUL stands in no address and no account name.
std::string pair_key(std::string_view account, std::string_view address) {
  std::string key(account);
  key += '\0';
  key += address;
  return key;
}

/// Whatever was typed as a name has a bounded key, and is not readable in the table: it may be a password.
std::string hashed_key(std::string_view account, std::string_view address) {
  return crypto::to_hex(crypto::sha256(pair_key(account, address)));
}

}  // namespace

std::chrono::seconds FailedSignIns::wait_of(const std::string& key, Time now) const {
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.until <= now) return std::chrono::seconds(0);
  return std::chrono::ceil<std::chrono::seconds>(found->second.until - now);
}

std::chrono::seconds FailedSignIns::wait(std::string_view account, std::string_view address, Time now) const {
  return std::max(wait_of(pair_key(account, address), now), wait_of(std::string(address), now));
}

void FailedSignIns::failed(std::string_view account, std::string_view address, Time now) {
  count(pair_key(account, address), limits_.free, now);
  count(std::string(address), limits_.free_per_address, now);
}

void FailedSignIns::count(const std::string& key, unsigned free, Time now) {
  auto [at, fresh] = entries_.try_emplace(key);
  Entry& entry = at->second;
  if (!fresh) order_.erase(entry.place);
  entry.place = order_.insert(order_.end(), key);
  if (!fresh && now - entry.last > limits_.forget) entry.failures = 0;
  entry.last = now;
  ++entry.failures;
  if (const auto wait = wait_after(entry.failures, free, limits_); wait.count() > 0) entry.until = now + wait;
  while (entries_.size() > limits_.entries) {
    entries_.erase(order_.front());
    order_.pop_front();
  }
}

std::chrono::seconds FailedSignIns::wait_after(unsigned failures, unsigned free, const Limits& limits) {
  if (failures <= free) return std::chrono::seconds(0);
  const unsigned doublings = std::min(failures - free - 1, 20U);
  return std::min(limits.first * (std::int64_t{1} << doublings), limits.most);
}

void FailedSignIns::succeeded(std::string_view account, std::string_view address) {
  const auto found = entries_.find(pair_key(account, address));
  if (found == entries_.end()) return;
  order_.erase(found->second.place);
  entries_.erase(found);
}

SharedFailures::SharedFailures(sql::Database& database, FailedSignIns::Limits limits)
    : database_(database), shared_(database.engine() == sql::Engine::postgresql), limits_(limits) {}

SharedFailures::Found SharedFailures::look(std::string_view account, std::string_view address, std::int64_t now) {
  if (!shared_) return {};
  const std::string pair = hashed_key(account, address);
  auto rows =
      database_.run("SELECT key, failures, last_at FROM failed_sign_ins WHERE (key = $1 OR key = $2) AND last_at >= $3",
                    {pair, hashed_key("", address), now - limits_.forget.count()});
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
  std::string one = hashed_key(account, address);
  std::string other = hashed_key("", address);
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
  (void)database_.run("DELETE FROM failed_sign_ins WHERE key = $1", {hashed_key(account, address)});
}

}  // namespace stackgate::datastore
