#include "services/datastore/hub/ndjson.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::datastore::hub {
namespace {

using testing::HasSubstr;

ReadMore text_in_pieces(std::string text, std::size_t piece) {
  return [text = std::move(text), piece,
          at = std::size_t{0}](std::span<char> space) mutable -> std::expected<std::size_t, http::BodyError> {
    const std::size_t count = std::min({piece, space.size(), text.size() - at});
    std::copy_n(text.data() + at, count, space.data());
    at += count;
    return count;
  };
}

const std::string whole = R"({"key":"header","value":{"summary":"Add","description":"More"}})"
                          "\n"
                          R"({"key":"file","value":{"content":"aGVsbG8K","path":"a.txt","encoding":"base64"}})"
                          "\r\n\n"
                          R"({"key":"file","value":{"path":"b.txt","content":"plain \u00fc","encoding":"utf-8"}})"
                          "\n"
                          R"({"key":"lfsFile","value":{"path":"c.bin","algo":"sha256","oid":")" +
                          std::string(64, 'a') +
                          R"(","size":12}})"
                          "\n"
                          R"({"key":"deletedFile","value":{"path":"d"}})"
                          "\n"
                          R"({"key":"deletedFolder","value":{"path":"e/"}})";

TEST(CommitLines, AreReadWhereverTheBodyIsCut) {
  for (std::size_t piece : {1U, 2U, 7U, 100U, 100000U}) {
    for (const bool end_of_line : {false, true}) {
      CommitLines lines(text_in_pieces(whole + (end_of_line ? "\n" : ""), piece), 1000);
      std::vector<CommitLine> all;
      for (;;) {
        auto line = lines.next();
        ASSERT_TRUE(line) << line.error().message;
        if (!*line) break;
        all.push_back(std::move(**line));
      }
      ASSERT_EQ(all.size(), 6U) << piece;
      EXPECT_EQ(all[0].summary, "Add");
      EXPECT_EQ(all[0].description, "More");
      EXPECT_EQ(all[1].content, "hello\n");
      EXPECT_EQ(all[2].content, "plain ü");
      EXPECT_EQ(all[3].kind, CommitLine::Kind::lfs_file);
      EXPECT_EQ(all[3].size, 12U);
      EXPECT_EQ(all[4].kind, CommitLine::Kind::deleted_file);
      EXPECT_EQ(all[5].path, "e");
      EXPECT_FALSE(*lines.next()) << "the end stays the end";
    }
  }
}

TEST(CommitLines, SayWhichLineIsWrong) {
  CommitLines lines(text_in_pieces(R"({"key":"header","value":{"summary":"x"}})"
                                   "\n\n{\"key\":\"file\"}\n",
                                   10),
                    1000);
  ASSERT_TRUE(lines.next());
  const auto wrong = lines.next();
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().status, 400);
  EXPECT_THAT(wrong.error().message, HasSubstr("line 3: "));
}

TEST(CommitLines, NameAKeyThatIsNotKnownAndThoseThatAre) {
  const auto wrong = parse_commit_line(R"({"key":"what","value":{}})", 1000);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().status, 400);
  EXPECT_EQ(wrong.error().message,
            R"("what" is not a known key; "key" must be header, file, lfsFile, deletedFile or deletedFolder)");
}

TEST(CommitLines, HoldNoLineThatIsTooLong) {
  std::size_t given = 0;
  CommitLines lines(
      [&](std::span<char> space) -> std::expected<std::size_t, http::BodyError> {
        std::ranges::fill(space, 'x');
        given += space.size();
        return space.size();
      },
      1000);
  const auto wrong = lines.next();
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().status, 413);
  EXPECT_LT(given, 1'000'000U);
}

TEST(CommitLines, PassOnWhyTheBodyEnded) {
  CommitLines lines(
      [](std::span<char>) -> std::expected<std::size_t, http::BodyError> {
        return std::unexpected(http::BodyError{408, {"too slow"}});
      },
      1000);
  EXPECT_EQ(lines.next().error().status, 408);
}

TEST(CommitLine, RefusesWhatItCannotBe) {
  const struct {
    std::string text, says;
    int status = 400;
  } cases[] = {
      {"", "not JSON"},
      {"[]", "each line must be"},
      {R"({"key":"header","value":{}})", "summary"},
      {R"({"key":"header","value":{"summary":"x","parentCommit":"abc"}})", "parentCommit"},
      {R"({"key":"copy","value":{"path":"a"}})", "\"key\" must be"},
      {R"({"key":"file","value":{"path":"../a","content":"","encoding":"base64"}})", "path"},
      {R"({"key":"file","value":{"path":"a/.git/b","content":"","encoding":"base64"}})", "path"},
      {R"({"key":"file","value":{"path":"/a","content":"","encoding":"base64"}})", "path"},
      {R"({"key":"file","value":{"path":"a","encoding":"base64"}})", "content"},
      {R"({"key":"file","value":{"path":"a","content":"?","encoding":"base64"}})", "base64"},
      {R"({"key":"file","value":{"path":"a","content":"x","encoding":"rot13"}})", "encoding"},
      {R"({"key":"file","value":{"path":"a","content":"12345678901","encoding":"utf-8"}})", "more than 10 bytes", 413},
      {R"({"key":"lfsFile","value":{"path":"a","oid":"x","size":1}})", "oid"},
      {R"({"key":"lfsFile","value":{"path":"a","algo":"md5","oid":"x","size":1}})", "algo"},
      {R"({"key":"deletedFile","value":{"path":""}})", "path"},
  };
  for (const auto& c : cases) {
    const auto line = parse_commit_line(c.text, 10);
    ASSERT_FALSE(line) << c.text;
    EXPECT_EQ(line.error().status, c.status) << c.text;
    EXPECT_THAT(line.error().message, HasSubstr(c.says)) << c.text;
  }
}

}  // namespace
}  // namespace stackgate::datastore::hub
