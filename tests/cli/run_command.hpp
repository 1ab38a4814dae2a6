// Runs a whole command line of `stackgate` in this process.
#pragma once
#include <sstream>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "services/stackgate/command_line.hpp"
#include "services/stackgate/plan/plan_command.hpp"
#include "services/stackgate/validate/validate.hpp"

namespace stackgate::test {

struct Ran {
  int status = -1;
  std::string out, err;
};

inline Command parse(const std::vector<std::string>& words, const Console& console) {
  std::vector<const char*> argv{"stackgate"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  return parse_command_line(static_cast<int>(argv.size()), argv.data(), console);
}

inline Ran run(const std::vector<std::string>& words, const std::string& input = "") {
  std::ostringstream out;
  std::ostringstream err;
  std::istringstream in(input);
  const Console console{out, err, in, false};
  Ran ran;
  const Command command = parse(words, console);
  if (const auto* finished = std::get_if<Finished>(&command)) ran.status = finished->exit_status;
  if (const auto* validate = std::get_if<ValidateOptions>(&command)) ran.status = run_validate(*validate, console);
  if (const auto* plan = std::get_if<PlanOptions>(&command)) ran.status = run_plan(*plan, console);
  if (const auto* rules = std::get_if<RulesOptions>(&command)) ran.status = run_rules(*rules, console);
  if (const auto* crds = std::get_if<CrdsOptions>(&command)) ran.status = run_crds(*crds, console);
  ran.out = out.str();
  ran.err = err.str();
  return ran;
}

}  // namespace stackgate::test
