// What two resources of one namespace do to each other.
#include <algorithm>
#include <map>
#include <optional>
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

/// What the resource would create, and which of its fields name it: changing that field takes the object elsewhere.
struct Own {
  struct Object {
    std::string_view kind;
    std::string name;
    std::size_t named_by;  // an index of fields
  };
  std::vector<Object> objects;  // in the order in which they are told of
  std::vector<Field> fields;
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> index;  // (kind, name) → of objects

  void add(const Field& named, std::string_view kind, const std::vector<Child>& children) {
    fields.push_back(named);
    objects.push_back({kind, std::string(*named.text()), fields.size() - 1});
    for (const Child& child : children) objects.push_back({child.kind, child.name, fields.size() - 1});
  }
};

/// `object` has a name.
Own own_objects(Kind kind, const Field& object, const std::vector<Child>& children) {
  Own out;
  const bool pipeline = kind == Kind::inference_pipeline;
  out.add(object["metadata"]["name"], crds::info(kind).name, pipeline ? std::vector<Child>{} : children);
  // A pipeline's services are named like their entries, and what they create is named after them.
  if (pipeline)
    for (const Field entry : object["spec"]["services"].items()) {
      const Field named = entry["name"];
      const json::Value* spec = entry["spec"].value();
      if (!named.text() || named.text()->empty() || spec == nullptr || !entry["enabled"].flag().value_or(true))
        continue;
      out.add(named, crds::info(Kind::inference_service).name,
              children_of(Kind::inference_service, *named.text(), *spec));
    }
  for (std::size_t i = 0; i < out.objects.size(); ++i)
    out.index.emplace(std::pair(out.objects[i].kind, std::string_view(out.objects[i].name)), i);
  return out;
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

/// The resource's objects that the neighbour has too, as indices in their order.
std::vector<std::size_t> common_objects(const Own& own, const Neighbour& neighbour) {
  std::vector<std::size_t> out;
  const auto add = [&](std::string_view kind, std::string_view name) {
    if (const auto found = own.index.find({kind, name}); found != own.index.end()) out.push_back(found->second);
  };
  add(crds::info(neighbour.kind).name, neighbour.name);
  for (const auto& [kind, name] : neighbour.children) add(kind, name);
  std::ranges::sort(out);
  const auto twice = std::ranges::unique(out);
  out.erase(twice.begin(), twice.end());
  return out;
}

/// `objects` are indices into `own`, at least one.
std::string describe_collision(const Own& own, const std::vector<std::size_t>& objects, const Neighbour& neighbour) {
  const Own::Object& first = own.objects[objects.front()];
  const std::string_view neighbour_kind = crds::info(neighbour.kind).name;
  std::string out;
  if (objects.front() == 0)
    out = fmt::format("{} creates an {} of this name, too", describe(neighbour), first.kind);
  else if (first.kind == neighbour_kind && first.name == neighbour.name)
    out = fmt::format("{} exists already, and this resource would create one", describe(neighbour));
  else
    out = fmt::format("{} has the {} \"{}\" already, which this resource would create", describe(neighbour), first.kind,
                      first.name);
  if (const std::size_t more = objects.size() - 1; more > 0)
    fmt::format_to(std::back_inserter(out), ", and {} more {} in common", more, more == 1 ? "object" : "objects");
  return out;
}

std::string cure_collision(Kind kind, const Neighbour& neighbour) {
  const std::string_view own = kind == Kind::inference_pipeline
                                   ? "give this service another name, also where others depend on it"
                                   : "choose another name";
  return neighbour.kind == Kind::inference_pipeline
             ? fmt::format("{}, or rename the service in {}", own, describe(neighbour))
             : fmt::format("{}, or rename {}", own, describe(neighbour));
}

/// One finding for each field that must change so that the two leave each other's objects alone: mostly one.
void check_names(Context& context, const Field& object, const Own& own, const Neighbour& neighbour) {
  const Kind kind = context.request.kind;
  std::map<std::size_t, std::vector<std::size_t>> found;  // field → objects
  std::vector<std::size_t> claims;
  for (const std::size_t at : common_objects(own, neighbour)) {
    const Own::Object& each = own.objects[at];
    if (each.kind == claim_kind)
      claims.push_back(at);
    else
      found[each.named_by].push_back(at);
  }
  for (const std::size_t at : claims) {
    const Field claim = claim_field(kind, object["spec"]);
    if (claim.key() != "name" && !found.empty()) {  // named after the resource: it goes along with the others
      found.begin()->second.push_back(at);
      continue;
    }
    context.report(rule::claim_name_taken, claim,
                   fmt::format("the claim \"{}\" is created by {}", own.objects[at].name, describe(neighbour)),
                   "write another name, or create: false to share that claim");
  }
  for (const auto& [field, objects] : found)
    context.report(rule::child_name_taken, own.fields[field], describe_collision(own, objects, neighbour),
                   cure_collision(kind, neighbour));
}

void check_collisions(Context& context, const Field& object, const std::vector<Child>& children,
                      const std::vector<Neighbour>& neighbours) {
  const Kind kind = context.request.kind;
  const auto name = object["metadata"]["name"].text();
  if (!name || name->empty() || neighbours.empty()) return;
  const Own own = own_objects(kind, object, children);
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
  NeighbourFilter wanted{.kind = across::same_tag_kind(kind)};
  if (!name.empty()) {
    wanted.names.push_back(name);
    wanted.itself = kind;
  }
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
  if (!context.lookup->wanted_neighbours(namespace_of(context, object), NeighbourFilter{.users_of = name}, neighbours))
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
