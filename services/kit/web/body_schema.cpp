#include "services/kit/web/body_schema.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "validators/structure.hpp"

namespace stackgate::web {
namespace body_schema_detail {

validate::JsonSchema compiled(std::string_view text) {
  auto schema = validate::JsonSchema::compile(text, validate::Draft::v7);
  if (!schema) throw std::logic_error("a route's JSON Schema is wrong: " + schema.error());
  return std::move(*schema);
}

}  // namespace body_schema_detail

BodySchema::BodySchema(std::string_view text) : schema_(body_schema_detail::compiled(text)) {}

validate::Findings BodySchema::check(const json::Value& value) const {
  return validate::to_findings(schema_.check(value));
}

std::expected<const json::Document*, Failure> BodySchema::read(Call& call) const {
  auto document = call.json();
  if (!document) return document;
  validate::Findings findings = check((*document)->root);
  if (validate::has_errors(findings)) return std::unexpected(unprocessable(std::move(findings)));
  return document;
}

Failure unprocessable(validate::Findings findings) {
  const std::size_t count = findings.size();
  return {
      422, count == 1 ? "the body has 1 fault" : fmt::format("the body has {} faults", count), {}, std::move(findings)};
}

}  // namespace stackgate::web
