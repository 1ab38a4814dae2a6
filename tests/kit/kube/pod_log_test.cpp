// A container's log over a real socket.
#include "services/kit/kube/pod_log.hpp"

#include <atomic>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/http/server.hpp"
#include "services/kit/kube/client.hpp"

namespace stackgate::kube::pod_log_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Answer = std::function<void(const http::Request&, http::Responder)>;

/// A server with one answer, and what a reader of the log got from it.
class Log {
 public:
  explicit Log(Answer answer) {
    server_ = *http::Server::start({}, std::move(answer));
    Config config;
    config.server = "http://127.0.0.1:" + std::to_string(server_->port());
    client_ = *Client::connect(config);
  }
  std::unique_ptr<PodLog> read(const PodLogOptions& options = {}) {
    return std::make_unique<PodLog>(
        client_->transport(), "ml", "train-0", options,
        PodLog::Reader{.line = [this](std::string_view line) { lines.emplace_back(line), ++read_lines; },
                       .rest = rest,
                       .ended = [this](auto result) { ended_.set_value(result); }});
  }
  std::expected<void, ApiError> end() { return ended.get(); }

  std::vector<std::string> lines;  // to be read when it has ended
  std::function<void(std::string_view)> rest{};
  std::atomic<int> read_lines{0};

 private:
  std::promise<std::expected<void, ApiError>> ended_;

 public:
  std::future<std::expected<void, ApiError>> ended = ended_.get_future();

 private:
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<Client> client_;
};

Answer text(std::string body) {
  return [body = std::move(body)](const http::Request&, http::Responder respond) {
    respond({.content_type = "text/plain", .body = body});
  };
}

TEST(PodLogPath, has_what_is_asked_for) {
  EXPECT_EQ(pod_log_path("ml", "train-0", {}), "/api/v1/namespaces/ml/pods/train-0/log");
  EXPECT_EQ(pod_log_path("ml", "a/b",
                         {.container = "main",
                          .follow = true,
                          .previous = true,
                          .timestamps = true,
                          .since_time = "2026-11-23T09:00:00Z",
                          .tail_lines = 10}),
            "/api/v1/namespaces/ml/pods/a%2Fb/log?container=main&follow=true&previous=true&timestamps=true"
            "&sinceTime=2026-11-23T09%3A00%3A00Z&tailLines=10");
}

TEST(PodLog, is_read_line_by_line_to_its_end) {
  Log log(text("one\n\nthree\nno line feed"));
  const auto reading = log.read();
  EXPECT_TRUE(log.end());
  EXPECT_THAT(log.lines, ElementsAre("one", "", "three", "no line feed"));
}

TEST(PodLog, gives_what_lacks_its_line_feed_apart) {
  Log log(text("one\nno line"));
  std::string rest;
  log.rest = [&](std::string_view line) { rest = line; };
  const auto reading = log.read();
  EXPECT_TRUE(log.end());
  EXPECT_THAT(log.lines, ElementsAre("one"));
  EXPECT_EQ(rest, "no line");
}

TEST(PodLog, of_a_container_that_wrote_nothing_has_no_lines) {
  Log log(text(""));
  const auto reading = log.read();
  EXPECT_TRUE(log.end());
  EXPECT_THAT(log.lines, IsEmpty());
}

TEST(PodLog, cuts_a_line_that_is_too_long) {
  Log log(text(std::string(PodLog::longest_line + 10, 'x') + "\nnext\n"));
  const auto reading = log.read();
  EXPECT_TRUE(log.end());
  EXPECT_THAT(log.lines, ElementsAre(std::string(PodLog::longest_line, 'x'), "next"));
}

TEST(PodLog, that_is_refused_says_why) {
  Log log([](const http::Request&, http::Responder respond) {
    respond({.status = 400,
             .body = R"({"kind":"Status","reason":"BadRequest","message":"container \"main\" is waiting to start"})"});
  });
  const auto reading = log.read();
  const auto end = log.end();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, 400);
  EXPECT_THAT(end.error().message, HasSubstr("waiting to start"));
  EXPECT_THAT(log.lines, IsEmpty());
}

/// An answer that the test writes.
struct Following {
  std::promise<std::unique_ptr<http::BodyWriter>> writer;
  Answer answer() {
    return [this](const http::Request&, http::Responder respond) { writer.set_value(respond.start({}, std::nullopt)); };
  }
};

TEST(PodLog, that_is_followed_gives_lines_as_they_come) {
  Following server;
  Log log(server.answer());
  const auto reading = log.read({.follow = true});
  const auto writer = server.writer.get_future().get();
  ASSERT_TRUE(writer->write("one\ntw"));
  EXPECT_EQ(log.ended.wait_for(50ms), std::future_status::timeout);
  ASSERT_TRUE(writer->write("o\n"));
  ASSERT_TRUE(writer->finish());
  EXPECT_TRUE(log.end());
  EXPECT_THAT(log.lines, ElementsAre("one", "two"));
}

TEST(PodLog, that_breaks_off_says_so_after_what_was_read) {
  Following server;
  Log log(server.answer());
  const auto reading = log.read({.follow = true});
  auto writer = server.writer.get_future().get();
  ASSERT_TRUE(writer->write("one\ntwo"));
  writer.reset();  // without the end of the body
  const auto end = log.end();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().failure, Failure::interrupted);
  EXPECT_THAT(log.lines, ElementsAre("one", "two"));
}

TEST(PodLog, ends_quietly_when_nobody_wants_it_any_more) {
  Following server;
  Log log(server.answer());
  auto reading = log.read({.follow = true});
  const auto writer = server.writer.get_future().get();
  ASSERT_TRUE(writer->write("one\n"));
  for (int i = 0; i < 500 && log.read_lines == 0; ++i) std::this_thread::sleep_for(10ms);
  reading.reset();
  for (int i = 0; i < 500 && !writer->gone(); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(writer->gone()) << "the connection was left open";
  EXPECT_EQ(log.ended.wait_for(0s), std::future_status::timeout);
}

}  // namespace
}  // namespace stackgate::kube::pod_log_test
