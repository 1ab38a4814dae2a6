#include "services/evaluator/metrics/matching.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <re2/re2.h>

#include "services/evaluator/metrics/words.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/jinja/unicode.hpp"

namespace stackgate::evaluator {
namespace {

double f1_of(const Words& text, const Words& reference) {
  if (text.empty() || reference.empty()) return text.empty() && reference.empty() ? 1 : 0;
  Words a = text, b = reference;
  std::ranges::sort(a);
  std::ranges::sort(b);
  Words common;
  std::ranges::set_intersection(a, b, std::back_inserter(common));
  if (common.empty()) return 0;
  const auto same = static_cast<double>(common.size());
  const double precision = same / static_cast<double>(a.size()), recall = same / static_cast<double>(b.size());
  return 2 * precision * recall / (precision + recall);
}

constexpr std::array<std::string_view, 6> check_names = {"equals",       "not equals",  "contains",
                                                         "not contains", "starts with", "ends with"};

}  // namespace

ExactMatch::ExactMatch() = default;
ExactMatch::ExactMatch(ExactMatch&&) noexcept = default;
ExactMatch& ExactMatch::operator=(ExactMatch&&) noexcept = default;
ExactMatch::~ExactMatch() = default;

std::expected<ExactMatch, std::string> ExactMatch::compile(const MatchOptions& options) {
  ExactMatch out;
  out.options_ = options;
  for (const std::string& each : options.regexes_to_ignore) {
    RE2::Options quiet;
    quiet.set_log_errors(false);
    out.ignored_.push_back(std::make_unique<const RE2>(each, quiet));
    if (!out.ignored_.back()->ok())
      return std::unexpected(fmt::format("\"{}\" is no pattern: {}", each, out.ignored_.back()->error()));
  }
  return out;
}

std::string ExactMatch::compared(std::string_view text) const {
  std::string out(text);
  for (const auto& each : ignored_) RE2::GlobalReplace(&out, *each, "");
  if (options_.ignore_case) out = jinja::lower(out);
  if (options_.ignore_punctuation) std::erase_if(out, is_ascii_punctuation);
  if (options_.ignore_numbers) std::erase_if(out, ascii::is_digit);
  if (options_.strip) out = std::string(jinja::strip_right(jinja::strip_left(out)));
  return out;
}

bool ExactMatch::matches(std::string_view text, std::span<const std::string> references) const {
  const std::string own = compared(text);
  return std::ranges::any_of(references, [&](const std::string& each) { return compared(each) == own; });
}

double token_f1(std::string_view text, std::span<const std::string> references) {
  const Words own = squad_words(text);
  double best = 0;
  for (const std::string& each : references) best = std::max(best, f1_of(own, squad_words(each)));
  return best;
}

std::optional<StringCheck> string_check_named(std::string_view name) {
  std::string words(name);
  std::ranges::replace(words, '_', ' ');
  if (words == "startswith") words = "starts with";
  if (words == "endswith") words = "ends with";
  const auto found = std::ranges::find(check_names, words);
  if (found == check_names.end()) return std::nullopt;
  return static_cast<StringCheck>(found - check_names.begin());
}

bool check_string(StringCheck check, std::string_view text, std::string_view reference) {
  switch (check) {
    case StringCheck::equals:
      return text == reference;
    case StringCheck::not_equals:
      return text != reference;
    case StringCheck::contains:
      return text.contains(reference);
    case StringCheck::not_contains:
      return !text.contains(reference);
    case StringCheck::starts_with:
      return text.starts_with(reference);
    case StringCheck::ends_with:
      return text.ends_with(reference);
  }
  return false;
}

}  // namespace stackgate::evaluator
