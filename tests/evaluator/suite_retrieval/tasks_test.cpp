#include <cmath>

#include <gmock/gmock.h>

#include "services/evaluator/suite/retrieval/make_retrieval_tasks.hpp"
#include "services/evaluator/suite/retrieval/ranked.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "tests/evaluator/suite_retrieval/files.hpp"

namespace stackgate::evaluator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

EvaluationRequest request(Framework framework) {
  EvaluationRequest out{.framework = framework, .target = {.url = "http://m/v1"}};
  out.judge = ModelEndpoint{.url = "http://j/v1"};
  out.embeddings = ModelEndpoint{.url = "http://e/v1"};
  out.retrieval.cutoffs = {1, 2};
  return out;
}

Reply answered(std::string text) { return {.answer = Answer{.text = std::move(text)}}; }

std::map<std::string, double> scores_of(const TaskResult& result) {
  std::map<std::string, double> out;
  for (const Score& each : result.scores) out[each.metric + " " + each.name] = each.value;
  return out;
}

const Score& score_of(const TaskResult& result, std::string_view name) {
  return *std::ranges::find(result.scores, name, &Score::name);
}

TEST(RetrieverTask, asks_each_judged_query_and_scores_the_order) {
  const auto tasks = make_retriever_tasks(request(Framework::retriever), test::files(test::beir()));
  ASSERT_TRUE(tasks);
  ASSERT_EQ(tasks->size(), 1U);
  const Task& task = *tasks->front();
  EXPECT_EQ(task.name(), "retriever");
  ASSERT_EQ(task.samples(), 3U);
  // q3 has a judgement of gain 0 only.
  EXPECT_TRUE(task.next(0, {}).empty());
  const auto asked = task.next(1, {});
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].whom, Whom::retriever);
  EXPECT_EQ(asked[0].question.prompt, "who purrs?");

  const Scored skipped = task.score(0, {});
  EXPECT_EQ(skipped.fault, "");
  EXPECT_TRUE(std::isnan(skipped.values[0]));
  const std::vector<Reply> first = {answered(R"({"d3": 0.9, "q1": 0.85, "d1": 0.8, "d2": 0.1})")};
  EXPECT_TRUE(task.next(1, first).empty());
  const Scored q1 = task.score(1, first);
  // recall, nDCG and precision at 1 and at 2, MRR, MAP: gains 1, 2 where 2, 1 would be best.
  const double ideal = 2 + 1 / std::log2(3.0), got = 1 + 2 / std::log2(3.0);
  EXPECT_THAT(q1.values, ElementsAre(0.5, 0.5, 1, 1, testing::DoubleEq(got / ideal), 1, 1, 1));
  EXPECT_THAT(q1.record, HasSubstr(R"({"document":"d3","score":0.9,"gain":1)"));
  EXPECT_THAT(q1.record, testing::Not(HasSubstr(R"("document":"q1")")));
  const Scored q2 = task.score(2, std::vector<Reply>{answered(R"({"d1": 0.9, "d2": 0.8})")});
  EXPECT_THAT(q2.values, ElementsAre(0, 0, 0, 1, testing::DoubleEq(1 / std::log2(3.0)), 0.5, 0.5, 0.5));

  const std::vector<std::vector<double>> values = {skipped.values, q1.values, q2.values};
  const TaskResult result = task.result(values, 1);
  EXPECT_EQ(result.samples, 4U);
  EXPECT_EQ(result.failed, 1U);
  EXPECT_DOUBLE_EQ(scores_of(result)["evaluation recall_2"], 1);
  EXPECT_DOUBLE_EQ(scores_of(result)["evaluation recall_1"], 0.25);
  EXPECT_DOUBLE_EQ(scores_of(result)["evaluation mrr"], 0.75);
  EXPECT_EQ(score_of(result, "ndcg_cut_2").nan_count, 1U);
  EXPECT_EQ(score_of(result, "ndcg_cut_2").count, 2U);
}

TEST(RetrieverTask, without_an_answer_or_with_a_bad_one_has_failed) {
  const auto tasks = make_retriever_tasks(request(Framework::retriever), test::files(test::beir()));
  const Task& task = *tasks->front();
  EXPECT_EQ(task.score(1, std::vector<Reply>{{.fault = "away"}}).fault, "away");
  EXPECT_THAT(task.score(1, std::vector<Reply>{answered("[]")}).fault, HasSubstr("no JSON object"));
  EXPECT_THAT(task.score(1, std::vector<Reply>{answered(R"({"d1":"x"})")}).fault, HasSubstr("no number"));
}

TEST(RetrieverTask, names_all_that_is_missing) {
  EvaluationRequest bare = request(Framework::retriever);
  bare.embeddings.reset();
  const auto none = make_retriever_tasks(bare, test::files({{"rows.jsonl", "{\"question\": \"a\"}\n"}}));
  ASSERT_FALSE(none);
  ASSERT_EQ(none.error().size(), 2U);
  EXPECT_THAT(none.error()[0].problem, HasSubstr("no documents"));
  EXPECT_EQ(none.error()[1].path, "embeddings");
}

TEST(RetrievalPlan, says_what_is_embedded_and_what_is_answered) {
  EvaluationRequest own = request(Framework::retriever);
  own.retrieval.top_k = 3;
  own.retrieval.chunk_size = 12;
  const DataSource data = test::files(test::beir());
  const auto documents = retrieval_plan(own, "retriever", data);
  ASSERT_TRUE(documents);
  EXPECT_TRUE(documents->answers_documents);
  EXPECT_EQ(documents->depth, 4U);
  EXPECT_THAT(documents->names, ElementsAre("d1", "d2", "d3"));
  EXPECT_EQ(documents->passages.size(), 5U);
  own.framework = Framework::rag;
  EXPECT_FALSE(retrieval_plan(own, "rag", data)->answers_documents);
  const auto cached = retrieval_plan(
      own, "rag", test::files({{"r.jsonl", R"({"question": "a", "contexts": [], "documents": ["x"]})"}}));
  EXPECT_TRUE(cached->passages.empty());
}

class RagTaskTest : public testing::Test {
 protected:
  void make(std::map<std::string, std::string> files, EvaluationRequest own = request(Framework::rag)) {
    auto tasks = make_rag_tasks(own, test::files(std::move(files)));
    ASSERT_TRUE(tasks) << validate::to_line(tasks.error().front());
    tasks_ = std::move(*tasks);
  }
  const Task& task() const { return *tasks_.front(); }

  /// Whom each round asks, with answers by what is asked; "" is a fault.
  std::vector<std::vector<Whom>> play(std::size_t sample,
                                      const std::function<std::string(Whom, const Question&)>& answer) {
    std::vector<std::vector<Whom>> rounds;
    replies_.clear();
    for (;;) {
      const auto asked = task().next(sample, replies_);
      if (asked.empty() || rounds.size() > 10) return rounds;
      rounds.emplace_back();
      for (const Asked& each : asked) {
        rounds.back().push_back(each.whom);
        std::string text = answer(each.whom, each.question);
        replies_.push_back(text.empty() ? Reply{.fault = "away"} : answered(std::move(text)));
      }
    }
  }
  static std::string judged(const Question& question) {
    const std::string& asked = question.messages.back().content;
    if (asked.starts_with("Split")) return R"({"statements": ["Cats purr.", "Cats fly."]})";
    if (asked.starts_with("Write")) return R"({"noncommittal": 0, "questions": ["x?", "y?"]})";
    if (asked.contains("each of 2 statements")) return R"({"verdicts": [1, 0]})";
    if (asked.contains("each of 1 statements")) return R"({"verdicts": [1]})";
    return asked.contains("<context>\nDogs") ? R"({"useful": 1})" : R"({"useful": 0})";
  }
  static std::string all(Whom whom, const Question& question) {
    switch (whom) {
      case Whom::retriever:
        return R"({"d1": 0.9, "d2": 0.8, "d3": 0.7})";
      case Whom::model:
        return "Cats purr and fly.";
      case Whom::embedder:
        return "[0.8,0.4]";
      case Whom::judge:
        return judged(question);
      case Whom::runner:
        break;
    }
    return "";
  }
  std::map<std::string, double> scores(std::size_t sample) {
    const Scored scored = task().score(sample, replies_);
    EXPECT_EQ(scored.fault, "");
    record_ = scored.record;
    const std::vector<std::vector<double>> values = {scored.values};
    std::map<std::string, double> out;
    for (const Score& each : task().result(values, 0).scores) out[each.name] = each.value;
    return out;
  }

  Tasks tasks_;
  std::vector<Reply> replies_;
  std::string record_;
};

TEST_F(RagTaskTest, retrieves_answers_and_judges) {
  EvaluationRequest own = request(Framework::rag);
  own.retrieval.top_k = 2;
  make(test::beir(), own);
  ASSERT_EQ(task().samples(), 3U);
  using enum Whom;
  const auto rounds = play(2, &RagTaskTest::all);  // q2, which has a reference
  EXPECT_THAT(rounds, ElementsAre(ElementsAre(retriever), ElementsAre(model),
                                  ElementsAre(judge, judge, judge, judge, judge), ElementsAre(judge, embedder)));
  auto got = scores(2);
  EXPECT_DOUBLE_EQ(got["faithfulness"], 0.5);
  EXPECT_DOUBLE_EQ(got["answer_relevancy"], 0.6);
  EXPECT_DOUBLE_EQ(got["context_precision"], 0.5);
  EXPECT_DOUBLE_EQ(got["context_recall"], 1);
  EXPECT_DOUBLE_EQ(got["recall_1"], 0);
  EXPECT_DOUBLE_EQ(got["recall_2"], 1);
  json::Document document;
  ASSERT_TRUE(json::parse(record_, document));
  EXPECT_EQ(json::items(&document.root, {"contexts"}).size(), 2U);
  EXPECT_EQ(json::text(&document.root, {"response"}), "Cats purr and fly.");
  EXPECT_THAT(record_, HasSubstr(R"("supported":[true,false])"));
  EXPECT_THAT(record_, HasSubstr(R"("useful":[false,true])"));
  EXPECT_THAT(record_, testing::Not(HasSubstr("reasons")));
}

TEST_F(RagTaskTest, what_the_model_is_asked) {
  make(test::beir());
  replies_ = {answered(R"({"d2": 0.9, "d1": 0.8})")};
  const auto own = task().next(1, replies_);
  EXPECT_THAT(own[0].question.prompt, HasSubstr("[1] Dogs bark.\n\n[2] Cats\nCats sleep."));
  EXPECT_THAT(own[0].question.prompt, HasSubstr("Question: who purrs?"));
  EvaluationRequest templated = request(Framework::rag);
  templated.rows.prompt = "{{ context }}|{{ contexts | length }}|{{ item._id }}|{{ question }}";
  make(test::beir(), templated);
  EXPECT_EQ(task().next(1, replies_)[0].question.prompt, "Dogs bark.\n\nCats\nCats sleep. They purr.|2|q1|who purrs?");
}

TEST_F(RagTaskTest, rows_with_contexts_and_answers_ask_neither_retriever_nor_model) {
  make(
      {{"r.jsonl",
        R"({"question": "who?", "contexts": ["Dogs bark.", "{{ 7*7 }}"], "answer": "Dogs.", "ground_truth": "One. Two."})"}});
  using enum Whom;
  EXPECT_THAT(play(0, &RagTaskTest::all),
              ElementsAre(ElementsAre(judge, judge, judge, judge, judge), ElementsAre(judge, embedder)));
  auto got = scores(0);
  EXPECT_EQ(got.size(), 4U);
  EXPECT_DOUBLE_EQ(got["context_precision"], 1);
  EXPECT_DOUBLE_EQ(got["context_recall"], 0.5);
}

TEST_F(RagTaskTest, answers_of_the_data_set_by_a_template_ask_no_model) {
  EvaluationRequest own = request(Framework::rag);
  own.rows.response = "{{ item.said }}!";
  make({{"r.jsonl", R"({"question": "who?", "contexts": ["c"], "said": "me"})"}}, own);
  const auto asked = task().next(0, {});
  ASSERT_FALSE(asked.empty());
  EXPECT_EQ(asked[0].whom, Whom::judge);
  EXPECT_THAT(asked[0].question.messages.back().content, HasSubstr("<answer>\nme!\n"));
}

TEST_F(RagTaskTest, a_noncommittal_answer_is_not_relevant) {
  make({{"r.jsonl", R"({"question": "who?", "contexts": ["c"], "answer": "I do not know."})"}});
  play(0, [](Whom whom, const Question& question) {
    const std::string& asked = question.messages.back().content;
    if (asked.starts_with("Split")) return std::string(R"({"statements": []})");
    if (asked.starts_with("Write")) return std::string(R"({"noncommittal": 1, "questions": ["x?"]})");
    return all(whom, question);
  });
  auto got = scores(0);
  EXPECT_DOUBLE_EQ(got["answer_relevancy"], 0);
  EXPECT_TRUE(std::isnan(got["faithfulness"]));
  EXPECT_FALSE(got.contains("context_recall")) << "no row has a reference";
  EXPECT_THAT(record_, HasSubstr("faithfulness: the response claims nothing"));
}

TEST_F(RagTaskTest, a_bad_or_absent_judge_costs_that_score_and_says_so) {
  make({{"r.jsonl", R"({"question": "who?", "contexts": ["c", "Dogs bark."], "answer": "A.", "reference": "R."})"}});
  const auto with = [&](std::string_view beginning, std::string bad) {
    play(0, [&](Whom whom, const Question& question) {
      const bool hit = whom == Whom::judge ? question.messages.back().content.contains(beginning)
                                           : whom == Whom::embedder && beginning == "embedder";
      return hit ? bad : all(whom, question);
    });
    return scores(0);
  };
  for (const std::string bad : {"", "Certainly!", "{\"useful\": 7, \"verdicts\": [1,1,1,1], \"statements\": 3}"}) {
    auto got = with("Split", bad);
    EXPECT_TRUE(std::isnan(got["faithfulness"]));
    EXPECT_DOUBLE_EQ(got["answer_relevancy"], 0.6);
    EXPECT_DOUBLE_EQ(got["context_precision"], 0.5);
    EXPECT_THAT(record_, HasSubstr(bad.empty() ? "faithfulness: away" : "faithfulness: the judge's answer has no"));
    got = with("each of 2 statements", bad);
    EXPECT_TRUE(std::isnan(got["faithfulness"]));
    EXPECT_DOUBLE_EQ(got["context_recall"], 1);
    got = with("<context>\nc\n", bad);
    EXPECT_TRUE(std::isnan(got["context_precision"]));
    EXPECT_DOUBLE_EQ(got["faithfulness"], 0.5);
    EXPECT_TRUE(std::isnan(with("each of 1 statements", bad)["context_recall"]));
    EXPECT_TRUE(std::isnan(with("Write 3", bad)["answer_relevancy"]));
    EXPECT_TRUE(std::isnan(with("embedder", bad)["answer_relevancy"]));
  }
}

TEST_F(RagTaskTest, without_contexts_or_a_response_a_sample_has_failed) {
  make(test::beir());
  EXPECT_EQ(task().score(1, std::vector<Reply>{{.fault = "no documents are searched"}}).fault,
            "no documents are searched");
  EXPECT_EQ(task().score(1, std::vector<Reply>{answered("{\"d1\":1}"), {.fault = "refused"}}).fault, "refused");
  EXPECT_THAT(task().score(1, std::vector<Reply>{answered("{\"d7\":1}")}).fault,
              HasSubstr("none of the data set's passages"));
}

TEST_F(RagTaskTest, nothing_retrieved_is_recalled_nowhere) {
  make(test::beir());
  play(2, [](Whom whom, const Question& question) {
    return whom == Whom::retriever                                  ? std::string("{}")
           : question.messages.empty()                              ? all(whom, question)
           : question.messages.back().content.contains("each of 2") ? std::string(R"({"verdicts": [0, 0]})")
                                                                    : all(whom, question);
  });
  auto got = scores(2);
  EXPECT_DOUBLE_EQ(got["context_recall"], 0);
  EXPECT_DOUBLE_EQ(got["faithfulness"], 0);
  EXPECT_TRUE(std::isnan(got["context_precision"]));
  EXPECT_DOUBLE_EQ(got["recall_2"], 0);
}

TEST_F(RagTaskTest, pieces_count_as_their_documents) {
  EvaluationRequest own = request(Framework::rag);
  own.retrieval.chunk_size = 12;
  make(test::beir(), own);
  play(1, [](Whom whom, const Question& question) {
    return whom == Whom::retriever ? std::string(R"({"d1#1": 0.9, "d1#0": 0.8, "d2#0": 0.7})") : all(whom, question);
  });
  auto got = scores(1);
  EXPECT_DOUBLE_EQ(got["recall_1"], 0.5);
  EXPECT_DOUBLE_EQ(got["precision_2"], 0.5);
  EXPECT_DOUBLE_EQ(got["mrr"], 1);
}

TEST_F(RagTaskTest, names_all_that_is_missing) {
  EvaluationRequest bare = request(Framework::rag);
  bare.judge.reset();
  bare.embeddings.reset();
  bare.rows.prompt = "{{ question | nofilter }}";
  const auto none = make_rag_tasks(bare, test::files(test::beir()));
  ASSERT_FALSE(none);
  std::vector<std::string> paths;
  for (const auto& each : none.error()) paths.push_back(each.path);
  EXPECT_THAT(paths, ElementsAre("params.prompt", "judge", "embeddings"));
  bare = request(Framework::rag);
  bare.embeddings.reset();
  make({{"r.jsonl", R"({"question": "a", "contexts": ["c"], "answer": "b"})"}}, bare);
  const TaskResult result = task().result({}, 0);
  EXPECT_EQ(result.scores.size(), 2U) << "faithfulness and context_precision need no embeddings";
}

}  // namespace
}  // namespace stackgate::evaluator
