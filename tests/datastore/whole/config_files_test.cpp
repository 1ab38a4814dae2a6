#include "services/datastore/config_files.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/datastore/migrations.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::datastore {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(ConfigFiles, PlainAssignmentsAreReadAndNothingElse) {
  const Assignments got = parse_assignments(
      "#!/bin/sh\n"
      "A=1\n"
      "export B='two words $X'\n"
      "  C=\"three words\"  \n"
      "D=\n"
      "E=$(rm -rf /)\n"
      "F=\"$HOME\"\n"
      "G=a b\n"
      "if true; then\n"
      "lower=1\n"
      "H=a;rm\n"
      "I=https://host/path?x=1\r\n"
      "J='un'balanced'\n"
      "=x");
  EXPECT_THAT(got.values, ElementsAre(Pair("A", "1"), Pair("B", "two words $X"), Pair("C", "three words"),
                                      Pair("D", ""), Pair("I", "https://host/path?x=1")));
  EXPECT_THAT(got.skipped, ElementsAre(6, 7, 8, 9, 10, 11, 13, 14));
}

TEST(ConfigFiles, TheEnvironmentWinsOverTheScriptAndThatOverTheDirectory) {
  const test::TempDir folder;
  const std::string inline_folder = folder / "inline";
  std::filesystem::create_directories(inline_folder);
  std::ofstream(folder / "config_environment.sh") << "export T_SET=script\nT_SCRIPT=script\nexec gitea\n";
  std::ofstream(inline_folder + "/T_SCRIPT") << "inline\n";
  std::ofstream(inline_folder + "/T_FILE") << "inline\n";
  std::ofstream(inline_folder + "/more") << "T_LINE=inline\n";
  ::setenv("T_SET", "environment", 1);
  ::setenv("STACKGATE_CONFIG_SCRIPT", (folder / "config_environment.sh").c_str(), 1);
  ::setenv("STACKGATE_INLINE_CONFIG_DIR", inline_folder.c_str(), 1);
  const auto warnings = adopt_config_files();
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("1 lines are no plain assignments")));
  EXPECT_STREQ(std::getenv("T_SET"), "environment");
  EXPECT_STREQ(std::getenv("T_SCRIPT"), "script");
  EXPECT_STREQ(std::getenv("T_FILE"), "inline");
  EXPECT_STREQ(std::getenv("T_LINE"), "inline");
  ::setenv("STACKGATE_CONFIG_SCRIPT", (folder / "none").c_str(), 1);
  EXPECT_THAT(adopt_config_files(), ElementsAre(HasSubstr("cannot be read")));
  ::unsetenv("STACKGATE_CONFIG_SCRIPT");
  ::unsetenv("STACKGATE_INLINE_CONFIG_DIR");
  EXPECT_TRUE(adopt_config_files().empty());
}

TEST(ConfigFiles, AreNamedByFlagsAsWellWhichWinOverTheVariables) {
  const test::TempDir folder;
  std::ofstream(folder / "by-flag") << "F_A=flag\n";
  std::ofstream(folder / "by-variable") << "F_A=variable\n";
  std::filesystem::create_directories(folder / "inline");
  std::ofstream(folder / "inline/F_B") << "inline";
  ::setenv("STACKGATE_CONFIG_SCRIPT", (folder / "by-variable").c_str(), 1);
  const std::string script = folder / "by-flag", inline_folder = "--inline-config-dir=" + (folder / "inline");
  const char* const arguments[] = {"serve", "--config-script", script.c_str(), inline_folder.c_str()};
  EXPECT_TRUE(adopt_config_files(arguments).empty());
  EXPECT_STREQ(std::getenv("F_A"), "flag");
  EXPECT_STREQ(std::getenv("F_B"), "inline");
  const char* const cut_off[] = {"serve", "--config-script"};  // refused later, by the command line's own reader
  EXPECT_TRUE(adopt_config_files(cut_off).empty());
  ::unsetenv("STACKGATE_CONFIG_SCRIPT");
}

TEST(Migrations, AreNumberedWithoutGaps) {
  int number = 0;
  for (const sql::Migration& each : all_migrations()) EXPECT_EQ(each.version, ++number) << each.name;
}

}  // namespace
}  // namespace stackgate::datastore
