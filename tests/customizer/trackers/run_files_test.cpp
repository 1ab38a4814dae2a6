// Files of customizations that have ended, in MLflow.
#include "services/customizer/trackers/run_files.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/customizer/trackers/tracker_servers.hpp"

namespace stackgate::customizer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

using RunFilesTest = TrackersTest;

TEST_F(RunFilesTest, mlflow_has_files_that_describe_it_and_tags_of_the_adapter) {
  const std::string id = create("a", {{"mlflow", ""}});
  trackers();
  first_step(id);
  validation(id, 1);
  step(id, 2);
  const std::vector<std::string> first{"it begins", "it goes on"}, other{"of the upload"};
  ASSERT_TRUE(records_->add_log(id, "training-1", first));
  ASSERT_TRUE(records_->add_log(id, "upload-1", other));
  round();
  EXPECT_THAT(files_, IsEmpty()) << "before its end";
  EXPECT_EQ(tags_.count("adapter"), 0U);
  report(id, R"("event":"done","path":"p","archive":"p.tar.gz","sha256":"0ab1")");
  const std::string token = records_->find(id).value()->token;
  finish(id, State::completed);
  round();
  EXPECT_EQ(tags_["adapter"], "ada/x@1.0.0");
  EXPECT_EQ(tags_["adapter_sha256"], "0ab1");
  EXPECT_EQ(files_.size(), 4U);
  EXPECT_THAT(files_["7/r1/artifacts/config.json"], HasSubstr(R"("lora_rank":8)"));
  const std::string& record = files_["7/r1/artifacts/customization.json"];
  EXPECT_THAT(record, HasSubstr(fmt::format(R"({{"id":"{}","name":"a",)", id)));
  EXPECT_THAT(record, HasSubstr(R"("status":"completed")"));
  EXPECT_THAT(record, HasSubstr(R"({"step":2,"value":2.5,)"));
  for (const auto& [name, content] : files_) EXPECT_EQ(content.find(token), std::string::npos) << name;
  EXPECT_THAT(files_["7/r1/artifacts/metrics.csv"],
              testing::MatchesRegex("step,train_loss,val_loss,learning_rate,tokens_per_second,epoch,time\n"
                                    "1,1.5,1.25,0.001,900,0.25,20[^,]*Z\n2,2.5,,,,,20[^,]*Z\n"));
  EXPECT_THAT(files_["7/r1/artifacts/customization.log"],
              testing::MatchesRegex("20[^ ]*Z created\n20[^ ]*Z .training-1. it begins\n20[^ ]*Z .training-1. it goes "
                                    "on\n20[^ ]*Z .upload-1. of the upload\n20[^ ]*Z completed\n"));
}

TEST_F(RunFilesTest, files_of_what_failed_are_sent_without_tags_of_an_adapter) {
  const std::string id = create("a", {{"mlflow", ""}});
  trackers();
  finish(id, State::failed);
  round();
  EXPECT_EQ(files_.size(), 4U);
  EXPECT_EQ(tags_.count("adapter"), 0U);
}

TEST_F(RunFilesTest, files_that_fail_for_a_while_are_sent_later_and_keep_nobody_waiting) {
  create("a", {{"mlflow", ""}});
  create("b", {{"mlflow", ""}});
  trackers();
  for (const char* name : {"a", "b"}) finish(records_->find(name).value()->job.id, State::completed);
  files_status_ = 500;
  round();
  EXPECT_EQ(std::ranges::count(calls_, "runs/update"), 2) << "of both: the status does not wait for files";
  EXPECT_EQ(ended_, "FINISHED");
  EXPECT_THAT(files_, IsEmpty());
  files_status_ = 200;
  round();
  EXPECT_EQ(files_.size(), 4U);
  calls_.clear();
  round();
  EXPECT_THAT(calls_, IsEmpty()) << "it is over";
}

TEST_F(RunFilesTest, files_that_fail_for_long_are_given_up) {
  const std::string id = create("a", {{"mlflow", ""}});
  trackers(0);
  finish(id, State::completed);
  files_status_ = 500;
  round();
  EXPECT_THAT(events(id).back(), HasSubstr("TrackerGaveUp MLflow: config.json: HTTP 500"));
  EXPECT_EQ(ended_, "FINISHED");
}

TEST_F(RunFilesTest, a_server_that_takes_no_files_is_no_fault_of_a_customization) {
  const struct {
    std::string uri;
    int status;
    std::string answer, cause;
  } cases[] = {
      {"s3://bucket/r1", 200, "", "at s3:,"},
      {"mlflow-artifacts:/7/r1/artifacts", 404, "<html>", "HTTP 404"},
      {"mlflow-artifacts:/7/r1/artifacts", 503, "disabled due to … `--no-serve-artifacts`", "HTTP 503"},
  };
  for (const auto& each : cases) {
    artifact_uri_ = each.uri;
    files_status_ = each.status;
    files_answer_ = each.answer;
    trackers();
    int log[2];
    ASSERT_EQ(::pipe(log), 0);
    log::configure({.level = log::Level::warning, .format = log::Format::text, .fd = log[1]});
    for (const char* name : {"1", "2"}) {
      const std::string id = create(each.cause + name, {{"mlflow", ""}});
      finish(id, State::completed);
      ended_.clear();
      round();
      EXPECT_EQ(ended_, "FINISHED");
      EXPECT_EQ(events(id).size(), 2U) << "created and completed";
      EXPECT_EQ(records_->find(id).value()->job.warnings, "[]");
      calls_.clear();
      round();
      EXPECT_THAT(calls_, IsEmpty()) << "it is over";
    }
    log::configure({.level = log::Level::error, .format = log::Format::text, .fd = 2});
    ::close(log[1]);
    std::string logged(1U << 14U, '\0');
    logged.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(log[0], logged.data(), logged.size()))));
    ::close(log[0]);
    EXPECT_THAT(logged, HasSubstr(each.cause));
    EXPECT_EQ(std::ranges::count(logged, '\n'), 1) << "once: " << logged;
  }
}

TEST(LogText, is_the_end_in_whole_lines) {
  const std::vector<Event> events{{.number = 3, .message = "three", .detail = "why"},
                                  {.number = 1, .message = "one", .detail = "training-1", .is_log = true},
                                  {.number = 2, .message = "two"}};
  const std::string one = "1970-01-01T00:00:00Z [training-1] one\n", two = "1970-01-01T00:00:00Z two\n",
                    three = "1970-01-01T00:00:00Z three: why\n";
  const struct {
    std::size_t most;
    std::string expected;
  } cases[] = {{1'000, one + two + three},
               {(one + two + three).size(), one + two + three},
               {(one + two + three).size() - 1, two + three},
               {three.size(), three},
               {three.size() - 1, ""},
               {0, ""}};
  for (const auto& each : cases) EXPECT_EQ(log_text(events, each.most), each.expected) << each.most;
}

}  // namespace
}  // namespace stackgate::customizer
