// The `stackgate` command: picks the sub-command, each of which is a function of its own.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string_view>
#include <variant>

#include <sys/ioctl.h>
#include <unistd.h>

#include "services/kit/base/version.hpp"
#include "services/kit/log/colours.hpp"
#include "services/stackgate/command_line.hpp"
#include "services/stackgate/plan/plan_command.hpp"
#include "services/stackgate/validate/validate.hpp"

namespace {

template <class... Bodies>
struct Overloaded : Bodies... {
  using Bodies::operator()...;
};

/// Narrow enough to be read, and no narrower than a word.
std::size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return std::clamp<std::size_t>(size.ws_col, 40, 120);
}

int run(int argc, char** argv) {
  using namespace stackgate;
  std::ios::sync_with_stdio(false);
  const Console console{std::cout, std::cerr, std::cin, shows_colours(STDOUT_FILENO), terminal_columns()};
  const Command command = parse_command_line(argc, argv, console);
  const int status = std::visit(Overloaded{
                                    [](const Finished& finished) { return finished.exit_status; },
                                    [](const VersionOptions&) {
                                      std::cout << "stackgate " << version << '\n';
                                      return 0;
                                    },
                                    [](const GateOptions& options) { return run_gate(options); },
                                    [](const OperatorOptions& options) { return run_operator(options); },
                                    [&](const ValidateOptions& options) { return run_validate(options, console); },
                                    [&](const PlanOptions& options) { return run_plan(options, console); },
                                    [&](const RulesOptions& options) { return run_rules(options, console); },
                                    [&](const CrdsOptions& options) { return run_crds(options, console); },
                                },
                                command);
  std::cout.flush();
  if (!std::cout) {
    std::cerr << "stackgate: cannot write to standard output\n";
    return 2;
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("stackgate: there is not enough memory for this\n", stderr);
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "stackgate: %s; please report this\n", fault.what());
  }
  return 2;
}
