// The store's relists.
#include "reconcile/observe/store.hpp"

namespace stackgate::reconcile {

std::uint32_t& Store::round(Collection collection, unsigned type) {
  return rounds_[static_cast<std::size_t>(collection)][type];
}

void Store::begin_relist(Collection collection, unsigned type) {
  const std::scoped_lock lock(mutex_);
  ++round(collection, type);
  listing_[static_cast<std::size_t>(collection)].set(type);
}

void Store::end_relist(Collection collection, unsigned type) {
  News news;
  {
    const std::scoped_lock lock(mutex_);
    const std::uint32_t now = round(collection, type);
    listing_[static_cast<std::size_t>(collection)].reset(type);
    for (auto entry = entries_.begin(); entry != entries_.end();)
      entry = end_relist_of(*entry, collection, type, now, news) ? entries_.erase(entry) : std::next(entry);
  }
  notify(news);
}

bool Store::end_relist_of(std::pair<const Key, Entry>& each, Collection collection, unsigned type, std::uint32_t now,
                          News& news) {
  auto& [key, entry] = each;
  const auto gone = collection == Collection::child
                        ? std::erase_if(entry.children,
                                        [&](const KeptChild& kept) {
                                          return kept.child.type == static_cast<ChildType>(type) && !kept.foreign &&
                                                 kept.round != now;
                                        })
                        : std::erase_if(entry.pods, [&](const KeptPod& kept) { return kept.round != now; });
  if (gone == 0) return false;
  news.push_back(key);
  return entry.empty();
}

}  // namespace stackgate::reconcile
