// A configuration's entities and recognizers checked, every fault at once.
#include <algorithm>

#include <fmt/format.h>

#include "services/guardrail/detect/sensitive_data.hpp"
#include "services/kit/findings/nearest.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::size_t most_recognizers = 100, most_denied_words = 500;

bool is_score(double score) { return score >= 0 && score <= 1; }

validate::Finding fault(std::string path, std::string value, std::string problem, std::string fix) {
  return {.rule = "guardrail-sensitive-data",
          .path = std::move(path),
          .value = std::move(value),
          .problem = std::move(problem),
          .fix = std::move(fix)};
}

validate::Finding unknown_entity(std::string path, const std::string& name, const std::vector<std::string>& custom) {
  std::vector<std::string_view> known(served_entities().begin(), served_entities().end());
  known.insert(known.end(), custom.begin(), custom.end());
  const std::string_view near = validate::nearest(name, known);
  std::string fix = near.empty() ? std::string("write one of ") : fmt::format("did you mean {}? There are ", near);
  return fault(std::move(path), name, "is no entity that is recognised",
               fmt::format("{}{}; or add a recognizer for it", fix, fmt::join(known, ", ")));
}

/// Literal text as an expression.
std::string quoted(std::string_view word) {
  std::string out;
  for (const char c : word) {
    if (static_cast<signed char>(c) >= 0 && !ascii::is_alphanumeric(c)) out += '\\';
    out += c;
  }
  return out;
}

/// Whole words: what Presidio makes of a deny list.
std::string deny_list_expression(const std::vector<std::string>& words) {
  std::vector<std::string> parts;
  for (const std::string& word : words) {
    const bool begins = !word.empty() && ascii::is_alphanumeric(word.front());
    const bool ends = !word.empty() && ascii::is_alphanumeric(word.back());
    parts.push_back(fmt::format("{}{}{}", begins ? "\\b" : "", quoted(word), ends ? "\\b" : ""));
  }
  return fmt::format("(?:{})", fmt::join(parts, "|"));
}

}  // namespace

void SensitiveData::add_recognizer(const Recognizer& recognizer, const std::string& path,
                                   validate::Findings& findings) {
  const auto kind = std::ranges::find(entities_, recognizer.supported_entity) - entities_.begin();
  const bool asked = static_cast<std::size_t>(kind) < entities_.size();
  std::vector<std::string> words;
  words.reserve(recognizer.context.size());
  for (const std::string& word : recognizer.context) words.push_back(ascii::to_lower(word));
  const auto context = std::make_shared<const std::vector<std::string>>(std::move(words));
  const auto add = [&](const std::string& place, const std::string& regex, double score) {
    if (!is_score(score))
      findings.push_back(fault(place, fmt::format("{}", score), "is no score", "write a number from 0 to 1"));
    auto expression = Expression::compile(regex, {.case_insensitive = true, .lines = true});
    if (!expression) {
      findings.push_back(fault(place, regex.substr(0, 80),
                               fmt::format("is no regular expression that is served: {}", expression.error()),
                               "write it in RE2's syntax, which has no look-ahead, look-behind and back references"));
      return;
    }
    if (!asked) return;
    const std::size_t longest = expression->longest().value_or(longest_open_tail + 1);
    if (longest > longest_open_tail) unbounded_.push_back(recognizer.name);
    longest_custom_ = std::max(longest_custom_, std::min(longest, longest_open_tail));
    custom_.push_back({*std::move(expression), static_cast<std::uint16_t>(kind), static_cast<float>(score), context});
  };
  if (recognizer.supported_entity.empty())
    findings.push_back(fault(path, recognizer.name, "names no supported_entity", "write supported_entity: MY_ENTITY"));
  if (recognizer.patterns.empty() && recognizer.deny_list.empty())
    findings.push_back(fault(path, recognizer.name, "has neither patterns nor a deny_list",
                             "write patterns with name, regex and score"));
  for (std::size_t i = 0; i < recognizer.patterns.size(); ++i)
    add(fmt::format("{}.patterns[{}]", path, i), recognizer.patterns[i].regex, recognizer.patterns[i].score);
  if (recognizer.deny_list.size() > most_denied_words) {
    findings.push_back(fault(path + ".deny_list", fmt::format("{}", recognizer.deny_list.size()), "has too many words",
                             fmt::format("write at most {}, in several recognizers if need be", most_denied_words)));
  } else {
    constexpr std::size_t at_once = 50;  // keeps each expression short
    for (std::size_t i = 0; i < recognizer.deny_list.size(); i += at_once) {
      const auto first = recognizer.deny_list.begin() + static_cast<std::ptrdiff_t>(i);
      const auto last = first + static_cast<std::ptrdiff_t>(std::min(at_once, recognizer.deny_list.size() - i));
      add(path + ".deny_list", deny_list_expression({first, last}), recognizer.deny_list_score);
    }
  }
}

std::expected<SensitiveData, validate::Findings> SensitiveData::compile(const SensitiveDataOptions& options,
                                                                        std::string_view path,
                                                                        const std::vector<Recognizer>& recognizers,
                                                                        std::string_view recognizers_path) {
  SensitiveData out;
  validate::Findings findings;
  std::vector<std::string> custom;
  custom.reserve(recognizers.size());
  for (const Recognizer& each : recognizers) custom.push_back(each.supported_entity);
  out.kinds_.resize(entity_count);
  out.threshold_ = static_cast<float>(options.score_threshold);
  if (!is_score(options.score_threshold))
    findings.push_back(fault(fmt::format("{}.score_threshold", path), fmt::format("{}", options.score_threshold),
                             "is no score", "write a number from 0 to 1"));
  for (std::size_t i = 0; i < options.entities.size(); ++i) {
    const std::string& name = options.entities[i];
    const auto entity = entity_from(name);
    if (!entity && (name.empty() || std::ranges::find(custom, name) == custom.end()))
      findings.push_back(unknown_entity(fmt::format("{}.entities[{}]", path, i), name, custom));
    if (std::ranges::find(out.entities_, name) != out.entities_.end()) continue;
    if (entity) {
      out.wanted_.set(static_cast<std::size_t>(*entity));
      out.kinds_[static_cast<std::size_t>(*entity)] = static_cast<std::uint16_t>(out.entities_.size());
    }
    out.masks_.push_back(options.mask_token.empty() ? fmt::format("<{}>", name) : options.mask_token);
    out.entities_.push_back(name);
  }
  if (recognizers.size() > most_recognizers)
    findings.push_back(fault(std::string(recognizers_path), fmt::format("{}", recognizers.size()),
                             "has too many recognizers", fmt::format("write at most {}", most_recognizers)));
  for (std::size_t i = 0; i < std::min(recognizers.size(), most_recognizers); ++i)
    out.add_recognizer(recognizers[i], fmt::format("{}[{}]", recognizers_path, i), findings);
  if (!findings.empty()) return std::unexpected(std::move(findings));
  std::vector<std::string> sources;
  sources.reserve(out.custom_.size());
  for (const Custom& each : out.custom_) sources.push_back(each.expression.source());
  if (!sources.empty())
    out.custom_set_ =
        std::make_shared<const ExpressionSet>(sources, ExpressionFlags{.case_insensitive = true, .lines = true});
  return out;
}

}  // namespace stackgate::guardrail
