#include "services/inference/adapters/catalogue/two_tier_lru.hpp"

#include <algorithm>

namespace stackgate::inference {

std::optional<std::vector<TwoTierLru::Key>> TwoTierLru::admit(Key key, const InUse& in_use) {
  std::vector<Key> gone;
  if (!has_room()) {
    const auto oldest =
        std::find_if(places_.rbegin(), places_.rend(), [&](const Place& each) { return !in_use(each.key); });
    if (oldest == places_.rend()) return std::nullopt;
    gone.push_back(oldest->key);
    erase(oldest->key);
  }
  places_.push_front({key, false});
  by_key_[key] = places_.begin();
  return gone;
}

void TwoTierLru::touch(Key key, const InUse& in_use) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return;
  places_.splice(places_.begin(), places_, found->second);
  Place& place = *found->second;
  if (place.resident) return;
  const auto residents = static_cast<std::size_t>(std::ranges::count_if(places_, &Place::resident));
  if (residents < resident_) {
    place.resident = true;
    return;
  }
  const auto leaving = std::find_if(places_.rbegin(), places_.rend(),
                                    [&](const Place& each) { return each.resident && !in_use(each.key); });
  if (leaving == places_.rend()) return;
  leaving->resident = false;
  place.resident = true;
}

void TwoTierLru::erase(Key key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return;
  places_.erase(found->second);
  by_key_.erase(found);
}

Residency TwoTierLru::residency_of(Key key) const {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return Residency::disk;
  return found->second->resident ? Residency::resident : Residency::memory;
}

}  // namespace stackgate::inference
