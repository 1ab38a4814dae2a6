// Tokens as Gitea's API makes them.
#include <gmock/gmock.h>

#include "tests/datastore/whole/running_support.hpp"

namespace stackgate::datastore::whole_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Tokens : public Running {};

TEST_F(Tokens, thatSeeOnlyPublicRepositoriesAreNotSupportedAndThatIsSaid) {
  const auto made = [&](std::string_view scopes) {
    return call("POST /api/v1/users/admin/tokens", std::string(R"({"name":"t","scopes":)").append(scopes).append("}"));
  };
  const auto refused = made(R"(["public-only","read:repository"])");
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(refused.body, AllOf(HasSubstr("is not supported"), Not(HasSubstr("is not a scope"))));
  EXPECT_THAT(made(R"(["sudo"])").body, HasSubstr("is not a scope of this server"));
  EXPECT_EQ(made(R"(["read:repository"])").status, 201);
}

}  // namespace
}  // namespace stackgate::datastore::whole_test
