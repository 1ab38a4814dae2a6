#include "services/puller/plan/resume.hpp"

#include <gtest/gtest.h>

namespace stackgate::puller {
namespace {

RemoteFile of_size(std::uint64_t size) { return {.path = "m", .size = size, .sha256 = std::string(64, 'a')}; }

TEST(PullerResume, KeepsOnlyBytesOfTheSameContent) {
  const PartRecord record{.identity = identity_of(of_size(10)), .etag = "\"x\""};
  EXPECT_EQ(bytes_to_keep(of_size(10), record, 4), 4U);
  EXPECT_EQ(bytes_to_keep(of_size(10), record, 10), 10U);
  EXPECT_EQ(bytes_to_keep(of_size(10), record, 11), 0U) << "longer than the file";
  EXPECT_EQ(bytes_to_keep({.path = "m", .size = 10, .sha256 = std::string(64, 'b')}, record, 4), 0U);
  EXPECT_EQ(bytes_to_keep(of_size(10), {}, 4), 0U) << "nothing is known of them";
  const PartRecord read = read_part_record(write_part_record(record));
  EXPECT_EQ(read.identity, record.identity);
  EXPECT_EQ(read.etag, record.etag);
  EXPECT_EQ(read_part_record("{").identity, "");
  EXPECT_EQ(read_part_record(R"({"identity":"i","etag":"\"a\r\nX: y\""})").etag, "") << "it becomes a header";
}

TEST(PullerResume, AsksForTheRestWithAValidator) {
  using Headers = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(range_headers(0, "\"x\""), Headers{});
  EXPECT_EQ(range_headers(5, "\"x\""), (Headers{{"Range", "bytes=5-"}, {"If-Range", "\"x\""}}));
  EXPECT_EQ(range_headers(5, ""), (Headers{{"Range", "bytes=5-"}}));
  EXPECT_EQ(strong_etag("\"x\""), "\"x\"");
  for (const char* weak : {"W/\"x\"", "x", "\"", ""}) EXPECT_EQ(strong_etag(weak), "") << weak;
  EXPECT_EQ(strong_etag(std::nullopt), "");
}

struct HeadRow {
  std::uint64_t from;
  AnswerHead head;
  const char* wanted;
};

std::string told(const RemoteFile& file, const HeadRow& row) {
  const auto body = body_of(file, row.from, row.head);
  if (!body) return "refused";
  return body->start_over ? "again" : "from " + std::to_string(body->begins);
}

TEST(PullerResume, AnAnswersHeadSaysWhereItsBytesBelong) {
  for (const HeadRow& row : std::initializer_list<HeadRow>{
           {0, {.status = 200, .content_length = "10"}, "from 0"},
           {0, {.status = 200}, "from 0"},
           {0, {.status = 200, .content_length = "11"}, "refused"},
           {4, {.status = 200, .content_length = "10"}, "from 0"},
           {4, {.status = 206, .content_range = "bytes 4-9/10"}, "from 4"},
           {4, {.status = 206, .content_range = "bytes 3-9/10"}, "refused"},
           {4, {.status = 206, .content_range = "bytes 4-9/11"}, "refused"},
           {4, {.status = 206, .content_range = "bytes 4-9/*"}, "refused"},
           {4, {.status = 206, .content_range = "bytes 4-10/10"}, "refused"},
           {4, {.status = 206, .content_range = "bytes 9-4/10"}, "refused"},
           {4, {.status = 206}, "refused"},
           {0, {.status = 206, .content_range = "bytes 0-9/10"}, "refused"},
           {4, {.status = 416}, "again"},
           {4, {.status = 412}, "again"},
           {0, {.status = 416}, "refused"},
           {0, {.status = 204}, "refused"},
           {0, {.status = 200, .content_length = "10", .content_encoding = "gzip"}, "refused"},
           {0, {.status = 200, .content_length = "10", .content_encoding = "identity"}, "from 0"}})
    EXPECT_EQ(told(of_size(10), row), row.wanted) << row.from << " " << row.head.status;
}

TEST(PullerResume, ContentIsHeldAgainstAllThatIsKnown) {
  const std::string a(64, 'a'), b(40, 'b');
  const RemoteFile large{.path = "m", .size = 3, .sha256 = a}, small{.path = "c", .size = 3, .blob = b};
  EXPECT_FALSE(fault_of_content(large, {3, a, ""}));
  EXPECT_FALSE(fault_of_content(small, {3, a, b}));
  EXPECT_TRUE(fault_of_content(large, {4, a, ""})->message.contains("size"));
  EXPECT_TRUE(fault_of_content(large, {3, std::string(64, 'c'), ""})->message.contains("SHA-256"));
  EXPECT_EQ(fault_of_content(small, {3, a, std::string(40, 'c')})->cause, Cause::checksum);
}

}  // namespace
}  // namespace stackgate::puller
