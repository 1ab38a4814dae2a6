// What to write where a value of another type stands.
#include <algorithm>

#include <fmt/format.h>

#include "services/kit/grammar/characters.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/schema/pattern.hpp"
#include "services/kit/schema/wording.hpp"

namespace stackgate::validate::schema {
namespace {

using json::Type;

bool is_whole_number(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  return !digits.empty() && digits.size() < 16 && std::ranges::all_of(digits, grammar::is_digit) &&
         (digits == "0" || digits[0] != '0');
}

bool is_scalar(const json::Value& value) { return !value.is_object() && !value.is_array(); }

// For a place that takes a text and got a number or a boolean. The value is YAML's reading: 1.10, 0123456 and "on" are
// written otherwise than it, so it is never offered as what to write.
std::string cure_unquoted(const Node& node, const json::Value& value, bool repeat) {
  const std::string text = json::to_json(value);
  if (!node.enumeration.empty() &&
      std::ranges::none_of(node.enumeration, [&](const json::Value& each) { return each.string() == text; }))
    return fmt::format("write {}", describe(node));
  if (node.pattern != nullptr && !node.pattern->matches(text)) {
    // Quotes alone would lead to the next refusal. Of an empty text the grammar says how a good one looks.
    if (const Pattern::Explain check = node.pattern->grammar())
      if (auto problem = check({})) return std::move(problem->fix);
    return fmt::format("write it in quotes, as a text that matches {}", node.pattern->source());
  }
  const std::string_view kind = value.is_boolean() ? "boolean" : "number";
  return repeat ? fmt::format("write it in quotes, as you mean it: without them it is the {} {}", kind, text)
                : fmt::format("write it in quotes, as you mean it: without them it is a {}", kind);
}

// {A: b} or "A=b" where [{name: A, value: b}] belongs. The value is withheld: it may be a secret.
std::string cure_names_and_values(const Node& items, const json::Value& value) {
  if (items.find("name") == nullptr || items.find("value") == nullptr) return {};
  std::string_view first;
  if (value.is_object()) {
    const auto members = value.members();
    if (members.empty() || value.find("name") != nullptr ||
        !std::ranges::all_of(members, [](const json::Member& each) { return is_scalar(each.value); }))
      return {};
    first = members.front().key;
  } else {
    const std::string_view text = value.string();
    if (text.find('=') == std::string_view::npos) return {};
    first = text.substr(0, text.find('='));
  }
  const bool plain = !first.empty() && first.size() <= 40 && std::ranges::all_of(first, [](char c) {
    return grammar::is_alphanumeric(c) || c == '_' || c == '-' || c == '.';
  });
  return fmt::format("write a list of names and values: - {{name: {}, value: …}}", plain ? first : "…");
}

}  // namespace

Problem describe_wrong_type(const Node& node, const json::Value& value, bool repeat, std::string_view key) {
  const std::string needed = node.int_or_string ? "an integer or a string"
                             : node.type        ? std::string(with_article(*node.type))
                                                : "a value";
  const bool fraction = value.type() == Type::number;
  // A name with a '/' among quantities is a device, and those are not divided.
  const bool device = node.int_or_string && is_scalar(value) && key.find('/') != std::string_view::npos;
  const std::string_view given = value.is_boolean()                                   ? "a boolean"
                                 : fraction && (device || node.type == Type::integer) ? "a fraction or too large"
                                                                                      : with_article(value.type());
  if (device) return {fmt::format("must be a whole number, but is {}", given), "write a whole number, for example 1"};
  Problem out{fmt::format("must be {}, but is {}", needed, given), fmt::format("write {}", describe(node))};
  const std::string text(value.string());
  const bool shown = repeat && text.find_first_of("@=") == std::string::npos;  // no user:password@host, no NAME=value
  const bool takes_text = node.type == Type::string || node.int_or_string;
  if (takes_text && (value.is_number() || value.is_boolean())) {
    out.fix = cure_unquoted(node, value, repeat);
  } else if ((node.type == Type::integer || node.type == Type::number) && value.is_string() && is_whole_number(text)) {
    out.fix = repeat ? fmt::format("write {} without quotes", text) : "write it without quotes";
  } else if (node.type == Type::boolean && value.is_string()) {
    const std::string lower = grammar::to_lower(text);
    if (lower == "true" || lower == "yes" || lower == "on")
      out.fix = "write true without quotes";
    else if (lower == "false" || lower == "no" || lower == "off")
      out.fix = "write false without quotes";
  } else if (node.type == Type::array && !value.is_object() && node.items != nullptr &&
             node.items->type == Type::string) {
    out.fix = value.is_string() && shown && text.size() <= 60 && !grammar::quote_short(text).empty()
                  ? fmt::format("write a list: [{}]", grammar::quote_short(text))
                  : "write a list of strings";
  } else if (const json::Value* name = value.find("name"); node.type == Type::string && value.is_object() &&
                                                           name != nullptr && name->is_string() &&
                                                           value.members().size() == 1) {
    const std::string quoted = repeat ? grammar::quote_short(name->string()) : std::string();
    out.fix = quoted.empty() ? "write the name alone, without \"name:\"" : fmt::format("write {} alone", quoted);
  } else if (node.type == Type::array && node.items != nullptr && !value.is_array()) {
    if (std::string listed = cure_names_and_values(*node.items, value); !listed.empty())
      out.fix = std::move(listed);
    else if (value.is_object())
      out.fix = "write a list: put \"- \" in front of the first field";
  }
  return out;
}

}  // namespace stackgate::validate::schema
