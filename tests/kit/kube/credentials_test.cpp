#include "services/kit/kube/credentials.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/support/temp_dir.hpp"

namespace stackgate::kube {
namespace {

TEST(Credentials, AnExpiredAnswerIsNotHandedOutAfterItsPluginFailed) {
  const test::TempDir dir;
  const std::string works = dir / "works";
  std::ofstream(works) << "yes";
  Config config;
  config.exec.api_version = "client.authentication.k8s.io/v1";
  config.exec.command = "sh";
  config.exec.args = {"-c", "test -e " + works +
                                R"( && echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)"
                                R"("status":{"token":"t","expirationTimestamp":"2020-01-01T00:00:00Z"}}')"};
  Credentials credentials(config);
  const auto first = credentials.current();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ((*first)->authorization, "Bearer t");
  std::filesystem::remove(works);
  EXPECT_FALSE(credentials.current());
  EXPECT_FALSE(credentials.current()) << "the second failure hid behind the expired token";
  std::ofstream(works) << "yes";
  EXPECT_TRUE(credentials.current());
}

}  // namespace
}  // namespace stackgate::kube
