#include "validators/rules/context.hpp"

#include "services/kit/findings/quoting.hpp"
#include "services/kit/grammar/unrendered.hpp"

namespace stackgate::validate {

void Context::report(const Rule& rule, const Field& field, std::string problem, std::string fix) {
  report(rule, rule.severity, field, std::move(problem), std::move(fix));
}

void Context::report(const Rule& rule, Severity severity, const Field& field, std::string problem, std::string fix) {
  std::size_t& count = severity == Severity::error ? errors_ : warnings_;
  cut_ = cut_ || count >= most_findings;
  if (count >= most_findings) return;
  ++count;
  // Annotations hold any text: there the rule is about the key.
  if (field.present() && field.value()->is_string() && rule.grammar && rule.id != rule::annotation_grammar.id)
    if (auto unrendered = grammar::describe_unrendered(field.value()->string())) {
      problem = std::move(unrendered->problem);
      fix = std::move(unrendered->fix);
    }
  if (findings.empty()) findings.reserve(8);  // who errs at all seldom errs once
  std::string path = to_string(field.path());
  std::string value = quoted_value(path, field.value());
  findings.push_back(
      {rule.id, severity, std::move(path), std::move(value), std::move(problem), std::move(fix), field.offset()});
}

}  // namespace stackgate::validate
