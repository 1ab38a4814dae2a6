#include "services/kit/datastore_client/wire.hpp"

#include <gmock/gmock.h>

#include "services/kit/datastore_client/datastore.hpp"

namespace stackgate::datastore_client::wire {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(Wire, FindsTheBaseOfAnyWayToWriteTheUrl) {
  for (const char* url : {"http://d:8000", "http://d:8000/", "http://d:8000/v1/hf", "http://d:8000/v1/hf/"})
    EXPECT_EQ(base_of(url), "http://d:8000/v1/hf") << url;
}

TEST(Wire, ReadsARepositorysDescription) {
  EXPECT_EQ(read_description(R"({"name":"a","description":"b"})"), "b");
  EXPECT_EQ(read_description("{}"), "");
  EXPECT_FALSE(read_description("<html>"));
  EXPECT_EQ(repository_path("o/a b"), "/api/v1/repos/o/a%20b");
}

TEST(Wire, EscapesWhatStandsInUrls) {
  EXPECT_EQ(resolve_url("b", "o/n", "v1.0.0+x", "a b/c"), "b/o/n/resolve/v1.0.0%2Bx/a%20b/c");
  EXPECT_EQ(api_url("b", "o/n", "/refs"), "b/api/models/o/n/refs");
}

TEST(Wire, WritesACommitLineByLine) {
  EXPECT_EQ(
      commit_body({.summary = "s",
                   .description = "d",
                   .parent = "p",
                   .files = {{.path = "a", .content = "hi"}, {.path = "b", .content = {}, .large = Object{"00", 7}}},
                   .deleted = {"old"}}),
      R"({"key":"header","value":{"summary":"s","description":"d","parentCommit":"p"}})"
      "\n"
      R"({"key":"deletedFile","value":{"path":"old"}})"
      "\n"
      R"({"key":"file","value":{"path":"a","content":"aGk=","encoding":"base64"}})"
      "\n"
      R"({"key":"lfsFile","value":{"path":"b","algo":"sha256","oid":"00","size":7}})"
      "\n");
  EXPECT_THAT(commit_body({.summary = "s", .description = {}, .parent = {}}), testing::Not(HasSubstr("parentCommit")));
}

TEST(Wire, ReadsWhatABatchAnswers) {
  const auto batch = read_batch(
      R"({"objects":[{"oid":"aa","size":1,"actions":{"upload":{"href":"http://x/1","header":{"A":"b"}},"verify":{"href":"http://x/2"}}},)"
      R"({"oid":"bb","size":2},{"oid":"cc","size":3,"error":{"code":422,"message":"no"}}]})");
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->at("aa").upload->href, "http://x/1");
  EXPECT_THAT(batch->at("aa").upload->headers, ElementsAre(Pair("A", "b")));
  EXPECT_TRUE(batch->at("aa").verify);
  EXPECT_FALSE(batch->at("bb").upload);
  EXPECT_EQ(batch->at("cc").error, "422: no");
  for (const char* bad : {"", "[]", "{}", "{\"objects\":1}", "<html>"}) EXPECT_FALSE(read_batch(bad)) << bad;
}

TEST(Wire, ReadsReferencesTreesAndLogs) {
  const auto refs = read_refs(
      R"({"branches":[{"name":"main","targetCommit":"m"}],"converts":[],"tags":[{"name":"v1","targetCommit":"t"}]})");
  ASSERT_TRUE(refs);
  EXPECT_EQ(refs->main, "m");
  EXPECT_THAT(refs->tags, ElementsAre(Pair("v1", "t")));
  const auto tree = read_tree(
      R"([{"type":"directory","path":"d"},{"type":"file","path":"d/f","size":9,"lfs":{"oid":"o","size":9}},{"type":"file","path":"g","size":1,"oid":"b"}])");
  ASSERT_TRUE(tree);
  ASSERT_EQ(tree->size(), 2U);
  EXPECT_EQ(tree->at(0).sha256, "o");
  EXPECT_EQ(tree->at(1).size, 1U);
  EXPECT_EQ(tree->at(1).blob, "b");
  const auto log = read_log(R"([{"id":"1","title":"a"},{"id":"2","title":"b"}])");
  ASSERT_TRUE(log);
  EXPECT_EQ(log->at(1).title, "b");
  EXPECT_FALSE(read_commit("{}"));
  EXPECT_EQ(read_commit(R"({"commitOid":"x"})").value(), "x");
}

TEST(Wire, FollowsOnlyTheQueryOfALink) {
  EXPECT_EQ(next_query(R"(<http://public/api?cursor=a&limit=2>; rel="next")"), "cursor=a&limit=2");
  EXPECT_EQ(next_query(R"(<http://p?a=1>; rel="prev", <http://p?a=3>; rel="next")"), "a=3");
  EXPECT_EQ(next_query(R"(<http://p?a=1>; rel="prev")"), std::nullopt);
  EXPECT_EQ(next_query(""), std::nullopt);
}

TEST(Wire, TellsTheReasonInWhateverShapeItComes) {
  EXPECT_EQ(reason_of(R"({"error":"e"})"), "e");
  EXPECT_EQ(reason_of(R"({"message":"m"})"), "m");
  EXPECT_EQ(reason_of("<html>"), "");
  const DatastoreError error = refused("take the commit", {{.status = 403, .headers = {}}, "{}"});
  EXPECT_THAT(error.message, HasSubstr("DATASTORE_USERNAME"));
  EXPECT_FALSE(error.away);
  EXPECT_TRUE(refused("x", {{.status = 502, .headers = {}}, ""}).away);
}

TEST(Wire, SplitsLinesWhereverThePiecesEnd) {
  const std::string text = "one\r\n\ntwo\nthree";
  const std::vector<std::string> expected = {"one", "", "two", "three"};
  for (std::size_t cut = 0; cut <= text.size(); ++cut)
    for (std::size_t second = cut; second <= text.size(); ++second) {
      std::vector<std::string> lines;
      const auto each = [&](std::string_view line) {
        lines.emplace_back(line);
        return true;
      };
      LineSplitter splitter(5);
      const std::string_view all = text;
      EXPECT_TRUE(splitter.feed(all.substr(0, cut), each));
      EXPECT_TRUE(splitter.feed(all.substr(cut, second - cut), each));
      EXPECT_TRUE(splitter.feed(all.substr(second), each));
      EXPECT_TRUE(splitter.end(each));
      EXPECT_EQ(lines, expected) << cut << ' ' << second;
    }
}

TEST(Wire, StopsAtALineThatIsTooLongAndWhenNoMoreIsWanted) {
  const auto all = [](std::string_view) { return true; };
  LineSplitter whole(3), begun(3);
  EXPECT_FALSE(whole.feed("ab\nabcd\n", all));
  EXPECT_TRUE(whole.too_long());
  EXPECT_EQ(whole.number(), 1U);
  EXPECT_FALSE(begun.feed("abcde", all));
  EXPECT_TRUE(begun.too_long());
  LineSplitter some(10);
  int count = 0;
  EXPECT_FALSE(some.feed("a\nb\nc\n", [&](std::string_view) { return ++count < 2; }));
  EXPECT_EQ(count, 2);
  EXPECT_FALSE(some.too_long());
}

TEST(Wire, ReadsTheCommitOfADescription) {
  EXPECT_EQ(read_commit_of(R"({"id":"a/b","sha":"c0ffee"})").value(), "c0ffee");
  EXPECT_FALSE(read_commit_of("{}"));
  EXPECT_FALSE(read_commit_of("<html>"));
}

}  // namespace
}  // namespace stackgate::datastore_client::wire
