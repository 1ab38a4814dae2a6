// What the entitystore's answers mean, and the body that it gets.
#include "services/puller/plan/upload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::puller {
namespace {

using testing::HasSubstr;

constexpr std::string_view ours = "aa11";

TEST(UploadFrame, IsMultipartAroundTheArchive) {
  const UploadFrame frame = upload_frame("b", R"({"name":"x"})");
  EXPECT_EQ(frame.content_type, "multipart/form-data; boundary=b");
  EXPECT_EQ(frame.before,
            "--b\r\nContent-Disposition: form-data; name=\"metadata\"\r\nContent-Type: application/json\r\n\r\n"
            "{\"name\":\"x\"}\r\n--b\r\nContent-Disposition: form-data; name=\"adapter\"; "
            "filename=\"adapter.tar.gz\"\r\nContent-Type: application/gzip\r\n\r\n");
  EXPECT_EQ(frame.behind, "\r\n--b--\r\n");
}

TEST(UploadMetadata, NamesWhatItLacks) {
  EXPECT_TRUE(check_metadata(R"({"name":"a","base_model":"b/c","version":"1.0.0","more":[1]})", "m.json"));
  const struct {
    std::string_view text, why;
  } rows[] = {{"", "no JSON"},
              {"[]", "no JSON object"},
              {R"({"base_model":"b","version":"1"})", "no \"name\""},
              {R"({"name":"a","version":"1"})", "no \"base_model\""},
              {R"({"name":"a","base_model":"b","version":1})", "no \"version\""}};
  for (const auto& row : rows) {
    const auto got = check_metadata(row.text, "m.json");
    ASSERT_FALSE(got) << row.text;
    EXPECT_EQ(got.error().cause, Cause::settings);
    EXPECT_THAT(got.error().message, HasSubstr(row.why));
    EXPECT_THAT(got.error().message, HasSubstr("m.json"));
  }
}

TEST(UploadAnswer, OfSuccess) {
  const auto made = read_registered(201, "{}", "/v1/adapters/adapter-1", "", ours);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->id, "adapter-1");
  EXPECT_FALSE(made->was_there);
  const auto again = read_registered(409, "{}", "http://store/v1/adapters/adapter-2", "aa11", ours);
  ASSERT_TRUE(again) << "the same content";
  EXPECT_EQ(again->id, "adapter-2");
  EXPECT_TRUE(again->was_there);
}

TEST(UploadAnswer, OfFailure) {
  const struct {
    int status;
    std::string_view body, location, known;
    Cause cause;
    std::string_view message;
  } rows[] = {
      {409, R"({"error":{"message":"x 1 exists already as adapter-2"}})", "/v1/adapters/adapter-2", "bb22",
       Cause::settings, "exists already as adapter-2"},
      {409, "{}", "/v1/adapters/adapter-2", "", Cause::settings, "409"},
      {422, R"({"detail":[{"loc":["body","adapter","rank"],"msg":"is 0"},{"loc":["body","version"],"msg":"is old"}]})",
       "", "", Cause::settings, "adapter.rank: is 0; version: is old"},
      {413, "", "", "", Cause::settings, "413"},
      {401, "", "", "", Cause::refused, "401"},
      {404, "", "", "", Cause::missing, "404"},
      {429, "", "", "", Cause::network, "429"},
      {500, "", "", "", Cause::network, "500"},
      {503, R"({"error":{"message":"the datastore is away"}})", "", "", Cause::network, "the datastore is away"},
      {507, "", "", "", Cause::network, "507"},
      {200, "<html>", "", "", Cause::bad_answer, "200"},
      {302, "", "https://elsewhere/v1/adapters/x", "", Cause::bad_answer, "302"},
      {201, "{}", "", "", Cause::bad_answer, "names no adapter"},
      {201, "{}", "/v1/adapters/a/b", "", Cause::bad_answer, "names no adapter"},
      {201, "{}", "/v1/adapters/", "", Cause::bad_answer, "names no adapter"},
  };
  for (const auto& row : rows) {
    const auto got = read_registered(row.status, row.body, row.location, row.known, ours);
    ASSERT_FALSE(got) << row.status << row.body << row.location;
    EXPECT_EQ(got.error().cause, row.cause) << row.status << got.error().message;
    EXPECT_THAT(got.error().message, HasSubstr(row.message));
  }
}

TEST(UploadState, IsFollowed) {
  EXPECT_EQ(read_storing(200, R"({"status":"uploading"})", "a"), Storing::goes_on);
  EXPECT_EQ(read_storing(200, R"({"status":"ready"})", "a"), Storing::ready);
  EXPECT_EQ(read_storing(200, R"({"status":"pending"})", "a"), Storing::waits_for_approval);
  const auto failed = read_storing(200, R"({"status":"failed","reason":"its files are gone"})", "adapter-1");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().cause, Cause::bad_answer);
  EXPECT_THAT(failed.error().message, HasSubstr("adapter-1: its files are gone"));
  EXPECT_EQ(read_storing(404, "", "a").error().cause, Cause::missing);
  EXPECT_EQ(read_storing(503, "", "a").error().cause, Cause::network);
  EXPECT_EQ(read_storing(200, "<html>", "a").error().cause, Cause::bad_answer);
}

}  // namespace
}  // namespace stackgate::puller
