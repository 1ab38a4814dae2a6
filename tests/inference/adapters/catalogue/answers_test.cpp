#include "services/inference/adapters/catalogue/answers.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::inference {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(AdapterAnswers, a_list_is_read) {
  const auto list = read_adapter_list(
      R"({"adapters":[{"id":"ad-1","name":"support","base_model":"meta/llama","version":"1.0.0",)"
      R"("created_at":"2026-11-23T10:00:00Z","status":"ready"},{"id":"ad-2","name":"x","status":"pending"}]})",
      "http://entitystore:8000");
  ASSERT_TRUE(list) << list.error();
  EXPECT_THAT(list->fault, IsEmpty());
  ASSERT_THAT(list->records, SizeIs(1));
  EXPECT_EQ(list->records[0], (AdapterRecord{.id = "ad-1",
                                             .name = "support",
                                             .version = "1.0.0",
                                             .base_model = "meta/llama",
                                             .created_at = "2026-11-23T10:00:00Z",
                                             .source = "http://entitystore:8000"}));
}

TEST(AdapterAnswers, a_record_that_cannot_be_read_leaves_the_others) {
  for (const auto& [member, fault] : std::vector<std::pair<std::string, std::string>>{
           {R"("id":"../x","name":"a")", "adapters[0]: id"},
           {R"("id":"","name":"a")", "adapters[0]: id"},
           {R"("id":"a","name":"a b")", "adapters[0]: name"},
           {R"("id":"a","name":"a@1.0.0")", "adapters[0]: name"},
           {R"("id":"a","name":"a","version":"one")", "adapters[0]: version"},
           {R"("id":"a","name":"a","created_at":"yesterday")", "adapters[0]: created_at"},
           {R"("id":"good","name":"a"},{"id":"good","name":"b")", "adapters[1]: id stands twice"}}) {
    const auto list =
        read_adapter_list(fmt::format(R"({{"adapters":[{{{}}},{{"id":"last","name":"last"}}]}})", member), "");
    ASSERT_TRUE(list) << member;
    EXPECT_THAT(list->fault, HasSubstr(fault));
    EXPECT_EQ(list->records.back().id, "last");
  }
}

TEST(AdapterAnswers, what_is_no_list_is_an_error) {
  for (const char* body : {"", "[]", "{}", R"({"adapters":{}})", R"({"adapters":[)", "<html>"})
    EXPECT_FALSE(read_adapter_list(body, "")) << body;
}

TEST(AdapterAnswers, a_detail_says_where_the_archive_is) {
  const std::string sum(64, 'a');
  const auto detail = read_adapter_detail(
      fmt::format(
          R"({{"id":"ad-1","download_url":"http://x/y?sig=1","storage":{{"archive_sha256":"{}","archive_bytes":12}}}})",
          sum),
      "ad-1");
  ASSERT_TRUE(detail) << detail.error();
  EXPECT_EQ(detail->url, "http://x/y?sig=1");
  EXPECT_EQ(detail->sha256, sum);
  EXPECT_EQ(detail->bytes, 12);
  EXPECT_TRUE(read_adapter_detail(R"({"id":"ad-1","download_url":"/v1/x"})", "ad-1")) << "without a sum";
}

TEST(AdapterAnswers, a_detail_that_cannot_be_believed_is_an_error) {
  for (const char* body :
       {R"({"id":"ad-2","download_url":"http://x"})", R"({"id":"ad-1"})", R"({"id":"ad-1","download_url":"a b"})",
        R"({"id":"ad-1","download_url":"http://x","storage":{"archive_sha256":"A"}})",
        R"({"id":"ad-1","download_url":"http://x","storage":{"archive_sha256":7}})",
        R"({"id":"ad-1","download_url":"http://x","storage":{"archive_bytes":-1}})"})
    EXPECT_FALSE(read_adapter_detail(body, "ad-1")) << body;
}

TEST(AdapterRecords, folders_have_another_id_when_a_file_is_another_one) {
  const FileIdentity files[] = {{1, 2, 3}, {4, 5, 6}};
  const std::string id = folder_id("a", files);
  EXPECT_TRUE(is_adapter_id(id)) << id;
  EXPECT_EQ(folder_id("a", files), id);
  EXPECT_NE(folder_id("b", files), id);
  for (std::size_t i = 0; i < 6; ++i) {
    FileIdentity other[] = {files[0], files[1]};
    FileIdentity& changed = other[i / 3];
    (i % 3 == 0 ? changed.size : i % 3 == 1 ? changed.inode : reinterpret_cast<std::uint64_t&>(changed.changed)) += 1;
    EXPECT_NE(folder_id("a", other), id) << i;
  }
}

}  // namespace
}  // namespace stackgate::inference
