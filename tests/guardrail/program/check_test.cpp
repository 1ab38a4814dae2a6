// `check DIR`: what it tells the shell.
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "services/guardrail/program/program.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::guardrail {
namespace check_tests {

struct Told {
  int status = 0;
  std::string text;
};

Told checked(const std::string& folder, const char* output = "text") {
  const char* const flags[] = {"check", folder.c_str(), "--output", output};
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
  const Told good = checked(folder / "");
  EXPECT_EQ(good.status, 0) << good.text;
  EXPECT_TRUE(good.text.contains("default: can be served")) << good.text;
  folder.write("rails.co", "define flow a\n  do b\n");
  const Told bad = checked(folder / "");
  EXPECT_EQ(bad.status, 1);
  EXPECT_TRUE(bad.text.starts_with("rails.co:2:3: error: ")) << bad.text;
  EXPECT_TRUE(bad.text.contains("    2 |   do b\n      |   ^\n      = ")) << bad.text;
  EXPECT_TRUE(bad.text.contains("default: cannot be served")) << bad.text;
  EXPECT_EQ(checked(folder / "nowhere").status, 1);
  folder.write("rails.co", "");
  folder.write("actions.py", "import time\n\nimport a_module_that_is_not_there\n");
  const Told absent = checked(folder / "");
  EXPECT_EQ(absent.status, 1);
  EXPECT_TRUE(absent.text.contains("actions.py:3:1: error: cannot be loaded: ModuleNotFoundError")) << absent.text;
}

TEST(GuardrailCheck, loads_the_code_of_what_has_other_faults) {
  const test::TempDir folder;
  folder.write("config.yml", "models: []\n");
  folder.write("rails.co", "define flow a\n  do b\n");
  folder.write("actions.py", "import a_module_that_is_not_there\n");
  const Told both = checked(folder / "");
  EXPECT_EQ(both.status, 1);
  EXPECT_TRUE(both.text.contains("rails.co:2:3: error: ")) << both.text;
  EXPECT_TRUE(both.text.contains("actions.py:1:1: error: cannot be loaded: ModuleNotFoundError")) << both.text;
}

TEST(GuardrailCheck, shows_the_place_of_a_fault_in_characters) {
  const test::TempDir folder;
  std::filesystem::create_directories(folder / "strict");
  folder.write("strict/config.yml", "models: []\n");
  folder.write("strict/rails.co", "define flow f\n  $x = \"ä\" + nme\n");
  EXPECT_EQ(checked(folder / "").text,
            "strict/rails.co:2:14: error: \"nme\" is no variable, function or word of expressions [colang-expression]\n"
            "    2 |   $x = \"ä\" + nme\n"
            "      |              ^\n"
            "      = write $nme for the variable, \"nme\" for the text\n"
            "\nstrict: cannot be served\n");
}

TEST(GuardrailCheck, gives_json) {
  const test::TempDir folder;
  folder.write("config.yml", "models: []\nrails:\n  input:\n    flows: [nowhere]\n");
  const Told out = checked(folder / "", "json");
  EXPECT_EQ(out.status, 1);
  const auto root = nlohmann::json::parse(out.text);
  ASSERT_EQ(root.size(), 1U) << out.text;
  EXPECT_EQ(root[0]["configuration"], "default");
  EXPECT_EQ(root[0]["severity"], "error");
  EXPECT_EQ(root[0]["rule"], "guardrail-rail");
  EXPECT_EQ(root[0]["file"], "config.yml");
  EXPECT_EQ(root[0]["line"], 4);
  EXPECT_EQ(root[0]["column"], 13);
  EXPECT_EQ(root[0]["path"], "rails.input.flows[0]");
}

}  // namespace check_tests
}  // namespace stackgate::guardrail
