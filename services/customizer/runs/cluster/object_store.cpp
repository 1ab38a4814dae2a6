#include "services/customizer/runs/cluster/object_store.hpp"

#include <algorithm>

namespace stackgate::customizer {

class ObjectStore::Sink final : public kube::WatchSink {
 public:
  Sink(ObjectStore& store, Kind kind) : store_(store), kind_(kind) {}

  void relist_began() override {
    const std::scoped_lock lock(store_.mutex_);
    ++round();
  }
  void upsert(const json::Value& object) override {
    const KeptPtr kept = keep(kind_, object);
    if (kept == nullptr) return;
    const std::scoped_lock lock(store_.mutex_);
    store_.put(kept, round());
  }
  void remove(const json::Value& object) override {
    const std::scoped_lock lock(store_.mutex_);
    store_.drop(kind_, object);
  }
  void relist_ended() override {
    const std::scoped_lock lock(store_.mutex_);
    store_.drop_unseen(kind_, round());
  }

 private:
  std::uint32_t& round() { return store_.rounds_.at(static_cast<std::size_t>(kind_)); }

  ObjectStore& store_;
  const Kind kind_;
};

std::shared_ptr<kube::WatchSink> ObjectStore::sink(Kind kind) { return std::make_shared<Sink>(*this, kind); }

void ObjectStore::note(const std::string& group) {
  changed_.insert(group);
  if (on_change_) on_change_();
}

void ObjectStore::put(const KeptPtr& kept, std::uint32_t round) {
  Entry& entry = groups_[kept->group][{kept->kind, kept->name}];
  entry.round = round;
  if (entry.kept != nullptr && entry.kept->uid == kept->uid && entry.kept->version >= kept->version) return;
  entry.kept = kept;
  note(kept->group);
}

void ObjectStore::drop(Kind kind, const json::Value& object) {
  const KeptPtr gone = keep(kind, object);
  if (gone == nullptr) return;
  const auto group = groups_.find(gone->group);
  if (group == groups_.end()) return;
  const auto found = group->second.find({kind, gone->name});
  if (found == group->second.end() || found->second.kept->uid != gone->uid) return;
  group->second.erase(found);
  if (group->second.empty()) groups_.erase(group);
  note(gone->group);
}

void ObjectStore::drop_unseen(Kind kind, std::uint32_t round) {
  std::vector<std::string> changed;
  for (auto group = groups_.begin(); group != groups_.end();) {
    const auto gone = std::erase_if(
        group->second, [&](const auto& each) { return each.first.first == kind && each.second.round != round; });
    if (gone > 0) changed.push_back(group->first);
    group = group->second.empty() ? groups_.erase(group) : std::next(group);
  }
  for (const std::string& each : changed) note(each);
}

void ObjectStore::wrote(Kind kind, const json::Value& object) {
  const KeptPtr kept = keep(kind, object);
  if (kept == nullptr) return;
  const std::scoped_lock lock(mutex_);
  put(kept, rounds_.at(static_cast<std::size_t>(kind)));
}

void ObjectStore::deleted(const Kept& kept) {
  const std::scoped_lock lock(mutex_);
  const auto group = groups_.find(kept.group);
  if (group == groups_.end()) return;
  const auto found = group->second.find({kept.kind, kept.name});
  if (found != group->second.end() && found->second.kept->uid == kept.uid)
    found->second.kept = ended(*found->second.kept);
}

ObjectStore::Objects ObjectStore::of(std::string_view group) const {
  Objects out;
  const std::scoped_lock lock(mutex_);
  const auto found = groups_.find(group);
  if (found == groups_.end()) return out;
  for (const auto& [key, entry] : found->second) out.push_back(entry.kept);
  return out;
}

std::vector<std::string> ObjectStore::groups_of_owner(std::string_view uid) const {
  std::vector<std::string> out;
  const std::scoped_lock lock(mutex_);
  for (const auto& [group, objects] : groups_)
    if (std::ranges::any_of(objects, [&](const auto& each) {
          const Kept& kept = *each.second.kept;
          const bool is_ours = kept.kind == Kind::job || kept.kind == Kind::volcano_job || kept.kind == Kind::claim;
          return is_ours && !kept.ending && kept.owner == uid;
        }))
      out.push_back(group);
  return out;
}

std::vector<std::string> ObjectStore::take_changed() {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> out(changed_.begin(), changed_.end());
  changed_.clear();
  return out;
}

void ObjectStore::on_change(std::function<void()> call) {
  const std::scoped_lock lock(mutex_);
  on_change_ = std::move(call);
}

}  // namespace stackgate::customizer
