#include "webhook/admit.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "webhook/denial.hpp"

namespace stackgate::webhook {
namespace {

void deny_unknown(Answer& answer, const ReviewRequest& request) {
  answer.allowed = false;
  answer.code = 400;
  answer.reason = "BadRequest";
  answer.message = fmt::format("this gate does not know {}/{} {}; it serves {}: is it older than the installed CRDs?",
                               request.group, request.version, request.kind, crds::api_group_version);
}

validate::Findings findings_of(const ReviewRequest& request, crds::Kind kind, validate::Lookup* lookup,
                               const validate::Options& options) {
  validate::Request to_review{kind, request.object, request.old_object, request.ns};
  switch (request.operation) {
    case Operation::create:
      to_review.old = nullptr;
      return validate::review(to_review, lookup, options);
    case Operation::update:
      return validate::review(to_review, lookup, options);
    case Operation::remove:
      if (request.old_object == nullptr) return {};
      to_review.object = request.old_object;
      return validate::review_deletion(to_review, lookup, options);
    case Operation::connect:
      return {};
  }
  return {};
}

/// The rules that spoke, once each, in order: what an auditor filters by.
std::string rule_list(const validate::Findings& findings) {
  std::string list;
  list.reserve(16 * findings.size());
  for (auto each = findings.begin(); each != findings.end(); ++each) {
    if (std::any_of(findings.begin(), each, [&](const auto& before) { return before.rule == each->rule; })) continue;
    list.append(list.empty() ? "" : ",").append(each->rule);
  }
  return list;
}

}  // namespace

std::string_view to_string(Stage stage) { return stage == Stage::early ? "early" : "validate"; }

Verdict admit(Stage stage, const ReviewRequest& request, validate::Lookup* lookup, const validate::Options& options) {
  Verdict verdict;
  Answer& answer = verdict.answer;
  answer.uid = request.uid;
  answer.name = request.name;
  answer.group = request.group;
  answer.kind = request.kind;

  // A webhook configuration that sends us other groups is a mistake of its author; blocking them would make it worse.
  if (request.group != crds::api_group) return verdict;
  if (!request.sub_resource.empty()) return verdict;  // status and scale are not the user's words
  const auto kind = crds::kind_named(request.kind);
  if (!kind || request.version != crds::api_version) {
    deny_unknown(answer, request);
    return verdict;
  }

  verdict.findings = findings_of(request, *kind, lookup, options);
  if (verdict.findings.empty()) return verdict;
  answer.allowed = !validate::has_errors(verdict.findings);
  answer.audit_annotations.emplace_back("rules", rule_list(verdict.findings));
  if (!answer.allowed) {
    answer.causes = causes_of(verdict.findings);
    answer.message = denial_message(request.kind, request.name, answer.causes);
  }
  if (stage == Stage::validate || !answer.allowed) answer.warnings = warnings_of(verdict.findings);
  return verdict;
}

}  // namespace stackgate::webhook
