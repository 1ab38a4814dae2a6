#include "services/kit/kube/crd_names.hpp"

#include "services/kit/kube/object.hpp"

namespace stackgate::kube {

bool CrdNames::exists(std::string_view name) const {
  const auto found = wanted_.find(name);
  return found != wanted_.end() && !found->second.uid.empty();
}

void CrdNames::upsert(const json::Value& object) {
  const auto found = wanted_.find(metadata(object, "name"));
  if (found == wanted_.end()) return;
  Seen& seen = found->second;
  const std::string_view uid = metadata(object, "uid"), version = metadata(object, "resourceVersion");
  seen.round = round_;
  if (seen.version == version && seen.uid == uid) return;
  const CrdChange change = seen.uid.empty()  ? CrdChange::appeared
                           : seen.uid == uid ? CrdChange::touched
                                             : CrdChange::replaced;
  seen.uid = uid;
  seen.version = version;
  listener_(found->first, change);
}

void CrdNames::remove(const json::Value& object) {
  const auto found = wanted_.find(metadata(object, "name"));
  if (found == wanted_.end() || found->second.uid.empty()) return;
  found->second = {};
  listener_(found->first, CrdChange::vanished);
}

void CrdNames::relist_ended() {
  for (auto& [name, seen] : wanted_) {
    if (seen.uid.empty() || seen.round == round_) continue;
    seen = {};
    listener_(name, CrdChange::vanished);
  }
  listed_();
}

}  // namespace stackgate::kube
