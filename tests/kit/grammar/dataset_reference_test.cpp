#include "services/kit/grammar/dataset_reference.hpp"

#include <string>

#include <gtest/gtest.h>

namespace stackgate::validate::grammar {
namespace {

TEST(DatasetReference, IsTakenApart) {
  struct Row {
    std::string_view text, repository, path, revision;
  };
  for (const Row& row : {
           Row{"ada/qa", "ada/qa", "", ""},
           Row{"ada/qa@v1.2", "ada/qa", "", "v1.2"},
           Row{"ada/qa@feature/new", "ada/qa", "", "feature/new"},
           Row{"hf://datasets/ada/qa", "ada/qa", "", ""},
           Row{"hf://datasets/ada/qa/data/test.jsonl", "ada/qa", "data/test.jsonl", ""},
           Row{"hf://datasets/ada/qa/data/test.jsonl@v1", "ada/qa", "data/test.jsonl", "v1"},
           Row{"hf://datasets/ada/qa/data@feature/new", "ada/qa", "data", "feature/new"},
           Row{"hf://datasets/ada/qa@v1", "ada/qa", "", "v1"},
           Row{"hf://datasets/ada/qa@v1/data/test.jsonl", "ada/qa", "data/test.jsonl", "v1"},
       }) {
    const auto found = parse_dataset_reference(row.text);
    ASSERT_TRUE(found) << row.text << ": " << found.error().problem;
    EXPECT_EQ(found->repository, row.repository) << row.text;
    EXPECT_EQ(found->path, row.path) << row.text;
    EXPECT_EQ(found->revision, row.revision) << row.text;
  }
}

TEST(DatasetReference, NamesWhatIsWrong) {
  struct Row {
    std::string_view text, problem;
  };
  for (const Row& row : {
           Row{"", "names no repository"},
           Row{"qa", "names no repository"},
           Row{"/qa", "names no repository"},
           Row{"ada/", "names no repository"},
           Row{"../qa", "names no repository"},
           Row{"ada/qa/data", "has a path"},
           Row{"ada/qa@", "revision must not be empty"},
           Row{"ada/qa@-x", "revision is no name of a branch, tag or commit"},
           Row{"ada/qa@a..b", "revision is no name of a branch, tag or commit"},
           Row{"ada/qa@a b", "revision has a character that no branch, tag or commit has"},
           Row{"ada/qa@a@b", "revision has a character that no branch, tag or commit has"},
           Row{"https://hub.example/ada/qa", "is of a kind of URL that is not served"},
           Row{"hf://models/ada/qa", "is of a kind of URL that is not served"},
           Row{"hf://datasets/qa", "names no repository"},
           Row{"hf://datasets/me:pw@ada/qa", "names no repository"},
           Row{"hf://datasets/ada/qa/", "path must not be empty"},
           Row{"hf://datasets/ada/qa/a//b", "path has an empty part"},
           Row{"hf://datasets/ada/qa/../b", "path has the part \"..\""},
           Row{"hf://datasets/ada/qa/a\nb", "path has a control character"},
       }) {
    const auto found = parse_dataset_reference(row.text);
    ASSERT_FALSE(found) << row.text;
    EXPECT_EQ(found.error().problem, row.problem) << row.text;
    EXPECT_FALSE(found.error().fix.empty());
  }
}

}  // namespace
}  // namespace stackgate::validate::grammar
