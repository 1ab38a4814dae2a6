#include "services/kit/web/body_schema.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "services/kit/schema/findings.hpp"
#include "services/kit/web/errors.hpp"

namespace stackgate::web {
namespace body_schema_detail {

constexpr std::size_t max_faults = 100;

validate::JsonSchema compiled(std::string_view text) {
  auto schema = validate::JsonSchema::compile(text, validate::Draft::v7);
  if (!schema) throw std::logic_error("a route's JSON Schema is wrong: " + schema.error());
  return std::move(*schema);
}

}  // namespace body_schema_detail

BodySchema::BodySchema(std::string_view text, std::size_t longest_string)
    : schema_(body_schema_detail::compiled(text)), longest_string_(longest_string) {}

validate::Findings BodySchema::check(const json::Value& value) const {
  return validate::schema::to_findings(schema_.check(value, body_schema_detail::max_faults, longest_string_));
}

std::expected<const json::Document*, Failure> BodySchema::read(Call& call) const {
  auto document = call.json();
  if (!document) return document;
  validate::Findings findings = check((*document)->root);
  if (validate::has_errors(findings)) return std::unexpected(unprocessable(std::move(findings)));
  return document;
}

Failure unprocessable(validate::Findings findings) {
  const auto count = std::ranges::count(findings, validate::Severity::error, &validate::Finding::severity);
  const bool query =
      std::ranges::all_of(findings, [](const validate::Finding& each) { return each.rule == query_rule; });
  return {422,
          fmt::format("the {} has {} fault{}", query && count > 0 ? "query" : "body", count, count == 1 ? "" : "s"),
          {},
          std::move(findings)};
}

}  // namespace stackgate::web
