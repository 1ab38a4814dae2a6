// Text that tries to be run: SQL, Python and shell, templates, scripts of web pages
// (`rails.config.injection_detection`). Patterns of what attacks look like, not a parser: what is hidden well enough
// passes. Pure.
//
// Immutable; any number of threads.
#pragma once
#include <array>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/detect/span.hpp"
#include "services/kit/findings/finding.hpp"

namespace stackgate::guardrail {

enum class InjectionKind : std::uint8_t { code, sqli, markup_template, xss };
/// "code", "sqli", "template", "xss".
std::string_view to_string(InjectionKind kind);

enum class InjectionAction : std::uint8_t {
  reject,  // the message is refused
  omit,    // what was found is taken out of it
};

struct InjectionOptions {
  std::vector<std::string> injections{};  // by their names
  std::string action{"reject"};
};

class Injection {
 public:
  /// All faults at once; paths begin with `path`: "rails.config.injection_detection".
  static std::expected<Injection, validate::Findings> compile(const InjectionOptions& options, std::string_view path);

  /// `kind` is the number of a rule, for kind_of() and rule_name().
  Spans find(std::string_view text) const;
  static InjectionKind kind_of(std::size_t rule);
  /// "sql tautology"
  static std::string_view rule_name(std::size_t rule);
  InjectionAction action() const { return action_; }

  /// What was found taken out.
  static std::string omitted(std::string_view text, const Spans& spans);
  /// As SensitiveData::open_tail(). Most rules reach as far as their line does, so it is longest_open_tail.
  std::size_t open_tail(std::string_view text) const;

 private:
  Injection() = default;
  std::array<bool, 4> wanted_{};
  InjectionAction action_ = InjectionAction::reject;
};

}  // namespace stackgate::guardrail
