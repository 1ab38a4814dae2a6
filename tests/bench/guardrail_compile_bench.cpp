// How fast a configuration is compiled: 100 flows and 1,000 examples, and the library that every configuration has.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "services/guardrail/colang/compile.hpp"
#include "services/guardrail/library/library.hpp"
#include "tests/bench/figure.hpp"

namespace {

using namespace stackgate;
using namespace stackgate::guardrail;

// Ten examples and a text or two for each flow, which branches and calls.
std::string configuration() {
  std::string out;
  for (int i = 0; i < 100; ++i) {
    out += fmt::format("define user ask about topic {}\n", i);
    for (int j = 0; j < 10; ++j)
      out += fmt::format("  \"What can you tell me about number {} of topic {}, please?\"\n", j, i);
    out += fmt::format(
        "\ndefine bot tell about topic {0}\n  \"$name, topic {0} is this.\"\n  \"Topic {0}: {{{{ answer }}}}\"\n\n", i);
    out += fmt::format(
        "define flow topic {0}\n  \"\"\"About topic {0}.\"\"\"\n  user ask about topic {0}\n"
        "  $answer = execute find(text=$last_user_message, topic=\"topic {0}\", most={0} + 1)\n"
        "  if $answer is None or len($answer) == 0\n    bot tell that it is not known\n    stop\n"
        "  else if $answer[\"score\"] < 0.5 and not $sure\n    bot \"I am not sure about $name.\"\n"
        "  $i = 0\n  while $i < 3\n    execute note(n=$i)\n    $i = $i + 1\n  bot tell about topic {0}\n\n",
        i);
  }
  return out;
}

}  // namespace

int main() {
  std::vector<colang::Source> sources(library_sources().begin(), library_sources().end());
  const double alone = bench::microseconds([&] { (void)colang::compile(sources); });
  sources.push_back({.name = "rails.co", .text = configuration()});
  const auto out = colang::compile(sources);
  if (validate::has_errors(out.findings) || out.program.user_intents.size() != 100) {
    fmt::print(stderr, "  the configuration does not compile\n");
    return 1;
  }
  const double whole = bench::microseconds([&] { (void)colang::compile(sources); });
  bench::print({.name = "compile 100 flows, 1000 examples",
                .value = whole / 1000,
                .unit = "ms",
                .limit = 20,
                .text = fmt::format("{:.1f} ms of them the built-in rails", alone / 1000)});
  return bench::exit_status;
}
