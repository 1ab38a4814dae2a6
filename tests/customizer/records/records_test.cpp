#include "services/customizer/records/records.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/kit/sql/engines.hpp"

namespace stackgate::customizer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr std::chrono::seconds lease{30};

class CustomizerRecordsTest : public sql::test::OnBothEngines {
 protected:
  void SetUp() override {
    OnBothEngines::SetUp();
    if (IsSkipped()) return;
    const auto done = sql::migrate(*database_, customization_migrations());
    ASSERT_TRUE(done) << done.error().message;
    records_.emplace(*database_);
  }
  Created create(const std::string& name, const std::string& model = "m", const std::string& key = {},
                 const std::string& digest = {}) {
    const auto made = records_->create({.name = name,
                                        .model = model,
                                        .request = "{}",
                                        .warnings = "[]",
                                        .key = key,
                                        .digest = digest,
                                        .traceparent = "00-1-2-01"});
    EXPECT_TRUE(made) << made.error().message;
    return made.value_or(Created{});
  }
  Stored find(const std::string& name) { return records_->find(name).value().value(); }
  bool change(const std::string& name, State state, const std::function<void(Customization&)>& more = {}) {
    const Stored from = find(name);
    Customization to = from.job;
    to.state = state;
    if (more) more(to);
    return records_->store(from, to).value();
  }
  static std::vector<std::string> names(const Records::Listed& listed) {
    std::vector<std::string> out;
    for (const Customization& each : listed.rows) out.push_back(each.name);
    return out;
  }
  std::vector<std::string> messages(const std::string& name) {
    std::vector<std::string> out;
    const auto events = records_->events(find(name).job.id, 0, 100).value();
    for (const Event& each : events) out.push_back(each.message);
    return out;
  }
  std::optional<Records> records_;
};

TEST_P(CustomizerRecordsTest, keeps_what_belongs_to_the_request) {
  const std::string id = create("a").id;
  EXPECT_TRUE(id.starts_with("cust-"));
  EXPECT_EQ(id.size(), 25U);
  const Stored got = find("a");
  EXPECT_EQ(got.job.id, id);
  EXPECT_EQ(find(id).job.name, "a") << "by its id, too";
  EXPECT_EQ(got.job.state, State::created);
  EXPECT_EQ(got.token.size(), 64U);
  EXPECT_EQ(got.traceparent, "00-1-2-01");
  EXPECT_GT(got.job.created_at, 0);
  EXPECT_EQ(got.job.stage(Stage::upload).state, State::created);
  EXPECT_FALSE(records_->find("b").value());
}

TEST_P(CustomizerRecordsTest, curves_have_ends_and_validations) {
  create("a");
  const Stored a = find("a");
  for (int i = 1; i <= 100; ++i) {
    ASSERT_TRUE(records_->report(
        a.job.id, a.token, fmt::format(R"({{"event":"step","job_id":"{}","step":{},"loss":{}}})", a.job.id, i, i)));
    if (i == 37 || i == 99) {
      ASSERT_TRUE(records_->report(
          a.job.id, a.token,
          fmt::format(R"({{"event":"validation","job_id":"{}","step":{},"val_loss":1}})", a.job.id, i)));
    }
  }
  EXPECT_THAT(records_->curves(a.job.id, 100).value(), SizeIs(testing::Ge(50U)));
  std::vector<std::uint64_t> steps;
  const auto few = records_->curves(a.job.id, 4).value();
  for (const MetricPoint& each : few) steps.push_back(each.step);
  EXPECT_THAT(steps, ElementsAre(1, 26, 37, 52, 78, 99, 100));
  EXPECT_THAT(records_->curves("cust-none", 4).value(), IsEmpty());
}

TEST_P(CustomizerRecordsTest, the_last_events_and_lines) {
  const std::string id = create("a").id;
  for (const char* each : {"one", "two", "three"}) ASSERT_TRUE(records_->add_event(id, {each, ""}));
  const std::vector<std::string> lines{"first", "second", "third"};
  ASSERT_TRUE(records_->add_log(id, "training-1", lines));
  const auto words = [](const std::vector<Event>& events) {
    std::vector<std::string> out;
    for (const Event& each : events) out.push_back(each.message);
    return out;
  };
  EXPECT_THAT(words(records_->last_events(id, false, 2).value()), ElementsAre("two", "three"));
  EXPECT_THAT(words(records_->last_events(id, true, 2).value()), ElementsAre("second", "third"));
}

TEST_P(CustomizerRecordsTest, names_the_models_that_are_there) {
  EXPECT_THAT(records_->models().value(), IsEmpty());
  create("a", "y");
  create("b", "x");
  create("c", "y");
  EXPECT_THAT(records_->models().value(), ElementsAre("x", "y"));
  ASSERT_TRUE(records_->remove(find("b")).value());
  EXPECT_THAT(records_->models().value(), ElementsAre("y"));
}

TEST_P(CustomizerRecordsTest, names_are_taken_until_they_are_removed) {
  create("a");
  EXPECT_EQ(create("a").kind, Created::Kind::name_taken);
  EXPECT_THAT(messages("a"), ElementsAre("created"));
  const Stored before = find("a");
  ASSERT_TRUE(change("a", State::failed));
  EXPECT_FALSE(records_->remove(before).value()) << "it has moved on";
  const Stored stored = find("a");
  EXPECT_TRUE(records_->remove(stored).value());
  EXPECT_FALSE(records_->remove(stored).value());
  EXPECT_EQ(must("SELECT count(*) FROM customization_event").rows.at(0).integer(0), 0);
  EXPECT_EQ(create("a").kind, Created::Kind::made);
}

TEST_P(CustomizerRecordsTest, a_key_is_one_customization_for_all_who_bring_it_at_once) {
  for (int round = 0; round < 5; ++round) {
    const std::string name = fmt::format("a-{}", round);
    std::atomic<int> made = 0, known = 0;
    {
      std::vector<std::jthread> all;
      for (int i = 0; i < 6; ++i)
        all.emplace_back([&, i] {
          // NeMo's jobs have names of their own.
          const auto got = create(i % 2 == 1 ? fmt::format("{}-{}", name, i) : name, "m", "key " + name, "digest");
          made += got.kind == Created::Kind::made ? 1 : 0;
          known += got.kind == Created::Kind::known ? 1 : 0;
        });
    }
    EXPECT_EQ(made, 1) << name;
    EXPECT_EQ(known, 5) << name;
  }
}

TEST_P(CustomizerRecordsTest, a_key_is_one_customization) {
  const Created first = create("a", "m", "key", "digest");
  EXPECT_EQ(first.kind, Created::Kind::made);
  const Created again = create("a", "m", "key", "digest");
  EXPECT_EQ(again.kind, Created::Kind::known);
  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(create("b", "m", "key", "another").kind, Created::Kind::key_taken);
  EXPECT_FALSE(records_->find("b").value());
  EXPECT_EQ(records_->find_key("key", "digest").value()->id, first.id);
  EXPECT_FALSE(records_->find_key("other", "digest").value());
  EXPECT_EQ(create("c").kind, Created::Kind::made) << "without a key";
  EXPECT_EQ(create("d").kind, Created::Kind::made);
}

TEST_P(CustomizerRecordsTest, who_read_before_another_wrote_changes_nothing) {
  create("a");
  const Stored early = find("a");
  ASSERT_TRUE(change("a", State::pending));
  Customization late = early.job;
  late.state = State::cancelling;
  EXPECT_FALSE(records_->store(early, late).value());
  EXPECT_EQ(find("a").job.state, State::pending);
  EXPECT_THAT(messages("a"), ElementsAre("created"));
}

TEST_P(CustomizerRecordsTest, a_step_is_stored_whole_with_its_events) {
  create("a");
  ASSERT_TRUE(change("a", State::running, [](Customization& to) {
    StageRecord& training = to.stage(Stage::training);
    training = {.state = State::running, .attempts = 2, .failures = 1, .seen = true, .not_before = 3, .message = "why"};
    training.created_at = 4;
    training.waiting_since = 5;
    training.started_at = 6;
    training.ended_at = 7;
    to.message = "why";
    to.started_at = 8;
    to.changed_at = 9;
  }));
  const Customization got = find("a").job;
  const StageRecord& training = got.stage(Stage::training);
  EXPECT_EQ(training.state, State::running);
  EXPECT_EQ(training.attempts, 2U);
  EXPECT_EQ(training.failures, 1U);
  EXPECT_TRUE(training.seen);
  EXPECT_EQ(training.not_before, 3);
  EXPECT_EQ(training.message, "why");
  EXPECT_EQ(training.created_at, 4);
  EXPECT_EQ(training.waiting_since, 5);
  EXPECT_EQ(training.started_at, 6);
  EXPECT_EQ(training.ended_at, 7);
  EXPECT_EQ(got.message, "why");
  EXPECT_EQ(got.started_at, 8);
  EXPECT_EQ(got.changed_at, 9);
  EXPECT_THAT(messages("a"), ElementsAre("created", "TrainingJobRunning"));
}

TEST_P(CustomizerRecordsTest, tokens_go_with_what_cannot_be_tried_again) {
  for (const char* name : {"a", "b", "c"}) create(name);
  ASSERT_TRUE(change("a", State::completed));
  EXPECT_EQ(find("a").token, "");
  ASSERT_TRUE(change("b", State::failed));
  EXPECT_NE(find("b").token, "") << "a retry goes on with what holds it";
  ASSERT_TRUE(records_->settle(find("b")).value());
  EXPECT_EQ(find("b").token, "");
  EXPECT_NE(find("c").token, "");
}

TEST_P(CustomizerRecordsTest, what_is_tried_again_has_a_token) {
  for (const char* name : {"a", "b"}) {
    create(name);
    ASSERT_TRUE(change(name, State::failed));
  }
  const std::string kept = find("a").token;
  ASSERT_TRUE(change("a", State::pending));
  EXPECT_EQ(find("a").token, kept) << "its objects hold it";
  const Stored failed = find("b");
  ASSERT_TRUE(records_->settle(failed).value());
  ASSERT_TRUE(change("b", State::pending));
  EXPECT_EQ(find("b").token.size(), 64U) << "its objects were removed, and the token with them";
  EXPECT_NE(find("b").token, failed.token);
  EXPECT_TRUE(records_
                  ->report(find("b").job.id, find("b").token,
                           fmt::format(R"({{"event":"step","job_id":"{}","step":1}})", find("b").job.id))
                  .value()
                  .known);
}

TEST_P(CustomizerRecordsTest, what_was_tried_again_meanwhile_is_not_settled) {
  create("a");
  ASSERT_TRUE(change("a", State::failed));
  const Stored failed = find("a");
  ASSERT_TRUE(change("a", State::pending));
  EXPECT_FALSE(records_->settle(failed).value());
  EXPECT_NE(find("a").token, "");
  EXPECT_THAT(records_->claim("one", lease, 10).value(), ElementsAre(failed.job.id)) << "somebody steps it";
}

TEST_P(CustomizerRecordsTest, each_replica_steps_its_own) {
  const std::string a = create("a").id, b = create("b").id;
  EXPECT_THAT(records_->claim("one", lease, 1).value(), ElementsAre(a)) << "the oldest first";
  EXPECT_THAT(records_->claim("two", lease, 10).value(), ElementsAre(b));
  EXPECT_THAT(records_->claim("one", lease, 10).value(), IsEmpty());
  EXPECT_THAT(records_->renew("two", lease).value(), ElementsAre(b));
  // One ends, and one dies.
  ASSERT_TRUE(records_->release("one"));
  must("UPDATE customization SET lease_until = 1 WHERE owner = 'two'");
  EXPECT_THAT(records_->claim("three", lease, 10).value(), UnorderedElementsAre(a, b));
  EXPECT_THAT(records_->renew("two", lease).value(), IsEmpty());
  ASSERT_TRUE(records_->settle(find("a")).value());
  EXPECT_THAT(records_->renew("three", lease).value(), ElementsAre(b));
  ASSERT_TRUE(records_->release("three"));
  EXPECT_THAT(records_->claim("one", lease, 10).value(), ElementsAre(b)) << "what is settled is nobody's";
}

TEST_P(CustomizerRecordsTest, who_changes_one_wakes_its_replica) {
  const std::string id = create("a").id;
  ASSERT_THAT(records_->claim("one", lease, 10).value(), SizeIs(1));
  EXPECT_THAT(records_->take_woken("one").value(), IsEmpty());
  const Stored from = find("a");
  ASSERT_TRUE(records_
                  ->store(
                      from,
                      [&] {
                        Customization to = from.job;
                        to.state = State::cancelling;
                        return to;
                      }(),
                      true)
                  .value());
  EXPECT_THAT(records_->take_woken("two").value(), IsEmpty());
  EXPECT_THAT(records_->take_woken("one").value(), ElementsAre(id));
  EXPECT_THAT(records_->take_woken("one").value(), IsEmpty());
  ASSERT_TRUE(records_->wake(id));
  EXPECT_THAT(records_->take_woken("one").value(), ElementsAre(id));
}

TEST_P(CustomizerRecordsTest, reports_count_once_and_with_their_token) {
  const std::string id = create("a").id, token = find("a").token;
  const auto event = [&](std::string_view rest) { return fmt::format(R"({{"event":{},"job_id":"{}"}})", rest, id); };
  const auto report = [&](std::string_view rest) { return records_->report(id, token, event(rest)).value(); };
  EXPECT_FALSE(records_->report(id, "another", event(R"("step","step":1,"max_steps":4,"loss":2)")).value().known);
  EXPECT_FALSE(records_->report("cust-none", token, event(R"("step","step":1)")).value().known);
  EXPECT_NE(report(R"("dance")").problem, "");
  EXPECT_EQ(report(R"("step","step":1,"max_steps":4,"loss":2.5)").problem, "");
  EXPECT_EQ(report(R"("step","step":1,"max_steps":4,"loss":9)").problem, "");
  EXPECT_EQ(report(R"("validation","step":1,"val_loss":1.5)").problem, "");
  EXPECT_EQ(report(R"("step","step":2,"max_steps":4,"loss":2)").problem, "");
  EXPECT_EQ(read_progress(find("a").job.progress).percent, 50U);
  const auto points = records_->points(id, 0, 10).value();
  ASSERT_THAT(points, SizeIs(2));
  EXPECT_EQ(points[0].train_loss, 2.5);
  EXPECT_EQ(points[0].val_loss, 1.5);
  EXPECT_EQ(points[1].train_loss, 2.0);
  EXPECT_FALSE(points[1].val_loss);
  EXPECT_THAT(records_->points(id, 1, 10).value(), SizeIs(1));
  ASSERT_THAT(records_->claim("one", lease, 10).value(), SizeIs(1));
  EXPECT_FALSE(find("a").job.trained);
  EXPECT_EQ(report(R"("done","train_loss":1)").problem, "");
  EXPECT_TRUE(find("a").job.trained);
  EXPECT_THAT(records_->take_woken("one").value(), ElementsAre(id));
  EXPECT_EQ(report(R"("done","train_loss":1)").problem, "");
  EXPECT_THAT(records_->take_woken("one").value(), IsEmpty()) << "once";
}

TEST_P(CustomizerRecordsTest, reports_behind_the_end_are_dropped) {
  const std::string id = create("a").id, token = find("a").token;
  ASSERT_TRUE(change("a", State::cancelling));
  const std::string event = fmt::format(R"({{"event":"step","job_id":"{}","step":1,"max_steps":2,"loss":1}})", id);
  EXPECT_TRUE(records_->report(id, token, event).value().known);
  EXPECT_EQ(find("a").job.progress, "");
  ASSERT_TRUE(records_->report_logged(id, {&event, 1}));
  EXPECT_EQ(find("a").job.progress, "");
  ASSERT_TRUE(change("a", State::running));
  ASSERT_TRUE(records_->report_logged(id, {&event, 1})) << "without a token: of its own log";
  EXPECT_NE(find("a").job.progress, "");
}

TEST_P(CustomizerRecordsTest, lists_by_state_and_model) {
  create("a", "x");
  create("b", "y");
  create("c", "x");
  ASSERT_TRUE(change("a", State::running));
  EXPECT_THAT(names(records_->list({}).value()), ElementsAre("c", "b", "a"));
  EXPECT_THAT(names(records_->list({.oldest_first = true}).value()), ElementsAre("a", "b", "c"));
  EXPECT_THAT(names(records_->list({.model = "x"}).value()), ElementsAre("c", "a"));
  EXPECT_THAT(names(records_->list({.state = State::created}).value()), ElementsAre("c", "b"));
  EXPECT_THAT(names(records_->list({.state = State::running, .model = "x"}).value()), ElementsAre("a"));
  const auto page = records_->list({.offset = 1, .limit = 1}).value();
  EXPECT_THAT(names(page), ElementsAre("b"));
  EXPECT_EQ(page.total, 3);
  EXPECT_THAT(records_->open_states().value(),
              UnorderedElementsAre(std::pair(State::created, 2), std::pair(State::running, 1)));
  EXPECT_EQ(records_->list({.state = State::created, .model = "x"}).value().total, 1);
  ASSERT_TRUE(records_->remove(find("a")).value());
  EXPECT_EQ(records_->list({}).value().total, 2);
  EXPECT_EQ(records_->list({.model = "x"}).value().total, 1);
  EXPECT_THAT(records_->open_states().value(), UnorderedElementsAre(std::pair(State::created, 2)));
}

TEST_P(CustomizerRecordsTest, lists_all_versions_of_a_model) {
  create("a", "acme/tiny@1.0");
  create("b", "acme/tiny@2.0");
  create("c", "acme/tiny-large@1.0");
  const auto listed = [&](const char* model) { return names(records_->list({.model = model}).value()); };
  EXPECT_THAT(listed("acme/tiny"), ElementsAre("b", "a"));
  EXPECT_THAT(listed("acme/tiny@1.0"), ElementsAre("a"));
  EXPECT_THAT(listed("acme/tiny-large"), ElementsAre("c"));
  EXPECT_THAT(listed("acme"), IsEmpty());
  EXPECT_EQ(records_->list({.state = State::created, .model = "acme/tiny"}).value().total, 2);
}

TEST_P(CustomizerRecordsTest, logs_stand_among_the_events) {
  const std::string id = create("a").id;
  ASSERT_TRUE(records_->add_log(id, "training-1", std::vector<std::string>{"one", "two"}));
  ASSERT_TRUE(records_->add_event(id, {"TrainingJobRunning", "why"}));
  EXPECT_EQ(records_->log_lines(id, "training-1").value(), 2);
  EXPECT_EQ(records_->log_lines(id, "training-2").value(), 0);
  const auto events = records_->events(id, 0, 10).value();
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[1].detail, "why");
  const auto all = records_->events(id, events[0].number, 10, true).value();
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_TRUE(all[0].is_log);
  EXPECT_EQ(all[0].message, "one");
  EXPECT_EQ(all[0].detail, "training-1");
}

TEST_P(CustomizerRecordsTest, pages_are_the_same_from_either_end) {
  std::vector<std::string> all;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    create(name);
    all.emplace_back(name);
  }
  for (const bool oldest_first : {true, false}) {
    for (std::int64_t offset = 0; offset < 7; ++offset)
      for (std::int64_t limit = 1; limit < 7; ++limit) {
        const auto page = records_->list({.oldest_first = oldest_first, .offset = offset, .limit = limit}).value();
        const auto begin = std::min<std::int64_t>(offset, std::ssize(all)),
                   end = std::min<std::int64_t>(begin + limit, std::ssize(all));
        EXPECT_EQ(names(page), std::vector<std::string>(all.begin() + begin, all.begin() + end))
            << offset << " " << limit;
      }
    std::ranges::reverse(all);
  }
}

ON_BOTH_ENGINES(CustomizerRecordsTest);

}  // namespace
}  // namespace stackgate::customizer
