// What `stackgate validate` reports about documents before the rule book gets to see a resource. The gate has no such
// rules, because nothing but resources of ours ever reaches it.
#pragma once
#include <string_view>
#include <vector>

#include "crds/kinds.hpp"
#include "services/kit/findings/finding.hpp"
#include "services/kit/json/value.hpp"
#include "validators/rule.hpp"

namespace stackgate {

inline constexpr validate::Rule unreadable_rule{"document-unreadable", validate::Severity::error};
inline constexpr validate::Rule unknown_kind_rule{"document-kind-unknown", validate::Severity::error};
inline constexpr validate::Rule wrong_version_rule{"document-version-wrong", validate::Severity::error};
inline constexpr validate::Rule passed_over_rule{"document-passed-over", validate::Severity::error};
inline constexpr validate::Rule twice_rule{"document-twice", validate::Severity::warning};
inline constexpr validate::Rule read_otherwise_rule{"document-read-otherwise", validate::Severity::error};
inline constexpr validate::Rule read_by_some_rule{"document-read-by-some", validate::Severity::warning};
inline constexpr validate::Rule not_json_rule{"document-not-json", validate::Severity::warning};
inline constexpr validate::Rule dropped_value_rule{"document-value-dropped", validate::Severity::warning};
inline constexpr validate::Rule internal_rule{"internal-error", validate::Severity::error};

struct DocumentRulePage {
  validate::Rule rule;
  std::string_view title;
  std::string_view why;
};

/// For `stackgate rules` and SARIF, beside validate::rule_pages().
std::vector<DocumentRulePage> document_rule_pages();

/// What kubectl would take otherwise in a text that was read without a fault, and YAML in a file called .json.
validate::Findings check_text(std::string_view file, std::string_view text);

/// A document that claims our API group without being one of our resources, or, when `strict`, any document that is
/// no resource of ours. Empty when it is one, or is passed over.
validate::Findings check_document(const json::Value& document, bool strict);

/// A warning for each entry of a map in `spec` (`memory:` in `limits`) that is null where the schema knows no null. The
/// API server drops it before admission, so that the gate never sees it: only here can it be reported. Of a field,
/// null means that it is not set, and nothing is reported.
validate::Findings dropped_values(crds::Kind kind, const json::Value& object);

}  // namespace stackgate
