// rails.config: what the built-in rails look for.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/guardrail/configuration/parts.hpp"
#include "services/guardrail/detect/language.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail {
namespace {

/// Where a finding of detect/ stands: its path leads into the tree.
const Tree& tree_at(const Tree& root, std::string_view path) {
  const Tree* at = &root;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find_first_of(".[", 1), path.size());
    std::string_view part = path.substr(0, end);
    path.remove_prefix(end);
    const Tree* next = nullptr;
    if (part.starts_with('[')) {
      std::size_t index = 0;
      for (const char c : part.substr(1))
        if (c >= '0' && c <= '9' && index < at->items.size()) index = index * 10 + static_cast<std::size_t>(c - '0');
      if (index < at->items.size()) next = &at->items[index];
    } else {
      if (part.starts_with('.')) part.remove_prefix(1);
      next = at->find(part);
    }
    if (next == nullptr) return *at;
    at = next;
  }
  return *at;
}

void report_all(const validate::Findings& findings, const Tree& root, Report& report) {
  for (validate::Finding each : findings) {
    const Origin at = tree_at(root, each.path).origin;
    each.path = concat({report.where(at), " ", each.path});
    each.offset = at.offset;
    report.add(std::move(each));
  }
}

constexpr std::string_view sensitive = "rails.config.sensitive_data_detection";
constexpr std::string_view regex = "rails.config.regex_detection";

std::vector<Recognizer> read_recognizers(const Tree& root) {
  std::vector<Recognizer> out;
  const Tree* list = root.at(concat({sensitive, ".recognizers"}));
  if (list == nullptr) return out;
  for (const Tree& each : list->items) {
    Recognizer& recognizer = out.emplace_back();
    recognizer.name = text_of(&each, "name");
    recognizer.supported_entity = text_of(&each, "supported_entity");
    recognizer.deny_list = texts_of(&each, "deny_list");
    recognizer.deny_list_score = number_of(&each, "deny_list_score", recognizer.deny_list_score);
    recognizer.context = texts_of(&each, "context");
    const Tree* patterns = each.find("patterns");
    if (patterns == nullptr) continue;
    for (const Tree& pattern : patterns->items)
      recognizer.patterns.push_back(
          {text_of(&pattern, "name"), text_of(&pattern, "regex"), number_of(&pattern, "score", 0.5)});
  }
  return out;
}

class DetectorReader {
 public:
  DetectorReader(const Tree& root, Report& report) : root_(root), report_(report) {}

  Detectors read() {
    Detectors out;
    const auto recognizers = read_recognizers(root_);
    sensitive_data(out.sensitive_data.input, "input", recognizers);
    sensitive_data(out.sensitive_data.output, "output", recognizers);
    sensitive_data(out.sensitive_data.retrieval, "retrieval", recognizers);
    patterns(out.patterns.input, "input");
    patterns(out.patterns.output, "output");
    patterns(out.patterns.retrieval, "retrieval");
    jailbreak(out.jailbreak);
    injection(out.injection);
    length(out.length.input, "input");
    length(out.length.output, "output");
    language(out.language.input, "input");
    language(out.language.output, "output");
    topic(out.topic);
    if (const Tree* tools = root_.at("rails.config.tool_calls")) out.allowed_functions = texts_of(tools, "allowed");
    return out;
  }

 private:
  void sensitive_data(std::optional<SensitiveData>& out, std::string_view rail,
                      const std::vector<Recognizer>& recognizers) {
    const std::string path = concat({sensitive, ".", rail});
    const Tree* given = root_.at(path);
    if (given == nullptr) return;
    SensitiveDataOptions options{.entities = texts_of(given, "entities"), .mask_token = text_of(given, "mask_token")};
    options.score_threshold = number_of(given, "score_threshold", options.score_threshold);
    auto compiled = SensitiveData::compile(options, path, recognizers, concat({sensitive, ".recognizers"}));
    if (compiled)
      out.emplace(std::move(*compiled));
    else
      report_all(compiled.error(), root_, report_);
  }

  void patterns(std::optional<Patterns>& out, std::string_view rail) {
    const std::string path = concat({regex, ".", rail});
    const Tree* given = root_.at(path);
    if (given == nullptr) return;
    auto compiled = Patterns::compile(
        {.patterns = texts_of(given, "patterns"), .case_insensitive = flag_of(given, "case_insensitive")}, path);
    if (compiled)
      out.emplace(std::move(*compiled));
    else
      report_all(compiled.error(), root_, report_);
  }

  void address(const Tree* of, std::string_view key, std::string& out) {
    out = text_of(of, key);
    if (out.empty() || out.starts_with("http://") || out.starts_with("https://")) return;
    report_.error(rule::value, of->find(key)->origin, concat({"rails.config.jailbreak_detection.", key}),
                  "is no http address", "write one such as http://jailbreak:1337/heuristics");
  }

  void jailbreak(JailbreakRules& out) {
    const Tree* given = root_.at("rails.config.jailbreak_detection");
    if (given == nullptr) return;
    address(given, "server_endpoint", out.server_endpoint);
    address(given, "nim_base_url", out.nim_base_url);
    out.nim_server_endpoint = text_of(given, "nim_server_endpoint", out.nim_server_endpoint);
    out.api_key_env = text_of(given, "api_key_env_var");
    out.length_per_perplexity = number_of(given, "length_per_perplexity_threshold", out.length_per_perplexity);
    out.prefix_suffix_perplexity = number_of(given, "prefix_suffix_perplexity_threshold", out.prefix_suffix_perplexity);
    auto& own = out.own;
    own.length_per_perplexity = number_of(given, "own_length_per_perplexity_threshold", own.length_per_perplexity);
    own.prefix_suffix_perplexity =
        number_of(given, "own_prefix_suffix_perplexity_threshold", own.prefix_suffix_perplexity);
    if (!out.server_endpoint.empty()) return;
    for (const std::string_view key : {"length_per_perplexity_threshold", "prefix_suffix_perplexity_threshold"})
      if (const Tree* threshold = given->find(key))
        report_.warning(rule::unsupported, threshold->origin, concat({"rails.config.jailbreak_detection.", key}),
                        "has no effect here: it belongs to GPT-2 large, which a server_endpoint has",
                        concat({"write own_", key, ", or leave it out"}));
  }

  void injection(InjectionRules& out) {
    constexpr std::string_view path = "rails.config.injection_detection";
    const Tree* given = root_.at(path);
    const std::string action = text_of(given, "action", "reject");
    out.omit = action == "omit";
    if (given != nullptr && given->find("injections") != nullptr) out.injections = texts_of(given, "injections");
    auto compiled = Injection::compile({.injections = out.injections, .action = action}, path);
    if (compiled)
      out.compiled = *compiled;
    else
      report_all(compiled.error(), root_, report_);
  }

  void length(std::optional<LengthLimits>& out, std::string_view rail) {
    const Tree* given = root_.at(concat({"rails.config.length.", rail}));
    if (given == nullptr) return;
    const auto limit = [&](std::string_view key) -> std::optional<std::size_t> {
      const double value = number_of(given, key, 0);
      if (value < 1 || value > 1e9) return std::nullopt;
      return static_cast<std::size_t>(value);
    };
    out = {
        .bytes = limit("bytes"), .characters = limit("characters"), .words = limit("words"), .lines = limit("lines")};
  }

  void language(std::optional<LanguageRules>& out, std::string_view rail) {
    const std::string path = concat({"rails.config.language.", rail});
    const Tree* given = root_.at(path);
    if (given == nullptr) return;
    out.emplace();
    out->allow_unknown = flag_of(given, "allow_unknown", true);
    const auto served = served_languages();
    const std::vector<std::string_view> names(served.begin(), served.end());
    const Tree* allowed = given->find("allowed");
    if (allowed == nullptr || allowed->items.empty())
      return report_.error(rule::missing, given->origin, path + ".allowed", "is missing", "write languages: [en, de]");
    for (std::size_t i = 0; i < allowed->items.size(); ++i) {
      const Tree& each = allowed->items[i];
      if (!each.is(json::Type::string)) continue;
      out->allowed.push_back(ascii::to_lower(each.text));
      if (std::ranges::find(names, out->allowed.back()) == names.end())
        report_.error(rule::value, each.origin, fmt::format("{}.allowed[{}]", path, i),
                      concat({in_quotes(each.text), " is no language that is told apart"}),
                      fmt::format("write some of {}", fmt::join(names, ", ")));
    }
  }

  void topic(std::optional<TopicRules>& out) {
    constexpr std::string_view path = "rails.config.topic.input";
    const Tree* given = root_.at(path);
    if (given == nullptr) return;
    TopicRules rules{.allowed = texts_of(given, "allowed"), .denied = texts_of(given, "denied")};
    rules.threshold = number_of(given, "threshold", rules.threshold);
    if (rules.allowed.empty() && rules.denied.empty())
      return report_.error(rule::missing, given->origin, path, "has no examples",
                           "write what users may say as allowed: [How do I return a parcel?], or what not as denied");
    out = std::move(rules);
  }

  const Tree& root_;
  Report& report_;
};

}  // namespace

std::shared_ptr<const Detectors> read_detectors(const Tree& root, Report& report) {
  return std::make_shared<const Detectors>(DetectorReader(root, report).read());
}

}  // namespace stackgate::guardrail
