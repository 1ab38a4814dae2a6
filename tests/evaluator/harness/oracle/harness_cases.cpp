// What tests/evaluator/harness/oracle.sh compares with CPython: a line {"seed","population","count","rounds"},
// {"pattern","text"} or {"pattern","text","replacement"} in, what is drawn, found or replaced out.
#include <iostream>

#include "services/evaluator/suite/harness/patterns.hpp"
#include "services/evaluator/suite/harness/python_random.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator::harness {
namespace {

std::uint32_t number(const json::Value& line, std::string_view key) {
  return static_cast<std::uint32_t>(json::integer(&line, {key}));
}

void write_draws(json::Writer& w, const json::Value& line) {
  PythonRandom random(static_cast<std::uint64_t>(json::integer(&line, {"seed"})));
  w.array("drawn", [&] {
    for (std::uint32_t i = 0; i < number(line, "rounds"); ++i)
      for (const std::uint32_t each : random.sample(number(line, "population"), number(line, "count"))) w.value(each);
  });
  w.member("then", random.real());
}

void write_matches(json::Writer& w, const json::Value& line) {
  const auto pattern = Pattern::compile(json::text(&line, {"pattern"}));
  if (!pattern) return w.member("error", pattern.error());
  const std::string_view text = json::text(&line, {"text"});
  if (line.find("replacement") != nullptr)
    return w.member("replaced", pattern->replace(text, json::text(&line, {"replacement"})));
  w.array("found", [&] {
    for (const auto& match : pattern->find_all(text))
      w.array([&] {
        for (const std::string& each : match) w.value(each);
      });
  });
}

int run() {
  std::string text;
  while (std::getline(std::cin, text)) {
    json::Document document;
    const auto line = json::parse(text, document);
    if (!line) return 1;
    std::cout << json::object_text([&](json::Writer& w) {
      if (line->find("seed") != nullptr)
        write_draws(w, *line);
      else
        write_matches(w, *line);
    }) << '\n';
  }
  return 0;
}

}  // namespace
}  // namespace stackgate::evaluator::harness

int main() { return stackgate::evaluator::harness::run(); }
