// Addresses as people mistype them for git.
#include <gmock/gmock.h>

#include "tests/datastore/whole/running_support.hpp"

namespace stackgate::datastore::whole_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Addresses : public Running {};

TEST_F(Addresses, withoutAnOwnerAreNoRepositoryAndNoPageToSignIn) {
  for (const char* line :
       {"GET /data.git/info/refs?service=git-upload-pack", "GET /data.git/info/refs?service=git-receive-pack",
        "GET /data/info/refs?service=git-upload-pack", "POST /data.git/git-upload-pack",
        "POST /data/git-receive-pack"}) {
    const auto reply = as({}, line);
    EXPECT_EQ(reply.status, 404) << line;
    EXPECT_THAT(reply.header("Content-Type"), StartsWith("text/plain")) << line;
    EXPECT_THAT(reply.body, HasSubstr("/OWNER/")) << line;
  }
  EXPECT_EQ(call("POST /api/v1/user/repos", R"({"name":"info"})").status, 422) << "or NAME/info/refs would be its page";
}

}  // namespace
}  // namespace stackgate::datastore::whole_test
