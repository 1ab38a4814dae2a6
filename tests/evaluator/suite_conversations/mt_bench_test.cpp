#include <cmath>

#include <gmock/gmock.h>

#include "services/evaluator/suite/conversations/make_conversation_tasks.hpp"
#include "tests/evaluator/suite_support.hpp"

namespace stackgate::evaluator {
namespace {

using test::drive;
using test::Files;
using test::no_reply;
using test::score_named;
using test::source_of;
using test::text_reply;
using test::words_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

EvaluationRequest mt_bench(std::string baseline = {}) {
  EvaluationRequest out{.name = "e", .framework = Framework::mt_bench, .tasks = {"mt-bench"}};
  out.judge = ModelEndpoint{.url = "http://judge/v1"};
  out.mt_bench.baseline = std::move(baseline);
  return out;
}
std::unique_ptr<Task> mt_bench_task(const EvaluationRequest& request, const Files& files) {
  auto tasks = make_mt_bench_tasks(request, source_of(files));
  if (!tasks) {
    for (const auto& each : tasks.error()) ADD_FAILURE() << each.path << ": " << each.problem;
    return nullptr;
  }
  return std::move(tasks->front());
}
validate::Findings mt_bench_faults(const EvaluationRequest& request, const Files& files) {
  auto tasks = make_mt_bench_tasks(request, source_of(files));
  return tasks ? validate::Findings{} : tasks.error();
}

const Files bench = {{"question.jsonl",
                      "{\"question_id\":81,\"category\":\"writing\",\"turns\":[\"write a poem\",\"now shorter\"]}\n"
                      "{\"question_id\":101,\"category\":\"math\",\"turns\":[\"1+1?\",\"plus 1?\"]}\n"},
                     {"reference_answer/gpt-4.jsonl",
                      "{\"question_id\":101,\"choices\":[{\"index\":0,\"turns\":[\"it is TWO\",\"it is THREE\"]}]}\n"},
                     {"model_answer/base.jsonl",
                      "{\"question_id\":81,\"choices\":[{\"turns\":[\"base poem\",\"base short\"]}]}\n"
                      "{\"question_id\":101,\"choices\":[{\"turns\":[\"base 2\",\"base 3\"]}]}\n"}};

/// "answer N" of the model, in the order of the turns; of the judge what `say` says.
test::Answering answering(std::function<Reply(const std::string&)> say) {
  return [say = std::move(say)](const Asked& asked) {
    if (asked.whom == Whom::judge) return say(words_of(asked));
    return text_reply("answer " + std::to_string(asked.question.messages.size() / 2 + 1));
  };
}

TEST(MtBench, asks_both_turns_in_one_conversation_then_the_judge_about_each) {
  const auto task = mt_bench_task(mt_bench(), bench);
  ASSERT_EQ(task->samples(), 2U);
  const auto driven = drive(*task, 0, answering([](const std::string&) { return text_reply("Fine. Rating: [[8]]"); }));
  ASSERT_THAT(driven.asked, SizeIs(4));
  EXPECT_EQ(words_of(driven.asked[0]), "user: write a poem\n");
  EXPECT_EQ(words_of(driven.asked[1]), "user: write a poem\nassistant: answer 1\nuser: now shorter\n");
  EXPECT_EQ(driven.asked[0].question.temperature, 0.7);
  EXPECT_EQ(driven.asked[0].question.max_tokens, 1024U);
  EXPECT_EQ(driven.asked[2].whom, Whom::judge);
  EXPECT_EQ(driven.asked[2].question.temperature, 0);
  EXPECT_THAT(words_of(driven.asked[2]), HasSubstr("[[5]]"));
  EXPECT_THAT(words_of(driven.asked[2]), HasSubstr("answer 1"));
  EXPECT_THAT(words_of(driven.asked[2]), Not(HasSubstr("answer 2")));
  EXPECT_THAT(words_of(driven.asked[3]), HasSubstr("now shorter"));
  EXPECT_THAT(words_of(driven.asked[3]), HasSubstr("answer 2"));
  EXPECT_THAT(words_of(driven.asked[3]), Not(HasSubstr("reference answer")));
  EXPECT_THAT(driven.scored.values, ElementsAre(1, 8, 8));  // categories are sorted: math, writing
}

TEST(MtBench, references_go_to_the_judge_of_math) {
  const auto task = mt_bench_task(mt_bench(), bench);
  const auto driven = drive(*task, 1, answering([](const std::string&) { return text_reply("[[3]]"); }));
  ASSERT_THAT(driven.asked, SizeIs(4));
  EXPECT_EQ(driven.asked[0].question.temperature, 0);
  EXPECT_THAT(words_of(driven.asked[2]), HasSubstr("it is TWO"));
  EXPECT_THAT(words_of(driven.asked[2]), Not(HasSubstr("it is THREE")));
  EXPECT_THAT(words_of(driven.asked[3]), HasSubstr("it is THREE"));
}

TEST(MtBench, ratings_are_averaged_by_turn_category_and_overall) {
  const auto task = mt_bench_task(mt_bench(), bench);
  const TaskResult result = test::run(*task, answering([](const std::string& asked) {
    if (asked.contains("now shorter")) return text_reply("[[6]]");
    if (asked.contains("write a poem")) return text_reply("[[9]]");
    return asked.contains("plus 1?") ? text_reply("no rating") : text_reply("[[3]]");
  }));
  EXPECT_THAT(test::names_of(result), ElementsAre("mt-bench/overall", "mt-bench/turn_1", "mt-bench/turn_2",
                                                  "mt-bench/math", "mt-bench/writing"));
  EXPECT_DOUBLE_EQ(score_named(result, "overall").value, 6);
  EXPECT_EQ(score_named(result, "overall").count, 3U);
  EXPECT_EQ(score_named(result, "overall").nan_count, 1U);
  EXPECT_DOUBLE_EQ(score_named(result, "turn_1").value, 6);
  EXPECT_DOUBLE_EQ(score_named(result, "turn_2").value, 6);
  EXPECT_DOUBLE_EQ(score_named(result, "math").value, 3);
  EXPECT_DOUBLE_EQ(score_named(result, "writing").value, 7.5);
  EXPECT_EQ(result.failed, 0U);
}

TEST(MtBench, a_turn_without_an_answer_has_no_rating_and_the_first_without_one_no_sample) {
  const auto task = mt_bench_task(mt_bench(), bench);
  const auto second = drive(*task, 0, [](const Asked& asked) {
    if (asked.whom == Whom::judge) return text_reply("[[5]]");
    return asked.question.messages.size() == 1 ? text_reply("poem") : no_reply("too long");
  });
  ASSERT_THAT(second.asked, SizeIs(3));
  EXPECT_EQ(second.scored.fault, "");
  EXPECT_EQ(second.scored.values.at(1), 5);
  EXPECT_TRUE(std::isnan(second.scored.values.at(2)));
  EXPECT_THAT(second.scored.record, HasSubstr("turn_2: too long"));
  const auto first = drive(*task, 0, [](const Asked&) { return no_reply("away"); });
  EXPECT_THAT(first.asked, SizeIs(1));
  EXPECT_EQ(first.scored.fault, "away");
  const auto judge = drive(*task, 0, answering([](const std::string&) { return no_reply("judge away"); }));
  EXPECT_EQ(judge.scored.fault, "");
  EXPECT_TRUE(std::isnan(judge.scored.values.at(1)));
  EXPECT_THAT(judge.scored.record, HasSubstr("turn_1: the judge did not answer: judge away"));
}

TEST(MtBench, pairs_are_judged_in_both_positions) {
  struct Case {
    std::string first, second;
    double value;  // -1: none
  };
  const std::vector<Case> cases = {{"[[A]]", "[[B]]", 1},   {"[[B]]", "[[A]]", 0},   {"[[A]]", "[[A]]", 0.5},
                                   {"[[C]]", "[[C]]", 0.5}, {"[[A]]", "[[C]]", 0.5}, {"[[A]]", "hm", -1}};
  const auto task = mt_bench_task(mt_bench("model_answer/base.jsonl"), bench);
  for (const Case& each : cases) {
    const auto driven = drive(*task, 0, answering([&](const std::string& asked) {
      return text_reply(asked.find("answer 1\n<|end of assistant A") != std::string::npos ? each.first : each.second);
    }));
    ASSERT_THAT(driven.asked, SizeIs(6));
    EXPECT_THAT(words_of(driven.asked[2]), HasSubstr("base poem\n<|end of assistant B"));
    EXPECT_THAT(words_of(driven.asked[3]), HasSubstr("base poem\n<|end of assistant A"));
    EXPECT_THAT(words_of(driven.asked[5]), HasSubstr("base short"));
    if (each.value < 0)
      EXPECT_TRUE(std::isnan(driven.scored.values.at(1)));
    else
      EXPECT_EQ(driven.scored.values.at(1), each.value) << each.first << each.second;
  }
}

TEST(MtBench, pairs_give_rates) {
  const auto task = mt_bench_task(mt_bench("model_answer/base.jsonl"), bench);
  // Writing wins both turns; math is a tie at first and lost then.
  const TaskResult result = test::run(*task, answering([](const std::string& asked) {
    const bool ours_first = asked.contains("answer 1\n<|end of assistant A");
    if (asked.contains("poem")) return text_reply(ours_first ? "[[A]]" : "[[B]]");
    if (!asked.contains("plus 1?")) return text_reply("[[C]]");
    return text_reply(ours_first ? "[[B]]" : "[[A]]");
  }));
  EXPECT_DOUBLE_EQ(score_named(result, "win_rate").value, 0.5);
  EXPECT_DOUBLE_EQ(score_named(result, "loss_rate").value, 0.25);
  EXPECT_FALSE(score_named(result, "loss_rate").higher_is_better);
  EXPECT_DOUBLE_EQ(score_named(result, "tie_rate").value, 0.25);
  EXPECT_DOUBLE_EQ(score_named(result, "win_rate_adjusted").value, 0.625);
  EXPECT_DOUBLE_EQ(score_named(result, "turn_2_win_rate_adjusted").value, 0.5);
  EXPECT_DOUBLE_EQ(score_named(result, "writing_win_rate_adjusted").value, 1);
  EXPECT_DOUBLE_EQ(score_named(result, "math_win_rate_adjusted").value, 0.25);
}

TEST(MtBench, faults_are_found_before_the_first_question) {
  EvaluationRequest no_judge = mt_bench();
  no_judge.judge.reset();
  EXPECT_EQ(mt_bench_faults(no_judge, bench).at(0).path, "judge");
  EXPECT_EQ(mt_bench_faults(mt_bench("model_answer/none.jsonl"), bench).at(0).path, "model_answer/none.jsonl");
  const auto rows =
      mt_bench_faults(mt_bench(), {{"question.jsonl", "{\"turns\":[\"x\"]}\n{\"turns\":[]}\n{\"turns\":[1]}\n"}});
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].path, "question.jsonl:2");
  EXPECT_EQ(rows[1].path, "question.jsonl:3");
  // A baseline without the first question's answers.
  Files files = bench;
  files["model_answer/base.jsonl"] = R"({"question_id":101,"choices":[{"turns":["a","b"]}]})";
  const auto partner = mt_bench_faults(mt_bench("model_answer/base.jsonl"), files);
  ASSERT_THAT(partner, SizeIs(1));
  EXPECT_EQ(partner[0].path, "question.jsonl:1");
}

TEST(MtBench, a_question_that_the_baseline_lacks_is_not_asked) {
  Files files = bench;
  files["model_answer/base.jsonl"] = R"({"question_id":81,"choices":[{"turns":["a","b"]}]})";
  const auto task = mt_bench_task(mt_bench("model_answer/base.jsonl"), files);
  const auto driven = drive(*task, 1, [](const Asked&) { return text_reply("x"); });
  EXPECT_THAT(driven.asked, IsEmpty());
  EXPECT_EQ(driven.scored.fault, "the baseline has no answers to this question");
}

}  // namespace
}  // namespace stackgate::evaluator
