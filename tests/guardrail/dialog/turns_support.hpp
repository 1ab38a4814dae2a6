// Turns over Colang texts, with actions that answer from a script.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "services/guardrail/dialog/turn.hpp"

namespace stackgate::guardrail::test {

struct Rails {
  std::vector<std::string> input{}, output{}, retrieval{};
  bool parallel = false;
  bool exceptions = false;
};

/// The Colang text and a `define bot refuse to respond`; fails the test on findings that are errors.
ConfigurationPtr configuration(const std::string& colang, const Rails& rails = {});

/// What actions answer, by name; one that is not there fails.
using Script = std::map<std::string, jinja::Value, std::less<>>;

struct Played {
  TurnResult result;
  std::vector<std::string> asked{};         // names of actions in the order asked for
  std::vector<std::size_t> side_by_side{};  // how many requests each answer brought
};
/// Answers requests in their order; `last_first`: in the reverse of it.
Played play(TurnInput input, const Script& script, bool last_first = false);

TurnInput says(ConfigurationPtr configuration, std::string text);

}  // namespace stackgate::guardrail::test
