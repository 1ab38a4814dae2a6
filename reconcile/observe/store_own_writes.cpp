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
  if (!unreported_.empty()) store_.notify({key_});
}

Store::OwnWrite* Store::own_write(const Key& key, std::optional<ChildType> child, std::string_view name) {
  const auto found = std::ranges::find_if(own_writes_, [&](const OwnWrite* each) {
    return each->child_ == child && each->name_ == name && each->key_ == key;
  });
  return found == own_writes_.end() ? nullptr : *found;
}

bool Store::holds_back(const Key& key, std::optional<ChildType> child, std::string_view name, std::uint64_t version,
                       bool listing) {
  OwnWrite* const writing = own_write(key, child, name);
  if (listing || writing == nullptr || version == 0) return false;  // without a version no answer accounts for it
  // What was filed before the answer may be reported after it.
  if (std::ranges::find(writing->answered_, version) == writing->answered_.end())
    writing->unreported_.push_back(version);
  return true;
}

void Store::account_for(const Key& key, std::optional<ChildType> child, std::string_view name, std::uint64_t version) {
  OwnWrite* const writing = own_write(key, child, name);
  if (writing == nullptr) return;
  std::erase(writing->unreported_, version);
  writing->answered_.push_back(version);
}

}  // namespace stackgate::reconcile
