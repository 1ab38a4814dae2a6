// `check DIR`: what it tells the shell.
#include <gtest/gtest.h>

#include "services/guardrail/program/program.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::guardrail {
namespace check_tests {

struct Told {
  int status = 0;
  std::string text;
};

Told check(const std::string& folder) {
  const char* const flags[] = {"check", folder.c_str()};
  const auto nothing = [](const std::string&) { return std::nullopt; };
  const auto read = settings::read(program(), flags, nothing, nothing, "1");
  testing::internal::CaptureStdout();
  Told out{.status = run_command(read.values)};
  out.text = testing::internal::GetCapturedStdout();
  return out;
}

TEST(GuardrailCheck, says_whether_all_can_be_served) {
  const test::TempDir folder;
  folder.write("config.yml", "models: []\n");
  const Told good = check(folder / "");
  EXPECT_EQ(good.status, 0) << good.text;
  EXPECT_TRUE(good.text.contains("default: can be served")) << good.text;
  folder.write("rails.co", "define flow a\n  do b\n");
  const Told bad = check(folder / "");
  EXPECT_EQ(bad.status, 1);
  EXPECT_TRUE(bad.text.contains("rails.co:2:3")) << bad.text;
  EXPECT_TRUE(bad.text.contains("  ^")) << bad.text;
  EXPECT_TRUE(bad.text.contains("default: cannot be served")) << bad.text;
  EXPECT_EQ(check(folder / "nowhere").status, 1);
  folder.write("rails.co", "");
  folder.write("actions.py", "import time\n\nimport a_module_that_is_not_there\n");
  const Told absent = check(folder / "");
  EXPECT_EQ(absent.status, 1);
  EXPECT_TRUE(absent.text.contains("actions.py:3:1: error: cannot be loaded: ModuleNotFoundError")) << absent.text;
}

}  // namespace check_tests
}  // namespace stackgate::guardrail
