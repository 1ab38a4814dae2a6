#include "services/stackgate/validate/document_rules.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "crds/kinds.hpp"
#include "services/kit/findings/nearest.hpp"
#include "services/kit/findings/path.hpp"
#include "services/kit/grammar/characters.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/yaml/kubectl_stream.hpp"
#include "validators/schemas.hpp"

namespace stackgate {

namespace {

using validate::Finding;
using validate::Findings;

constexpr std::array<DocumentRulePage, 10> document_pages{{
    {unreadable_rule, "A file or document cannot be read",
     "What cannot be read has not been checked: a missing file, a fault in YAML or JSON, a key that stands twice. The "
     "command then exits with 2, after it has reported everything else."},
    {unknown_kind_rule, "No such kind in our API group",
     "The document's apiVersion names Stackgate's group, and its kind is none of Stackgate's. An API server would "
     "refuse it with \"no matches for kind\"."},
    {wrong_version_rule, "No such version of our API group",
     "The document's apiVersion names Stackgate's group with a version that is not served."},
    {passed_over_rule, "The document is no resource of ours",
     "Documents of other kinds are passed over without a word, unless --strict asks to hear of them: a misspelt "
     "apiVersion would otherwise go unchecked. What shows that one of ours was meant is told in any case: our kind "
     "without "
     "an apiVersion, apiversion in lower case, a List without items."},
    {twice_rule, "The same resource stands twice",
     "Two documents of one run have the same kind, namespace and name. kubectl apply would write both, one after the "
     "other: what the first says is lost, and everything that the operator makes from it is made twice. Overlays that "
     "are meant for different clusters are best validated one by one."},
    {read_otherwise_rule, "kubectl would read the file otherwise",
     "The file is YAML and has been checked as such, and kubectl would refuse it or pass a part of it over. kubectl "
     "reads "
     "what begins with { as JSON to its end, whatever the file is called: a trailing comma, a comment, a key without "
     "quotes or a line --- is a fault there. It cuts anything else at its --- lines before it reads YAML, so nothing "
     "may "
     "stand behind the ---, and directives and byte order marks in the middle are refused."},
    {read_by_some_rule, "Not every kubectl reads the file alike",
     "A comment behind --- in its line makes older kubectl, 1.20 among them, miss the separator: it reads the document "
     "in front of it, and drops the one behind it without a word."},
    {not_json_rule, "A .json file holds YAML",
     "kubectl does not look at a file's name and takes it; editors, jq and other tools do and do not."},
    {dropped_value_rule, "An entry without a value",
     "`memory:` with nothing behind it is null. The API server drops such an entry of limits or requests before it "
     "looks "
     "at the resource, so nothing refuses it, and the limit that was meant is not there. Of a field, null means that "
     "it "
     "is not set, and of a label, that it is empty: nothing is said of these."},
    {internal_rule, "A rule failed",
     "A fault in Stackgate itself: the resource has not been checked to the end. Please report it with the resource."},
}};

Finding finding_at(const validate::Rule& rule, std::string path, const json::Value& value, std::string problem,
                   std::string fix) {
  return {rule.id,        rule.severity, std::move(path), json::to_json(value), std::move(problem),
          std::move(fix), value.offset()};
}

std::string_view nearest_resource_kind(std::string_view word) {
  std::array<std::string_view, crds::kinds.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = crds::kinds[i].name;
  return validate::nearest(word, names);
}

std::string list_of_kinds() {
  std::string list;
  for (const crds::KindInfo& each : crds::kinds)
    fmt::format_to(std::back_inserter(list), "{}{}", list.empty() ? "" : ", ", each.name);
  return list;
}

/// The member whose key is `key` but for upper and lower case.
const json::Member* member_like(const json::Value& object, std::string_view key) {
  using validate::grammar::to_lower;
  for (const json::Member& each : object.members())
    if (each.key != key && to_lower(each.key) == to_lower(key)) return &each;
  return nullptr;
}

bool is_ours(const json::Value* version) {
  return version != nullptr && version->string().substr(0, version->string().find('/')) == crds::api_group;
}

/// What is no resource, but shows that one of ours was meant: it must not be passed over.
std::optional<Finding> slip_of(const json::Value& document) {
  const auto finding = [](const json::Value& at, std::string path, std::string problem, std::string fix) {
    return Finding{
        passed_over_rule.id, passed_over_rule.severity, std::move(path), {}, std::move(problem), std::move(fix),
        at.offset()};
  };
  for (const json::Value& item : document.items())
    if (is_ours(item.find("apiVersion")))
      return finding(document, "", "a list of resources is no resource",
                     "write each as a document, or kind: List with items");
  const json::Value* const version = document.find("apiVersion");
  const json::Value* const kind = document.find("kind");
  const std::string_view kind_text = json::text(kind, {});
  if (const json::Member* like = member_like(document, "apiVersion"); like != nullptr && is_ours(&like->value))
    return finding(document, "", fmt::format("unknown field {}, and apiVersion is missing", like->key),
                   "write apiVersion");
  if (version == nullptr && crds::kind_named(kind_text))
    return finding(*kind, "apiVersion", fmt::format("the apiVersion of the {} is missing", kind_text),
                   fmt::format("write apiVersion: {}", crds::api_group_version));
  if (version != nullptr && crds::kind_named(kind_text) && version->string().starts_with("stackgate"))
    return finding(*version, "apiVersion", fmt::format("{} is not Stackgate's group", version->string()),
                   fmt::format("write {}", crds::api_group_version));
  const json::Value* const items = document.find("items");
  if (kind_text == "List" && (items == nullptr || !items->is_array()))
    return finding(items == nullptr ? document : *items, "items",
                   items == nullptr ? "the List has no items" : "the items of a List are a list",
                   "write items: and a \"- \" in front of each resource");
  return std::nullopt;
}

}  // namespace

std::vector<DocumentRulePage> document_rule_pages() { return {document_pages.begin(), document_pages.end()}; }

Findings check_text(std::string_view file, std::string_view text) {
  Findings findings;
  for (yaml::StreamRemark& remark : yaml::kubectl_remarks(text)) {
    const validate::Rule& rule = remark.some_only ? read_by_some_rule : read_otherwise_rule;
    findings.push_back(
        {rule.id, rule.severity, "", "", std::move(remark.problem), std::string(remark.cure), remark.offset});
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const bool begins_as_json = first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
  if (validate::grammar::to_lower(file).ends_with(".json") && !begins_as_json)
    findings.push_back({not_json_rule.id, not_json_rule.severity, "", "",
                        "the file is called .json and holds YAML: kubectl takes it, other tools do not",
                        "call it .yaml, or write JSON", 0});
  return findings;
}

Findings check_document(const json::Value& document, bool strict) {
  Findings findings;
  const json::Value* const written_version = document.find("apiVersion");
  const json::Value* const kind = document.find("kind");
  const std::string_view group_version = json::text(written_version, {});
  const std::string_view group = group_version.substr(0, group_version.find('/'));
  const std::string_view kind_text = json::text(kind, {});

  if (group != crds::api_group) {
    if (std::optional<Finding> slip = slip_of(document)) return {std::move(*slip)};
    if (!strict) return findings;
    if (written_version == nullptr || kind == nullptr || kind_text.empty()) {
      findings.push_back({passed_over_rule.id, passed_over_rule.severity, "", "",
                          "is no Kubernetes resource: apiVersion or kind is missing", "give it both, or take it out",
                          document.offset()});
    } else {
      findings.push_back(finding_at(
          passed_over_rule, "kind", *kind,
          fmt::format("{} of {} is no resource of ours and was not checked", kind_text, group_version),
          crds::kind_named(kind_text) ? fmt::format("write apiVersion: {} if ours is meant", crds::api_group_version)
                                      : "leave --strict out to pass it over"));
    }
    return findings;
  }
  if (group_version != crds::api_group_version) {
    findings.push_back(finding_at(wrong_version_rule, "apiVersion", *written_version, "is no version that is served",
                                  fmt::format("write {}", crds::api_group_version)));
  }
  if (const json::Member* like = kind == nullptr ? member_like(document, "kind") : nullptr; like != nullptr) {
    findings.push_back({unknown_kind_rule.id, unknown_kind_rule.severity, "kind", "",
                        fmt::format("the kind is missing; {} is no field", like->key), "write kind in lower case",
                        like->key_offset});
  } else if (kind == nullptr) {
    findings.push_back({unknown_kind_rule.id, unknown_kind_rule.severity, "kind", "", "the kind is missing",
                        fmt::format("write one of {}", list_of_kinds()), document.offset()});
  } else if (!crds::kind_named(kind_text)) {
    const std::string_view near = nearest_resource_kind(kind_text);
    findings.push_back(finding_at(
        unknown_kind_rule, "kind", *kind, fmt::format("is no kind of {}", crds::api_group),
        near.empty() ? fmt::format("write one of {}", list_of_kinds()) : fmt::format("did you mean {}?", near)));
  }
  return findings;
}

namespace {

using validate::Path;
using validate::schema::Node;

bool holds_null(const json::Value& value) {
  return value.is_null() || std::ranges::any_of(value.items(), holds_null) ||
         std::ranges::any_of(value.members(), [](const json::Member& each) { return holds_null(each.value); });
}

void collect(const Node* node, const json::Value& value, const Path& at, validate::Findings& out) {
  if (node == nullptr) return;
  for (std::size_t i = 0; i < value.items().size(); ++i)
    collect(node->items, value.items()[i], {&at, {}, static_cast<std::int64_t>(i)}, out);
  for (const json::Member& member : value.members()) {
    const Path path{&at, member.key, -1};
    const Node* const field = node->property(member.key);
    if (field == nullptr && node->additional != nullptr && member.value.is_null() && !node->additional->nullable) {
      out.push_back({dropped_value_rule.id, dropped_value_rule.severity, validate::to_string(&path), "",
                     "has no value: the API server drops it without a word", "give it a value, or take it out",
                     member.key_offset});
    } else {
      collect(field != nullptr ? field : node->additional, member.value, path, out);
    }
  }
}

}  // namespace

validate::Findings dropped_values(crds::Kind kind, const json::Value& object) {
  validate::Findings out;
  const json::Value* const spec = object.find("spec");
  if (spec == nullptr || !holds_null(*spec)) return out;
  collect(&validate::spec_node(kind), *spec, {nullptr, "spec", -1}, out);
  return out;
}

}  // namespace stackgate
