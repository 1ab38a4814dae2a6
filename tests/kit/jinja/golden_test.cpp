// oracle/golden.jsonl: what Jinja2 makes of each template of oracle/cases.txt (oracle.sh holds it against Jinja2).
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "services/kit/jinja/template.hpp"
#include "tests/support/paths.hpp"

namespace stackgate::jinja {
namespace {

using Json = nlohmann::ordered_json;

std::ifstream oracle_file(const char* name) {
  return std::ifstream(test::source_dir() / "tests/kit/jinja/oracle" / name);
}

Environment with_clock() {
  Environment out;
  out.clock = [] { return std::chrono::local_seconds(std::chrono::seconds(1'706'692'087)); };
  return out;
}

TEST(Golden, EachTemplateRendersAsInJinja2) {
  auto context_file = oracle_file("context.json");
  const Json context = Json::parse(context_file);
  auto cases = oracle_file("golden.jsonl");
  int count = 0;
  for (std::string line; std::getline(cases, line); ++count) {
    const Json expected = Json::parse(line);
    const auto source = expected.at("template").get<std::string>();
    const auto parsed = Template::parse(source, with_clock());
    const auto out = parsed ? parsed->render(context) : std::unexpected(parsed.error());
    if (expected.contains("text")) {
      EXPECT_EQ(out ? *out : "fault: " + describe(out.error()), expected["text"].get<std::string>()) << source;
    } else {
      EXPECT_FALSE(out) << source << "\nrenders: " << *out << "\nJinja2: " << expected["fault"];
    }
  }
  EXPECT_GT(count, 450);
}

}  // namespace
}  // namespace stackgate::jinja
