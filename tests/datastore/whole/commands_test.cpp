// Commands on a store that a service has made.
#include "services/datastore/commands.hpp"

#include <filesystem>

#include <gmock/gmock.h>

#include "services/datastore/own_secrets.hpp"
#include "tests/datastore/whole/running_support.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::datastore::whole_test {
namespace {

struct Commands : Running {
  /// In an environment that names no administrator.
  int run(std::vector<const char*> words) const {
    const std::string folder = data();
    words.insert(words.begin(), {"--data-dir", folder.c_str()});
    const auto nothing = [](const std::string&) { return std::nullopt; };
    return run_command(settings::read(program(), words, nothing, nothing, "0").values);
  }
  std::vector<std::string> secrets() const {
    std::vector<std::string> out;
    for (const auto& each : std::filesystem::directory_iterator(data() + "/secrets"))
      out.push_back(each.path().filename());
    return out;
  }
};

TEST_F(Commands, make_no_secrets_in_a_store_whose_administrator_came_from_the_environment) {
  const auto before = secrets();
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  for (const std::vector<const char*>& words :
       std::vector<std::vector<const char*>>{{"user", "list"}, {"token", "add", admin.data(), "ci"}, {"fsck"}, {"gc"}})
    EXPECT_EQ(run(words), 0) << words.front();
  EXPECT_THAT(testing::internal::GetCapturedStdout(), testing::StartsWith("admin\n"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(secrets(), before);
}

TEST(StoredSecrets, are_read_by_commands_and_made_by_the_service_only) {
  const test::TempDir folder;
  Options command;
  command.data_dir = folder / "store";
  ASSERT_TRUE(complete_secrets(command, Secrets::kept));
  EXPECT_EQ(command.admin_name, "");
  EXPECT_FALSE(std::filesystem::exists(command.data_dir));
  Options service;
  service.data_dir = command.data_dir;
  testing::internal::CaptureStderr();
  ASSERT_TRUE(complete_secrets(service, Secrets::made));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("\"admin\" was made"));
  ASSERT_TRUE(complete_secrets(command, Secrets::kept));
  EXPECT_EQ(command.admin_name, "admin");
  EXPECT_EQ(command.admin_password, service.admin_password);
  EXPECT_EQ(command.jwt_key, service.jwt_key);
}

}  // namespace
}  // namespace stackgate::datastore::whole_test
