// The loop around next, with an executor whose stages do what the test says.
#include "services/customizer/runs/runner.hpp"

#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "services/kit/metrics/registry.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::customizer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What the world looks like, shared by the replicas of a test.
struct World {
  std::map<std::string, Seen> seen{};
  std::vector<std::string> done{};
  std::set<std::string> changed{};
  std::string away{};
  AdapterState adapter = AdapterState::ready;
  std::string log{};
  int logs_begun = 0;     // readings of trainings from the start
  std::string unknown{};  // why nothing can be known
  std::string refuses{};  // why nothing can be created
  std::vector<std::string> ids{};
  bool is_polled = false;
  int looks = 0;
  std::vector<std::string> forgotten{};
  std::function<void()> on_look{}, on_clean_up{};
};

class Fake final : public Executor {
 public:
  explicit Fake(World& world) : world_(world) {}
  std::vector<std::expected<Seen, Error>> look(std::span<const Work* const> all) override {
    std::vector<std::expected<Seen, Error>> out;
    ++world_.looks;
    if (world_.on_look) world_.on_look();
    for (const Work* each : all) {
      if (world_.away.empty())
        out.emplace_back(world_.seen[each->job.id]);
      else
        out.emplace_back(std::unexpected(Error{world_.away}));
    }
    return out;
  }
  std::expected<void, Error> create(const Work& work, Stage stage) override {
    if (!world_.refuses.empty()) return std::unexpected(Error{world_.refuses});
    world_.done.push_back(fmt::format("create {} {}", to_string(stage), work.stored.job.stage(stage).attempts));
    Seen& seen = world_.seen[work.job.id];
    seen.leftovers = seen.workspace = true;
    seen.stages.at(static_cast<std::size_t>(stage)) = {.objects = StageSight::Objects::there, .state = State::running};
    return {};
  }
  std::expected<void, Error> cancel(const Work& work, Stage stage) override {
    world_.done.push_back(fmt::format("cancel {}", to_string(stage)));
    world_.seen[work.job.id].stages.at(static_cast<std::size_t>(stage)) = {.objects = StageSight::Objects::there,
                                                                           .state = State::failed};
    return {};
  }
  std::expected<void, Error> clean_up(const Work& work) override {
    if (world_.on_clean_up) world_.on_clean_up();
    world_.done.emplace_back("clean up");
    world_.seen.erase(work.job.id);
    return {};
  }
  std::expected<std::string, Error> log(const Work&, Stage stage, std::uint64_t& offset) override {
    std::string out = world_.log.substr(std::min<std::size_t>(offset, world_.log.size()));
    if (stage == Stage::training && offset == 0 && !out.empty()) ++world_.logs_begun;
    offset = world_.log.size();
    return out;
  }
  std::vector<std::string> changed() override {
    std::vector<std::string> out(world_.changed.begin(), world_.changed.end());
    world_.changed.clear();
    return out;
  }
  bool is_polled() const override { return world_.is_polled; }
  std::expected<void, Error> available() const override {
    if (!world_.unknown.empty()) return std::unexpected(Error{world_.unknown});
    return {};
  }
  std::vector<std::string> ids() const override { return world_.ids; }
  void forget(std::string_view which) override { world_.forgotten.emplace_back(which); }
  bool has_workspace(const Work& work) const override { return world_.seen.contains(work.job.id); }
  validate::Findings check(const CustomizationRequest&) const override { return {}; }

 private:
  World& world_;
};

class RunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(sql::migrate(*database_, customization_migrations()));
    id_ = records_.create({.name = "a", .model = "m", .request = "{}", .warnings = "[]"}).value().id;
  }
  std::unique_ptr<Runner> runner(const std::string& owner = "one", Limits limits = {},
                                 std::chrono::seconds lease = std::chrono::seconds(30)) {
    RunnerOptions options{
        .step = {.limits = limits,
                 .ask_adapter =
                     [this](const OutputModel&) { return std::expected<AdapterState, Error>(world_.adapter); }},
        .owner = owner,
        .lease = lease,
        .polled_look = std::chrono::milliseconds(0),
        .log_look = std::chrono::milliseconds(0)};
    return std::make_unique<Runner>(records_, std::make_unique<Fake>(world_), metrics_, std::move(options));
  }
  Customization find() { return records_.find(id_).value().value().job; }
  StageSight& sight(Stage stage) { return world_.seen[id_].stages.at(static_cast<std::size_t>(stage)); }
  /// The stage ends so, and the executor reports it.
  void ends(Runner& runner, Stage stage, State state, bool may_retry = false) {
    sight(stage) = {.objects = StageSight::Objects::there, .state = state, .may_retry = may_retry, .message = "why"};
    world_.changed.insert(id_);
    runner.round();
  }
  static std::unique_ptr<sql::Database> open(const std::string& path) {
    auto made = sql::Database::open("sqlite:" + path, "");
    return made ? std::move(*made) : nullptr;
  }

  test::TempDir folder_;
  std::unique_ptr<sql::Database> database_ = open(folder_ / "test.db");
  Records records_{*database_};
  metrics::Registry registry_;
  RunMetrics metrics_{registry_};
  World world_;
  std::string id_;
};

TEST_F(RunnerTest, shows_why_a_stage_cannot_begin_until_it_can) {
  world_.refuses = "no answer from the cluster";
  const auto one = runner();
  one->round();
  EXPECT_EQ(find().message, "it cannot begin yet: no answer from the cluster");
  EXPECT_EQ(find().stage(Stage::download).message, find().message);
  world_.refuses.clear();
  records_.wake(id_);
  one->round();
  EXPECT_THAT(find().message, IsEmpty());
  EXPECT_EQ(find().state, State::running);
}

TEST_F(RunnerTest, goes_from_stage_to_stage_to_the_end) {
  const auto all = runner();
  all->round();
  EXPECT_EQ(find().state, State::running);
  ends(*all, Stage::download, State::completed);
  ends(*all, Stage::training, State::completed);
  ends(*all, Stage::upload, State::completed);
  EXPECT_EQ(find().state, State::completed);
  EXPECT_THAT(world_.done,
              ElementsAre("create model-and-dataset-download 1", "create training 1", "create model-upload 1"));
  EXPECT_EQ(records_.find(id_).value()->token, "");
}

TEST_F(RunnerTest, waits_for_the_entitystore) {
  world_.adapter = AdapterState::uploading;
  const auto all = runner();
  all->round();
  ends(*all, Stage::download, State::completed);
  ends(*all, Stage::training, State::completed);
  ends(*all, Stage::upload, State::completed);
  EXPECT_EQ(find().state, State::running);
  EXPECT_THAT(find().message, HasSubstr("the entitystore stores the adapter"));
  world_.adapter = AdapterState::ready;
  world_.changed.insert(id_);
  all->round();
  EXPECT_EQ(find().state, State::completed);
}

TEST_F(RunnerTest, a_retry_uploads_and_trains_nothing) {
  const auto all = runner();
  all->round();
  ends(*all, Stage::download, State::completed);
  ends(*all, Stage::training, State::completed);
  ends(*all, Stage::upload, State::failed);
  EXPECT_EQ(find().state, State::failed);
  const Stored failed = records_.find(id_).value().value();
  EXPECT_TRUE(all->has_workspace(failed));
  world_.done.clear();
  ASSERT_TRUE(records_.store(failed, retried(failed.job, true, 1).value(), true).value());
  all->round();
  EXPECT_THAT(world_.done, ElementsAre("create model-upload 2"));
}

TEST_F(RunnerTest, a_cancellation_ends_what_computes) {
  const auto all = runner();
  all->round();
  const Stored running = records_.find(id_).value().value();
  ASSERT_TRUE(records_.store(running, cancelled(running.job, 1), true).value());
  all->round();
  world_.changed.insert(id_);
  all->round();
  EXPECT_EQ(find().state, State::cancelled);
  EXPECT_THAT(world_.done, ElementsAre("create model-and-dataset-download 1", "cancel model-and-dataset-download"));
}

TEST_F(RunnerTest, what_is_over_is_cleaned_up_and_settled) {
  const auto all = runner("one", {.keep = 0});
  all->round();
  ends(*all, Stage::download, State::completed);
  ends(*all, Stage::training, State::completed);
  ends(*all, Stage::upload, State::completed);
  EXPECT_EQ(world_.done.back(), "clean up");
  EXPECT_THAT(records_.renew("one", std::chrono::seconds(30)).value(), IsEmpty());
}

TEST_F(RunnerTest, a_retry_that_comes_before_a_clean_up_keeps_its_workspace) {
  const auto all = runner("one", {.keep = 0, .keep_failed = 0});
  all->round();
  ends(*all, Stage::download, State::completed);
  ends(*all, Stage::training, State::completed);
  world_.on_look = [this] {  // between what is read and what is done about it
    const Stored stored = records_.find(id_).value().value();
    if (stored.job.state != State::failed || stored.job.cleared) return;
    EXPECT_TRUE(records_.store(stored, retried(stored.job, true, 1).value(), true).value());
  };
  ends(*all, Stage::upload, State::failed);
  EXPECT_THAT(world_.done, testing::Not(testing::Contains("clean up")));
  world_.on_look = {};
  all->round();
  EXPECT_EQ(world_.done.back(), "create model-upload 2");
}

TEST_F(RunnerTest, a_retry_behind_a_clean_up_is_refused) {
  const auto all = runner("one", {.keep = 0, .keep_failed = 0});
  all->round();
  ends(*all, Stage::download, State::completed);
  ends(*all, Stage::training, State::completed);
  world_.on_clean_up = [this] { EXPECT_FALSE(retried(find(), true, 1)); };
  ends(*all, Stage::upload, State::failed);
  EXPECT_EQ(world_.done.back(), "clean up");
}

TEST_F(RunnerTest, another_replica_goes_on_where_one_has_ended) {
  {
    const auto first = runner("one");
    first->round();
    const auto second = runner("two");
    second->round();
    EXPECT_THAT(world_.done, ElementsAre("create model-and-dataset-download 1")) << "it is the first one's";
  }
  const auto third = runner("three");
  third->round();
  EXPECT_THAT(world_.done, ElementsAre("create model-and-dataset-download 1")) << "what is there is not made again";
  ends(*third, Stage::download, State::completed);
  EXPECT_EQ(world_.done.back(), "create training 1");
}

TEST_F(RunnerTest, an_executor_that_is_away_changes_nothing) {
  const auto all = runner();
  world_.away = "no answer";
  all->round();
  EXPECT_EQ(find().state, State::created);
  world_.away.clear();
  world_.changed.insert(id_);
  all->round();
  EXPECT_EQ(find().state, State::running);
}

TEST_F(RunnerTest, what_is_not_known_is_not_taken_for_absent) {
  const auto all = runner();
  world_.unknown = "2 first lists are not complete";
  all->round();
  EXPECT_THAT(world_.done, IsEmpty());
  EXPECT_EQ(find().state, State::created);
  world_.unknown.clear();
  all->round();
  EXPECT_EQ(find().state, State::running);
}

TEST_F(RunnerTest, what_waits_until_something_is_known_shows_it) {
  const auto all = runner();
  world_.unknown = "2 of 4 first lists are not complete yet";
  all->round();
  EXPECT_EQ(find().message, "") << "a moment later all may be known";
  ASSERT_TRUE(database_->run("UPDATE customization SET changed_at = changed_at - 2"));
  all->round();
  EXPECT_EQ(find().message, "it cannot begin yet: 2 of 4 first lists are not complete yet");
  EXPECT_EQ(find().stage(Stage::download).message, find().message);
  EXPECT_EQ(records_.find(id_).value()->job.state, State::created);
  const auto revision = records_.find(id_).value()->revision;
  all->round();
  EXPECT_EQ(records_.find(id_).value()->revision, revision) << "once";
  world_.unknown.clear();
  all->round();
  records_.wake(id_);
  all->round();
  EXPECT_EQ(find().state, State::running);
  EXPECT_EQ(find().message, "");
}

TEST_F(RunnerTest, an_executor_forgets_what_is_another_ones_deleted_or_over) {
  const auto all = runner("one", {.keep = 0}, std::chrono::seconds(0));
  all->round();
  ASSERT_TRUE(database_->run("UPDATE customization SET owner = 'two', lease_until = lease_until + 100"));
  all->round();
  EXPECT_THAT(world_.forgotten, ElementsAre(id_)) << "another one's";
  world_.forgotten.clear();
  ASSERT_TRUE(database_->run("UPDATE customization SET owner = 'one'"));
  all->round();
  ends(*all, Stage::download, State::completed);
  ends(*all, Stage::training, State::completed);
  EXPECT_THAT(world_.forgotten, IsEmpty());
  ends(*all, Stage::upload, State::completed);
  EXPECT_THAT(world_.forgotten, ElementsAre(id_)) << "over";
}

TEST_F(RunnerTest, objects_of_nobody_are_reported_and_left_alone) {
  world_.ids = {id_, "cust-00000000000000000000"};
  const auto all = runner();
  testing::internal::CaptureStderr();
  all->round();
  all->round();
  const std::string logged = testing::internal::GetCapturedStderr();
  const std::string place = "stackgate.dev/customization=cust-00000000000000000000";
  EXPECT_THAT(logged, HasSubstr(place));
  EXPECT_EQ(logged.find(place), logged.rfind(place)) << "once";
  EXPECT_THAT(logged, testing::Not(HasSubstr("=" + id_)));
  EXPECT_THAT(world_.done, ElementsAre("create model-and-dataset-download 1"));
}

TEST_F(RunnerTest, logs_of_what_runs_are_read_without_looking) {
  world_.is_polled = true;
  const auto all = runner();
  all->round();
  ASSERT_EQ(find().state, State::running);
  const int looks = world_.looks;
  world_.log = "one\n";
  all->round();
  world_.log += "two\n";
  all->round();
  EXPECT_EQ(records_.log_lines(id_, "download-1").value(), 2);
  EXPECT_EQ(world_.looks, looks);
  world_.changed.insert(id_);
  all->round();
  EXPECT_GT(world_.looks, looks);
}

TEST_F(RunnerTest, logs_of_what_runs_are_read_where_changes_are_reported_too) {
  const auto all = runner();
  all->round();
  ASSERT_EQ(find().state, State::running);
  const int looks = world_.looks;
  world_.log = "one\n";
  all->round();
  EXPECT_EQ(records_.log_lines(id_, "download-1").value(), 1);
  EXPECT_EQ(world_.looks, looks);
}

TEST_F(RunnerTest, what_waits_is_looked_at_often_where_nobody_reports_it) {
  world_.is_polled = true;
  const auto all = runner();
  all->round();
  sight(Stage::download) = {.objects = StageSight::Objects::there, .state = State::pending, .message = "it waits"};
  world_.changed.insert(id_);
  all->round();
  const int looks = world_.looks;
  all->round();
  EXPECT_GT(world_.looks, looks);
}

TEST_F(RunnerTest, logs_are_stored_once_and_events_in_them_count) {
  const auto all = runner();
  all->round();
  ends(*all, Stage::download, State::completed);
  world_.log = fmt::format("one\n{{\"event\":\"done\",\"job_id\":\"{}\",\"train_loss\":1}}\ntwo\n", id_);
  // Killed before it could post that it has ended.
  ends(*all, Stage::training, State::failed);
  EXPECT_TRUE(find().trained);
  EXPECT_EQ(find().stage(Stage::training).state, State::completed) << "trained is trained";
  const auto second = runner("one");
  second->round();
  EXPECT_EQ(records_.log_lines(id_, "training-1").value(), 2);
}

TEST_F(RunnerTest, what_a_trainer_could_not_report_is_taken_from_its_log) {
  const auto steps = [&](int from, int to) {
    std::string out;
    for (int i = from; i <= to; ++i)
      out += fmt::format("{{\"event\":\"step\",\"job_id\":\"{}\",\"step\":{},\"max_steps\":5,\"loss\":1}}\n", id_, i);
    return out;
  };
  for (const bool reports : {true, false}) {
    SCOPED_TRACE(reports);
    if (!reports) id_ = records_.create({.name = "b", .model = "m", .request = "{}", .warnings = "[]"}).value().id;
    world_.log.clear();
    world_.logs_begun = 0;
    const auto all = runner();
    all->round();
    ends(*all, Stage::download, State::completed);
    world_.log = steps(1, 2) + "one\n" + steps(3, 5);
    for (int i = 0; i < 3; ++i) all->round();
    ASSERT_EQ(records_.log_lines(id_, "training-1").value(), 1) << "it was read while it ran";
    ASSERT_THAT(records_.points(id_, 0, 10).value(), IsEmpty());
    const std::string token = records_.find(id_).value()->token;
    for (int i = 1; reports && i <= 5; ++i) ASSERT_TRUE(records_.report(id_, token, steps(i, i))->known);
    ends(*all, Stage::training, State::completed);
    EXPECT_EQ(records_.points(id_, 0, 10)->size(), 5U);
    EXPECT_EQ(records_.log_lines(id_, "training-1").value(), 1);
    EXPECT_EQ(world_.logs_begun, reports ? 1 : 2) << "and again only where something is missing";
  }
}

}  // namespace
}  // namespace stackgate::customizer
