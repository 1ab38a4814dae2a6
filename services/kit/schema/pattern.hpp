// Regular expressions of schemas (Go's syntax, which is RE2's).
//
// Most patterns of Kubernetes schemas are anchored and plain: those become a table-driven automaton, which reads a byte
// per nanosecond. The rest is matched by RE2. Both take linear time. Immutable and thread-safe.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "services/kit/grammar/problem.hpp"
#include "services/kit/schema/automaton.hpp"

namespace re2 {
class RE2;
}

namespace stackgate::validate::schema {

class Pattern {
 public:
  /// One object per source and grammar in the process. `grammar` names the grammar that the expression states
  /// ("dns-label"), if any. The error says what is wrong with the expression, or that there is no such grammar.
  static std::shared_ptr<const Pattern> compile(std::string_view source, std::string& error,
                                                std::string_view grammar = {});
  ~Pattern();

  /// Whether some part of `text`, which is well-formed UTF-8, matches.
  bool matches(std::string_view text) const { return automaton_ ? automaton_->matches(text) : search(text); }
  const std::string& source() const { return source_; }

  /// What says in words why a text does not fit, where the pattern stands for a well-known grammar; else nullptr.
  using Explain = std::optional<grammar::Problem> (*)(std::string_view text);
  Explain grammar() const { return grammar_; }

 private:
  Pattern() = default;
  bool search(std::string_view text) const;

  std::string source_;
  std::optional<Automaton> automaton_;
  Explain grammar_ = nullptr;
  std::unique_ptr<const re2::RE2> expression_;
};

/// What is wrong with a text that `pattern` refused: in the words of the grammar that the pattern stands for where it
/// is a well-known one, else that it does not match.
grammar::Problem explain_mismatch(const Pattern& pattern, std::string_view text);

}  // namespace stackgate::validate::schema
