// The store's relists.
#include <fmt/format.h>

#include "reconcile/observe/store.hpp"

namespace stackgate::reconcile {

std::uint32_t& Store::round(Shelf shelf, unsigned type) { return rounds_[static_cast<std::size_t>(shelf)][type]; }

void Store::begin_round(Shelf shelf, unsigned type) {
  const std::scoped_lock lock(mutex_);
  ++round(shelf, type);
  listing_[static_cast<std::size_t>(shelf)].set(type);
}

template <class Kept>
void Store::end_round_of(std::unordered_map<std::string, Kept>& kept, std::string_view prefix, std::uint32_t now,
                         News& news) {
  std::erase_if(kept, [&](const auto& each) {
    if (each.second.round == now || !each.first.starts_with(prefix)) return false;
    add_interested(each.first, news);
    return true;
  });
}

void Store::end_round(Shelf shelf, unsigned type) {
  News news;
  {
    const std::scoped_lock lock(mutex_);
    const std::uint32_t now = round(shelf, type);
    listing_[static_cast<std::size_t>(shelf)].reset(type);
    if (shelf == Shelf::input) {
      end_round_of(inputs_, fmt::format("{}/", info(static_cast<ChildType>(type)).resource.plural), now, news);
    } else if (shelf == Shelf::claim) {
      end_round_of(claims_, "", now, news);
    } else {
      for (auto entry = entries_.begin(); entry != entries_.end();)
        entry = end_round_of(*entry, shelf, type, now, news) ? entries_.erase(entry) : std::next(entry);
    }
  }
  tell(news);
}

bool Store::end_round_of(std::pair<const Key, Entry>& each, Shelf shelf, unsigned type, std::uint32_t now, News& news) {
  auto& [key, entry] = each;
  if (shelf == Shelf::resource) {
    if (static_cast<unsigned>(key.kind) != type || !entry.resource || entry.round == now) return false;
    drop_resource_of(key, entry, news);
    return entry.empty();
  }
  const auto gone = shelf == Shelf::child
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
