#include "services/evaluator/suite/retrieval/corpus.hpp"

#include <gmock/gmock.h>

#include "tests/evaluator/suite_retrieval/files.hpp"

namespace stackgate::evaluator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr std::size_t all = 1000;

std::vector<std::string> ids(const RetrievalData& data) {
  std::vector<std::string> out;
  for (const RetrievalQuery& each : data.queries) out.push_back(each.id);
  return out;
}

RetrievalData read(std::map<std::string, std::string> files, validate::Findings& findings, std::size_t limit = all,
                   std::string_view task = "retriever") {
  return read_retrieval_data(task, true, test::files(std::move(files)), limit, findings);
}

std::vector<std::string> faults(std::map<std::string, std::string> files) {
  validate::Findings findings;
  read(std::move(files), findings);
  std::vector<std::string> out;
  for (const auto& each : findings) out.push_back(each.path + " " + each.problem);
  return out;
}

TEST(RetrievalData, is_read_from_beirs_files) {
  validate::Findings findings;
  const RetrievalData data = read(test::beir(), findings);
  EXPECT_THAT(findings, IsEmpty());
  ASSERT_EQ(data.documents.size(), 3U);
  EXPECT_EQ(data.documents[0].text, "Cats\nCats sleep. They purr.");
  EXPECT_EQ(data.documents[1].text, "Dogs bark.");
  EXPECT_EQ(data.documents[2].text, "Fish");
  EXPECT_THAT(ids(data), ElementsAre("q3", "q1", "q2"));
  EXPECT_THAT(data.queries[1].relevant, ElementsAre(Pair("d1", 2), Pair("d3", 1)));
  EXPECT_EQ(data.queries[2].reference, "Dogs bark.");
  EXPECT_EQ(read(test::beir(), findings, 2).queries.size(), 2U);
}

TEST(RetrievalData, takes_the_split_with_the_tasks_name) {
  auto files = test::beir();
  files["data/qrels/dev.tsv"] = "q3 \td2\t1\nq3\td2\t1\n";
  validate::Findings findings;
  EXPECT_THAT(read(files, findings, all, "dev").queries[0].relevant, ElementsAre(Pair("d2", 1)));
  EXPECT_THAT(read(files, findings, all, "other").queries[1].relevant, ElementsAre(Pair("d1", 2), Pair("d3", 1)));
  files.erase("data/qrels/test.tsv");
  // Queries that the split does not judge come last.
  EXPECT_THAT(ids(read(files, findings, all, "other")), ElementsAre("q3", "q1", "q2"));
  EXPECT_THAT(findings, IsEmpty());
}

TEST(RetrievalData, trec_evals_columns_are_read_as_well) {
  auto files = test::beir();
  files["data/qrels/test.tsv"] = "q1\t0\td2\t1\n";
  validate::Findings findings;
  const RetrievalData data = read(files, findings);
  EXPECT_EQ(data.queries[0].id, "q1");
  EXPECT_THAT(data.queries[0].relevant, ElementsAre(Pair("d2", 1)));
}

TEST(RetrievalData, is_read_from_rows) {
  validate::Findings findings;
  const RetrievalData data = read(
      {{"rows.jsonl",
        R"({"question": "who?", "documents": [{"id": "a", "text": "x", "title": "T"}, "y"], "relevant": [1, "a"], "ground_truth": ["ref", "other"]}
{"id": 7, "user_input": "why?", "documents": ["z"], "relevant": {"a": 3, "2.0": 1}, "answer": "so", "retrieved_contexts": ["c1", {"text": "c2"}]}
)"}},
      findings);
  EXPECT_THAT(findings, IsEmpty());
  ASSERT_EQ(data.documents.size(), 3U);
  EXPECT_EQ(data.documents[0].text, "T\nx");
  EXPECT_EQ(data.documents[1].id, "1.1");
  ASSERT_EQ(data.queries.size(), 2U);
  EXPECT_EQ(data.queries[0].id, "1");
  EXPECT_THAT(data.queries[0].relevant, ElementsAre(Pair("1.1", 1), Pair("a", 1)));
  EXPECT_EQ(data.queries[0].reference, "ref");
  EXPECT_FALSE(data.queries[0].contexts);
  EXPECT_FALSE(data.queries[0].response);
  EXPECT_EQ(data.queries[1].id, "7");
  EXPECT_THAT(data.queries[1].relevant, ElementsAre(Pair("2.0", 1), Pair("a", 3)));
  EXPECT_THAT(*data.queries[1].contexts, ElementsAre("c1", "c2"));
  EXPECT_EQ(data.queries[1].response, "so");
}

TEST(RetrievalData, a_limit_of_questions_searches_no_fewer_documents) {
  validate::Findings findings;
  const RetrievalData data = read({{"rows.jsonl", R"({"question": "a", "documents": ["x"]}
{"question": "b", "documents": ["y"]}
)"}},
                                  findings, 1);
  EXPECT_EQ(data.queries.size(), 1U);
  EXPECT_EQ(data.documents.size(), 2U);
}

TEST(RetrievalData, faults_are_all_named_with_their_places) {
  auto files = test::beir();
  files["data/corpus.jsonl"] +=
      "{\"title\": \"x\", \"text\": \"y\"}\n{\"_id\": \"d1\", \"text\": \"\"}\n{\"_id\": \"d9\"}\nno\n";
  files["data/queries.jsonl"] += "{\"_id\": \"q9\"}\n";
  files["data/qrels/test.tsv"] += "q1\td1\tmuch\nq1 d1 1\nq1\td1\tinf\n";
  EXPECT_THAT(
      faults(files),
      testing::UnorderedElementsAre(
          HasSubstr("data/corpus.jsonl:4 has no \"_id\""), HasSubstr("data/corpus.jsonl:5 has the _id \"d1\""),
          HasSubstr("data/corpus.jsonl:6 has no \"text\""), HasSubstr("data/corpus.jsonl:7 is no JSON"),
          HasSubstr("data/queries.jsonl:4 has no"), HasSubstr("data/qrels/test.tsv:7 is no judgement"),
          HasSubstr("data/qrels/test.tsv:8 is no judgement"), HasSubstr("data/qrels/test.tsv:9 is no judgement")));
  files = test::beir();
  files.erase("data/qrels/test.tsv");
  EXPECT_THAT(faults(files), ElementsAre(HasSubstr("no judgements")));
  files["data/qrels/a.tsv"] = files["data/qrels/b.tsv"] = "q1\td1\t1\n";
  EXPECT_THAT(faults(files), ElementsAre(HasSubstr("several splits")));
  EXPECT_THAT(
      faults({{"rows.jsonl", R"({"documents": ["x"]}
{"question": "a", "documents": [{"id": "e"}], "relevant": [3]}
{"question": "a", "relevant": {"d": "x"}}
{"question": "a", "relevant": 5}
)"}}),
      ElementsAre(HasSubstr("rows.jsonl:1 has no \"question\""), HasSubstr("rows.jsonl:2 has a document without text"),
                  HasSubstr("rows.jsonl:2 names a relevant document"), HasSubstr("rows.jsonl:3 has a gain for \"d\""),
                  HasSubstr("rows.jsonl:4 has \"relevant\" of another type")));
}

TEST(RetrievalData, of_beginnings_is_no_fault) {
  auto files = test::beir();
  files["data/corpus.jsonl"].resize(files["data/corpus.jsonl"].find('\n') + 1);
  files["data/queries.jsonl"].resize(files["data/queries.jsonl"].find('\n') + 1);
  EXPECT_THAT(faults(files), IsEmpty());
}

TEST(Passages, are_documents_or_their_pieces) {
  const std::vector<Document> documents = {{"d1", "One two. Three four."}, {"d2", " "}, {"d3", "five"}};
  const auto whole = passages_of(documents, {});
  ASSERT_EQ(whole.size(), 2U);
  EXPECT_EQ(whole[1].id, "d3");
  EXPECT_EQ(whole[1].document, 2U);
  const auto pieces = passages_of(documents, {.size = 12});
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[1].id, "d1#1");
  EXPECT_EQ(pieces[1].text, "Three four.");
  EXPECT_EQ(pieces[2].id, "d3#0");
}

}  // namespace
}  // namespace stackgate::evaluator
