#include "services/evaluator/metrics/number_pattern.hpp"

#include <cmath>

#include <fmt/format.h>
#include <re2/re2.h>

#include "services/kit/base/number.hpp"

namespace stackgate::evaluator {

NumberPattern::NumberPattern() = default;
NumberPattern::NumberPattern(NumberPattern&&) noexcept = default;
NumberPattern& NumberPattern::operator=(NumberPattern&&) noexcept = default;
NumberPattern::~NumberPattern() = default;

std::expected<NumberPattern, std::string> NumberPattern::compile(std::string_view pattern) {
  RE2::Options quiet;
  quiet.set_log_errors(false);
  NumberPattern out;
  out.pattern_ = std::make_unique<const RE2>(re2::StringPiece(pattern.data(), pattern.size()), quiet);
  if (!out.pattern_->ok()) return std::unexpected(fmt::format("is no pattern: {}", out.pattern_->error()));
  if (out.pattern_->NumberOfCapturingGroups() == 0) return std::unexpected("has no group that is the number");
  return out;
}

std::expected<double, std::string> NumberPattern::read(std::string_view text) const {
  re2::StringPiece found;
  if (!RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *pattern_, &found))
    return std::unexpected("the pattern matches nothing of the answer");
  std::string_view digits(found.data(), found.size());
  while (digits.starts_with(' ') || digits.starts_with('+')) digits.remove_prefix(1);
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  const auto out = to_number<double>(digits);
  if (!out || !std::isfinite(*out)) return std::unexpected("what the pattern finds is no number");
  return *out;
}

}  // namespace stackgate::evaluator
