#include "services/guardrail/api/fields.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/json/write.hpp"
#include "services/kit/web/body_schema.hpp"

namespace stackgate::guardrail {

using validate::JsonPlace;

namespace {

const json::Value absent{};

constexpr validate::JsonRules openai_rules{"body-type", "body-missing", "body-not-served"};
constexpr validate::JsonRules own_rules{"guardrails-type", "guardrails-missing", "guardrails-not-served"};

}  // namespace

Fields::Fields(JsonPlace at, validate::Findings& findings, Whose whose)
    : at_(std::move(at)), whose_(whose), report_(findings, {}, whose == Whose::openai ? openai_rules : own_rules) {
  if (!at_.value.is_object()) report_.wrong_type(at_, "an object");
}

JsonPlace Fields::place(std::string_view key) const {
  const json::Value* found = at_.value.find(key);
  return at_.member(key, found == nullptr ? absent : *found);
}

std::vector<std::string> Fields::texts(std::string_view key, std::size_t most, bool or_one) {
  const json::Value* found = find(key);
  if (found == nullptr) return {};
  if (or_one && found->is_string()) return {std::string(found->string())};
  const auto fits = [](const json::Value& each) { return each.is_string(); };
  if (!found->is_array() || !std::ranges::all_of(found->items(), fits)) {
    wrong_type(place(key), "a list of texts");
    return {};
  }
  if (found->items().size() > most) {
    wrong(key, fmt::format("has {} entries", found->items().size()), fmt::format("send at most {}", most));
    return {};
  }
  std::vector<std::string> out;
  for (const json::Value& each : found->items()) out.emplace_back(each.string());
  return out;
}

std::string Fields::tree(std::string_view key, json::Type wanted) {
  const json::Value* found = find(key);
  if (found == nullptr) return {};
  if (found->type() != wanted) return wrong_type(place(key), wanted == json::Type::array ? "a list" : "an object"), "";
  return json::to_json(*found);
}

std::optional<JsonPlace> Fields::object(std::string_view key) {
  const json::Value* found = find(key);
  if (found == nullptr) return std::nullopt;
  JsonPlace at = at_.member(key, *found);
  if (found->is_object()) return at;
  wrong_type(at, "an object");
  return std::nullopt;
}

void Fields::missing(std::string_view key, std::string fix) {
  report_.wrong(whose_ == Whose::openai ? openai_rules.missing : own_rules.missing, place(key), "is missing",
                std::move(fix));
}

void Fields::wrong(const JsonPlace& at, std::string problem, std::string fix) {
  report_.wrong(whose_ == Whose::openai ? "body-value" : "guardrails-value", at, std::move(problem), std::move(fix));
}

void Fields::not_served(const JsonPlace& at, std::string problem, std::string fix) {
  report_.wrong(whose_ == Whose::openai ? openai_rules.not_served : own_rules.not_served, at, std::move(problem),
                std::move(fix));
}

web::Failure refuse(validate::Findings findings) {
  const auto own = [](const validate::Finding& each) { return each.rule.starts_with("guardrails-"); };
  const bool is_own = std::ranges::any_of(findings, own);
  web::Failure out = web::unprocessable(std::move(findings));
  if (!is_own) out.status = 400;
  return out;
}

}  // namespace stackgate::guardrail
