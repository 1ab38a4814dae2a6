#include "services/kit/json/write.hpp"
#include "tests/validators/rules/samples.hpp"

namespace stackgate::validate::tests {
namespace {

json::Value without_nulls(const json::Value& value, json::Arena& arena);

/// RFC 7386, section 2. The result shares what it can with its sources.
json::Value merge_patch(const json::Value& target, const json::Value& patch, json::Arena& arena) {
  if (!patch.is_object()) return patch;
  std::vector<json::Member> members;
  if (target.is_object()) {
    for (const json::Member& member : target.members()) {
      const json::Value* change = patch.find(member.key);
      if (change == nullptr) {
        members.push_back(member);
      } else if (!change->is_null()) {
        members.push_back({member.key, member.key_offset, merge_patch(member.value, *change, arena)});
      }
    }
  }
  for (const json::Member& member : patch.members()) {
    if (member.value.is_null() || target.find(member.key) != nullptr) continue;
    members.push_back({member.key, member.key_offset, without_nulls(member.value, arena)});
  }
  return json::Value::make_object(arena.copy(std::span<const json::Member>(members)), target.offset());
}

json::Value without_nulls(const json::Value& value, json::Arena& arena) {
  return value.is_object() ? merge_patch(json::Value{}, value, arena) : value;
}

}  // namespace

Sample::Sample(std::string yaml) : text_(std::move(yaml)), stream_(yaml::parse(text_)) {
  if (stream_.failed) throw std::runtime_error(stream_.error.message + " in\n" + text_);
  if (stream_.documents.empty()) throw std::runtime_error("no document in\n" + text_);
  root_ = stream_.documents.front().root;
}

Sample::Sample(const json::Value& base, const json::Value& patch) : root_(merge_patch(base, patch, patched_.arena)) {}

namespace {

/// Keeps base and patch alive beside the object made of them.
struct Patched {
  Sample base, patch, whole;
  Patched(std::string base_text, std::string patch_text)
      : base(std::move(base_text)), patch(std::move(patch_text)), whole(base.value(), patch.value()) {}
};

}  // namespace

std::unique_ptr<Sample> sample(crds::Kind kind, std::string_view patch) {
  const Patched parts(std::string(crds::minimal_sample(kind)), std::string(patch));
  return std::make_unique<Sample>(json::to_json(parts.whole.value()));
}

Findings review_of(crds::Kind kind, std::string_view patch) {
  const auto object = sample(kind, patch);
  return review({.kind = kind, .object = &object->value(), .old = nullptr, .ns = "default"}, nullptr);
}

Findings review_of_update(crds::Kind kind, std::string_view old_patch, std::string_view patch) {
  const auto old = sample(kind, old_patch);
  const auto object = sample(kind, patch);
  return review({.kind = kind, .object = &object->value(), .old = &old->value(), .ns = "default"}, nullptr);
}

std::vector<std::string> short_form(const Findings& findings) {
  std::vector<std::string> lines;
  for (const Finding& each : findings)
    lines.push_back((each.severity == Severity::error ? "error " : "warning ") + each.path + " " +
                    std::string(each.rule));
  return lines;
}

}  // namespace stackgate::validate::tests
