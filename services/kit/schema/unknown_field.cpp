// What is said about a field that the schema does not know.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/kit/findings/nearest.hpp"
#include "services/kit/grammar/characters.hpp"
#include "services/kit/schema/check.hpp"
#include "services/kit/schema/wording.hpp"

namespace stackgate::validate::schema {
namespace {

// The one member whose object has a field of this name: "probe" for periodSeconds.
std::string_view only_child_with(const Node& parent, std::string_view name) {
  std::string_view found;
  for (const Property& each : parent.properties) {
    if (each.name == "status" || each.node->find(name) == nullptr) continue;
    if (!found.empty()) return {};
    found = each.name;
  }
  return found;
}

// "image.pullSecrets" for imagePullSecret: a member's name and behind it a field of that member.
std::string field_of_named_child(const Node& parent, std::string_view name) {
  for (const Property& each : parent.properties) {
    if (name.size() <= each.name.size() || grammar::to_lower(name.substr(0, each.name.size())) != each.name) continue;
    const std::string_view rest = name.substr(each.name.size());
    if (!grammar::is_upper(rest[0])) continue;
    if (const std::string_view field = nearest(rest, known_names(*each.node)); !field.empty())
      return fmt::format("{}.{}", each.name, field);
  }
  return {};
}

}  // namespace

bool is_resource_without_side(const Node& parent, std::string_view name) {
  const Node* limits = parent.property("limits");
  if (limits == nullptr || limits->additional == nullptr || parent.find("requests") == nullptr) return false;
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" || name.starts_with("hugepages-") ||
         name.find('/') != std::string_view::npos;
}

Problem describe_unknown(const Node& parent, std::string_view name) {
  if (is_resource_without_side(parent, name)) return {"unknown field", "write it under limits"};
  if (const std::string_view like = similar_field(name, known_names(parent)); !like.empty())
    return {fmt::format("unknown field; did you mean \"{}\"?", like),
            fmt::format("write {}, or remove the field", like)};
  if (const std::string_view below = only_child_with(parent, name); !below.empty())
    return {fmt::format("unknown field; did you mean \"{}.{}\"?", below, name),
            fmt::format("write it under {}", below)};
  if (const std::string place = field_of_named_child(parent, name); !place.empty())
    return {fmt::format("unknown field; did you mean \"{}\"?", place),
            fmt::format("write {} under {}", place.substr(place.find('.') + 1), place.substr(0, place.find('.')))};
  const std::string names = field_names(parent);
  return {"unknown field", names.empty() ? "remove it: no field is known here"
                                         : fmt::format("remove it; the fields here are {}", names)};
}

bool is_misspelt(const Node& node, const json::Value& object, std::string_view name) {
  constexpr std::size_t most_members = 64;
  if (!object.is_object() || node.additional != nullptr || node.preserve_unknown || node.value_only) return false;
  const auto members = object.members();
  std::vector<std::string_view> known;
  for (const json::Member& member : members.first(std::min(most_members, members.size()))) {
    const bool meta =
        node.embedded_resource && (member.key == "apiVersion" || member.key == "kind" || member.key == "metadata");
    if (name == "limits" && is_resource_without_side(node, member.key)) return true;
    if (meta || node.find(member.key) != nullptr || similar_field(member.key, std::array{name}).empty()) continue;
    if (known.empty()) known = known_names(node);
    if (similar_field(member.key, known) == name) return true;
  }
  return false;
}

std::vector<std::string_view> known_names(const Node& node) {
  std::vector<std::string_view> known;
  for (const Property& each : node.properties) known.push_back(each.name);
  if (node.embedded_resource)
    for (const std::string_view each : {"apiVersion", "kind", "metadata"})
      if (std::ranges::find(known, each) == known.end()) known.push_back(each);
  return known;
}

}  // namespace stackgate::validate::schema
