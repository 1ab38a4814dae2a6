#include "tests/guardrail/dialog/turns_support.hpp"

#include <gtest/gtest.h>

#include "services/guardrail/colang/compile.hpp"

namespace stackgate::guardrail::test {

ConfigurationPtr configuration(const std::string& colang, const Rails& rails) {
  auto out = std::make_shared<Configuration>();
  const std::vector<colang::Source> sources = {
      {.name = "built-in", .text = "define bot refuse to respond\n  \"No.\"\n", .built_in = true},
      {.name = "rails.co", .text = colang}};
  auto compiled = colang::compile(sources);
  for (const validate::Finding& each : compiled.findings)
    EXPECT_NE(each.severity, validate::Severity::error) << validate::to_line(each);
  out->program = std::move(compiled.program);
  const auto list = [&](const std::vector<std::string>& names) {
    RailList made{.parallel = rails.parallel};
    for (const std::string& name : names) {
      const std::size_t dollar = name.find(" $");
      RailCall call{.flow = name.substr(0, dollar), .text = name};
      if (dollar != std::string::npos) {
        const std::size_t equals = name.find('=', dollar);
        call.arguments.emplace(name.substr(dollar + 2, equals - dollar - 2), name.substr(equals + 1));
      }
      const auto found = out->program.flow_by_name.find(call.flow);
      EXPECT_NE(found, out->program.flow_by_name.end()) << call.flow;
      if (found != out->program.flow_by_name.end()) call.index = found->second;
      made.flows.push_back(std::move(call));
    }
    return made;
  };
  out->input = list(rails.input);
  out->output = list(rails.output);
  out->retrieval = list(rails.retrieval);
  out->exceptions = rails.exceptions;
  return out;
}

Played play(TurnInput input, const Script& script, bool last_first) {
  Turn turn(std::move(input));
  Played out;
  Moment now{1};
  std::vector<ActionRequest> open = turn.begin(now);
  out.side_by_side.push_back(open.size());
  while (!turn.done()) {
    if (open.empty()) {
      ADD_FAILURE() << "nothing is under way, and the turn is not done";
      return out;
    }
    const auto at = last_first ? open.end() - 1 : open.begin();
    ActionRequest request = std::move(*at);
    open.erase(at);
    out.asked.push_back(request.action);
    ActionResult result{.id = request.id};
    const auto found = script.find(request.action);
    result.failed = found == script.end();
    if (result.failed)
      result.error = "not in the script";
    else
      result.value = found->second;
    for (ActionRequest& more : turn.finished(std::move(result), ++now)) open.push_back(std::move(more));
    out.side_by_side.push_back(open.size());
  }
  out.result = turn.result();
  return out;
}

TurnInput says(ConfigurationPtr configuration, std::string text) {
  return {.configuration = std::move(configuration), .user_message = std::move(text)};
}

}  // namespace stackgate::guardrail::test
