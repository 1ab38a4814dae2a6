// Answers that come after their handlers have returned, and where a request's body says it shall work.
#include "services/kit/web/deferred.hpp"

#include <atomic>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/json/document.hpp"
#include "services/kit/web/forwarded.hpp"
#include "services/kit/web/health.hpp"
#include "services/kit/web/sse.hpp"
#include "tests/kit/web/app_support.hpp"

namespace stackgate::web::deferred_test {
namespace {

using namespace std::chrono_literals;
using test::ask;
using test::soon;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

http::Response text(std::string body) { return {200, "text/plain", {}, std::move(body)}; }

class DeferredTest : public testing::Test {
 protected:
  /// GET /later puts its Deferred aside, on the I/O thread or on a pool's; /metrics shows what is counted.
  void start(RouteOptions options = {.on_io_thread = true}, AppConfig config = {}) {
    app_.reset();
    registry_.emplace();
    config.metrics = &*registry_;
    config.observers.push_back([this](const Served& served) {
      if (served.pattern == "/metrics") return;
      const std::lock_guard lock(mutex_);
      served_.push_back(std::to_string(served.status) + " " + std::to_string(served.bytes_out) +
                        (served.whole ? " whole" : " cut") + " " + std::string(served.request.header("x-mark")));
    });
    const auto later = [this](Call& call) -> Answer {
      auto deferred = call.defer();
      if (!deferred) return deferred.error();
      const std::lock_guard lock(mutex_);
      pending_.push_back(std::move(*deferred));
      return Later{};
    };
    app_ = test::start({{"GET", "/later", later, options},
                        {"POST", "/later", later, options},
                        {"GET", "/fails-after-it-deferred",
                         [](Call& call) -> Answer {
                           const auto deferred = call.defer();
                           throw std::runtime_error("on purpose");
                         },
                         options},
                        {"GET", "/gives-an-answer-after-all",
                         [](Call& call) -> Answer {
                           const auto deferred = call.defer();
                           return Failure{404, "not here"};
                         },
                         options},
                        {"GET", "/quick", [](Call&) { return text("quick"); }, {.on_io_thread = true}},
                        metrics_route(*registry_)},
                       std::move(config));
  }
  std::shared_ptr<Deferred> take() {
    std::shared_ptr<Deferred> out;
    soon([&] {
      const std::lock_guard lock(mutex_);
      if (pending_.empty()) return false;
      out = std::move(pending_.front());
      pending_.pop_front();
      return true;
    });
    return out;
  }
  std::vector<std::string> served() {
    const std::lock_guard lock(mutex_);
    return served_;
  }
  std::string figures() { return ask(*app_, "GET /metrics").body; }
  bool in_flight(int count) {  // beside the question itself
    return soon([&] {
      return figures().contains("stackgate_http_requests_in_flight " + std::to_string(count + 1) + "\n") &&
             figures().contains("stackgate_http_deferred " + std::to_string(count) + "\n");
    });
  }

  std::optional<metrics::Registry> registry_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<Deferred>> pending_;
  std::vector<std::string> served_;
  std::unique_ptr<App> app_;  // ends first
};

TEST_F(DeferredTest, AnswersLaterFromIoThreadAndPool) {
  for (const bool io : {true, false}) {
    start({.on_io_thread = io});
    http::test::Client client(app_->port());
    client.send(test::request_text("GET /later", {}, "X-Mark: m\r\n"));
    const auto deferred = take();
    ASSERT_TRUE(deferred);
    EXPECT_TRUE(in_flight(1));
    EXPECT_EQ(ask(*app_, "GET /quick").body, "quick");
    EXPECT_EQ(deferred->call().request().path, "/later");
    deferred->answer(text("later"));
    const auto reply = test::split(client.response());
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, "later");
    EXPECT_FALSE(reply.header("X-Request-Id").empty());
    EXPECT_TRUE(in_flight(0));
    EXPECT_THAT(served(), testing::Contains("200 5 whole m"));
    deferred->answer(text("twice"));
    EXPECT_FALSE(deferred->write("after the end"));
  }
}

TEST_F(DeferredTest, RendersFailuresInTheRoutesDialect) {
  start({.dialect = Dialect::text, .on_io_thread = true});
  http::test::Client client(app_->port());
  client.send(test::request_text("GET /later"));
  take()->answer(Failure{502, "the upstream is gone"});
  const auto reply = test::split(client.response());
  EXPECT_EQ(reply.status, 502);
  EXPECT_THAT(reply.header("Content-Type"), StartsWith("text/plain"));
  EXPECT_THAT(reply.body, HasSubstr("the upstream is gone"));
}

TEST_F(DeferredTest, StreamsPieceByPiece) {
  start();
  http::test::Client client(app_->port());
  client.send(test::request_text("GET /later", {}, "X-Mark: m\r\n"));
  const auto deferred = take();
  deferred->start(event_stream_head(), std::nullopt);
  EXPECT_TRUE(deferred->write({}));
  EXPECT_THAT(client.some(), HasSubstr("Content-Type: text/event-stream"));
  EXPECT_TRUE(deferred->write(format_event({.data = "one"})));
  EXPECT_THAT(client.some(), HasSubstr("data: one\n\n"));
  EXPECT_TRUE(in_flight(1));
  EXPECT_THAT(served(), IsEmpty());
  EXPECT_FALSE(deferred->stopping());
  deferred->finish();
  EXPECT_EQ(client.some(), "0\r\n\r\n");
  EXPECT_TRUE(in_flight(0));
  EXPECT_THAT(served(), ElementsAre("200 11 whole m"));
  client.send(test::request_text("GET /quick"));
  EXPECT_THAT(client.response(), EndsWith("quick"));
}

TEST_F(DeferredTest, AClientThatLeavesFreesItsShareAndIsCounted) {
  AppConfig config;
  config.deferred = 4;
  config.deferred_per_share = 2;
  start({.on_io_thread = true}, std::move(config));
  for (const bool begun : {false, true}) {
    http::test::Client first(app_->port()), second(app_->port());
    first.send(test::request_text("GET /later", {}, "X-Mark: first\r\n"));
    const auto one = take();
    second.send(test::request_text("GET /later"));
    const auto two = take();
    ASSERT_TRUE(one && two);
    const auto refused = ask(*app_, "GET /later");
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.header("Retry-After"), "5");
    std::atomic<int> closed{0};
    one->on_closed([&] { ++closed; });
    if (begun) {
      one->start({}, std::nullopt);
      one->write("abc");
      EXPECT_THAT(first.some(), HasSubstr("abc"));
    }
    first.close();
    ASSERT_TRUE(soon([&] { return closed == 1; }));
    EXPECT_TRUE(in_flight(1));
    EXPECT_THAT(served(), testing::Contains(begun ? "200 3 cut first" : "499 0 cut first"));
    EXPECT_FALSE(one->write("to nobody"));
    one->on_closed([&] { ++closed; });  // at once
    EXPECT_EQ(closed, 2);
    two->answer(text("two"));
    EXPECT_THAT(second.response(), EndsWith("two"));
    EXPECT_TRUE(in_flight(0));
  }
  EXPECT_THAT(figures(), HasSubstr("stackgate_http_refused_total{reason=\"deferred_full\"} 2"));
}

TEST_F(DeferredTest, LetGoOfIs500OrCut) {
  start();
  http::test::Client client(app_->port());
  client.send(test::request_text("GET /later"));
  take().reset();
  EXPECT_EQ(test::split(client.response()).status, 500);
  client.send(test::request_text("GET /later"));
  auto begun = take();
  begun->start({}, std::nullopt);
  begun->write("part");
  begun.reset();
  EXPECT_THAT(client.rest(), EndsWith("part\r\n"));
  EXPECT_TRUE(client.closed());
  EXPECT_TRUE(in_flight(0));
  EXPECT_THAT(served(), testing::Contains(HasSubstr("200 4 cut")));
}

TEST_F(DeferredTest, AHandlerThatFailsAfterItDeferredIsAnsweredOnce) {
  for (const bool io : {true, false}) {
    start({.on_io_thread = io});
    EXPECT_EQ(ask(*app_, "GET /fails-after-it-deferred").status, 500);
    EXPECT_EQ(ask(*app_, "GET /gives-an-answer-after-all").status, 404);
    EXPECT_TRUE(in_flight(0));
  }
}

TEST_F(DeferredTest, StopsTheWriterWhileTheClientIsBehind) {
  start();
  http::test::Client client(app_->port());
  client.send(test::request_text("GET /later"));
  const auto deferred = take();
  constexpr std::size_t size = 40'000'000;
  std::atomic<std::size_t> written{0};
  const std::string piece(10'000, 'x');
  const auto write_on = [&] {
    while (written < size) {
      written += piece.size();
      if (!deferred->write(piece)) return;
    }
    deferred->finish();
  };
  deferred->on_writable(write_on);
  deferred->start({}, size);
  write_on();
  std::this_thread::sleep_for(100ms);
  EXPECT_LT(written, size / 2);
  std::size_t received = 0;
  std::string head;
  while (head.find("\r\n\r\n") == std::string::npos) head += client.some();
  received = head.size() - head.find("\r\n\r\n") - 4;
  while (received < size) {
    const auto part = client.some();
    ASSERT_FALSE(part.empty());
    received += part.size();
  }
  EXPECT_EQ(received, size);
  EXPECT_TRUE(in_flight(0));
}

TEST_F(DeferredTest, ADrainWaitsAndTheEndOfTheAppEndsIt) {
  start();
  http::test::Client kept(app_->port()), cut(app_->port()), waiting(app_->port());
  kept.send(test::request_text("GET /later"));
  const auto first = take();
  cut.send(test::request_text("GET /later"));
  const auto second = take();
  waiting.send(test::request_text("GET /later"));
  const auto third = take();
  second->start({}, std::nullopt);
  second->write("part");
  std::atomic<int> closed{0};
  second->on_closed([&] { ++closed; });
  third->on_closed([&] { ++closed; });
  EXPECT_FALSE(second->stopping());
  std::thread answers([&] {
    soon([&] { return second->stopping(); });
    first->answer(text("in time"));
  });
  app_->server().drain(500ms);
  answers.join();
  EXPECT_THAT(kept.response(), EndsWith("in time"));
  EXPECT_EQ(closed, 0);
  app_.reset();
  EXPECT_EQ(closed, 2);
  second->finish();
  third->answer(text("too late"));
  EXPECT_THAT(served(), testing::UnorderedElementsAre("200 7 whole ", "200 4 cut ", "499 0 cut "));
  EXPECT_FALSE(cut.rest().ends_with("0\r\n\r\n"));
}

TEST_F(DeferredTest, TheEndOfTheAppMeetsAnswersFromManyThreads) {
  for (int round = 0; round < 20; ++round) {
    start({.on_io_thread = round % 2 == 0});
    std::vector<std::unique_ptr<http::test::Client>> clients;
    std::vector<std::shared_ptr<Deferred>> all;
    for (int i = 0; i < 8; ++i) {
      clients.push_back(std::make_unique<http::test::Client>(app_->port()));
      clients.back()->send(test::request_text("GET /later"));
      all.push_back(take());
    }
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&all, i] {
        const auto at = static_cast<std::size_t>(i) * 2;
        all[at]->answer(text("whole"));
        all[at + 1]->start({}, std::nullopt);
        for (int piece = 0; piece < 20; ++piece) all[at + 1]->write("piece");
        all[at].reset();
        all[at + 1].reset();
      });
    app_.reset();
    for (auto& each : threads) each.join();
  }
}

TEST(Placement, IsDecidedByTheBody) {
  AppConfig config;
  config.pool_threads = 1;
  config.transfer_threads = 1;
  config.transfer_wait = 50ms;
  std::promise<void> opened;
  const std::shared_future<void> gate(opened.get_future());
  const auto place = [](Call& call) {
    const auto body = call.json();
    const json::Value* const stream = body ? (*body)->root.find("stream") : nullptr;
    const bool streams = stream != nullptr && stream->boolean();
    return Placement{.where = streams ? Placement::Where::transfers : Placement::Where::pool};
  };
  const auto app = test::start({{"POST",
                                 "/chat",
                                 [gate](Call& call) -> Answer {
                                   if (call.body()->contains("true")) gate.wait();
                                   return text("answered");
                                 },
                                 {},
                                 place}},
                               std::move(config));
  http::test::Client streaming(app->port());
  streaming.send(test::request_text("POST /chat", R"({"stream":true})"));
  soon([&] { return ask(*app, "POST /chat", R"({"stream":true})").status == 503; });  // its only thread is taken
  EXPECT_EQ(ask(*app, "POST /chat", R"({"stream":false})").body, "answered");
  opened.set_value();
  EXPECT_THAT(streaming.response(), EndsWith("answered"));
}

TEST(Placement, GivesAShareToEachKeyBehindOneAddress) {
  AppConfig config;
  config.deferred = 10;
  config.deferred_per_share = 1;
  std::mutex mutex;
  std::vector<std::shared_ptr<Deferred>> all;
  web::Route route{"GET", "/", [&](Call& call) -> Answer {
                     auto deferred = call.defer();
                     if (!deferred) return deferred.error();
                     const std::lock_guard lock(mutex);
                     all.push_back(*deferred);
                     return Later{};
                   }};
  route.place = [](Call& call) {
    return Placement{.where = Placement::Where::io_thread, .share = share_by_header(call.request(), "authorization")};
  };
  web::Route throws{"GET", "/throws", [](Call&) { return text("never"); }};
  throws.place = [](Call&) -> Placement { throw std::runtime_error("on purpose"); };
  web::Route named{"GET", "/named/{name}", [](Call&) { return text("right"); }};
  named.place = [](Call& call) {
    EXPECT_EQ(call.parameter("name"), "a/b");
    return Placement{};
  };
  const auto app = test::start({route, throws, named}, std::move(config));
  std::vector<std::unique_ptr<http::test::Client>> clients;
  for (const std::string_view key : {"Authorization: Bearer a\r\n", "Authorization: Bearer b\r\n", ""}) {
    clients.push_back(std::make_unique<http::test::Client>(app->port()));
    clients.back()->send(test::request_text("GET /", {}, key));
    const auto known = clients.size();
    EXPECT_TRUE(soon([&] {
      const std::lock_guard lock(mutex);
      return all.size() == known;
    }));
    EXPECT_EQ(ask(*app, "GET /", {}, key).status, 503) << key;
  }
  EXPECT_EQ(ask(*app, "GET /throws").status, 500);
  EXPECT_EQ(ask(*app, "GET /named/a%2Fb").body, "right");
  EXPECT_EQ(ask(*app, "GET /named/..").status, 400);
}

}  // namespace
}  // namespace stackgate::web::deferred_test
