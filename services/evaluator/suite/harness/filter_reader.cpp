#include "services/evaluator/suite/harness/filter_reader.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/evaluator/suite/harness/setting_reader.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::evaluator::harness {
namespace {

using Function = FilterStep::Function;

constexpr std::array<std::string_view, 9> function_names = {
    "regex",     "take_first",        "take_first_k", "majority_vote",     "lowercase",
    "uppercase", "remove_whitespace", "map",          "multi_choice_regex"};
constexpr std::string_view gsm8k_pattern = R"(#### (\-?[0-9\.\,]+))";  // lm-evaluation-harness' default

std::vector<std::string_view> keys_of(Function function) {
  switch (function) {
    case Function::regex:
      return {"function", "regex_pattern", "group_select", "fallback"};
    case Function::multi_choice_regex:
      return {"function",    "regex_pattern",      "group_select",     "fallback",
              "ignore_case", "ignore_punctuation", "regexes_to_ignore"};
    case Function::map:
      return {"function", "mapping_dict", "default_value"};
    case Function::take_first_k:
      return {"function", "k"};
    default:
      return {"function"};
  }
}

class FilterReader {
 public:
  explicit FilterReader(validate::Findings& findings) : read_(findings) {}

  std::vector<FilterPipeline> pipelines(const std::optional<Node>& list) {
    std::vector<FilterPipeline> out;
    for (const Node& each : read_.items(list, "[{name: none, filter: [{function: take_first}]}]")) {
      constexpr std::array<std::string_view, 2> keys = {"name", "filter"};
      read_.known_keys(each, keys, "a filter");
      FilterPipeline pipeline{.name = read_.text(SettingReader::find(each, "name"))};
      if (pipeline.name.empty() || pipeline.name.contains(','))
        read_.wrong(each, "has no name that scores can have", "write name: and a word");
      if (std::ranges::find(out, pipeline.name, &FilterPipeline::name) != out.end())
        read_.wrong(each, fmt::format("is a second \"{}\"", pipeline.name), "give each its own name");
      pipeline.steps = steps(each);
      out.push_back(std::move(pipeline));
    }
    if (out.empty()) out.push_back({.steps = {{.function = Function::take_first}}});
    return out;
  }

 private:
  std::vector<FilterStep> steps(const Node& pipeline) {
    std::vector<FilterStep> out;
    bool taken = false;
    for (const Node& each : read_.items(SettingReader::find(pipeline, "filter"), "[{function: take_first}]")) {
      const auto function = SettingReader::find(each, "function");
      if (!function) {
        read_.wrong(each, "has no function", "write function: and a name, such as regex");
        continue;
      }
      const auto found = read_.one_of(*function, function_names, "filter that is here");
      if (!found) continue;
      if (taken)
        read_.wrong(each, "comes after take_first, which leaves no list of answers", "put it before take_first");
      taken = taken || static_cast<Function>(*found) == Function::take_first;
      out.push_back(step(each, static_cast<Function>(*found)));
    }
    return out;
  }

  FilterStep step(const Node& at, Function function) {
    read_.known_keys(at, keys_of(function),
                     fmt::format("the filter {}", function_names.at(static_cast<std::size_t>(function))));
    FilterStep out{.function = function};
    if (function == Function::regex || function == Function::multi_choice_regex) matching(at, out);
    if (function == Function::take_first_k) {
      if (const auto k = read_.number(SettingReader::find(at, "k"), 1, 1'000'000))
        out.k = *k;
      else if (!SettingReader::find(at, "k"))
        read_.wrong(at, "has no k", "write k: and how many answers are taken");
    }
    if (function == Function::map) mapping(at, out);
    return out;
  }

  void matching(const Node& at, FilterStep& out) {
    const auto pattern = SettingReader::find(at, "regex_pattern");
    out.pattern = compiled(pattern.value_or(at), read_.text(pattern, gsm8k_pattern));
    out.group_select = read_.integer(SettingReader::find(at, "group_select")).value_or(0);
    if (const auto fallback = SettingReader::find(at, "fallback")) out.fallback = scalar(*fallback);
    out.ignore_case = read_.flag(SettingReader::find(at, "ignore_case"), false);
    out.ignore_punctuation = read_.flag(SettingReader::find(at, "ignore_punctuation"), false);
    if (const auto ignored = SettingReader::find(at, "regexes_to_ignore"))
      for (const std::string& each : read_.texts(*ignored))
        if (auto one = compiled(*ignored, each)) out.ignored.push_back(std::move(*one));
  }

  std::optional<Pattern> compiled(const Node& at, const std::string& text) {
    auto out = Pattern::compile(text);
    if (out) return std::move(*out);
    read_.wrong(at, fmt::format("\"{}\" is no pattern that RE2 runs: {}", text, out.error()),
                "write it without look-around and back references");
    return std::nullopt;
  }

  void mapping(const Node& at, FilterStep& out) {
    const auto dict = SettingReader::find(at, "mapping_dict");
    if (!dict || !dict->value.is_object()) {
      read_.wrong(dict.value_or(at), "has no mapping", "write mapping_dict: {A: 0, B: 1}");
    } else {
      for (const json::Member& member : dict->value.members())
        out.mapping.emplace_back(member.key, scalar(dict->member(member)));
    }
    if (const auto otherwise = SettingReader::find(at, "default_value")) out.otherwise = scalar(*otherwise);
  }

  /// As Python's str() has it.
  std::string scalar(const Node& at) {
    if (read_.refuse_python(at)) return {};
    if (at.value.is_string() || at.value.is_integer()) return json::scalar_text(at.value);
    if (at.value.is_boolean()) return at.value.boolean() ? "True" : "False";
    if (at.value.is_null()) return "None";
    read_.wrong(at, "is no text", "write a text");
    return {};
  }

  SettingReader read_;
};

}  // namespace

std::vector<FilterPipeline> read_filters(const std::optional<Node>& list, validate::Findings& findings) {
  return FilterReader(findings).pipelines(list);
}

}  // namespace stackgate::evaluator::harness
