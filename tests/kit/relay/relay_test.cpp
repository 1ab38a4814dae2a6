// A proxy of two routes between real sockets: an upstream of the project's own behind it, a client before it.
#include "services/kit/relay/relay.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/log/log.hpp"
#include "services/kit/relay/headers.hpp"
#include "services/kit/web/deferred.hpp"
#include "services/kit/web/sse.hpp"
#include "tests/kit/web/app_support.hpp"

namespace stackgate::relay {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using web::Call;
using web::test::ask;
using web::test::soon;

TEST(HopByHop, names_what_concerns_one_connection) {
  HopByHop headers;
  headers.add_connection("close, X-Private ,");
  for (const char* name :
       {"Connection", "keep-alive", "TE", "transfer-encoding", "Content-Length", "x-private", "Host"})
    EXPECT_TRUE(headers.has(name)) << name;
  for (const char* name : {"Authorization", "Accept", "X-Public", ""}) EXPECT_FALSE(headers.has(name)) << name;
}

/// Writes down what it is told.
class Diary final : public Witness {
 public:
  explicit Diary(std::string& text, std::mutex& mutex) : text_(text), mutex_(mutex) {}
  ~Diary() override { note("end"); }
  void first_piece() override { note("first "); }
  void whole() override { note("whole "); }

 private:
  void note(std::string_view what) {
    const std::lock_guard lock(mutex_);
    text_ += what;
  }
  std::string& text_;
  std::mutex& mutex_;
};

class Relay : public testing::Test {
 protected:
  Relay() { log::configure({.level = log::Level::error, .format = log::Format::text, .fd = 2}); }
  void SetUp() override {
    std::vector<web::Route> routes{{"POST", "/echo/{name}",
                                    [this](Call& call) -> web::Answer {
                                      const std::lock_guard lock(mutex_);
                                      seen_.clear();
                                      for (const auto& [name, value] : call.request().headers)
                                        seen_.append(name).append(": ").append(value).append("\n");
                                      seen_.append("?").append(call.request().query);
                                      return http::Response{
                                          201,
                                          "text/x",
                                          {{"Connection", "X-Private"}, {"X-Private", "a"}, {"X-Public", "b"}},
                                          std::string(call.parameter("name")) + "=" + std::string(*call.body())};
                                    }},
                                   {"GET", "/large",
                                    [](Call& call) -> web::Answer {
                                      const auto body = call.start({200, "text/x"}, 30'000'000);
                                      for (int i = 0; i < 300; ++i)
                                        if (!body->write(std::string(100'000, static_cast<char>('a' + i % 26)))) break;
                                      (void)body->finish();
                                      return web::Streamed{};
                                    }},
                                   {"GET", "/breaks",
                                    [](Call& call) -> web::Answer {
                                      const auto body = call.start({200, "text/x"}, std::nullopt);
                                      (void)body->write("part");
                                      return web::Streamed{};
                                    }},
                                   {"GET", "/events", [this](Call& call) -> web::Answer {
                                      auto deferred = call.defer();
                                      if (!deferred) return deferred.error();
                                      const std::lock_guard lock(mutex_);
                                      events_ = *deferred;
                                      events_->on_closed([this] { ++upstream_closed_; });
                                      events_->on_writable([this] { ++room_; });
                                      events_->start(web::event_stream_head(), std::nullopt);
                                      events_->write({});
                                      return web::Later{};
                                    }}};
    upstream_ = web::test::start(std::move(routes));
    const auto pass = [this](Call& call) -> web::Answer {
      auto request = forwarded(call, base_);
      if (!request) return request.error();
      return relay(call, *client_, std::move(*request));
    };
    std::vector<web::Route> all;
    for (const char* method : {"GET", "POST"}) all.push_back({method, "/{path...}", pass, {.on_io_thread = true}});
    // Against the rule that a handler there does not wait, and still answered.
    all.push_back({"GET",
                   "/waits",
                   [this](Call&) -> web::Answer {
                     auto opened = client_->open({.url = base_ + "/breaks"});
                     std::array<char, 16> space{};
                     const auto read = opened ? opened->read(space) : std::unexpected(opened.error());
                     const auto reply = client_->call({.method = "POST", .url = base_ + "/echo/a", .body = "b"});
                     if (!read || !reply) return web::Failure{502, "no answer"};
                     return http::Response{200, "text/x", {}, std::string(space.data(), *read) + reply->body};
                   },
                   {.on_io_thread = true}});
    all.push_back({"GET",
                   "/witnessed/{path...}",
                   [this](Call& call) -> web::Answer {
                     auto later = call.defer();
                     if (!later) return later.error();
                     auto opening = client_->open(
                         {.url = base_ + "/" + std::string(call.parameter("path"))},
                         [this, later = *later](std::expected<http_client::Answer, http_client::NoAnswer> answer) {
                           pass_back(later, std::move(answer), std::make_shared<Diary>(diary_, mutex_));
                         });
                     (*later)->on_closed([opening]() mutable { opening.cancel(); });
                     return web::Later{};
                   },
                   {.on_io_thread = true}});
    proxy_ = web::test::start(std::move(all));
    base_ = "http://127.0.0.1:" + std::to_string(upstream_->port());
  }
  ~Relay() override {
    proxy_.reset();
    events_.reset();
    upstream_.reset();
  }
  std::string seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  bool has_events() {
    const std::lock_guard lock(mutex_);
    return events_ != nullptr;
  }

  std::unique_ptr<http_client::Client> client_ =
      std::make_unique<http_client::Client>(http_client::Options{.retries = 0});
  std::string diary() {
    const std::lock_guard lock(mutex_);
    return diary_;
  }

  std::string base_, seen_, diary_;
  std::mutex mutex_;
  std::shared_ptr<web::Deferred> events_;
  std::atomic<int> upstream_closed_{0}, room_{0};
  std::unique_ptr<web::App> upstream_, proxy_;
};

TEST_F(Relay, wakes_the_client_for_a_handler_that_waits_on_the_io_thread) {
  EXPECT_EQ(ask(*proxy_, "GET /waits").body, "parta=b");
}

TEST_F(Relay, passes_request_and_answer_on_but_for_what_concerns_one_connection) {
  const auto reply = ask(*proxy_, "POST /echo/a%2Fb?c=d%20e", "body",
                         "Authorization: Bearer x\r\nConnection: X-Mine\r\nX-Mine: 1\r\nX-Request-Id: r1\r\n");
  EXPECT_EQ(reply.status, 201);
  EXPECT_EQ(reply.body, "a/b=body");
  EXPECT_EQ(reply.header("Content-Type"), "text/x");
  EXPECT_EQ(reply.header("X-Public"), "b");
  EXPECT_EQ(reply.header("X-Private"), "");
  EXPECT_EQ(reply.header("X-Request-Id"), "r1");
  EXPECT_THAT(seen(), AllOf(HasSubstr("Authorization: Bearer x\n"), HasSubstr("X-Request-Id: r1\n"),
                            Not(HasSubstr("X-Mine")), HasSubstr("traceparent: "), EndsWith("?c=d%20e")));
}

TEST_F(Relay, passes_large_answers_and_heads_and_refusals) {
  const auto large = ask(*proxy_, "GET /large");
  EXPECT_EQ(large.body.size(), 30'000'000U);
  EXPECT_EQ(large.body[29'999'999], static_cast<char>('a' + 299 % 26));
  const auto head = ask(*proxy_, "HEAD /large");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("Content-Length"), "30000000");
  EXPECT_EQ(head.body, "");
  EXPECT_EQ(ask(*proxy_, "GET /nothing").status, 404);
}

TEST_F(Relay, an_answer_that_breaks_off_is_cut_and_none_is_502) {
  http::test::Client client(proxy_->port());
  client.send(web::test::request_text("GET /breaks"));
  EXPECT_THAT(client.rest(), EndsWith("part\r\n"));
  EXPECT_TRUE(client.closed());
  upstream_.reset();
  EXPECT_EQ(ask(*proxy_, "GET /large").status, 502);
}

TEST_F(Relay, a_witness_is_told_of_the_beginning_and_of_a_whole_end) {
  const auto told = [&](std::string_view what) { return soon([&] { return diary() == what; }); };
  EXPECT_EQ(ask(*proxy_, "GET /witnessed/large").body.size(), 30'000'000U);
  EXPECT_TRUE(told("first whole end")) << diary();
  diary_.clear();
  EXPECT_EQ(ask(*proxy_, "GET /witnessed/nothing").status, 404);
  EXPECT_TRUE(told("first whole end")) << diary();
  diary_.clear();
  http::test::Client breaks(proxy_->port());
  breaks.send(web::test::request_text("GET /witnessed/breaks"));
  EXPECT_THAT(breaks.rest(), EndsWith("part\r\n"));
  EXPECT_TRUE(told("first end")) << diary();
  diary_.clear();
  http::test::Client leaves(proxy_->port());
  leaves.send(web::test::request_text("GET /witnessed/events"));
  EXPECT_THAT(leaves.some(), HasSubstr("text/event-stream"));
  leaves.close();
  EXPECT_TRUE(told("end")) << diary();
}

TEST_F(Relay, passes_each_event_at_once_and_ends_with_its_client) {
  http::test::Client client(proxy_->port());
  client.send(web::test::request_text("GET /events"));
  EXPECT_THAT(client.some(), HasSubstr("text/event-stream"));
  ASSERT_TRUE(soon([&] { return has_events(); }));
  for (const char* event : {"one", "two"}) {
    events_->write(web::format_event({.data = event}));
    EXPECT_THAT(client.some(), HasSubstr(std::string("data: ") + event + "\n\n"));
  }
  client.close();
  EXPECT_TRUE(soon([&] { return upstream_closed_ == 1; }));
}

TEST_F(Relay, a_client_that_leaves_before_the_answer_ends_the_exchange) {
  std::atomic<int> closed{0};
  std::shared_ptr<web::Deferred> waiting;
  std::atomic<bool> arrived{false};
  upstream_ = web::test::start({{"GET",
                                 "/events",
                                 [&](Call& call) -> web::Answer {
                                   auto deferred = call.defer();
                                   if (!deferred) return deferred.error();
                                   (*deferred)->on_closed([&] { ++closed; });
                                   waiting = *deferred;
                                   arrived = true;
                                   return web::Later{};
                                 },
                                 {.on_io_thread = true}}});
  base_ = "http://127.0.0.1:" + std::to_string(upstream_->port());
  http::test::Client client(proxy_->port());
  client.send(web::test::request_text("GET /events"));
  ASSERT_TRUE(soon([&] { return arrived.load(); }));
  client.close();
  EXPECT_TRUE(soon([&] { return closed == 1; }));
  upstream_.reset();
}

TEST_F(Relay, a_client_that_is_behind_stops_the_upstream) {
  http::test::Client client(proxy_->port());
  client.send(web::test::request_text("GET /events"));
  EXPECT_THAT(client.some(), HasSubstr("200 OK"));
  ASSERT_TRUE(soon([&] { return has_events(); }));
  constexpr std::uint64_t much = 100'000'000;
  std::uint64_t written = 0;
  for (const std::string piece(50'000, 'x'); written < much; written += piece.size()) {
    const int before = room_;
    if (events_->write(piece)) continue;
    for (int i = 0; i < 50 && room_ == before; ++i) std::this_thread::sleep_for(10ms);
    if (room_ == before) break;
  }
  EXPECT_LT(written, much / 2);
}

}  // namespace
}  // namespace stackgate::relay
