#include "services/guardrail/detect/expression.hpp"

#include <algorithm>

#include <re2/re2.h>
#include <re2/set.h>

#include "services/guardrail/detect/match_bound.hpp"

namespace stackgate::guardrail {
namespace {

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

re2::RE2::Options options_of(ExpressionFlags flags, std::size_t memory) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(!flags.case_insensitive);
  options.set_max_mem(static_cast<std::int64_t>(memory));
  return options;
}

std::string with_flags(std::string_view source, ExpressionFlags flags) {
  return std::string(flags.lines ? "(?ms)" : "").append(source);
}

}  // namespace

struct Expression::State {
  State(std::string_view text, ExpressionFlags flags)
      : source(text), expression(with_flags(text, flags), options_of(flags, expression_memory)) {}
  std::string source;
  re2::RE2 expression;
  std::optional<std::size_t> longest;
};

std::expected<Expression, std::string> Expression::compile(std::string_view source, ExpressionFlags flags) {
  if (source.empty()) return std::unexpected("is empty");
  if (source.size() > longest_expression) return std::unexpected("is longer than 4096 bytes");
  const auto state = std::make_shared<State>(source, flags);
  if (!state->expression.ok()) return std::unexpected(state->expression.error());
  if (re2::RE2::FullMatch("", state->expression)) return std::unexpected("matches the empty text, so every text");
  state->longest = longest_match(source);
  Expression out;
  out.state_ = state;
  return out;
}

bool Expression::matches(std::string_view text) const {
  return re2::RE2::PartialMatch(piece(text), state_->expression);
}

std::optional<Found> Expression::find(std::string_view text, std::size_t from) const {
  re2::StringPiece match;
  while (from <= text.size()) {
    if (!state_->expression.Match(piece(text), from, text.size(), re2::RE2::UNANCHORED, &match, 1)) return std::nullopt;
    const auto begin = static_cast<std::size_t>(match.data() - text.data());
    if (!match.empty()) return Found{begin, begin + match.size()};
    from = begin + 1;  // "\b" alone, for example
    while (from < text.size() && (text[from] & '\xC0') == '\x80') ++from;
  }
  return std::nullopt;
}

const std::string& Expression::source() const { return state_->source; }
std::optional<std::size_t> Expression::longest() const { return state_->longest; }

struct ExpressionSet::State {
  explicit State(const re2::RE2::Options& options) : set(options, re2::RE2::UNANCHORED) {}
  re2::RE2::Set set;
  bool usable = true;
};

ExpressionSet::ExpressionSet(const std::vector<std::string>& sources, ExpressionFlags flags) {
  const std::size_t memory = std::clamp<std::size_t>(sources.size() * expression_memory, 8U << 20U, 32U << 20U);
  auto state = std::make_shared<State>(options_of(flags, memory));
  for (const std::string& source : sources) state->usable &= state->set.Add(with_flags(source, flags), nullptr) >= 0;
  state->usable = state->usable && !sources.empty() && state->set.Compile();
  state_ = std::move(state);
}

std::optional<std::vector<int>> ExpressionSet::matching(std::string_view text) const {
  if (!state_->usable) return std::nullopt;
  std::vector<int> out;
  re2::RE2::Set::ErrorInfo error{};
  if (!state_->set.Match(piece(text), &out, &error) && error.kind != re2::RE2::Set::kNoError) return std::nullopt;
  std::ranges::sort(out);
  return out;
}

}  // namespace stackgate::guardrail
