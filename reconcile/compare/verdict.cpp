#include "reconcile/compare/verdict.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "reconcile/compare/plan_hash.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::reconcile {
Verdict judge(const WantedChild& wanted, const FoundChild& found) {
  if (found.object == nullptr) return {Need::create, "missing"};
  const bool mine = found.ownership == Ownership::own || (!wanted.owned && found.ours);
  if (json::at(found.object, {"metadata", "deletionTimestamp"}) != nullptr) return {Need::wait, "it is being deleted"};
  if (!mine && found.ownership == Ownership::left_over) return {Need::wait, "its former owner is gone"};
  if (!mine && found.ownership == Ownership::orphan && wanted.adopts) return {Need::adopt, "it has no owner"};
  if (!mine) return {Need::taken, "not ours"};
  if (wanted.keep) return {};
  if (plan_hash_of(*found.object) != wanted.hash) return {Need::update, "new plan"};
  if (auto place = first_difference(wanted.body, *found.object)) return {Need::update, *place + " was changed", true};
  return {};
}

namespace {

struct MergeKey {
  std::string_view list, key;
};

/// Lists that server-side apply merges by a key, as far as we write them.
/// Source: x-kubernetes-list-map-keys and patchMergeKey in the API's OpenAPI document.
constexpr std::array merge_keys{
    MergeKey{"containers", "name"},       MergeKey{"initContainers", "name"},
    MergeKey{"volumes", "name"},          MergeKey{"env", "name"},
    MergeKey{"imagePullSecrets", "name"}, MergeKey{"volumeMounts", "mountPath"},
    MergeKey{"ownerReferences", "uid"},
};

std::string_view merge_key_of(std::string_view list) {
  const auto* found = std::ranges::find(merge_keys, list, &MergeKey::list);
  return found == merge_keys.end() ? std::string_view{} : found->key;
}

bool is_zero(const json::Value& value) {
  if (value.is_object())
    return std::ranges::all_of(value.members(), [](const json::Member& each) { return is_zero(each.value); });
  return !value.boolean() && value.number() == 0 && value.string().empty() && value.items().empty();
}

/// The path is built on the way back from the difference, so that equal objects cost no string.
void put_before(std::string& path, std::string_view link) {
  path = path.empty() || path.front() == '[' ? std::string(link) + path : std::string(link) + "." + path;
}

bool differs(const json::Value& desired, const json::Value& live, std::string_view name, std::string& path);

bool member_differs(const json::Member& wanted, const json::Value& live, std::string& path) {
  const json::Value* found = live.find(wanted.key);
  const bool difference = found == nullptr ? !is_zero(wanted.value) : differs(wanted.value, *found, wanted.key, path);
  if (difference) put_before(path, wanted.key);
  return difference;
}

const json::Value* item_with(const json::Value& list, std::string_view key, std::string_view value) {
  for (const json::Value& item : list.items())
    if (const json::Value* found = item.find(key); found != nullptr && found->string() == value) return &item;
  return nullptr;
}

bool named_item_differs(const json::Value& wanted, const json::Value& live, std::string_view key, std::string& path) {
  const json::Value* identity = wanted.find(key);
  if (identity == nullptr || !identity->is_string()) return true;
  const json::Value* found = item_with(live, key, identity->string());
  if (found != nullptr && !differs(wanted, *found, {}, path)) return false;
  put_before(path, "[" + std::string(identity->string()) + "]");
  return true;
}

bool list_differs(const json::Value& desired, const json::Value& live, std::string_view name, std::string& path) {
  if (const std::string_view key = merge_key_of(name); !key.empty())
    return std::ranges::any_of(desired.items(),
                               [&](const json::Value& item) { return named_item_differs(item, live, key, path); });
  if (desired.items().size() != live.items().size()) return true;
  for (std::size_t i = 0; i < desired.items().size(); ++i) {
    if (!differs(desired.items()[i], live.items()[i], {}, path)) continue;
    put_before(path, "[" + std::to_string(i) + "]");
    return true;
  }
  return false;
}

bool differs(const json::Value& desired, const json::Value& live, std::string_view name, std::string& path) {
  if (desired.is_object() && live.is_object())
    return std::ranges::any_of(desired.members(),
                               [&](const json::Member& each) { return member_differs(each, live, path); });
  if (desired.is_array() && live.is_array()) return list_differs(desired, live, name, path);
  return !json::equal(desired, live);
}

}  // namespace

std::optional<std::string> first_difference(const json::Value& desired, const json::Value& live) {
  std::string path;
  for (const json::Member& each : desired.members())
    if (each.key != "apiVersion" && each.key != "kind" && member_differs(each, live, path)) return path;
  return std::nullopt;
}

}  // namespace stackgate::reconcile
