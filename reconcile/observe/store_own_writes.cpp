// The store while a write of ours is under way: which news is its echo.
#include <algorithm>

#include "reconcile/observe/store.hpp"

namespace stackgate::reconcile {

Store::OwnWrite::OwnWrite(Store& store, const Key& key, std::optional<ChildType> child, std::string_view name)
    : store_(store), key_(key), child_(child), name_(name) {
  const std::scoped_lock lock(store_.mutex_);
  store_.own_writes_.push_back(this);
}

Store::OwnWrite::~OwnWrite() {
  {
    const std::scoped_lock lock(store_.mutex_);
    std::erase(store_.own_writes_, this);
  }
  if (!heard_.empty()) store_.tell({key_});
}

Store::OwnWrite* Store::own_write(const Key& key, std::optional<ChildType> child, std::string_view name) {
  const auto found = std::ranges::find_if(own_writes_, [&](const OwnWrite* each) {
    return each->child_ == child && each->name_ == name && each->key_ == key;
  });
  return found == own_writes_.end() ? nullptr : *found;
}

bool Store::holds_back(const Key& key, std::optional<ChildType> child, std::string_view name, std::uint64_t version) {
  OwnWrite* const writing = own_write(key, child, name);
  if (writing == nullptr || version == 0) return false;  // without a version no answer accounts for it
  const auto shelf = static_cast<std::size_t>(child ? Shelf::child : Shelf::resource);
  if (listing_[shelf].test(child ? static_cast<std::size_t>(*child) : static_cast<std::size_t>(key.kind))) return false;
  writing->heard_.push_back(version);
  return true;
}

void Store::account_for(const Key& key, std::optional<ChildType> child, std::string_view name, std::uint64_t version) {
  if (OwnWrite* const writing = own_write(key, child, name); writing != nullptr) std::erase(writing->heard_, version);
}

}  // namespace stackgate::reconcile
