// Lists of the Hugging Face API.
#include <filesystem>

#include <gmock/gmock.h>

#include "services/kit/json/parse.hpp"
#include "tests/datastore/whole/running_support.hpp"

namespace stackgate::datastore::whole_test {
namespace {

using testing::HasSubstr;

class HubLists : public Running {
 protected:
  static std::string member(const std::string& body, std::string_view name) {
    json::Document document;
    const auto root = json::parse(body, document);
    const json::Value* from = root && root->is_array() && !root->items().empty() ? &root->items().front()
                              : root                                             ? &*root
                                                                                 : nullptr;
    const json::Value* value = from == nullptr ? nullptr : from->find(name);
    return value == nullptr ? "absent" : value->is_string() ? std::string(value->string()) : "null";
  }
};

TEST_F(HubLists, giveTheHeadsCommitAsTheInfoDoes) {
  ASSERT_EQ(call("POST /api/v1/user/repos", R"({"name":"r","auto_init":true})").status, 201);
  const auto info = call("GET /v1/hf/api/models/admin/r");
  ASSERT_EQ(member(info.body, "sha").size(), 40U) << info.body;
  for (const char* list : {"", "?search=r", "?author=admin&limit=1"}) {
    const auto found = call(std::string("GET /v1/hf/api/models").append(list));
    EXPECT_EQ(member(found.body, "sha"), member(info.body, "sha")) << list << found.body;
    EXPECT_EQ(member(found.body, "lastModified"), member(info.body, "lastModified")) << list;
  }
}

TEST_F(HubLists, giveNoCommitWhereThereIsNone) {
  ASSERT_EQ(call("POST /api/v1/user/repos", R"({"name":"r"})").status, 201);
  EXPECT_EQ(member(call("GET /v1/hf/api/models").body, "sha"), "null");
  std::filesystem::remove_all(repository(1));
  const auto damaged = call("GET /v1/hf/api/models");
  EXPECT_EQ(damaged.status, 200) << "one does not hide the others";
  EXPECT_EQ(member(damaged.body, "sha"), "null");
}

}  // namespace
}  // namespace stackgate::datastore::whole_test
