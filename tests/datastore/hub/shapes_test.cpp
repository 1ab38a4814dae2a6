#include "services/datastore/hub/shapes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/datastore/hub/card.hpp"

namespace stackgate::datastore::hub {
namespace {

template <typename Write>
std::string written(Write&& write) {
  std::string out;
  json::Writer w(out);
  write(w);
  return out;
}

TEST(Shapes, AnEntryTellsAPointersFile) {
  git::Entry entry{.path = "a.bin", .oid = "b10b", .size = 130, .lfs = git::LfsPointer{"5ha", 3'000'000, 130}};
  EXPECT_EQ(
      written([&](json::Writer& w) { write_entry(w, entry, nullptr); }),
      R"({"type":"file","oid":"b10b","size":3000000,"path":"a.bin","lfs":{"oid":"5ha","size":3000000,"pointerSize":130}})");
  const LastCommit last{"c0ffee", "Add", 0};
  entry = {.path = "dir", .kind = git::EntryKind::folder, .oid = "7ree"};
  EXPECT_EQ(
      written([&](json::Writer& w) { write_entry(w, entry, &last); }),
      R"({"type":"directory","oid":"7ree","size":0,"path":"dir","lastCommit":{"id":"c0ffee","title":"Add","date":"1970-01-01T00:00:00.000Z"}})");
}

TEST(Shapes, InfoNamesTheHashOfALargeFileSha256) {
  Repository repository{
      .id = 7, .owner = "ada", .name = "r", .created_at = "2026-01-02T03:04:05Z", .updated_at = "2026-01-02T03:04:06Z"};
  const std::vector<git::Entry> files = {
      {.path = "dir", .kind = git::EntryKind::folder},
      {.path = "a", .oid = "b1", .size = 1},
      {.path = "b", .oid = "b2", .size = 130, .lfs = git::LfsPointer{"5ha", 9, 130}}};
  const std::string info = written([&](json::Writer& w) {
    write_info(w, {.repository = repository,
                   .type = RepositoryType::dataset,
                   .sha = "5ha1",
                   .modified = 1,
                   .siblings = &files,
                   .blobs = true});
  });
  EXPECT_TRUE(
      info.contains(R"("siblings":[{"rfilename":"a","size":1,"blobId":"b1"},)"
                    R"({"rfilename":"b","size":9,"blobId":"b2","lfs":{"sha256":"5ha","size":9,"pointerSize":130}}])"))
      << info;
  EXPECT_TRUE(info.contains(R"("gated":false,)")) << info;
  EXPECT_TRUE(
      written([&](json::Writer& w) {
        write_info(w, {.repository = repository, .type = RepositoryType::model});
      }).contains(R"("sha":null,"lastModified":"2026-01-02T03:04:06.000Z","createdAt":"2026-01-02T03:04:05.000Z")"));
}

TEST(Shapes, EveryDateHasAFraction) {
  EXPECT_EQ(format_date("2026-01-02T03:04:05Z"), "2026-01-02T03:04:05.000Z");
  EXPECT_EQ(format_date("2026-01-02T03:04:05.25Z"), "2026-01-02T03:04:05.25Z");
  EXPECT_TRUE(whoami({.name = "ada", .created_at = "2026-01-02T03:04:05Z"}, Scope::write, {})
                  .contains(R"("createdAt":"2026-01-02T03:04:05.000Z")"));
}

TEST(Shapes, RefsAlwaysHaveConverts) {
  const std::vector<git::Ref> all = {{"refs/heads/feature/x", "1", ""}, {"refs/tags/v1", "2", "3"}};
  EXPECT_EQ(refs(all, false),
            R"({"branches":[{"name":"feature/x","ref":"refs/heads/feature/x","targetCommit":"1"}],"converts":[],)"
            R"("tags":[{"name":"v1","ref":"refs/tags/v1","targetCommit":"3"}]})");
  EXPECT_TRUE(refs({}, true).ends_with(R"("tags":[],"pullRequests":[]})"));
}

TEST(Shapes, ACommitsTitleIsItsFirstLine) {
  const git::Commit commit{.oid = "1", .author = {.name = "ada"}, .message = "Title\n\nBody\n\nmore\n"};
  EXPECT_EQ(written([&](json::Writer& w) { write_commit(w, commit); }),
            R"({"id":"1","title":"Title","message":"Body\n\nmore\n","authors":[{"user":"ada","avatar":""}],)"
            R"("date":"1970-01-01T00:00:00.000Z"})");
}

TEST(Card, GivesTheTagsThatTheHubWouldMake) {
  const std::string card =
      "---\nlicense: mit\nlanguage:\n- en\n- de\npipeline_tag: text-generation\nlibrary_name: peft\nbase_model: "
      "meta/llama\n"
      "datasets: [squad]\ntask_categories: [question-answering]\ntags: [lora, lora, 'a b', 7, [x]]\n---\n# Hi\n";
  EXPECT_THAT(tags_of(card, RepositoryType::model),
              testing::ElementsAre("lora", "a b", "text-generation", "peft", "en", "de", "license:mit", "dataset:squad",
                                   "base_model:meta/llama"));
  EXPECT_THAT(tags_of(card, RepositoryType::dataset),
              testing::ElementsAre("lora", "a b", "task_categories:question-answering", "language:en", "language:de",
                                   "license:mit"));
  for (const std::string bad :
       {"# Hi\n", "---\n- a\n---\n", "---\na: [\n---\n", "---\n---\n", "---\ntags: {a: b}\n---\n"})
    EXPECT_THAT(tags_of(bad, RepositoryType::model), testing::IsEmpty()) << bad;
  EXPECT_THAT(tags_of("---\ntags: [" + std::string(300, 'x') + "]\n---\n", RepositoryType::model), testing::IsEmpty());
}

TEST(Card, ValidatesTheYamlAtTheHead) {
  EXPECT_EQ(validation("---\nlicense: mit\n---\n# Hi\n"), R"({"errors":[],"warnings":[]})");
  EXPECT_TRUE(validation("# Hi\n").starts_with(R"({"errors":[],"warnings":[{"message":"no metadata)"));
  EXPECT_TRUE(validation("---\na: 1\nb: [\n---\n").starts_with(R"({"errors":[{"message":"line )"));
  EXPECT_TRUE(validation("---\n- a\n---\n").contains("must be a mapping"));
  EXPECT_TRUE(validation("---\nnever closed\n").contains("no metadata"));
  EXPECT_EQ(front_matter("---\r\na: 1\r\n---\r\n"), "a: 1\r\n");
}

}  // namespace
}  // namespace stackgate::datastore::hub
