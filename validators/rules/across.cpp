// What two resources of one namespace do to each other.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "validators/children.hpp"
#include "validators/rules/claim_growth.hpp"
#include "validators/rules/kinds.hpp"
#include "validators/rules/references_ask.hpp"

namespace stackgate::validate {
namespace across {

using crds::Kind;

constexpr std::string_view claim_kind = "PersistentVolumeClaim";
constexpr std::string_view allow_deletion = "stackgate.dev/allow-delete-while-used";
constexpr std::size_t most_users_named = 10;

std::string describe(const Neighbour& neighbour) {
  return fmt::format("{} \"{}\"", crds::info(neighbour.kind).name, neighbour.name);
}

/// "Deployment", "Deployment and Service", "Deployment, Service and Role".
std::string list_kinds(const std::vector<std::string_view>& kinds) {
  std::string out;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (i > 0) out += i + 1 == kinds.size() ? " and " : ", ";
    out += kinds[i];
  }
  return out;
}

/// The kind whose image tag should be the same.
std::optional<Kind> same_tag_kind(Kind kind) {
  if (kind == Kind::stack_entitystore) return Kind::stack_customizer;
  if (kind == Kind::stack_customizer) return Kind::stack_entitystore;
  return std::nullopt;
}

void check_tags(Context& context, const Field& object, const std::vector<Neighbour>& neighbours) {
  const std::optional<Kind> other = same_tag_kind(context.request.kind);
  if (!other) return;
  const Field tag = object["spec"]["image"]["tag"];
  const auto own = tag.text();
  if (!own || own->empty()) return;
  const Neighbour* different = nullptr;
  for (const Neighbour& each : neighbours) {
    if (each.kind != *other || each.image_tag.empty()) continue;
    if (each.image_tag == *own) return;
    if (different == nullptr) different = &each;
  }
  if (different == nullptr) return;
  context.report(rule::entitystore_tag_differs, tag,
                 fmt::format("{} has the image tag {}", describe(*different), different->image_tag),
                 "give the entitystore and the customizer the same tag");
}

/// The field to blame for a child's name.
Field name_field(Kind kind, const Field& object, std::string_view child) {
  if (kind == Kind::inference_pipeline)
    for (const Field entry : object["spec"]["services"].items())
      if (entry["name"].text() == child) return entry["name"];
  return object["metadata"]["name"];
}

Field claim_field(Kind kind, const Field& spec) {
  const Field claim = own_claim(kind, spec);
  return claim["name"] ? claim["name"] : claim;
}

/// The InferencePipeline that made the object and may have made its children's namesakes.
std::string_view pipeline_of(const Field& object) {
  for (const Field owner : object["metadata"]["ownerReferences"].items())
    if (owner["kind"].text() == crds::info(Kind::inference_pipeline).name) return owner["name"].text().value_or("");
  return {};
}

/// One finding for each name that this neighbour's objects take.
void check_names(Context& context, const Field& object,
                 const std::set<std::pair<std::string_view, std::string_view>>& own, const Neighbour& neighbour) {
  const Kind kind = context.request.kind;
  std::map<std::string_view, std::vector<std::string_view>> taken;  // name → kinds
  const std::string_view neighbour_kind = crds::info(neighbour.kind).name;
  if (own.contains({neighbour_kind, neighbour.name})) taken[neighbour.name].push_back(neighbour_kind);
  for (const auto& [child_kind, child_name] : neighbour.children) {
    if (!own.contains({child_kind, child_name})) continue;
    if (child_kind != claim_kind) {
      taken[child_name].push_back(child_kind);
      continue;
    }
    const Field at = claim_field(kind, object["spec"]);
    context.report(rule::claim_name_taken, at,
                   fmt::format("the claim \"{}\" is created by {}", child_name, describe(neighbour)),
                   "write another name, or create: false to share that claim");
  }
  for (const auto& [name, kinds] : taken) {
    const Field at = name_field(kind, object, name);
    context.report(rule::child_name_taken, at,
                   fmt::format("{} has the {} \"{}\" already, which this resource would create", describe(neighbour),
                               list_kinds(kinds), name),
                   "choose another name for one of the two");
  }
}

void check_collisions(Context& context, const Field& object, const std::vector<Child>& children,
                      const std::vector<Neighbour>& neighbours) {
  const Kind kind = context.request.kind;
  const auto name = object["metadata"]["name"].text();
  if (!name || name->empty()) return;
  std::set<std::pair<std::string_view, std::string_view>> own;
  for (const Child& child : children) own.emplace(child.kind, child.name);
  own.emplace(crds::info(kind).name, *name);
  const std::string_view made_by = pipeline_of(object);
  for (const Neighbour& each : neighbours) {
    if (each.kind == kind && each.name == *name) continue;  // the resource itself, as it is stored
    const bool made_by_it = each.kind == Kind::inference_pipeline && !made_by.empty() && each.name == made_by;
    // Whether this pipeline made it may not be known: then it is not blamed.
    const bool makes_it = kind == Kind::inference_pipeline && each.kind == Kind::inference_service &&
                          (!each.owner || *each.owner == *name);
    if (!made_by_it && !makes_it) check_names(context, object, own, each);
  }
}

void report_unasked(Context& context, const Field& object, std::string_view what) {
  context.report(rule::reference_unchecked, object["metadata"]["name"],
                 fmt::format("the cluster could not be asked {}", what),
                 "look at the other resources of the namespace yourself: `kubectl get stackgate`");
}

}  // namespace across

void check_neighbours(Context& context, Field object) {
  if (context.lookup == nullptr) return;
  const crds::Kind kind = context.request.kind;
  const std::string_view name = object["metadata"]["name"].text().value_or("");
  const json::Value* spec = object["spec"].value();
  std::vector<Child> children;
  if (!name.empty() && spec != nullptr) children = children_of(kind, name, *spec);
  Wanted wanted{.kind = across::same_tag_kind(kind)};
  if (!name.empty()) wanted.names.push_back(name);
  for (const Child& child : children)
    if (!wanted.has_name(child.name)) wanted.names.push_back(child.name);

  std::vector<Neighbour> neighbours;
  if (!context.lookup->wanted_neighbours(namespace_of(context, object), wanted, neighbours))
    return across::report_unasked(context, object, "whether another resource creates the same objects");
  across::check_tags(context, object, neighbours);
  if (spec != nullptr) across::check_collisions(context, object, children, neighbours);
}

void check_deletion(Context& context, Field object) {
  using namespace across;
  if (context.lookup == nullptr || context.request.kind != crds::Kind::inference_cache) return;
  const Field metadata = object["metadata"];
  if (metadata["deletionTimestamp"]) return;  // under way already
  const auto name = metadata["name"].text();
  if (!name || name->empty() || metadata["annotations"][allow_deletion].text() == "true") return;
  std::vector<Neighbour> neighbours;
  if (!context.lookup->wanted_neighbours(namespace_of(context, object), Wanted{.users_of = name}, neighbours))
    return report_unasked(context, object, "whether an InferenceService uses this cache");
  std::vector<std::string_view> users;
  for (const Neighbour& each : neighbours)
    if (each.kind == crds::Kind::inference_service && each.cache == *name) users.push_back(each.name);
  if (users.empty()) return;
  std::ranges::sort(users);
  std::string names;
  for (std::size_t i = 0; i < std::min(users.size(), most_users_named); ++i)
    fmt::format_to(std::back_inserter(names), "{}{}", i == 0 ? "" : ", ", users[i]);
  if (users.size() > most_users_named)
    fmt::format_to(std::back_inserter(names), " and {} more", users.size() - most_users_named);
  context.report(
      rule::deletion_of_used_cache, metadata["name"],
      fmt::format("the model on its claim would be deleted, and {} {} it: {}",
                  users.size() == 1 ? "an InferenceService" : fmt::format("{} InferenceServices", users.size()),
                  users.size() == 1 ? "uses" : "use", names),
      fmt::format("delete or change {} first, or set the annotation {}: \"true\" on the cache",
                  users.size() == 1 ? "it" : "them", allow_deletion));
}

}  // namespace stackgate::validate
