#include <cstdio>
#include <iostream>

#include <fmt/format.h>

#include "services/evaluator/program/program.hpp"
#include "services/evaluator/score/score_line.hpp"
#include "services/evaluator/workflow/run.hpp"
#include "services/kit/service/database.hpp"

namespace stackgate::evaluator {
namespace commands_detail {

/// A line without its end, and without what goes beyond the longest one; false: there is none.
bool read_line(std::istream& in, std::string& line, bool& too_long) {
  line.clear();
  too_long = false;
  std::streambuf& from = *in.rdbuf();
  for (int c = from.sbumpc();; c = from.sbumpc()) {
    if (c == std::char_traits<char>::eof()) return !line.empty() || too_long;
    if (c == '\n') return true;
    if (line.size() < longest_score_line)
      line.push_back(static_cast<char>(c));
    else
      too_long = true;
  }
}

}  // namespace commands_detail

bool score_lines(std::istream& in, std::ostream& out) {
  std::string line;
  bool too_long = false;
  while (commands_detail::read_line(in, line, too_long)) {
    if (!too_long && line.find_first_not_of(" \t\r") == std::string::npos) continue;
    out << (too_long ? score_line_too_long() : score_line(line)) << '\n';
    // Whoever writes a line and waits for its answer gets it.
    if (!out.flush()) return false;
  }
  return true;
}

int run_command(const settings::Values& values) {
  if (values.command() == "migrate") return service::migrate_command(program(), values, evaluation_migrations());
  if (values.command() == "templates") {
    fmt::print("{}", workflow_templates_yaml(workflow_options(values)));
    return std::fflush(stdout) == 0 ? 0 : 1;
  }
  std::ios::sync_with_stdio(false);
  return score_lines(std::cin, std::cout) ? 0 : 1;
}

}  // namespace stackgate::evaluator
