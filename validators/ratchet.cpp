#include "validators/ratchet.hpp"

#include <algorithm>
#include <unordered_map>

#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"
#include "validators/rules/last_applied.hpp"
#include "validators/schemas.hpp"

namespace stackgate::validate {
namespace {

struct Place {
  std::string name;                    // the path with list items named by their keys
  const json::Value* value = nullptr;  // what stands there now
};

/// The length of the member name or index that `rest` (behind '.' or '[') begins with. A name in brackets may itself
/// hold brackets: the longest that is a member wins.
struct Step {
  std::string_view name;
  std::string_view rest;
  bool bracketed = false;
};

Step take_step(std::string_view path, const json::Value* value) {
  if (path.starts_with('[')) {
    std::size_t end = path.find(']');
    if (value != nullptr && value->is_object()) {
      for (std::size_t longer = end; longer != std::string_view::npos; longer = path.find(']', longer + 1))
        if (value->find(path.substr(1, longer - 1)) != nullptr) end = longer;
    }
    if (end == std::string_view::npos) end = path.size();
    return {path.substr(1, end - 1), path.substr(std::min(end + 1, path.size())), true};
  }
  if (path.starts_with('.')) path.remove_prefix(1);
  const std::size_t end = std::min(path.find_first_of(".["), path.size());
  return {path.substr(0, end), path.substr(end), false};
}

std::string item_name(const json::Value& item, const schema::Node* list) {
  if (list != nullptr && list->list_type == schema::ListType::map && item.is_object()) {
    std::string name;
    for (const std::string_view key : list->list_keys) {
      const json::Value* part = item.find(key);
      name.append(key).append("=").append(part == nullptr ? "" : json::to_json(*part)).append(",");
    }
    return name;
  }
  return json::to_json(item);
}

Place locate_path(std::string_view path, const json::Value& object, const schema::Node* node) {
  Place place{.name = {}, .value = &object};
  while (!path.empty()) {
    const Step step = take_step(path, place.value);
    if (step.rest.size() >= path.size()) break;  // nothing taken: not a path of ours
    if (place.value != nullptr && place.value->is_array() && step.bracketed) {
      std::size_t index = 0;
      for (const char c : step.name) index = index * 10 + static_cast<std::size_t>(c - '0');
      const auto items = place.value->items();
      place.value = index < items.size() ? &items[index] : nullptr;
      place.name.append("[").append(place.value == nullptr ? step.name : item_name(*place.value, node)).append("]");
      node = node == nullptr ? nullptr : node->items;
    } else {
      place.value = place.value == nullptr ? nullptr : place.value->find(step.name);
      place.name.append(".").append(step.name);
      if (node != nullptr) {
        const schema::Node* child = node->property(step.name);
        node = child == nullptr ? node->additional : child;
      }
    }
    path = step.rest;
  }
  return place;
}

bool same_value(const json::Value* a, const json::Value* b) {
  const bool no_a = a == nullptr || a->is_null();
  const bool no_b = b == nullptr || b->is_null();
  return no_a || no_b ? no_a == no_b : json::equal(*a, *b);
}

/// A problem's words without positions: "[3]" of a list item that has moved reads "[1]" before.
std::string without_positions(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '[')
      while (i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9') ++i;
  }
  return out;
}

}  // namespace

bool nothing_to_review(const Request& request) {
  if (!json::value_at(request.object, {"metadata", "deletionTimestamp"}).is_null()) return true;
  if (request.old == nullptr) return false;
  // Members beside metadata, spec and status (a misspelt "sepc") count too; the API server would have pruned them.
  for (const json::Member& member : request.object->members())
    if (member.key != "metadata" && member.key != "status" && !same_value(&member.value, request.old->find(member.key)))
      return false;
  for (const json::Member& member : request.old->members())
    if (member.key != "metadata" && member.key != "status" && request.object->find(member.key) == nullptr &&
        !member.value.is_null())
      return false;
  return same_value(last_applied(*request.object), last_applied(*request.old)) &&
         same_value(json::at(request.object, {"metadata", "labels"}), json::at(request.old, {"metadata", "labels"}));
}

void ratchet(const Request& request, Findings& findings, const Findings& before) {
  if (before.empty()) return;
  const schema::Node* node = &schema_of(request.kind).root();
  struct Known {
    const Finding* finding;
    Place place;
  };
  std::unordered_multimap<std::string, Known> known;
  for (const Finding& each : before) {
    Place place = locate_path(each.path, *request.old, node);
    std::string name = place.name;
    known.emplace(std::move(name), Known{&each, std::move(place)});
  }
  for (Finding& each : findings) {
    if (each.severity != Severity::error) continue;
    const Place place = locate_path(each.path, *request.object, node);
    const auto [first, last] = known.equal_range(place.name);
    const bool untouched = std::any_of(first, last, [&](const auto& entry) {
      const Known& was = entry.second;
      return was.finding->rule == each.rule && same_value(was.place.value, place.value) &&
             without_positions(was.finding->problem) == without_positions(each.problem);
    });
    if (untouched) each.severity = Severity::warning;
  }
}

}  // namespace stackgate::validate
