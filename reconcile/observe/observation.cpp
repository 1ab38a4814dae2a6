#include "reconcile/observe/observation.hpp"

#include <algorithm>

#include "reconcile/ownership.hpp"
#include "reconcile/plan/stack_common.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/kube/object.hpp"

namespace stackgate::reconcile {
namespace {

constexpr ChildType claim_type = ChildType::persistent_volume_claim;
constexpr auto claim_kind = validate::ReferenceKind::persistent_volume_claim;

/// Null when there is none.
kube::Object stored_resource(const Store& store, crds::Kind kind, std::string_view ns, std::string_view name) {
  const auto stored = name.empty() ? nullptr : store.state().resource(kind, ns, name);
  bool valid = false;
  return stored == nullptr ? kube::Object() : kube::Object::parse(*stored->json, valid);
}

}  // namespace

Observation::Observation(const Store& store, const Key& key) : snapshot_(store.snapshot(key)), is_there_(load(key)) {
  if (!is_there_) return;
  load_children();
  gather_inputs(store);
  if (key.kind == crds::Kind::inference_service) gather_cache(store);
  gather_datastore(store);
  gather_claims(store);
}

bool Observation::load(const Key& key) {
  json::Document& document = documents_.emplace_back();
  if (!snapshot_.resource || !json::parse(*snapshot_.resource->json, document)) return false;
  static const json::Value empty = json::Value::make_object({}, 0);
  const json::Value* spec = document.root.find("spec");
  resource_ = {.kind = key.kind,
               .ns = key.ns,
               .name = key.name,
               .uid = snapshot_.resource->uid,
               .generation = snapshot_.resource->generation,
               .deleting = json::at(&document.root, {"metadata", "deletionTimestamp"}) != nullptr,
               .object = &document.root,
               .spec = spec == nullptr ? &empty : spec,
               .status = document.root.find("status")};
  return true;
}

void Observation::load_children() {
  for (const StoredChild& child : snapshot_.children) {
    json::Document& parsed = documents_.emplace_back();
    if (json::parse(*child.json, parsed))
      children_.push_back({child.type, child.name, &parsed.root, child.owner_uid == resource_.uid});
  }
}

void Observation::add_input(const Store& store, InputFacts input) {
  references_.push_back(reference(info(input.type).plural, resource_.ns, input.name));
  const auto kind =
      input.type == ChildType::secret ? validate::ReferenceKind::secret : validate::ReferenceKind::config_map;
  if (const Text hash = store.state().contents(kind, resource_.ns, input.name)) input.content_hash = *hash;
  inputs_.push_back(std::move(input));
}

void Observation::gather_inputs(const Store& store) {
  for (InputFacts& input : inputs_of(resource_.kind, *resource_.spec)) add_input(store, std::move(input));
}

/// What a service needs to know of its cache.
void Observation::gather_cache(const Store& store) {
  const auto names = names_of(validate::ReferenceKind::inference_cache, resource_.kind, *resource_.spec);
  if (names.empty()) return;
  const auto stored = stored_resource(store, crds::Kind::inference_cache, resource_.ns, names.front());
  const json::Value* cache = &stored.root();
  if (cache->is_null()) return;
  cache_ = {.exists = true,
            .state = std::string(json::text(cache, {"status", "state"})),
            .claim = std::string(json::text(cache, {"status", "pvc"})),
            .sub_path = std::string(json::text(cache, {"spec", "storage", "pvc", "subPath"})),
            .message = std::string(json::text(condition_of(cache, "Ready"), {"message"}))};
}

/// The administrator's Secret of the StackDatastore that an entitystore keeps its files in, and an evaluator or a
/// customizer reads data sets of, when that is one of this namespace.
void Observation::gather_datastore(const Store& store) {
  const auto name = stack::datastore_named(resource_.spec, resource_.ns);
  if (name.empty()) return;
  references_.push_back(reference(crds::info(crds::Kind::stack_datastore).plural, resource_.ns, name));
  datastore_admin_ =
      stack::admin_secret_of(stored_resource(store, crds::Kind::stack_datastore, resource_.ns, name).root());
  if (!datastore_admin_.empty()) add_input(store, {.type = ChildType::secret, .name = datastore_admin_});
}

/// Claims that pods of the resource may mount although it does not make them.
void Observation::gather_claims(const Store& store) {
  std::vector<std::string> names = names_of(claim_kind, resource_.kind, *resource_.spec);
  if (!cache_.claim.empty()) names.push_back(cache_.claim);
  for (const std::string& name : names) {
    references_.push_back(reference(info(claim_type).plural, resource_.ns, name));
    const Text text = store.state().contents(claim_kind, resource_.ns, name);
    const bool is_child = std::ranges::any_of(
        children_, [&](const LiveChild& each) { return each.type == claim_type && each.name == name; });
    if (text == nullptr || is_child) continue;
    json::Document& parsed = documents_.emplace_back();
    if (!json::parse(*text, parsed)) continue;
    claims_.push_back(text);
    children_.push_back({claim_type, json::text(&parsed.root, {"metadata", "name"}), &parsed.root, false});
  }
}

Observed Observation::observed(const Served& served, std::span<const validate::Finding> findings) const {
  return {.children = children_,
          .pods = snapshot_.pods,
          .inputs = inputs_,
          .cache = cache_,
          .datastore_admin = datastore_admin_,
          .served = served,
          .findings = findings};
}

const StoredChild* Observation::stored(ChildType type, std::string_view name) const {
  const auto found = std::ranges::find_if(
      snapshot_.children, [&](const StoredChild& each) { return each.type == type && each.name == name; });
  return found == snapshot_.children.end() ? nullptr : &*found;
}

FoundChild Observation::find(ChildType type, std::string_view name) const {
  const StoredChild* held = stored(type, name);
  const auto live =
      std::ranges::find_if(children_, [&](const LiveChild& each) { return each.type == type && each.name == name; });
  if (held == nullptr || live == children_.end()) return {};  // there is none, or it is a claim that is only named
  return {.object = live->object,
          .ownership = ownership_of(*live->object, resource_.kind, resource_.name, resource_.uid),
          .ours = held->managed};
}

}  // namespace stackgate::reconcile
