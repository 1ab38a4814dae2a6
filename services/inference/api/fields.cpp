#include "services/inference/api/fields.hpp"

#include <cmath>

#include <fmt/format.h>

#include "services/kit/json/write.hpp"

namespace stackgate::inference {

using json::Type;
using validate::JsonPlace;

namespace {

const json::Value absent{};

}  // namespace

Fields::Fields(const json::Value& root, validate::Findings& findings)
    : top_{{}, root}, report_(findings, {}, {"body-type", "body-missing", "parameter-not-served"}) {
  if (!root.is_object()) report_.wrong_type(top_, "an object");
}

const json::Value* Fields::find(std::string_view key) const { return validate::JsonReport::present(top_, key); }

bool Fields::asks(std::string_view key) const {
  const json::Value* found = find(key);
  if (found == nullptr || (found->is_boolean() && !found->boolean())) return false;
  if (found->is_string()) return !found->string().empty();
  if (found->is_array()) return !found->items().empty();
  return !found->is_object() || !found->members().empty();
}

JsonPlace Fields::place(std::string_view key) const {
  const json::Value* found = top_.value.find(key);
  return top_.member(key, found == nullptr ? absent : *found);
}

std::optional<std::uint32_t> Fields::whole(std::string_view key, std::uint32_t least, std::uint32_t most) {
  if (!has(key)) return std::nullopt;
  return report_.needed_number(top_, key, least, most);
}

void Fields::real(std::string_view key, double least, double most, float& value) {
  const json::Value* found = find(key);
  if (found == nullptr) return;
  const double number = found->number();
  if (found->is_number() && number >= least && number <= most)
    value = static_cast<float>(number);
  else
    report_.wrong_type(place(key), fmt::format("a number from {:g} to {:g}", least, most));
}

bool Fields::flag(std::string_view key, bool fallback) { return report_.flag(top_, key, fallback); }

std::string Fields::text(std::string_view key) { return report_.text(top_, key); }

std::string Fields::needed_text(std::string_view key) {
  const json::Value* found = find(key);
  if (found == nullptr || (found->is_string() && found->string().empty())) {
    missing(key, fmt::format("write \"{}\"", key));
    return {};
  }
  return text(key);
}

std::vector<TokenId> Fields::ids(const JsonPlace& at, std::uint32_t vocabulary, std::size_t most) {
  std::vector<TokenId> out;
  if (!at.value.is_array()) return wrong_type(at, "a list of token ids"), out;
  const auto items = at.value.items();
  if (items.size() > most)
    return wrong(at, fmt::format("has {} token ids", items.size()), fmt::format("send at most {}", most)), out;
  out.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_integer() || items[i].integer() < 0 || items[i].integer() >= vocabulary) {
      wrong_type({fmt::format("{}[{}]", at.path, i), items[i]}, fmt::format("a token id from 0 to {}", vocabulary - 1));
      return {};  // one says enough
    }
    out.push_back(static_cast<TokenId>(items[i].integer()));
  }
  return out;
}

std::string Fields::tree(std::string_view key, Type wanted) {
  const json::Value* found = find(key);
  if (found == nullptr) return {};
  if (found->type() != wanted) return wrong_type(place(key), wanted == Type::array ? "a list" : "an object"), "";
  return json::to_json(*found);
}

void Fields::missing(std::string_view key, std::string fix) {
  report_.wrong("body-missing", place(key), "is missing", std::move(fix));
}

void Fields::wrong(const JsonPlace& at, std::string problem, std::string fix) {
  report_.wrong("parameter-value", at, std::move(problem), std::move(fix));
}

void Fields::wrong(std::string_view key, std::string problem, std::string fix) {
  wrong(place(key), std::move(problem), std::move(fix));
}

void Fields::not_served(const JsonPlace& at, std::string problem, std::string fix) {
  report_.wrong("parameter-not-served", at, std::move(problem), std::move(fix));
}

}  // namespace stackgate::inference
