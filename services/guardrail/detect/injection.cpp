#include "services/guardrail/detect/injection.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/guardrail/detect/expression.hpp"
#include "services/guardrail/detect/injection_rules.hpp"
#include "services/guardrail/detect/patterns.hpp"
#include "services/kit/findings/nearest.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::array<std::string_view, 4> kind_names{"code", "sqli", "template", "xss"};
constexpr ExpressionFlags rule_flags{.case_insensitive = true, .lines = true};

/// The rules of one kind, compiled when they are first needed, for all configurations.
struct CompiledRules {
  std::vector<Expression> expressions;
  std::vector<std::uint16_t> numbers;  // in injection_rules()
  ExpressionSet set;
};

CompiledRules compile_rules(InjectionKind kind) {
  std::vector<Expression> expressions;
  std::vector<std::uint16_t> numbers;
  std::vector<std::string> sources;
  for (std::size_t i = 0; i < injection_rules().size(); ++i) {
    const InjectionRule& rule = injection_rules()[i];
    if (rule.kind != kind) continue;
    if (auto made = Expression::compile(rule.expression, rule_flags)) {  // a test holds that all do
      expressions.push_back(*std::move(made));
      numbers.push_back(static_cast<std::uint16_t>(i));
      sources.emplace_back(rule.expression);
    }
  }
  ExpressionSet set(sources, rule_flags);
  return {std::move(expressions), std::move(numbers), std::move(set)};
}

const CompiledRules& rules_of(InjectionKind kind) {
  static const std::array<CompiledRules, 4> all{compile_rules(InjectionKind::code), compile_rules(InjectionKind::sqli),
                                                compile_rules(InjectionKind::markup_template),
                                                compile_rules(InjectionKind::xss)};
  return all[static_cast<std::size_t>(kind)];
}

validate::Finding injection_fault(std::string path, const std::string& value, std::string problem, std::string fix) {
  return {.rule = "guardrail-injection",
          .path = std::move(path),
          .value = value,
          .problem = std::move(problem),
          .fix = std::move(fix)};
}

}  // namespace

std::string_view to_string(InjectionKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

InjectionKind Injection::kind_of(std::size_t rule) { return injection_rules()[rule].kind; }
std::string_view Injection::rule_name(std::size_t rule) { return injection_rules()[rule].name; }

std::expected<Injection, validate::Findings> Injection::compile(const InjectionOptions& options,
                                                                std::string_view path) {
  Injection out;
  validate::Findings findings;
  if (options.injections.empty())
    findings.push_back(injection_fault(fmt::format("{}.injections", path), "", "names nothing to look for",
                                       fmt::format("write some of {}", fmt::join(kind_names, ", "))));
  for (std::size_t i = 0; i < options.injections.size(); ++i) {
    const std::string& name = options.injections[i];
    const auto* const found = std::ranges::find(kind_names, name);
    if (found != kind_names.end()) {
      out.wanted_[static_cast<std::size_t>(found - kind_names.begin())] = true;
      continue;
    }
    const std::string_view near = validate::nearest(name, kind_names);
    findings.push_back(injection_fault(fmt::format("{}.injections[{}]", path, i), name, "is no injection that is known",
                                       near.empty() ? fmt::format("write one of {}", fmt::join(kind_names, ", "))
                                                    : fmt::format("did you mean {}?", near)));
  }
  if (options.action == "omit") {
    out.action_ = InjectionAction::omit;
  } else if (options.action != "reject") {
    findings.push_back(injection_fault(fmt::format("{}.action", path), options.action, "is no action that is served",
                                       "write reject or omit"));
  }
  if (!findings.empty()) return std::unexpected(std::move(findings));
  return out;
}

Spans Injection::find(std::string_view text) const {
  Spans out;
  for (std::size_t kind = 0; kind < wanted_.size(); ++kind) {
    if (!wanted_[kind]) continue;
    const CompiledRules& rules = rules_of(static_cast<InjectionKind>(kind));
    const auto search = [&](std::size_t index) {
      std::size_t from = 0;
      while (const auto found = rules.expressions[index].find(text, from)) {
        out.push_back({.begin = static_cast<std::uint32_t>(found->begin),
                       .end = static_cast<std::uint32_t>(found->end),
                       .kind = rules.numbers[index]});
        from = found->end;
      }
    };
    if (const auto some = rules.set.matching(text)) {
      for (const int index : *some) search(static_cast<std::size_t>(index));
    } else {
      for (std::size_t index = 0; index < rules.expressions.size(); ++index) search(index);
    }
  }
  return without_overlaps(std::move(out));
}

std::string Injection::omitted(std::string_view text, const Spans& spans) {
  return replaced(text, spans, [](const Span&) { return std::string_view(); });
}

std::size_t Injection::open_tail(std::string_view text) const { return tail_at_character(text, longest_open_tail); }

}  // namespace stackgate::guardrail
