#include "services/inference/engine/batch.hpp"

#include <cmath>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/inference/constrain/schema_compiler.hpp"
#include "services/inference/sampling/row.hpp"
#include "tests/inference/engine/paged_model.hpp"
#include "tests/support/dice.hpp"

namespace stackgate::inference {
namespace {

using std::chrono::seconds;
using Ids = std::vector<TokenId>;

struct Heard {
  std::map<std::uint32_t, std::string> text;
  std::map<std::uint32_t, Finish> finish;
  std::map<std::uint32_t, std::vector<PositionLogProbs>> log_probs, prompt_log_probs;
  std::map<std::uint32_t, std::vector<float>> embeddings;
  std::map<std::uint32_t, std::uint32_t> tokens, cached;
  std::map<std::uint32_t, double> log_prob;
  std::map<std::uint32_t, std::optional<Batch::Clock::time_point>> begun, first_token;
  std::optional<JobFailure> failure;
  int reports = 0;
  bool takes_more = true;
};

JobEvents events(Heard& heard) {
  return {.progress =
              [&heard](Progress&& p) {
                ++heard.reports;
                heard.text[p.sequence] += p.text;
                heard.tokens[p.sequence] += p.tokens;
                heard.cached[p.sequence] += p.cached_tokens;
                heard.log_prob[p.sequence] += p.log_prob;
                if (p.finish) {
                  heard.finish[p.sequence] = *p.finish;
                  heard.begun[p.sequence] = p.begun;
                  heard.first_token[p.sequence] = p.first_token;
                }
                for (auto& each : p.log_probs) heard.log_probs[p.sequence].push_back(std::move(each));
                for (auto& each : p.prompt_log_probs) heard.prompt_log_probs[p.sequence].push_back(std::move(each));
                if (!p.embedding.empty()) heard.embeddings[p.sequence] = std::move(p.embedding);
                return heard.takes_more;
              },
          .failed = [&heard](JobFailure&& failure) { heard.failure = std::move(failure); }};
}

std::shared_ptr<const Ids> prompt(std::string_view text) {
  return std::make_shared<const Ids>(text.begin(), text.end());
}

/// `choices` of one prompt.
Job job(Heard& heard, std::string_view text, std::uint32_t max_tokens, std::uint32_t choices = 1) {
  Job out{.text = {.ignore_eos = true}, .seed = 7, .events = events(heard)};
  const auto ids = prompt(text);
  for (std::uint32_t i = 0; i < choices; ++i)
    out.sequences.push_back({.prompt = ids, .choice = i, .max_tokens = max_tokens});
  return out;
}

class BatchTest : public ::testing::Test {
 protected:
  BatchLimits limits{
      .schedule = {.sequences = 8, .step_tokens = 16, .waiting = 8, .adapters = 2}, .pages = 64, .page_tokens = 4};
  test::PagedModel graph{limits.pages, limits.page_tokens, test::vocabulary_size};
  std::optional<Batch> made;
  Batch::Clock::time_point now{};

  Batch& batch() { return made ? *made : made.emplace(graph, limits, test::vocabulary()); }
  void run() {
    for (int i = 0; i < 10'000 && batch().step(now); ++i) {
    }
  }
  Heard alone(Job given, Heard& heard) {
    test::PagedModel own(limits.pages, limits.page_tokens, test::vocabulary_size);
    Batch one(own, limits, test::vocabulary());
    one.add(1, std::move(given));
    while (one.step(now)) {
    }
    return heard;
  }
};

TEST_F(BatchTest, answers_what_the_logits_say) {
  Heard heard;
  Job one = job(heard, "abc", 5);
  one.sampling.temperature = 0;
  one.log_probs = 2;
  batch().add(1, std::move(one));
  run();
  Ids known{'a', 'b', 'c'};
  std::string text;
  for (std::size_t i = 0; i < 5; ++i) {
    const std::vector<float> row = graph.logits_of(known, 0);
    const TokenId id = largest(row).id;
    EXPECT_EQ(heard.log_probs[0].at(i).token, test::vocabulary().tokenizer->token_name(id));
    EXPECT_FLOAT_EQ(heard.log_probs[0].at(i).log_prob.value(), log_probs(row, id, 2).chosen);
    EXPECT_EQ(heard.log_probs[0].at(i).top.size(), 2U);
    known.push_back(id);
  }
  EXPECT_EQ(heard.text[0], test::vocabulary().tokenizer->decode(std::span(known).subspan(3), {.continuation = true}));
  EXPECT_EQ(heard.finish[0].reason, FinishReason::length);
  EXPECT_EQ(heard.tokens[0], 5U);
  EXPECT_EQ(heard.reports, 1) << "no stream: once, at the end";
  EXPECT_TRUE(batch().empty());
  EXPECT_EQ(batch().facts().generated_tokens, 5U);
  EXPECT_EQ(batch().facts().cache_used, 0);
}

TEST_F(BatchTest, a_seed_gives_the_same_texts_alone_and_in_a_crowd) {
  const auto a = std::make_shared<model::AdapterWeights>(), b = std::make_shared<model::AdapterWeights>();
  a->layers.resize(1);
  b->layers.resize(2);
  limits.pages = 20;
  const std::vector<AdapterUse> adapters{{}, {11, a}, {12, b}, {13, b}};
  testing::Dice dice(3);
  std::vector<Heard> crowd(40), single(40);
  for (std::size_t i = 0; i < crowd.size(); ++i) {
    const std::string text =
        std::string(1 + dice.roll(30), 'x') + std::string(1 + dice.roll(5), static_cast<char>('a' + i % 3));
    const auto max_tokens = static_cast<std::uint32_t>(1 + dice.roll(20));
    const auto choices = static_cast<std::uint32_t>(1 + dice.roll(3));
    const auto given = [&](Heard& heard) {
      Job out = job(heard, text, max_tokens, choices);
      out.adapter = adapters[i % adapters.size()];
      out.seed = i;
      out.stream = i % 2 == 0;
      if (i % 5 == 0) out.sampling = {.top_p = 0.5F, .repetition_penalty = 1.2F, .presence_penalty = 0.5F};
      return out;
    };
    batch().add(i, given(crowd[i]));
    if (dice.roll(2) == 0) batch().step(now);
    alone(given(single[i]), single[i]);
  }
  run();
  EXPECT_TRUE(batch().empty());
  EXPECT_GT(graph.largest_step, 5U);
  EXPECT_GT(batch().facts().preempted, 0U) << "the pages should not have been enough";
  for (std::size_t i = 0; i < crowd.size(); ++i) {
    EXPECT_FALSE(crowd[i].failure) << i;
    EXPECT_EQ(crowd[i].text, single[i].text) << i;
    EXPECT_EQ(crowd[i].tokens, single[i].tokens) << i;
  }
}

TEST_F(BatchTest, what_was_computed_is_found_again_under_the_same_salt_alone) {
  const auto cached = [this](JobId id, const std::string& salt) {
    Heard heard;
    Job one = job(heard, std::string(17, 'x'), 1);
    one.cache_salt = salt;
    batch().add(id, std::move(one));
    run();
    return heard.cached[0];
  };
  EXPECT_EQ(cached(1, ""), 0U);
  EXPECT_EQ(cached(2, ""), 16U);
  EXPECT_EQ(cached(3, "a"), 0U);
  EXPECT_EQ(cached(4, "b"), 0U);
  EXPECT_EQ(cached(5, "a"), 16U);
  batch().forget(0);
  EXPECT_EQ(cached(6, "a"), 0U);
}

TEST_F(BatchTest, says_when_a_sequence_began_and_when_it_had_its_first_token) {
  Heard heard, prompt_alone;
  const auto before = Batch::Clock::now();
  batch().add(1, job(heard, std::string(40, 'x'), 3));  // three steps of 16 rows until its first token
  batch().add(2, job(prompt_alone, "y", 0));
  const auto first = now = Batch::Clock::now();
  while (!batch().empty()) {
    batch().step(now);
    now += seconds(1);
  }
  EXPECT_EQ(heard.begun[0], first) << "no stream: told at the end, and true";
  ASSERT_TRUE(heard.first_token[0]);
  EXPECT_GE(*heard.first_token[0], before);
  EXPECT_LE(*heard.first_token[0], Batch::Clock::now());
  EXPECT_TRUE(prompt_alone.begun[0]);
  EXPECT_FALSE(prompt_alone.first_token[0]);
}

TEST_F(BatchTest, names_the_adapters_of_what_is_computed_and_of_what_waits) {
  Heard heard[4];
  limits.schedule.sequences = 1;
  const auto weights = std::make_shared<model::AdapterWeights>();
  const std::string names[] = {"b", "c", "b", ""};
  for (std::size_t i = 0; i < 4; ++i) {
    Job one = job(heard[i], "x", 4);
    if (!names[i].empty()) one.adapter = {.key = 10 + i, .weights = weights, .name = names[i]};
    batch().add(i, std::move(one));
  }
  EXPECT_THAT(batch().facts().waiting_adapters, ::testing::ElementsAre("b", "c"));
  batch().step(now);
  EXPECT_THAT(batch().facts().running_adapters, ::testing::ElementsAre("b"));
  EXPECT_THAT(batch().facts().waiting_adapters, ::testing::ElementsAre("b", "c"));
  run();
  EXPECT_THAT(batch().facts().running_adapters, ::testing::IsEmpty());
  EXPECT_THAT(batch().facts().waiting_adapters, ::testing::IsEmpty());
}

TEST_F(BatchTest, choices_share_what_was_computed_of_their_prompt) {
  Heard heard;
  batch().add(1, job(heard, std::string(33, 'p'), 1, 4));
  run();
  EXPECT_EQ(graph.computed, 33 + 3 * 1U) << "33 tokens are eight whole pages and the last token";
  EXPECT_EQ(heard.cached[0], 0U);
  EXPECT_EQ(heard.cached[3], 32U);
  EXPECT_EQ(heard.finish.size(), 4U);
}

TEST_F(BatchTest, an_adapters_pages_are_not_the_bases) {
  const auto weights = std::make_shared<model::AdapterWeights>();
  weights->layers.resize(1);
  Heard base, adapted, again;
  batch().add(1, job(base, std::string(20, 'p'), 4));
  run();
  Job one = job(adapted, std::string(20, 'p'), 4);
  one.adapter = {5, weights};
  batch().add(2, std::move(one));
  run();
  EXPECT_EQ(adapted.cached[0], 0U);
  EXPECT_NE(adapted.text, base.text);
  batch().forget(5);
  one = job(again, std::string(20, 'p'), 4);
  one.adapter = {5, weights};
  batch().add(3, std::move(one));
  run();
  EXPECT_EQ(again.cached[0], 0U) << "forgotten";
  EXPECT_EQ(again.text, adapted.text);
}

TEST_F(BatchTest, gives_log_probabilities_of_the_prompt) {
  Heard heard;
  Job one = job(heard, "abcdefghijklmnopqrstuvwxyz", 1);
  one.log_probs = 1;
  one.prompt_log_probs = true;
  one.sequences[0].echo =
      std::make_shared<const PromptText>(prompt_text(*test::vocabulary().tokenizer, *one.sequences[0].prompt));
  batch().add(1, std::move(one));
  run();
  const auto& told = heard.prompt_log_probs[0];
  ASSERT_EQ(told.size(), 26U);
  EXPECT_FALSE(told[0].log_prob);
  const Ids ids(*prompt("abcdefghijklmnopqrstuvwxyz"));
  for (std::size_t i = 1; i < told.size(); ++i) {
    EXPECT_EQ(told[i].text_offset, i);
    EXPECT_FLOAT_EQ(told[i].log_prob.value(), log_probs(graph.logits_of(std::span(ids).first(i), 0), ids[i], 1).chosen);
  }
  EXPECT_EQ(heard.log_probs[0].size(), 1U);
  EXPECT_EQ(heard.log_probs[0][0].text_offset, 26U);
}

TEST_F(BatchTest, a_prompt_alone_needs_no_token) {
  Heard heard;
  batch().add(1, job(heard, "abc", 0));
  run();
  EXPECT_EQ(heard.finish[0].reason, FinishReason::length);
  EXPECT_EQ(heard.tokens[0], 0U);
}

TEST_F(BatchTest, embeds_as_the_mean_of_the_states) {
  Heard heard;
  Job one{.kind = Job::Kind::embed, .events = events(heard)};
  one.sequences = {{.prompt = prompt(std::string(40, 'a'))}, {.prompt = prompt("bd")}};
  batch().add(1, std::move(one));
  run();
  const auto unit = [](float x) { return std::vector<float>{x / std::hypot(x, 1.0F), 1 / std::hypot(x, 1.0F)}; };
  EXPECT_THAT(heard.embeddings[0], ::testing::Pointwise(::testing::FloatNear(1e-6F), unit('a')));
  EXPECT_THAT(heard.embeddings[1], ::testing::Pointwise(::testing::FloatNear(1e-6F), unit('c')));
}

TEST_F(BatchTest, embeds_as_the_last_state) {
  Heard heard;
  Job one{.kind = Job::Kind::embed, .last_state = true, .events = events(heard)};
  one.sequences = {{.prompt = prompt(std::string(40, 'a') + "z")}};
  batch().add(1, std::move(one));
  run();
  const float z = 'z';
  EXPECT_THAT(heard.embeddings[0],
              ::testing::Pointwise(::testing::FloatNear(1e-6F),
                                   std::vector<float>{z / std::hypot(z, 1.0F), 1 / std::hypot(z, 1.0F)}));
}

TEST_F(BatchTest, what_a_grammar_allows_is_all_that_comes) {
  Heard heard;
  Job one = job(heard, "x", 60, 3);
  one.grammar = json_object_grammar();
  one.text = {.end_ids = {261}};
  one.log_probs = 0;
  batch().add(1, std::move(one));
  run();
  for (const auto& [index, text] : heard.text) EXPECT_EQ(text[text.find_first_not_of(" \n\t")], '{') << index << text;
}

TEST_F(BatchTest, who_is_cancelled_leaves_its_place_and_its_pages) {
  Heard left, stays;
  batch().add(1, job(left, std::string(30, 'q'), 50, 3));
  batch().add(2, job(stays, "abc", 5));
  for (int i = 0; i < 3; ++i) batch().step(now);
  batch().cancel(1);
  batch().cancel(1);
  run();
  EXPECT_TRUE(left.finish.empty());
  EXPECT_EQ(stays.tokens[0], 5U);
  EXPECT_EQ(batch().facts().cache_used, 0);
}

TEST_F(BatchTest, who_does_not_take_its_progress_is_paused) {
  Heard slow, other;
  slow.takes_more = false;
  Job one = job(slow, "abc", 10);
  one.stream = true;
  batch().add(1, std::move(one));
  batch().add(2, job(other, "abd", 10));
  run();
  EXPECT_EQ(slow.tokens[0], 1U);
  EXPECT_EQ(other.tokens[0], 10U);
  EXPECT_FALSE(batch().empty());
  slow.takes_more = true;
  batch().resume(1);
  run();
  EXPECT_EQ(slow.tokens[0], 10U);
}

TEST_F(BatchTest, an_answer_that_takes_too_long_fails) {
  Heard heard;
  Job one = job(heard, "abc", 10);
  one.deadline = now + seconds(5);
  batch().add(1, std::move(one));
  batch().step(now);
  batch().step(now + seconds(4));
  EXPECT_FALSE(heard.failure);
  batch().step(now + seconds(5));
  ASSERT_TRUE(heard.failure);
  EXPECT_EQ(heard.failure->fault, JobFault::deadline);
  EXPECT_TRUE(batch().empty());
}

TEST_F(BatchTest, a_step_that_fails_ends_its_jobs_and_leaves_nothing_to_be_found) {
  Heard first, second;
  batch().add(1, job(first, std::string(20, 'p'), 10));
  graph.fails = true;
  batch().step(now);
  ASSERT_TRUE(first.failure);
  EXPECT_EQ(first.failure->fault, JobFault::broken);
  graph.fails = false;
  batch().add(2, job(second, std::string(20, 'p'), 1));
  run();
  EXPECT_EQ(second.cached[0], 0U);
  EXPECT_EQ(second.tokens[0], 1U);
}

TEST_F(BatchTest, what_can_never_fit_fails_at_once) {
  Heard heard;
  batch().add(1, job(heard, std::string(200, 'p'), 57));
  ASSERT_TRUE(heard.failure);
  EXPECT_TRUE(batch().empty());
}

TEST_F(BatchTest, a_request_of_many_sequences_does_not_keep_others_out_for_ever) {
  Heard many, one;
  Job all{.text = {.ignore_eos = true}, .events = events(many)};
  for (int i = 0; i < 300; ++i) all.sequences.push_back({.prompt = prompt("a" + std::to_string(i)), .max_tokens = 2});
  batch().add(1, std::move(all));
  batch().add(2, job(one, "abc", 2));
  run();
  EXPECT_EQ(many.finish.size(), 300U);
  EXPECT_EQ(one.finish.size(), 1U);
}

}  // namespace
}  // namespace stackgate::inference
