#include "services/datastore/hub/preupload.hpp"

#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"

namespace stackgate::datastore::hub {
namespace {

constexpr std::uint64_t threshold = 1'000'000;

TEST(GoesToLfs, FollowsAttributesThenSize) {
  const lfs::Attributes attributes = lfs::Attributes::parse("*.bin filter=lfs\n*.txt -filter\n");
  const struct {
    std::string_view path;
    std::uint64_t size;
    bool large;
  } cases[] = {
      {"a.dat", threshold, false}, {"a.dat", threshold + 1, true}, {"a.bin", 1, true},
      {"a.bin", 0, false},         {"a.txt", 5'000'000, false},    {"a.txt", largest_regular + 1, true},
  };
  for (const auto& c : cases)
    EXPECT_EQ(goes_to_lfs(attributes, c.path, c.size, threshold), c.large) << c.path << " " << c.size;
}

TEST(Preupload, AnswersInOrderWithWhatIsThere) {
  const PreuploadRequest request{.files = {{"a.txt", 5}, {"big.bin", threshold * 2}, {"new.tmp", 1}},
                                 .ignore = "*.tmp\n"};
  const std::string answer =
      answer_preupload(request, lfs::Attributes{}, threshold, [](const std::string& path) -> std::optional<git::Entry> {
        if (path == "a.txt") return git::Entry{.path = path, .oid = "abc"};
        if (path == "big.bin") return git::Entry{.path = path, .oid = "def", .lfs = git::LfsPointer{"sha", 3, 100}};
        return {};
      });
  EXPECT_EQ(answer, R"({"files":[{"path":"a.txt","uploadMode":"regular","shouldIgnore":false,"oid":"abc"},)"
                    R"({"path":"big.bin","uploadMode":"lfs","shouldIgnore":false,"oid":"sha"},)"
                    R"({"path":"new.tmp","uploadMode":"regular","shouldIgnore":true,"oid":null}]})");
}

TEST(Preupload, RefusesWhatIsNoList) {
  for (const std::string text : {"{}", R"({"files":{}})", R"({"files":[{"size":1}]})", R"({"files":[{"path":"a"}]})",
                                 R"({"files":[{"path":"a","size":-1}]})", R"({"files":[{"path":"a","size":"1"}]})"}) {
    json::Document document;
    const auto root = json::parse(text, document);
    EXPECT_EQ(parse_preupload(*root).error().status, 400) << text;
  }
}

}  // namespace
}  // namespace stackgate::datastore::hub
