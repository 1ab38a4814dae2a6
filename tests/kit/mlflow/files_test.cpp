// Files of a run: sent at its end, before its status, or left out.
#include <thread>

#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/kit/mlflow/tracking_server.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::mlflow {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class FilesTest : public MlflowTest {
 protected:
  FilesTest() {
    folder_.write("config", "{}");
    folder_.write("weights", weights);
    EXPECT_EQ(::pipe(log_), 0);
    log::configure({.level = log::Level::warning, .format = log::Format::text, .fd = log_[1]});
  }
  ~FilesTest() override {
    log::configure({.level = log::Level::error, .format = log::Format::text, .fd = 2});
    for (const int fd : log_) ::close(fd);
  }

  /// A run with two files, to its end.
  Counts finish(Status status = Status::finished, Pace pace = quick) {
    Record run = start({}, pace);
    run.log(metrics(1, 3));
    run.attach({{"adapter/config", folder_ / "config"}, {"adapter/the weights", folder_ / "weights"}});
    return run.end(status);
  }
  std::string logged() {
    log::warning("the end of the log");
    std::string out(1U << 16U, '\0');
    out.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(log_[0], out.data(), out.size()))));
    return out;
  }
  static std::size_t warnings(const std::string& log) {
    return static_cast<std::size_t>(std::ranges::count(log, '\n')) - 1;
  }
  /// Of calls for files: the first `count` ones are answered so.
  void answer_files(int status, std::string body, int count = 1'000) {
    instead_ = [status, body = std::move(body),
                count](const http::Request& request) mutable -> std::optional<http::Response> {
      if (request.method != "PUT" || count-- <= 0) return std::nullopt;
      return json_answer(status, body);
    };
  }

  static inline const std::string weights = std::string(300'000, 'w') + std::string(1, '\0') + "end";
  test::TempDir folder_;
  int log_[2] = {-1, -1};
};

TEST_F(FilesTest, are_sent_behind_the_metrics_and_before_the_status) {
  const Counts counts = finish();
  EXPECT_EQ(counts.files_sent, 2U);
  EXPECT_EQ(counts.files_lost, 0U);
  EXPECT_THAT(files_, ElementsAre(testing::Pair("7/r1/artifacts/adapter/config", "{}"),
                                  testing::Pair("7/r1/artifacts/adapter/the%20weights", weights)));
  ASSERT_GE(calls_.size(), 5U);
  EXPECT_THAT(std::vector(calls_.end() - 5, calls_.end()),
              ElementsAre("runs/log-batch", "runs/get", "7/r1/artifacts/adapter/config",
                          "7/r1/artifacts/adapter/the%20weights", "runs/update"));
  EXPECT_EQ(status_, "FINISHED");
  EXPECT_EQ(warnings(logged()), 0U);
}

TEST_F(FilesTest, of_a_run_that_did_not_finish_are_not_sent) {
  for (const Status status : {Status::failed, Status::killed}) {
    const Counts counts = finish(status);
    EXPECT_EQ(counts.files_sent + counts.files_lost, 0U);
    EXPECT_TRUE(files_.empty());
  }
}

TEST_F(FilesTest, are_sent_again_whole_where_that_fails_for_a_while) {
  answer_files(500, "<html>", 3);
  EXPECT_EQ(finish().files_sent, 2U);
  EXPECT_EQ(files_["7/r1/artifacts/adapter/the%20weights"], weights);
}

TEST_F(FilesTest, are_not_for_servers_that_do_not_take_them) {
  const struct {
    std::string uri;
    int status;
    std::string body, cause;
  } cases[] = {
      {"s3://bucket/r1", 200, "", "at s3:,"},
      {"", 200, "", "it names no place"},
      {"mlflow-artifacts:/7/r1/artifacts", 404, "<html>", "HTTP 404"},
      {"mlflow-artifacts:/7/r1/artifacts", 413, "", "HTTP 413"},
      {"mlflow-artifacts:/7/r1/artifacts", 503, "disabled due to … `--no-serve-artifacts`", "--no-serve-artifacts"},
  };
  for (const auto& each : cases) {
    artifact_uri_ = each.uri;
    answer_files(each.status, each.body);
    status_.clear();
    const Counts counts = finish();
    EXPECT_EQ(counts.files_lost, 2U) << each.cause;
    EXPECT_EQ(counts.sent, 3U);
    EXPECT_EQ(status_, "FINISHED");
    const std::string log = logged();
    EXPECT_THAT(log, HasSubstr(each.cause));
    EXPECT_EQ(warnings(log), 1U) << log;
  }
}

TEST_F(FilesTest, that_are_too_large_or_gone_are_left_out_alone) {
  Pace pace = quick;
  pace.largest_file = 1'000;
  EXPECT_EQ(finish(Status::finished, pace).files_sent, 1U);
  EXPECT_THAT(logged(), HasSubstr("it has 300004 bytes, and 1000 are the most"));
  Record run = start();
  run.attach({{"a", folder_ / "nothing"}, {"b", folder_ / "config"}});
  const Counts counts = run.end(Status::finished);
  EXPECT_EQ(counts.files_sent, 1U);
  EXPECT_EQ(counts.files_lost, 1U);
  EXPECT_THAT(logged(), HasSubstr("it cannot be read"));
}

TEST_F(FilesTest, that_the_server_does_not_get_done_with_cost_the_status_nothing) {
  for (const bool hangs : {true, false}) {
    instead_ = [&, hangs](const http::Request& request) -> std::optional<http::Response> {
      if (request.method != "PUT") return std::nullopt;
      return json_answer(hangs ? no_answer : 500, "<html>");
    };
    status_.clear();
    Pace pace = quick;
    pace.files = 300ms;
    const auto begin = std::chrono::steady_clock::now();
    const Counts counts = finish(Status::finished, pace);
    EXPECT_EQ(counts.files_lost, 2U);
    EXPECT_EQ(status_, "FINISHED");
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 300ms);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 4s) << "not the end's limit";
    EXPECT_THAT(logged(), HasSubstr("the time for them is up"));
  }
}

TEST_F(FilesTest, have_more_time_than_the_end_has) {
  instead_ = [&](const http::Request& request) -> std::optional<http::Response> {
    if (request.method == "PUT") std::this_thread::sleep_for(400ms);
    return std::nullopt;
  };
  Pace pace = quick;
  pace.end = 300ms;
  EXPECT_EQ(finish(Status::finished, pace).files_sent, 2U);
  EXPECT_EQ(status_, "FINISHED");
}

TEST_F(FilesTest, of_a_run_that_was_never_opened_are_lost) {
  url_ = "http://127.0.0.1:1";
  Pace pace = quick;
  pace.end = 100ms;
  EXPECT_EQ(finish(Status::finished, pace).files_lost, 2U);
}

}  // namespace
}  // namespace stackgate::mlflow
