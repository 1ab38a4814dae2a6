#include "services/evaluator/suite/harness/setting_reader.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/findings/nearest.hpp"

namespace stackgate::evaluator::harness {
namespace {

bool is_absent(const std::optional<Node>& at) { return !at || at->value.is_null(); }

/// YAML reads yes, no, on and off as booleans; Python's reader does, too.
constexpr std::string_view quote_it = "put it into quotes";

}  // namespace

const Node* SettingReader::find(const Settings& settings, std::string_view key) {
  const auto found = settings.find(key);
  return found == settings.end() || found->second.value.is_null() ? nullptr : &found->second;
}

std::optional<Node> SettingReader::find(const Node& mapping, std::string_view key) {
  const json::Member* found = mapping.value.find_member(key);
  if (found == nullptr || found->value.is_null()) return std::nullopt;
  return mapping.member(*found);
}

bool SettingReader::refuse_python(const Node& at) {
  if (!at.is_function()) return false;
  wrong(at, fmt::format("is a Python function (!function {}), and no Python runs here", at.value.string()),
        "write a template, or put what it computes into the rows");
  return true;
}

std::string SettingReader::text(const std::optional<Node>& at, std::string_view fallback) {
  if (is_absent(at) || refuse_python(*at)) return std::string(fallback);
  if (at->value.is_string()) return std::string(at->value.string());
  wrong(*at, fmt::format("is no text but {}", json::to_string(at->value.type())), std::string(quote_it));
  return std::string(fallback);
}

bool SettingReader::flag(const std::optional<Node>& at, bool fallback) {
  if (is_absent(at) || refuse_python(*at)) return fallback;
  if (!at->value.is_boolean()) wrong(*at, "is neither true nor false", "write true or false");
  return at->value.is_boolean() ? at->value.boolean() : fallback;
}

std::optional<std::int64_t> SettingReader::integer(const std::optional<Node>& at) {
  if (is_absent(at) || refuse_python(*at)) return std::nullopt;
  if (at->value.is_integer()) return at->value.integer();
  wrong(*at, "is no whole number", "write digits, without quotes");
  return std::nullopt;
}

std::optional<std::uint32_t> SettingReader::number(const std::optional<Node>& at, std::uint32_t least,
                                                   std::uint32_t most) {
  const auto out = integer(at);
  if (!out) return std::nullopt;
  if (*out >= least && *out <= most) return static_cast<std::uint32_t>(*out);
  wrong(*at, fmt::format("is {}", *out), fmt::format("write a number from {} to {}", least, most));
  return std::nullopt;
}

std::optional<double> SettingReader::real(const std::optional<Node>& at, double least, double most) {
  if (is_absent(at) || refuse_python(*at)) return std::nullopt;
  if (at->value.is_number() && at->value.number() >= least && at->value.number() <= most) return at->value.number();
  wrong(*at, "is no number within its bounds", fmt::format("write a number from {} to {}", least, most));
  return std::nullopt;
}

std::vector<std::string> SettingReader::texts(const Node& at) {
  std::vector<std::string> out;
  const auto add = [&](const Node& each) {
    if (refuse_python(each)) return;
    if (each.value.is_string())
      out.emplace_back(each.value.string());
    else if (each.value.is_integer())
      out.push_back(std::to_string(each.value.integer()));
    else
      wrong(each, fmt::format("is no text but {}", json::to_string(each.value.type())), std::string(quote_it));
  };
  if (!at.value.is_array()) {
    if (!at.value.is_null()) add(at);
    return out;
  }
  for (std::size_t i = 0; i < at.value.items().size(); ++i) add(at.item(i));
  return out;
}

std::vector<Node> SettingReader::items(const std::optional<Node>& at, std::string_view example) {
  std::vector<Node> out;
  if (is_absent(at) || refuse_python(*at)) return out;
  if (!at->value.is_array()) {
    wrong(*at, "is no list", fmt::format("write a list: {}", example));
    return out;
  }
  for (std::size_t i = 0; i < at->value.items().size(); ++i) {
    const Node each = at->item(i);
    if (refuse_python(each)) continue;
    if (each.value.is_object())
      out.push_back(each);
    else
      wrong(each, "is no mapping", fmt::format("write a list: {}", example));
  }
  return out;
}

void SettingReader::known_keys(const Node& mapping, std::span<const std::string_view> known, std::string_view what) {
  for (const json::Member& member : mapping.value.members()) {
    if (std::ranges::find(known, member.key) != known.end()) continue;
    const std::string_view near = validate::nearest(member.key, known);
    wrong(mapping.member(member), fmt::format("is no key of {}", what),
          near.empty() ? fmt::format("leave it out; {} has {}", what, fmt::join(known, ", "))
                       : fmt::format("write \"{}\"", near));
  }
}

std::optional<std::size_t> SettingReader::one_of(const Node& at, std::span<const std::string_view> names,
                                                 std::string_view what) {
  if (refuse_python(at)) return std::nullopt;
  const std::string_view text = at.value.string();
  const auto found = std::ranges::find(names, text);
  if (found != names.end() && at.value.is_string()) return static_cast<std::size_t>(found - names.begin());
  const std::string_view near = validate::nearest(text, names);
  wrong(at, fmt::format("\"{}\" is no {}", text, what),
        near.empty() ? fmt::format("write one of {}", fmt::join(names, ", ")) : fmt::format("write \"{}\"", near));
  return std::nullopt;
}

}  // namespace stackgate::evaluator::harness
