#include "services/stackgate/validate/check.hpp"

#include <exception>
#include <memory>
#include <utility>

#include "services/kit/yaml/lines.hpp"
#include "services/stackgate/validate/document_rules.hpp"
#include "services/stackgate/validate/parallel.hpp"
#include "validators/rule_ids.hpp"
#include "validators/rulebook.hpp"

namespace stackgate {

namespace {

std::string_view member_text(const json::Value& object, std::string_view key) {
  const json::Value* const value = object.find(key);
  return value == nullptr ? std::string_view{} : value->string();
}

/// The items of a List (of any kind: InferenceServiceList, too), or the object itself.
void add_objects(const json::Value& object, std::vector<CheckedObject>& out) {
  const json::Value* const items = object.find("items");
  if (items != nullptr && items->is_array() && member_text(object, "kind").ends_with("List")) {
    for (const json::Value& item : items->items()) add_objects(item, out);
    return;
  }
  CheckedObject& added = out.emplace_back();
  added.object = &object;
  if (member_text(object, "apiVersion") == crds::api_group_version)
    added.kind = crds::kind_named(member_text(object, "kind"));
}

/// Rules give the place of the field; of a scalar that is there, its value is the better place to point at.
const json::Member* member_at(const json::Value& value, std::uint32_t key_offset) {
  for (const json::Member& member : value.members()) {
    if (member.key_offset == key_offset) return &member;
    if (const json::Member* found = member_at(member.value, key_offset)) return found;
  }
  for (const json::Value& item : value.items())
    if (const json::Member* found = member_at(item, key_offset)) return found;
  return nullptr;
}

std::uint32_t best_offset(const validate::Finding& finding, const json::Value& object) {
  if (finding.value.empty()) return finding.offset;
  const json::Member* const member = member_at(object, finding.offset);
  if (member == nullptr || member->value.is_object() || member->value.is_array()) return finding.offset;
  return member->value.offset();
}

}  // namespace

CheckedSet::CheckedSet(std::vector<Input> inputs, std::vector<Input> old, const ValidateOptions& options,
                       validate::Lookup* cluster)
    : options_(options), ns_(options_.ns.empty() ? std::string_view("default") : std::string_view(options_.ns)) {
  load(std::move(inputs), files_);
  load(std::move(old), old_files_);
  match_old(old_files_);
  for (const CheckedFile& file : files_)
    for (const CheckedObject& each : file.objects) local_.add(*each.object, ns_);

  std::vector<CheckedObject*> all;
  for (CheckedFile& file : files_)
    for (CheckedObject& each : file.objects) all.push_back(&each);
  for_each_index(all.size(), cluster == nullptr ? options_.jobs : 1, [&](std::size_t i) { review(*all[i], cluster); });

  for (const CheckedFile& file : old_files_) {
    if (file.input.problem.empty() && !file.stream.failed) continue;
    write_report(file);
  }
  for (const CheckedFile& file : files_) write_report(file);
}

void CheckedSet::load(std::vector<Input> inputs, std::deque<CheckedFile>& files) const {
  for (Input& input : inputs) files.emplace_back().input = std::move(input);
  for_each_index(files.size(), options_.jobs, [&](std::size_t i) {
    CheckedFile& file = files[i];
    file.stream = yaml::parse(file.input.text);
    for (const json::Document& document : file.stream.documents) add_objects(document.root, file.objects);
  });
}

CheckedSet::Identity CheckedSet::identity_of(crds::Kind kind, const CheckedObject& object) const {
  return {kind, std::string(namespace_of(*object.object, ns_)), std::string(name_of(*object.object))};
}

void CheckedSet::match_old(std::deque<CheckedFile>& old) {
  std::map<Identity, const json::Value*> stored;
  for (const CheckedFile& file : old)
    for (const CheckedObject& each : file.objects)
      if (each.kind) stored.insert_or_assign(identity_of(*each.kind, each), each.object);
  if (stored.empty()) return;
  for (CheckedFile& file : files_) {
    for (CheckedObject& each : file.objects) {
      if (!each.kind) continue;
      const auto found = stored.find(identity_of(*each.kind, each));
      if (found != stored.end()) each.old = found->second;
    }
  }
}

void CheckedSet::review(CheckedObject& object, validate::Lookup* cluster) const {
  if (!object.kind) {
    object.findings = check_document(*object.object, options_.strict);
    return;
  }
  LocalLookup lookup(local_, cluster, *object.kind, name_of(*object.object));
  try {
    object.findings = validate::review({*object.kind, object.object, object.old, ns_}, &lookup, options_.rules);
  } catch (const std::exception& fault) {
    object.findings.push_back({internal_rule.id, internal_rule.severity, "", "", fault.what(),
                               "please report this, with the resource", object.object->offset()});
  }
  // Without a cluster nearly every resource refers to something unknown: that is said once, at the end.
  if (cluster == nullptr) {
    object.references_unknown = std::erase_if(object.findings, [](const validate::Finding& finding) {
                                  return finding.rule == validate::rule::reference_unchecked.id;
                                }) > 0;
  }
}

void CheckedSet::write_report(const CheckedFile& file) {
  std::optional<yaml::Lines> lines;  // only for files with findings
  const auto add = [&](validate::Finding finding, const CheckedObject* object) {
    Entry entry;
    entry.file = file.input.name;
    if (file.input.problem.empty()) {
      if (!lines) lines.emplace(file.input.text);
      const yaml::Place place =
          lines->locate(object == nullptr ? finding.offset : best_offset(finding, *object->object));
      entry.line = place.line;
      entry.column = place.column;
      entry.source = place.text;
      entry.end_column = token_end(place.text, place.column);
    }
    if (object != nullptr && object->object->is_object()) {
      entry.kind = member_text(*object->object, "kind");
      entry.ns = object->kind ? namespace_of(*object->object, options_.ns) : namespace_of(*object->object, {});
      entry.name = name_of(*object->object);
    }
    ++(finding.severity == validate::Severity::error ? report_.errors : report_.warnings);
    entry.finding = std::move(finding);
    report_.entries.push_back(std::move(entry));
  };

  for (const CheckedObject& each : file.objects) {
    ++(each.kind || !each.findings.empty() ? report_.documents : report_.passed_over);
    if (each.old != nullptr) ++report_.updates;
    report_.references_unknown = report_.references_unknown || each.references_unknown;
    for (const validate::Finding& finding : each.findings) add(finding, &each);
  }
  if (!file.input.problem.empty()) {
    add({unreadable_rule.id, unreadable_rule.severity, "", "", "cannot be read: " + file.input.problem, "", 0},
        nullptr);
    report_.unreadable = true;
  } else if (file.stream.failed) {
    add({unreadable_rule.id, unreadable_rule.severity, "", "", file.stream.error.message, "", file.stream.error.offset},
        nullptr);
    report_.unreadable = true;
  }
}

}  // namespace stackgate
