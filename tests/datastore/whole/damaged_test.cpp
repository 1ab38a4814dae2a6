// What is said of a repository whose folder is damaged: never that it is empty.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/datastore/whole/running_support.hpp"

namespace stackgate::datastore::whole_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Damaged : public Running {
 protected:
  void SetUp() override {
    Running::SetUp();
    for (const char* name : {"damaged", "whole"})
      ASSERT_EQ(call("POST /api/v1/user/repos", std::string(R"({"auto_init":true,"name":")") + name + "\"}").status,
                201);
  }
  void is_told(std::string_view how) const {
    for (const char* rest : {"", "/contents", "/branches", "/branches/main"}) {
      const auto reply = call(std::string("GET /api/v1/repos/admin/damaged").append(rest));
      EXPECT_EQ(reply.status, 500) << how << rest << reply.body;
      EXPECT_THAT(reply.body, HasSubstr("the repository cannot be read; the server's log says why")) << how << rest;
      EXPECT_THAT(reply.body, Not(HasSubstr(data()))) << how << rest;
    }
    EXPECT_EQ(call("GET /api/v1/repos/admin/whole").status, 200);
    const auto all = call("GET /api/v1/repos/search");
    EXPECT_EQ(all.status, 200) << "one does not hide the others";
    EXPECT_THAT(all.body, Not(HasSubstr("\"empty\":true"))) << how;
  }
};

TEST_F(Damaged, withoutItsFolder) {
  std::filesystem::remove_all(repository(1));
  is_told("folder");
}

TEST_F(Damaged, withoutItsObjects) {
  std::filesystem::remove_all(repository(1) + "/objects");
  is_told("objects");
}

TEST_F(Damaged, withABranchThatACrashLeftEmpty) {
  std::ofstream(repository(1) + "/refs/heads/main", std::ios::trunc).close();
  is_told("branch");
}

TEST_F(Damaged, withPacksThatHoldNothing) {
  for (const auto& each : std::filesystem::directory_iterator(repository(1) + "/objects/pack"))
    std::filesystem::remove(each.path());
  for (const char* rest : {"/contents", "/branches", "/branches/main"})
    EXPECT_EQ(call(std::string("GET /api/v1/repos/admin/damaged").append(rest)).status, 500) << rest;
}

}  // namespace
}  // namespace stackgate::datastore::whole_test
