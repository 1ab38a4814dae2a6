#include "services/kit/schema/wording.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "services/kit/base/concat.hpp"
#include "services/kit/findings/nearest.hpp"
#include "services/kit/grammar/characters.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/schema/check.hpp"
#include "services/kit/schema/formats.hpp"

namespace stackgate::validate::schema {
namespace {

using json::Type;

constexpr std::size_t most_words = 12;

std::string plain_number(double value) {
  if (value >= -9e15 && value <= 9e15 && value == static_cast<double>(static_cast<std::int64_t>(value)))
    return std::to_string(static_cast<std::int64_t>(value));
  return fmt::format("{}", value);
}

// "1, 2 or 3", cut after a dozen.
std::string list_words(const std::vector<std::string>& words, std::string_view last) {
  std::string out;
  const std::size_t shown = std::min(words.size(), most_words);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0 && i + 1 == words.size())
      out.append(" ").append(last).append(" ");
    else if (i > 0)
      out += ", ";
    out += words[i];
  }
  if (shown < words.size()) out += ", …";
  return out;
}

std::string range_text(const Limits& limits) {
  const std::string least = limits.minimum ? plain_number(*limits.minimum) : "";
  const std::string most = limits.maximum ? plain_number(*limits.maximum) : "";
  const auto above = [&] { return concat({limits.exclusive_minimum ? "larger than " : "at least ", least}); };
  const auto below = [&] { return concat({limits.exclusive_maximum ? "smaller than " : "at most ", most}); };
  if (least.empty() && most.empty()) return {};
  if (most.empty()) return above();
  if (least.empty()) return below();
  if (limits.exclusive_minimum || limits.exclusive_maximum) return above() + " and " + below();
  return concat({"between ", least, " and ", most});
}

std::vector<std::string> enumeration_words(const Node& node) {
  std::vector<std::string> words;
  words.reserve(node.enumeration.size());
  for (const json::Value& each : node.enumeration)
    words.push_back(each.is_string() && !each.string().empty() ? std::string(each.string()) : json::to_json(each));
  return words;
}

// What stands behind "for example" in a description, up to the end of the clause.
std::string example_in(std::string_view description) {
  constexpr std::string_view lead = "for example ";
  const std::size_t at = description.find(lead);
  if (at == std::string_view::npos) return {};
  std::string_view rest = description.substr(at + lead.size());
  std::size_t end = 0;
  while (end < rest.size() && rest[end] != ';' && rest[end] != ')' &&
         !(rest[end] == '.' && (end + 1 == rest.size() || rest[end + 1] == ' ')))
    ++end;
  rest = rest.substr(0, end);
  return rest.size() > 80 ? std::string() : std::string(rest);
}

std::string first_sentence(std::string_view description) {
  std::size_t end = 0;
  while (end < description.size() &&
         !(description[end] == '.' && (end + 1 == description.size() || description[end + 1] == ' ')))
    ++end;
  return end > 120 ? std::string() : std::string(description.substr(0, end));
}

bool contains_word(std::string_view text, std::string_view lower) {
  return !std::ranges::search(text, lower, [](char a, char b) { return grammar::to_lower(a) == b; }).empty();
}

}  // namespace

std::string_view with_article(Type type) {
  static constexpr std::array<std::string_view, 7> words{"null",     "true or false", "an integer", "a number",
                                                         "a string", "a list",        "an object"};
  return words[static_cast<std::size_t>(type)];
}

std::string field_names(const Node& node) {
  std::vector<std::string> names;
  for (const std::string_view each : node.required) names.emplace_back(each);
  for (const Property& each : node.properties)
    if (std::ranges::find(node.required, each.name) == node.required.end()) names.emplace_back(each.name);
  return list_words(names, "and");
}

bool may_repeat(const Path* at, std::string_view key) {
  if (key == "value" || key == "envValue") return false;
  for (const std::string_view word :
       {"password", "passwd", "token", "secret", "apikey", "private", "credential", "encryption"})
    if (contains_word(key, word)) return false;
  return at == nullptr || at->key != "annotations";
}

std::string describe(const Node& node) {
  if (!node.enumeration.empty()) return concat({"one of ", list_words(enumeration_words(node), "or")});
  if (node.int_or_string) return "an integer or a string";
  if (!node.type) return "a value";
  std::string out(with_article(*node.type));
  if (node.limits != nullptr && (node.type == Type::integer || node.type == Type::number))
    if (const std::string range = range_text(*node.limits); !range.empty())
      out += (range.starts_with("between") ? " " : " that is ") + range;
  if (node.type == Type::string && format_name(node.format).size() > 2)
    return std::string(format_name(node.format)) + " as a string";
  if (node.type == Type::object && !node.properties.empty())
    out += concat({" with the field", node.properties.size() == 1 ? " " : "s ", field_names(node)});
  return out;
}

Problem describe_null(const Node& node) {
  return {"must not be null", concat({"write ", describe(node), ", or remove the item"})};
}

Problem describe_missing(const Node* node, std::string_view name, bool is_null) {
  Problem out{is_null ? "is required, but null" : "is required, but missing", concat({"add ", name})};
  if (node == nullptr) return out;
  out.fix = concat({"add \"", name, ": …\", ", describe(*node)});
  if (node->type == Type::object && node->properties.empty()) out.fix = concat({"add \"", name, "\", an object"});
  if (const std::string example = example_in(node->description); !example.empty())
    out.fix += concat({", for example ", example});
  else if (const std::string sentence = first_sentence(node->description); !sentence.empty())
    out.fix += concat({" (", sentence, ")"});
  return out;
}

Problem describe_not_allowed(const Node& node, const json::Value& value) {
  const std::vector<std::string> words = enumeration_words(node);
  Problem out{words.size() == 1 ? concat({"must be ", words[0]}) : concat({"must be one of ", list_words(words, "or")}),
              ""};
  std::vector<std::string_view> texts;
  texts.reserve(words.size());
  for (const json::Value& each : node.enumeration) texts.push_back(each.string());
  const std::string_view like = nearest(value.string(), texts);
  out.fix = !like.empty()       ? concat({"write ", like})
            : words.size() == 1 ? concat({"write ", words[0]})
                                : "write one of them, with exactly these letters";
  return out;
}

Problem describe_out_of_range(const Node& node) {
  const std::string range = range_text(*node.limits);
  if (node.limits->minimum && node.limits->maximum && *node.limits->minimum == *node.limits->maximum)
    return {concat({"must be ", plain_number(*node.limits->minimum)}),
            concat({"write ", plain_number(*node.limits->minimum)})};
  return {concat({"must be ", range}), concat({node.type == Type::integer ? "write an integer " : "write a number ",
                                               range.starts_with("between") ? "" : "that is ", range})};
}

Problem describe_format_range(const Node& node) {
  const bool positive = node.limits != nullptr && node.limits->minimum && *node.limits->minimum >= 0;
  return {"does not fit 32 bits", fmt::format("write an integer between {} and 2147483647",
                                              positive ? plain_number(*node.limits->minimum) : "-2147483648")};
}

Problem describe_multiple(const Node& node) {
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): said of a node that has the limit
  const std::string step = plain_number(*node.limits->multiple_of);
  return {concat({"must be a multiple of ", step}), concat({"write a multiple of ", step})};
}

Problem describe_too_few(std::uint64_t least, std::uint64_t have, std::string_view what, Without without) {
  if (have == 0 && what == "character")
    return {"must not be empty", without == Without::field  ? "write a text, or leave the field out"
                                 : without == Without::item ? "write a text, or take the item out"
                                                            : "write a text"};
  if (have == 0)
    return {"must not be empty", fmt::format("write at least {}", least == 1 ? "one" : fmt::format("{}", least))};
  return {fmt::format("must have at least {} {}s, but has {}", least, what, have), "add what is missing"};
}

Problem describe_too_many(std::uint64_t most, std::uint64_t have, std::string_view what) {
  const std::string plural = what == "entry" ? "entries" : concat({what, "s"});
  if (most == 0) return {"must be empty", "leave it empty"};
  return {fmt::format("must have at most {} {}, but has {}", most, most == 1 ? std::string(what) : plural, have),
          what == "character" ? "write a shorter text" : "remove some"};
}

Problem describe_wrong_format(Format format) {
  return {concat({"must be ", format_name(format)}), std::string(format_example(format))};
}

Problem describe_duplicate(std::span<const std::string_view> keys, std::size_t first) {
  if (keys.empty()) return {fmt::format("is the same as item {}", first), "remove one of them"};
  std::vector<std::string> names(keys.begin(), keys.end());
  return {fmt::format("has the same {} as item {}", list_words(names, "and"), first),
          "remove one of them, or give it another name"};
}

}  // namespace stackgate::validate::schema
