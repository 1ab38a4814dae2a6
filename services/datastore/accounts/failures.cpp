#include "services/datastore/accounts/failures.hpp"

#include <algorithm>

namespace stackgate::datastore {
namespace {

// A NUL stands in no address and no account name.
std::string pair_key(std::string_view account, std::string_view address) {
  std::string key(account);
  key += '\0';
  key += address;
  return key;
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

}  // namespace stackgate::datastore
