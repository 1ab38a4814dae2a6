// README.md and the table of keys say the same.
#include <fstream>
#include <regex>
#include <sstream>

#include <gtest/gtest.h>

#include "services/guardrail/configuration/keys.hpp"
#include "tests/support/paths.hpp"

namespace stackgate::guardrail {
namespace {

TEST(ConfigurationReadme, NamesEveryKey) {
  std::ostringstream text;
  text << std::ifstream(stackgate::test::source_dir() / "services/guardrail/configuration/README.md").rdbuf();
  ASSERT_FALSE(text.str().empty());
  const std::regex rail(R"(\.(input|output|retrieval|tool_input|tool_output)\.)");
  for (const Key& key : known_keys()) {
    if (key.kind == KeyKind::mapping) continue;
    const std::string path(key.path);
    const std::string of_rails = std::regex_replace(path, rail, ".<rail>.");
    EXPECT_TRUE(text.str().contains("`" + path + "`") || text.str().contains("`" + of_rails + "`")) << path;
  }
}

}  // namespace
}  // namespace stackgate::guardrail
