#include "services/evaluator/records/records.hpp"

#include <array>

#include <gmock/gmock.h>

#include "tests/kit/sql/engines.hpp"

namespace stackgate::evaluator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class RecordsTest : public sql::test::OnBothEngines {
 protected:
  void SetUp() override {
    OnBothEngines::SetUp();
    if (IsSkipped()) return;
    const auto done = sql::migrate(*database_, evaluation_migrations());
    ASSERT_TRUE(done) << done.error().message;
    records_.emplace(*database_);
  }
  std::string create(const std::string& name, const std::string& framework = "custom") {
    const auto made = records_->create(
        {.name = name, .framework = framework, .request = "{}", .warnings = "[]", .secrets = R"({"api_key":"sk"})"});
    EXPECT_TRUE(made) << made.error().message;
    return made && *made ? **made : std::string();
  }
  Evaluation find(const std::string& name) { return records_->find(name).value().value(); }
  std::int64_t count(std::string_view table) {
    return must(std::string("SELECT count(*) FROM ").append(table)).rows.at(0).integer(0);
  }
  static std::vector<std::string> names(const Records::Listed& listed) {
    std::vector<std::string> out;
    for (const Evaluation& each : listed.rows) out.push_back(each.name);
    return out;
  }
  std::optional<Records> records_;
};

TEST_P(RecordsTest, collections_are_unused_when_their_last_evaluation_is_removed) {
  const std::string a = create("a"), b = create("b");
  for (const std::string& each : {a, b}) ASSERT_TRUE(records_->use_collection(each, "shared"));
  ASSERT_TRUE(records_->use_collection(a, "shared")) << "again, after a restart";
  ASSERT_TRUE(records_->use_collection(a, "of a"));
  EXPECT_THAT(records_->take_unused_collections().value(), IsEmpty());
  ASSERT_TRUE(records_->remove("a").value());
  EXPECT_THAT(records_->take_unused_collections().value(), ElementsAre("of a"));
  EXPECT_THAT(records_->take_unused_collections().value(), IsEmpty()) << "it is the caller's now";
  ASSERT_TRUE(records_->put_back_collection("of a"));
  EXPECT_THAT(records_->take_unused_collections().value(), ElementsAre("of a"));
  ASSERT_TRUE(records_->remove("b").value());
  const std::string c = create("c");
  ASSERT_TRUE(records_->use_collection(c, "shared")) << "before anybody dropped it";
  EXPECT_THAT(records_->take_unused_collections().value(), IsEmpty());
  ASSERT_TRUE(records_->remove("c").value());
  EXPECT_THAT(records_->take_unused_collections().value(), ElementsAre("shared"));
}

TEST_P(RecordsTest, keeps_what_belongs_to_the_request) {
  ASSERT_TRUE(records_->create({.name = "a",
                                .framework = "custom",
                                .request = "{}",
                                .warnings = "[]",
                                .secrets = "{}",
                                .adapter = R"({"id":"x"})",
                                .traceparent = "00-1-2-01"}));
  EXPECT_EQ(find("a").adapter, R"({"id":"x"})");
  EXPECT_EQ(find("a").traceparent, "00-1-2-01");
  EXPECT_EQ(find("a").results, "");
  EXPECT_EQ(records_->list({}).value().rows.at(0).traceparent, "00-1-2-01");
}

TEST_P(RecordsTest, names_are_taken_until_they_are_removed) {
  const std::string id = create("a");
  EXPECT_TRUE(id.starts_with("eval-"));
  EXPECT_EQ(create("a"), "");
  EXPECT_TRUE(records_->remove("a").value());
  EXPECT_FALSE(records_->remove("a").value());
  EXPECT_NE(create("a"), "");
}

TEST_P(RecordsTest, states_move_forward_only) {
  const std::string id = create("a");
  EXPECT_EQ(find("a").state, State::created);
  EXPECT_THAT(records_->not_queued().value(), testing::SizeIs(1));
  ASSERT_TRUE(records_->set_job(id, "job-1"));
  EXPECT_EQ(find("a").state, State::pending);
  EXPECT_EQ(find("a").job, "job-1");
  EXPECT_THAT(records_->not_queued().value(), IsEmpty());
  EXPECT_TRUE(records_->move(id, State::running, "asking", "begun").value());
  EXPECT_EQ(records_->events(id, 0, 10).value().back().message, "begun");
  EXPECT_GT(find("a").started_at, 0);
  EXPECT_TRUE(records_->set_progress(id, R"({"done":0})", R"({"tasks":{}})").value());
  EXPECT_TRUE(records_->set_progress(id, R"({"done":1})", "").value());
  EXPECT_EQ(find("a").results, R"({"tasks":{}})");
  ASSERT_TRUE(records_->set_request(id, R"({"name":"a"})"));
  EXPECT_EQ(find("a").request, R"({"name":"a"})");
  EXPECT_EQ(records_->secrets(id).value(), R"({"api_key":"sk"})");
  EXPECT_TRUE(records_->finish(id, State::completed, "", R"({"tasks":{"t":{}}})").value());
  const Evaluation ended = find("a");
  EXPECT_EQ(ended.state, State::completed);
  EXPECT_EQ(ended.progress, R"({"done":1})");
  EXPECT_EQ(ended.results, R"({"tasks":{"t":{}}})");
  EXPECT_GT(ended.ended_at, 0);
  EXPECT_EQ(records_->secrets(id).value(), "");
  // Who comes late changes nothing.
  EXPECT_FALSE(records_->move(id, State::running, "").value());
  EXPECT_FALSE(records_->set_progress(id, "{}", "{}").value());
  EXPECT_FALSE(records_->finish(id, State::failed, "", "").value());
  EXPECT_EQ(find("a").state, State::completed);
}

TEST_P(RecordsTest, what_is_cancelled_does_not_run_on) {
  const std::string id = create("a");
  ASSERT_TRUE(records_->move(id, State::cancelling, "").value());
  EXPECT_FALSE(records_->move(id, State::running, "").value());
  EXPECT_TRUE(records_->finish(id, State::cancelled, "as asked for", "").value());
  EXPECT_EQ(find("a").message, "as asked for");
}

TEST_P(RecordsTest, are_listed_in_pages) {
  for (const char* name : {"a", "b", "c"}) create(name);
  create("d", "bfcl");
  EXPECT_THAT(names(records_->list({}).value()), ElementsAre("d", "c", "b", "a"));
  EXPECT_THAT(names(records_->list({.oldest_first = true, .offset = 1, .limit = 2}).value()), ElementsAre("b", "c"));
  EXPECT_EQ(records_->list({.limit = 1}).value().total, 4);
  EXPECT_THAT(names(records_->list({.framework = "bfcl"}).value()), ElementsAre("d"));
  EXPECT_THAT(names(records_->list({.state = State::failed}).value()), IsEmpty());
}

TEST_P(RecordsTest, answers_are_kept_until_the_end) {
  const std::string a = create("a"), b = create("b");
  const std::array<std::pair<std::string, std::string>, 2> answers = {{{"d1", "one"}, {"d2", "two"}}};
  ASSERT_TRUE(records_->add_answers(a, answers));
  ASSERT_TRUE(records_->add_answers(b, answers));
  const std::array<std::pair<std::string, std::string>, 1> again = {{{"d1", "other"}}};
  ASSERT_TRUE(records_->add_answers(a, again));
  const std::array<std::string, 3> wanted = {"d1", "d3", "d2"};
  EXPECT_THAT(records_->answers(a, wanted).value(), ElementsAre(Pair("d1", "one"), Pair("d2", "two")));
  ASSERT_TRUE(records_->finish(a, State::failed, "", "").value());
  EXPECT_THAT(records_->answers(a, wanted).value(), IsEmpty());
  EXPECT_THAT(records_->answers(b, wanted).value(), testing::SizeIs(2));
}

TEST_P(RecordsTest, samples_and_events_come_in_order_and_go_with_it) {
  const std::string id = create("a");
  const std::array<Sample, 3> samples = {{{"t", 2, "{}"}, {"t", 1, R"({"x":1})"}, {"u", 1, "{}"}}};
  ASSERT_TRUE(records_->add_samples(id, samples));
  const std::array<Sample, 1> better = {{{"t", 2, R"({"y":2})"}}};
  ASSERT_TRUE(records_->add_samples(id, better));
  const auto read = records_->samples(id, "t", 0, 10).value();
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].record, R"({"x":1})");
  EXPECT_EQ(read[1].record, R"({"y":2})");
  EXPECT_THAT(records_->samples(id, "t", 1, 10).value(), testing::SizeIs(1));
  ASSERT_TRUE(records_->add_event(id, "first"));
  ASSERT_TRUE(records_->add_event(id, "second"));
  const auto events = records_->events(id, 0, 10).value();
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].message, "created");
  EXPECT_EQ(events[2].message, "second");
  EXPECT_THAT(records_->events(id, events[1].number, 10).value(), testing::SizeIs(1));
  const std::array<std::string, 2> lines = {"a line", "another"};
  ASSERT_TRUE(records_->add_log(id, lines));
  EXPECT_THAT(records_->events(id, 0, 10).value(), testing::SizeIs(3));
  const auto with_log = records_->events(id, 0, 10, true).value();
  ASSERT_EQ(with_log.size(), 5U);
  EXPECT_TRUE(with_log[4].is_log);
  EXPECT_EQ(with_log[4].message, "another");
  ASSERT_TRUE(records_->finish(id, State::failed, "no reason", "").value());
  ASSERT_FALSE(records_->finish(id, State::failed, "no reason", "").value());
  const auto last = records_->events(id, with_log[4].number, 10).value();
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last[0].message, "failed: no reason");
  ASSERT_TRUE(records_->remove("a").value());
  EXPECT_EQ(count("evaluation_sample") + count("evaluation_event") + count("evaluation_answer"), 0);
}

ON_BOTH_ENGINES(RecordsTest);

}  // namespace
}  // namespace stackgate::evaluator
