#include "services/stackgate/validate/check.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <iterator>
#include <map>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "services/kit/json/read.hpp"
#include "services/kit/kube/object.hpp"
#include "services/stackgate/validate/document_rules.hpp"
#include "services/stackgate/validate/syntax_cure.hpp"
#include "validators/rule_ids.hpp"
#include "validators/rulebook.hpp"

namespace stackgate {

namespace {

/// Calls body(0) … body(count - 1), each once, in any order, on some threads. `body` must not throw when `jobs` is
/// above 1.
template <class Body>
void for_each_index(std::size_t count, unsigned jobs, const Body& body) {
  constexpr std::size_t at_a_time = 16;
  const std::size_t threads = std::min<std::size_t>(jobs, (count + at_a_time - 1) / at_a_time);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    while (true) {
      const std::size_t first = next.fetch_add(at_a_time);
      if (first >= count) return;
      for (std::size_t i = first; i < std::min(count, first + at_a_time); ++i) body(i);
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
}

/// The items of a List (of any kind: InferenceServiceList, too), or the object itself.
void add_objects(const json::Value& object, std::vector<CheckedObject>& out) {
  const json::Value* const items = object.find("items");
  if (items != nullptr && items->is_array() && json::text(&object, {"kind"}).ends_with("List")) {
    for (const json::Value& item : items->items()) add_objects(item, out);
    return;
  }
  CheckedObject& added = out.emplace_back();
  added.object = &object;
  if (json::text(&object, {"apiVersion"}) == crds::api_group_version)
    added.kind = crds::kind_named(json::text(&object, {"kind"}));
}

yaml::Place place_in(CheckedFile& file, std::uint32_t offset) {
  if (!file.lines) file.lines.emplace(file.input.text);
  return file.lines->locate(offset);
}

bool is_unreadable(const CheckedFile& file) { return !file.input.problem.empty() || file.stream.failed; }

/// Rules give the place of the field; of a scalar that is there, its value is the better place to point at. One walk
/// finds those of all findings, in an object that may have a thousand of them.
class ScalarPlaces {
 public:
  explicit ScalarPlaces(const CheckedObject& object) {
    for (const validate::Finding& each : object.findings)
      if (!each.value.empty()) places_.emplace(each.offset, each.offset);
    if (!places_.empty()) walk(*object.object);
  }

  std::uint32_t best_offset(const validate::Finding& finding) const {
    const auto found = finding.value.empty() ? places_.end() : places_.find(finding.offset);
    return found == places_.end() ? finding.offset : found->second;
  }

 private:
  void walk(const json::Value& value) {
    for (const json::Member& member : value.members()) {
      const auto found = places_.find(member.key_offset);
      if (found != places_.end() && !member.value.is_object() && !member.value.is_array())
        found->second = member.value.offset();
      walk(member.value);
    }
    for (const json::Value& item : value.items()) walk(item);
  }

  std::unordered_map<std::uint32_t, std::uint32_t> places_;
};

}  // namespace

CheckedSet::CheckedSet(std::vector<Input> inputs, std::vector<Input> old, const ValidateOptions& options,
                       validate::Lookup* cluster)
    : options_(options), ns_(options_.ns.empty() ? std::string_view("default") : std::string_view(options_.ns)) {
  load(std::move(inputs), files_);
  load(std::move(old), old_files_);
  match_old();
  for (const CheckedFile& file : files_)
    for (const CheckedObject& each : file.objects) local_.add(*each.object, ns_);

  std::vector<CheckedObject*> all;
  for (CheckedFile& file : files_)
    for (CheckedObject& each : file.objects) all.push_back(&each);
  for (CheckedFile& file : old_files_)
    for (CheckedObject& each : file.objects)
      if (each.is_deleted) all.push_back(&each);
  for_each_index(all.size(), cluster == nullptr ? options_.jobs : 1, [&](std::size_t i) { review(*all[i], cluster); });
  find_twins();

  for (CheckedFile& file : old_files_) {
    // Of what is stored only the deletions are looked at.
    std::erase_if(file.objects, [](const CheckedObject& each) { return !each.is_deleted; });
    write_report(file, false);
  }
  for (CheckedFile& file : files_) write_report(file, true);
}

void CheckedSet::load(std::vector<Input> inputs, std::deque<CheckedFile>& files) const {
  for (Input& input : inputs) files.emplace_back().input = std::move(input);
  for_each_index(files.size(), options_.jobs, [&](std::size_t i) {
    CheckedFile& file = files[i];
    file.stream = yaml::parse(file.input.text);
    for (const json::Document& document : file.stream.documents) add_objects(document.root, file.objects);
  });
}

CheckedSet::Identity CheckedSet::identity_of(const CheckedObject& object) const {
  return {*object.kind, namespace_of(*object.object, ns_), kube::metadata(*object.object, "name")};
}

void CheckedSet::match_old() {
  std::map<Identity, CheckedObject*> stored;
  for (CheckedFile& file : old_files_)
    for (CheckedObject& each : file.objects)
      if (each.kind) stored.insert_or_assign(identity_of(each), &each);
  // What could not be read may hold what seems to be gone.
  const bool all_known = std::ranges::none_of(files_, [](const CheckedFile& file) { return is_unreadable(file); });
  for (const auto& [identity, object] : stored) object->is_deleted = all_known;
  if (stored.empty()) return;
  for (CheckedFile& file : files_) {
    for (CheckedObject& each : file.objects) {
      if (!each.kind) continue;
      const auto found = stored.find(identity_of(each));
      if (found == stored.end()) continue;
      each.old = found->second->object;
      found->second->is_deleted = false;
    }
  }
}

/// Names the first of them at each later one, which is the one that would win.
void CheckedSet::find_twins() {
  std::map<Identity, std::pair<CheckedFile*, const json::Value*>> known;
  for (CheckedFile& file : files_) {
    for (CheckedObject& each : file.objects) {
      if (!each.kind || kube::metadata(*each.object, "name").empty()) continue;
      const auto [first, is_first] = known.try_emplace(identity_of(each), &file, each.object);
      if (is_first) continue;
      const auto& [first_file, first_object] = first->second;
      const json::Value* const name = each.object->find("metadata")->find("name");
      each.findings.push_back({twice_rule.id, twice_rule.severity, "metadata.name", "",
                               fmt::format("the same resource stands twice, first at {}:{}: the later one would win",
                                           first_file->input.name, place_in(*first_file, first_object->offset()).line),
                               "keep one of them, or give it another name or namespace", name->offset()});
    }
  }
}

void CheckedSet::review(CheckedObject& object, validate::Lookup* cluster) const {
  if (!object.kind) {
    object.findings = check_document(*object.object, options_.strict);
    return;
  }
  LocalLookup lookup(local_, cluster, *object.kind, kube::metadata(*object.object, "name"));
  try {
    const validate::Request request{*object.kind, object.object, object.old, ns_};
    object.findings = object.is_deleted ? validate::review_deletion(request, &lookup, options_.rules)
                                        : validate::review(request, &lookup, options_.rules);
    if (!object.is_deleted)
      std::ranges::move(dropped_values(*object.kind, *object.object), std::back_inserter(object.findings));
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

void CheckedSet::write_report(CheckedFile& file, bool is_new) {
  const auto add = [&](validate::Finding finding, const CheckedObject* object, std::uint32_t offset) {
    Entry entry;
    entry.file = file.input.name;
    if (file.input.problem.empty()) {
      const yaml::Place place = place_in(file, offset);
      entry.line = place.line;
      entry.column = place.column;
      entry.source = place.text;
      entry.byte = place.byte;
      entry.end_column = place.column + token_length(place.text, place.byte);
    }
    if (object != nullptr && object->object->is_object()) {
      entry.kind = json::text(object->object, {"kind"});
      entry.ns = object->kind ? namespace_of(*object->object, options_.ns) : namespace_of(*object->object, {});
      entry.name = kube::metadata(*object->object, "name");
    }
    ++(finding.severity == validate::Severity::error ? report_.errors : report_.warnings);
    entry.finding = std::move(finding);
    report_.entries.push_back(std::move(entry));
  };

  // Of files that hold nothing for us, kubectl's reading is no concern of ours.
  const auto concerns_us = [](const CheckedObject& each) { return each.kind || !each.findings.empty(); };
  if (is_new && !is_unreadable(file) && std::ranges::any_of(file.objects, concerns_us)) {
    for (validate::Finding& each : check_text(file.input.name, file.input.text)) {
      const std::uint32_t offset = each.offset;
      add(std::move(each), nullptr, offset);
    }
  }
  for (const CheckedObject& each : file.objects) {
    ++(concerns_us(each) ? report_.documents : report_.passed_over);
    if (each.old != nullptr) ++report_.updates;
    if (each.is_deleted) ++report_.deletions;
    report_.references_unknown = report_.references_unknown || each.references_unknown;
    const ScalarPlaces places(each);
    for (const validate::Finding& finding : each.findings) add(finding, &each, places.best_offset(finding));
  }
  if (!file.input.problem.empty()) {
    add({unreadable_rule.id, unreadable_rule.severity, "", "", file.input.problem, "", 0}, nullptr, 0);
    report_.unreadable = true;
  } else if (file.stream.failed) {
    const json::ParseError& error = file.stream.error;
    add({unreadable_rule.id, unreadable_rule.severity, "", "", error.message,
         syntax_cure(error.message, file.input.text, error.offset), error.offset},
        nullptr, error.offset);
    report_.unreadable = true;
  }
}

}  // namespace stackgate
