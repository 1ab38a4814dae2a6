#include "validators/rules/context.hpp"

#include "validators/rules/quoting.hpp"

namespace stackgate::validate {

void Context::report(const Rule& rule, const Field& field, std::string problem, std::string fix) {
  report(rule, rule.severity, field, std::move(problem), std::move(fix));
}

void Context::report(const Rule& rule, Severity severity, const Field& field, std::string problem, std::string fix) {
  std::size_t& count = severity == Severity::error ? errors_ : warnings_;
  if (count >= most_findings) return;
  ++count;
  std::string path = to_string(field.path());
  std::string value = quoted_value(path, field.value());
  findings.push_back(
      {rule.id, severity, std::move(path), std::move(value), std::move(problem), std::move(fix), field.offset()});
}

}  // namespace stackgate::validate
