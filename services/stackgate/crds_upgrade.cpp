#include "services/stackgate/crds_upgrade.hpp"

#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/kube/object.hpp"

namespace stackgate::crds_upgrade {
namespace {

using json::Value;

constexpr std::string_view rules_key = "x-kubernetes-validations";

const Value* version_named(const Value& versions, std::string_view name) {
  for (const Value& each : versions.items())
    if (json::text(&each, {"name"}) == name) return &each;
  return nullptr;
}

/// A value as a line can hold it, or nothing.
std::string short_text(const Value& value) {
  if (value.is_object() || value.is_array()) return {};
  std::string text = json::to_json(value);
  return text.size() <= 40 ? text : std::string();
}

class Comparison {
 public:
  std::vector<std::string> lines;

  /// Members of any object that is no schema.
  void members(const std::string& path, const Value& before, const Value& after) {
    for (const json::Member& member : before.members()) {
      const std::string each = path.empty() ? std::string(member.key) : path + "." + std::string(member.key);
      const Value* now = after.find(member.key);
      if (now == nullptr)
        lines.push_back("- " + each);
      else if (member.key == "versions")
        versions(member.value, *now);
      else if (member.value.is_object() && now->is_object())
        members(each, member.value, *now);
      else
        changed(each, "", member.value, *now);
    }
    for (const json::Member& member : after.members())
      if (before.find(member.key) == nullptr)
        lines.push_back("+ " + (path.empty() ? std::string(member.key) : path + "." + std::string(member.key)));
  }

 private:
  void versions(const Value& before, const Value& after) {
    for (const Value& each : before.items())
      if (version_named(after, json::text(&each, {"name"})) == nullptr)
        lines.push_back(fmt::format("- version {}", json::text(&each, {"name"})));
    for (const Value& each : after.items()) {
      const std::string_view name = json::text(&each, {"name"});
      const Value* was = version_named(before, name);
      if (was == nullptr)
        lines.push_back(fmt::format("+ version {}", name));
      else
        version(fmt::format("version {}", name), *was, each);
    }
  }

  void version(const std::string& path, const Value& before, const Value& after) {
    static const Value nothing{};
    const Value* was = json::at(&before, {"schema", "openAPIV3Schema"});
    const Value* now = json::at(&after, {"schema", "openAPIV3Schema"});
    for (const json::Member& member : before.members()) {
      const Value* other = after.find(member.key);
      if (member.key != "schema") changed(path, member.key, member.value, other == nullptr ? nothing : *other);
    }
    for (const json::Member& member : after.members())
      if (before.find(member.key) == nullptr && member.key != "schema")
        changed(path, member.key, nothing, member.value);
    schema("", was == nullptr ? nothing : *was, now == nullptr ? nothing : *now);
  }

  /// `path` is that of the field in a resource; empty for the resource itself.
  void schema(const std::string& path, const Value& before, const Value& after) {
    static const Value nothing{};
    const auto keyword = [&](std::string_view key) {
      const Value* was = before.find(key);
      const Value* now = after.find(key);
      if (key == "properties")
        properties(path, was == nullptr ? nothing : *was, now == nullptr ? nothing : *now);
      else if (was != nullptr && now != nullptr && was->is_object() && now->is_object() &&
               (key == "items" || key == "additionalProperties"))
        schema(path + (key == "items" ? "[]" : "[*]"), *was, *now);
      else
        changed(path.empty() ? "the resource" : path, key, was == nullptr ? nothing : *was,
                now == nullptr ? nothing : *now);
    };
    for (const json::Member& member : before.members()) keyword(member.key);
    for (const json::Member& member : after.members())
      if (before.find(member.key) == nullptr) keyword(member.key);
  }

  void properties(const std::string& path, const Value& before, const Value& after) {
    const auto field = [&](std::string_view name) {
      return path.empty() ? std::string(name) : path + "." + std::string(name);
    };
    for (const json::Member& member : before.members()) {
      if (const Value* now = after.find(member.key))
        schema(field(member.key), member.value, *now);
      else
        lines.push_back(
            fmt::format("- {} (stored values are dropped when their resources are next written)", field(member.key)));
    }
    for (const json::Member& member : after.members())
      if (before.find(member.key) == nullptr) lines.push_back("+ " + field(member.key));
  }

  void changed(const std::string& path, std::string_view key, const Value& before, const Value& after) {
    if (json::equal(before, after)) return;
    std::string line = "~ " + path;
    if (!key.empty()) line += fmt::format(": {}", key == rules_key ? "rules" : key);
    const std::string was = before.is_null() ? "none" : short_text(before);
    const std::string now = after.is_null() ? "none" : short_text(after);
    if (key != "description" && !was.empty() && !now.empty())
      line += fmt::format("{} {} -> {}", key.empty() ? ":" : "", was, now);
    lines.push_back(std::move(line));
  }
};

void write_without_rules(json::Writer& w, const Value& value) {
  if (value.is_object()) {
    w.object([&] {
      for (const json::Member& member : value.members()) {
        if (member.key == rules_key) continue;
        w.key(member.key);
        write_without_rules(w, member.value);
      }
    });
  } else if (value.is_array()) {
    w.array([&] {
      for (const Value& each : value.items()) write_without_rules(w, each);
    });
  } else {
    w.value(value);
  }
}

}  // namespace

std::optional<std::string> refusal(const Value& stored, const Value& wanted) {
  const std::string_view name = kube::metadata(stored, "name");
  if (!kube::metadata(stored, "deletionTimestamp").empty())
    return fmt::format("{} is being deleted, with all its resources; try again when it is gone", name);
  const Value* wanted_versions = json::at(&wanted, {"spec", "versions"});
  std::vector<std::string> lost;
  for (const Value& each : json::items(&stored, {"status", "storedVersions"}))
    if (wanted_versions == nullptr || version_named(*wanted_versions, each.string()) == nullptr)
      lost.emplace_back(each.string());
  if (!lost.empty())
    return fmt::format(
        "{} has resources stored as {}, a version that this program does not know: an older program than the one that "
        "wrote them? Use a newer one, or write every resource anew in a version that it knows and then take {} out of "
        "status.storedVersions",
        name, fmt::join(lost, ", "), fmt::join(lost, ", "));
  for (const json::MemberPath path :
       {json::MemberPath{"spec", "scope"}, {"spec", "group"}, {"spec", "names", "kind"}, {"spec", "names", "plural"}})
    if (json::text(&stored, path) != json::text(&wanted, path))
      return fmt::format("{} has {} {} and not {}: it is not ours; delete it, if you can do without its resources",
                         name, fmt::join(path, "."), json::text(&stored, path), json::text(&wanted, path));
  return std::nullopt;
}

std::vector<std::string> changes(const Value& before, const Value& after) {
  Comparison comparison;
  const Value* was = before.find("spec");
  const Value* now = after.find("spec");
  if (was != nullptr && now != nullptr) comparison.members("", *was, *now);
  return std::move(comparison.lines);
}

bool established(const Value& definition, std::string& why) {
  bool yes = false;
  for (const Value& each : json::items(&definition, {"status", "conditions"})) {
    const std::string_view type = json::text(&each, {"type"});
    const bool is = json::text(&each, {"status"}) == "True";
    if (type == "Established") yes = is;
    const bool bad = (type == "NamesAccepted" && !is) || (type == "NonStructuralSchema" && is);
    if (bad) why = fmt::format("{}: {}", json::text(&each, {"reason"}), json::text(&each, {"message"}));
  }
  return yes && why.empty();
}

bool knows_validation_rules(const Value& version) {
  const auto number = [&](std::string_view key) {
    const std::string_view text = json::text(&version, {key});  // "20+" at some providers
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  return number("major") > 1 || number("minor") >= 23;
}

std::string without_validation_rules(const Value& definition) {
  std::string out;
  json::Writer w(out);
  write_without_rules(w, definition);
  return out;
}

}  // namespace stackgate::crds_upgrade
