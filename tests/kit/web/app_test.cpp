#include "services/kit/web/app.hpp"

#include <future>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/web/forwarded.hpp"
#include "services/kit/web/health.hpp"
#include "services/kit/web/multipart.hpp"
#include "services/kit/web/sse.hpp"
#include "tests/kit/web/app_support.hpp"
#include "tests/kit/web/gzip.hpp"

namespace stackgate::web {
namespace {

using test::ask;
using testing::HasSubstr;

http::Response text(std::string body) { return {200, "text/plain", {}, std::move(body)}; }

Answer echo_body(Call& call) {
  auto body = call.body();
  if (!body) return std::move(body.error());
  return text(std::string(*body));
}

Answer echo_stream(Call& call) {
  std::string all, part(1000, '\0');
  for (;;) {
    const auto got = call.stream().read(part);
    if (!got) return to_failure(got.error());
    if (*got == 0) return text(all);
    all.append(part, 0, *got);
  }
}

TEST(App, ServesOnTheIoThreadAndOnThePool) {
  const auto app = test::start({
      {"GET",
       "/quick/{name}",
       [](Call& call) { return text("quick " + std::string(call.parameter("name"))); },
       {.on_io_thread = true}},
      {"POST", "/slow", echo_body},
  });
  EXPECT_EQ(ask(*app, "GET /quick/a%2Fb").body, "quick a/b");
  EXPECT_EQ(ask(*app, "POST /slow", "abc").body, "abc");
  EXPECT_EQ(ask(*app, "GET /quick/x?y=z").header("X-Content-Type-Options"), "nosniff");
}

TEST(App, SaysWhereNothingIsInTheDialectOfTheNeighbours) {
  const auto app = test::start({
      {"GET", "/api/v1/version", [](Call&) { return text("1"); }, {.dialect = Dialect::gitea}},
      {"GET",
       "/v1/hf/api/x",
       [](Call&) { return Failure{404, "no such repository", "RepoNotFound"}; },
       {.dialect = Dialect::hub}},
  });
  EXPECT_EQ(ask(*app, "GET /api/v1/nothing").status, 404);
  EXPECT_EQ(ask(*app, "GET /api/v1/nothing").body, R"({"message":"there is nothing at /api/v1/nothing","url":""})");
  const auto wrong = ask(*app, "DELETE /api/v1/version");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.header("Allow"), "GET, HEAD, OPTIONS");
  const auto options = ask(*app, "OPTIONS /api/v1/version");
  EXPECT_EQ(options.status, 204);
  EXPECT_EQ(options.header("Allow"), "GET, HEAD, OPTIONS");
  EXPECT_EQ(ask(*app, "GET /v1/hf/api/x").header("X-Error-Code"), "RepoNotFound");
  const auto head = ask(*app, "HEAD /api/v1/version");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("Content-Length"), "1");
  EXPECT_EQ(head.body, "");
}

TEST(App, RefusesPathsThatClimbOrAreBroken) {
  const auto app =
      test::start({{"GET", "/f/{path...}", [](Call& call) { return text(std::string(call.parameter("path"))); }}});
  EXPECT_EQ(ask(*app, "GET /f/a/b%20c").body, "a/b c");
  EXPECT_EQ(ask(*app, "GET /f/..a/b..").body, "..a/b..");
  for (const std::string path : {"..", "a/../b", "%2e%2e/b", "a%2f..%2fb", ".", "a/.", "%zz", "a%", "a%00"}) {
    EXPECT_EQ(ask(*app, "GET /f/" + path).status, 400) << path;
  }
}

TEST(App, AnswersARequestIdThatIsSaneAndMakesOneOtherwise) {
  const auto app = test::start({{"GET", "/", [](Call& call) { return text(std::string(call.request_id())); }}});
  EXPECT_EQ(ask(*app, "GET /", {}, "X-Request-Id: abc-1\r\n").header("X-Request-Id"), "abc-1");
  for (const std::string id : {"", "a b", "a\"b", "<x>"}) {
    const auto reply = ask(*app, "GET /", {}, "X-Request-Id: " + id + "\r\n");
    EXPECT_THAT(reply.header("X-Request-Id"), testing::MatchesRegex("[0-9a-f]{16}")) << id;
    EXPECT_EQ(reply.body, reply.header("X-Request-Id"));
  }
}

TEST(App, TurnsAnExceptionInto500AndGoesOn) {
  const auto app = test::start({
      {"GET", "/throw", [](Call&) -> Answer { throw std::runtime_error("password=hunter2"); }},
      {"GET", "/quick-throw", [](Call&) -> Answer { throw 7; }, {.on_io_thread = true}},
      {"GET", "/forgot", [](Call&) -> Answer { return Streamed{}; }},
      {"GET", "/ok", [](Call&) { return text("ok"); }},
  });
  for (const std::string path : {"/throw", "/quick-throw", "/forgot"}) {
    const auto reply = ask(*app, "GET " + path);
    EXPECT_EQ(reply.status, 500) << path;
    EXPECT_THAT(reply.body, Not(HasSubstr("hunter2")));
  }
  EXPECT_EQ(ask(*app, "GET /ok").body, "ok");
}

TEST(App, ReadsGzippedBodies) {
  const auto app = test::start({{"POST", "/whole", echo_body, {.body_bytes = 1000}},
                                {"POST", "/stream", echo_stream, {.streams_body = true, .body_bytes = 5000}}});
  const std::string gzip = "Content-Encoding: gzip\r\n";
  EXPECT_EQ(ask(*app, "POST /whole", test::gzip("hello"), gzip).body, "hello");
  EXPECT_EQ(ask(*app, "POST /stream", test::gzip("hello"), gzip).body, "hello");
  EXPECT_EQ(ask(*app, "POST /whole", test::gzip(std::string(1001, 'x')), gzip).status, 413);
  EXPECT_EQ(ask(*app, "POST /stream", test::gzip(std::string(5001, 'x')), gzip).status, 413);
  for (const std::string path : {"/whole", "/stream"}) {
    EXPECT_EQ(ask(*app, "POST " + path, "plain", gzip).status, 400);
    const auto unknown = ask(*app, "POST " + path, "plain", "Content-Encoding: br\r\n");
    EXPECT_EQ(unknown.status, 415);
  }
}

TEST(App, StreamsBothWays) {
  const auto app = test::start({{"POST",
                                 "/double",
                                 [](Call& call) -> Answer {
                                   std::string part(64 * 1024, '\0');
                                   const auto writer = call.start({200, "application/octet-stream"}, std::nullopt);
                                   for (;;) {
                                     const auto got = call.stream().read(part);
                                     if (!got) return Streamed{};
                                     if (*got == 0) break;
                                     if (!writer->write(std::string_view(part).substr(0, *got))) return Streamed{};
                                   }
                                   (void)writer->finish();
                                   return Streamed{};
                                 },
                                 {.streams_body = true, .body_bytes = 0}}});
  const std::string body(3'000'000, 'x');
  http::test::Client client(app->port());
  std::thread sender([&] { client.send(test::request_text("POST /double", body, "Connection: close\r\n")); });
  const auto reply = test::split(client.rest(std::chrono::seconds(20)));
  sender.join();
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.header("Transfer-Encoding"), "chunked");
  EXPECT_GT(reply.body.size(), body.size());
  EXPECT_THAT(reply.body, testing::EndsWith("0\r\n\r\n"));
}

TEST(App, CutsAnAnswerThatItsHandlerGaveUp) {
  std::mutex mutex;
  std::vector<bool> whole;
  AppConfig config;
  config.observers.push_back([&](const Served& served) {
    const std::lock_guard lock(mutex);
    whole.push_back(served.whole);
  });
  const auto app = test::start({{"GET", "/",
                                 [](Call& call) -> Answer {
                                   const auto writer = call.start({200, "text/plain"}, 10);
                                   (void)writer->write("abc");
                                   throw std::runtime_error("the disk is gone");
                                 }}},
                               std::move(config));
  const auto reply = ask(*app, "GET /");
  EXPECT_EQ(reply.header("Content-Length"), "10");
  EXPECT_EQ(reply.body, "abc");
  const std::lock_guard lock(mutex);
  EXPECT_EQ(whole, std::vector<bool>{false});
}

TEST(App, ReadsMultipartAsAStream) {
  const auto app =
      test::start({{"POST",
                    "/",
                    [](Call& call) -> Answer {
                      std::string out;
                      const PartEvents events{.begin = [&](const PartHead& head) -> std::expected<void, Failure> {
                                                out += head.name + "=";
                                                return {};
                                              },
                                              .data = [&](std::string_view bytes) -> std::expected<void, Failure> {
                                                out += bytes;
                                                return {};
                                              }};
                      if (auto done = read_multipart(call, events); !done) return std::move(done.error());
                      return text(out);
                    },
                    {.streams_body = true}}});
  const std::string body = "--x\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--x--\r\n";
  EXPECT_EQ(ask(*app, "POST /", body, "Content-Type: multipart/form-data; boundary=x\r\n").body, "a=1");
  EXPECT_EQ(ask(*app, "POST /", body, "Content-Type: multipart/form-data; boundary=y\r\n").status, 400);
  EXPECT_EQ(ask(*app, "POST /", body, "Content-Type: text/plain\r\n").status, 415);
}

TEST(App, SendsEvents) {
  const auto app =
      test::start({{"GET", "/", [](Call& call) -> Answer {
                      EventStream events(call);
                      (void)events.send({"a\nb", "tick", std::string(call.request().header("last-event-id")) + "1"});
                      (void)events.keep_alive();
                      (void)events.finish();
                      return Streamed{};
                    }}});
  const auto reply = ask(*app, "GET /", {}, "Last-Event-ID: 4\r\n");
  EXPECT_EQ(reply.header("Content-Type"), "text/event-stream; charset=utf-8");
  EXPECT_THAT(reply.body, HasSubstr("event: tick\nid: 41\ndata: a\ndata: b\n\n"));
  EXPECT_EQ(format_event({"x\r\ny\r", "n\nm", {}}), "event: nm\ndata: x\ndata: y\ndata: \n\n");
}

TEST(App, RefusesWhenTooManyWait) {
  std::promise<void> gate;
  std::shared_future<void> opened(gate.get_future());
  std::atomic<int> running = 0;
  AppConfig config;
  config.pool_threads = 1;
  config.pool_queue = 1;
  metrics::Registry registry;
  config.metrics = &registry;
  const auto app = test::start({{"GET",
                                 "/",
                                 [&running, opened](Call&) {
                                   ++running;
                                   opened.wait();
                                   return text("done");
                                 },
                                 {.dialect = Dialect::lfs}}},
                               std::move(config));
  http::test::Client first(app->port()), second(app->port());
  first.send(test::request_text("GET /"));
  while (running == 0) std::this_thread::yield();
  second.send(test::request_text("GET /"));
  // The second waits in the queue as soon as it has been read; whoever comes then is refused.
  test::Reply third;
  for (int i = 0; i < 100 && third.status != 503; ++i) {
    http::test::Client client(app->port());
    client.send(test::request_text("GET /"));
    third = test::split(client.response(false, std::chrono::milliseconds(50)));
  }
  EXPECT_EQ(third.status, 503);
  EXPECT_EQ(third.header("Retry-After"), "1");
  EXPECT_EQ(third.header("Content-Type"), "application/vnd.git-lfs+json");
  gate.set_value();
  EXPECT_EQ(test::split(first.response()).body, "done");
  EXPECT_THAT(registry.render(), HasSubstr("stackgate_http_refused_total{reason=\"pool_full\"}"));
}

TEST(App, CountsAndTellsItsObservers) {
  metrics::Registry registry;
  std::mutex mutex;
  std::vector<std::string> seen;
  AppConfig config;
  config.metrics = &registry;
  config.observers.push_back([&](const Served& served) {
    const std::lock_guard lock(mutex);
    seen.push_back(std::string(served.request.method) + " " + std::string(served.pattern) + " " +
                   std::to_string(served.status) + " " + std::string(served.actor) + " " +
                   std::to_string(served.bytes_in) + "/" + std::to_string(served.bytes_out) + " " +
                   served.trace.trace_id);
  });
  const auto app = test::start({{"POST", "/a/{x}",
                                 [](Call& call) {
                                   call.set_actor("ann");
                                   return text("12345");
                                 }},
                                metrics_route(registry)},
                               std::move(config));
  ask(*app, "POST /a/1", "abc", "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n");
  ask(*app, "BREW /nothing");
  const std::string figures = ask(*app, "GET /metrics").body;
  EXPECT_THAT(figures, HasSubstr(R"(stackgate_http_requests_total{route="/a/{x}",method="POST",code="200"} 1)"));
  EXPECT_THAT(figures, HasSubstr(R"(stackgate_http_requests_total{route="unmatched",method="other",code="404"} 1)"));
  EXPECT_THAT(figures, HasSubstr(R"(stackgate_http_request_bytes_total{route="/a/{x}"} 3)"));
  EXPECT_THAT(figures, HasSubstr(R"(stackgate_http_response_bytes_total{route="/a/{x}"} 5)"));
  EXPECT_THAT(figures, HasSubstr(R"(stackgate_http_request_duration_seconds_count{route="/a/{x}"} 1)"));
  EXPECT_THAT(figures, HasSubstr("stackgate_http_requests_in_flight 1"));
  const std::lock_guard lock(mutex);
  EXPECT_EQ(seen.at(0), "POST /a/{x} 200 ann 3/5 0af7651916cd43dd8448eb211c80319c");
}

// A handler that sends until its client has left, or the test is over.
Answer endless(Call& call) {
  const auto writer = call.start({200, "text/plain"}, std::nullopt);
  while (writer->write(std::string(100'000, 'x'))) {
  }
  return Streamed{};
}

TEST(App, KeepsShortRequestsGoingWhileDownloadsTakeEveryThreadOfTheirs) {
  AppConfig config;
  config.pool_threads = 1;
  config.transfer_threads = 3;
  config.transfer_wait = std::chrono::milliseconds(100);
  metrics::Registry registry;
  config.metrics = &registry;
  const auto app = test::start({{"GET", "/file", endless, {.dialect = Dialect::hub, .transfer = true}},
                                {"PUT", "/file", echo_stream, {.dialect = Dialect::text, .streams_body = true}},
                                {"GET", "/short", [](Call&) { return text("short"); }},
                                metrics_route(registry)},
                               std::move(config));
  std::vector<std::unique_ptr<http::test::Client>> readers;
  for (int i = 0; i < 2; ++i) {
    readers.push_back(std::make_unique<http::test::Client>(app->port()));
    readers.back()->send(test::request_text("GET /file"));
    EXPECT_THAT(readers.back()->some(), HasSubstr("200 OK"));
  }
  EXPECT_EQ(ask(*app, "GET /short").body, "short");
  const auto third = ask(*app, "GET /file");
  EXPECT_EQ(third.status, 503);
  EXPECT_EQ(third.header("Retry-After"), "5");
  EXPECT_THAT(third.header("X-Error-Message"), HasSubstr("try again"));
  const auto upload = ask(*app, "PUT /file", "abc");
  EXPECT_EQ(upload.status, 503);
  EXPECT_EQ(upload.header("Content-Type"), "text/plain; charset=utf-8");
  const std::string figures = ask(*app, "GET /metrics").body;
  EXPECT_THAT(figures, HasSubstr("stackgate_http_refused_total{reason=\"transfers_full\"} 2"));
  EXPECT_THAT(figures, HasSubstr("stackgate_http_transfers_running 2"));
  EXPECT_THAT(figures, HasSubstr("stackgate_http_transfers_per_client 2"));
}

TEST(App, SharesUploadsAndDownloadsByTheAddressThatTheTrustedProxyNames) {
  AppConfig config;
  config.transfer_threads = 2;
  config.transfer_wait = std::chrono::milliseconds(50);
  config.trust_forwarded = true;
  const auto app = test::start({{"GET", "/file", endless, {.transfer = true}}}, std::move(config));
  http::test::Client first(app->port()), other(app->port());
  first.send(test::request_text("GET /file", {}, "X-Forwarded-For: 6.6.6.6, 192.0.2.1\r\n"));
  EXPECT_THAT(first.some(), HasSubstr("200 OK"));
  EXPECT_EQ(ask(*app, "GET /file", {}, "X-Forwarded-For: 7.7.7.7, 192.0.2.1\r\n").status, 503);
  other.send(test::request_text("GET /file", {}, "X-Forwarded-For: 6.6.6.6, 192.0.2.2\r\n"));
  EXPECT_THAT(other.some(), HasSubstr("200 OK"));
}

TEST(App, KnowsWhoseShareARequestIs) {
  const auto share = [](std::string_view peer, std::string_view forwarded, bool trust) {
    http::Request request;
    request.peer = peer;
    if (!forwarded.empty()) request.headers.push_back({"X-Forwarded-For", forwarded});
    return client_share(request, trust);
  };
  EXPECT_EQ(share("10.0.0.7:4123", "", false), "10.0.0.7");
  EXPECT_EQ(share("[2001:db8:1:2:3::7]:4123", "", false), "2001:db8:1:2::/64");
  EXPECT_EQ(share("[::ffff:10.0.0.7]:4123", "", false), "10.0.0.7");
  EXPECT_EQ(share("10.0.0.7:4123", "192.0.2.1", false), "10.0.0.7");
  EXPECT_EQ(share("10.0.0.7:4123", "192.0.2.1", true), "192.0.2.1");
  EXPECT_EQ(share("10.0.0.7:4123", "1.1.1.1, 192.0.2.1:80", true), "192.0.2.1");
  EXPECT_EQ(share("10.0.0.7:4123", "1.1.1.1, [2001:db8::1]:80", true), "2001:db8::/64");
  EXPECT_EQ(share("10.0.0.7:4123", "2001:db8::1", true), "2001:db8::/64");
  for (const std::string_view nobody : {"unknown", "_hidden", ",", "1.1.1.1,", "[", "[]:1", "1.1.1.1, x"})
    EXPECT_EQ(share("10.0.0.7:4123", nobody, true), "10.0.0.7") << nobody;
}

TEST(App, LetsNobodyDribbleForEver) {
  AppConfig config;
  config.min_rate = 100'000;
  const auto app = test::start(
      {{"POST",
        "/stream",
        echo_stream,
        {.dialect = Dialect::lfs, .streams_body = true, .body_bytes = 0, .pause = std::chrono::milliseconds(300)}},
       {"POST", "/whole", echo_body, {.dialect = Dialect::lfs, .body_deadline = std::chrono::milliseconds(300)}}},
      std::move(config));
  for (const std::string path : {"/stream", "/whole"}) {
    http::test::Client client(app->port());
    client.send("POST " + path + " HTTP/1.1\r\nHost: test\r\nContent-Length: 1000\r\nX-Request-Id: mine\r\n\r\n");
    std::string answer;
    for (int i = 0; i < 100 && answer.empty(); ++i) {
      client.send("x");
      answer = client.response(false, std::chrono::milliseconds(20));
    }
    const auto reply = test::split(answer);
    EXPECT_EQ(reply.status, 408) << path;
    EXPECT_EQ(reply.header("Content-Type"), "application/vnd.git-lfs+json") << path;
    EXPECT_EQ(reply.header("X-Request-Id"), "mine") << path;
  }
}

TEST(App, AnswersWhatNeverReachesAHandlerInItsDialectWithAnIdAndCountsIt) {
  metrics::Registry registry;
  std::mutex mutex;
  std::vector<std::string> seen;
  AppConfig config;
  config.metrics = &registry;
  config.observers.push_back([&](const Served& served) {
    const std::lock_guard lock(mutex);
    seen.push_back(std::string(served.request.method) + " " + std::string(served.pattern) + " " +
                   std::to_string(served.status) + " " + std::string(served.request_id));
  });
  const auto app = test::start({{"POST", "/a/{x}", echo_body, {.dialect = Dialect::gitea, .body_bytes = 10}},
                                {"POST", "/git", echo_body, {.dialect = Dialect::text, .body_bytes = 10}},
                                metrics_route(registry)},
                               std::move(config));
  const auto announced = ask(*app, "POST /a/1", "more than ten bytes", "X-Request-Id: one\r\n");
  EXPECT_EQ(announced.status, 413);
  EXPECT_EQ(announced.body, R"({"message":"the request's body is larger than this server takes","url":""})");
  EXPECT_EQ(announced.header("X-Request-Id"), "one");
  EXPECT_EQ(announced.header("X-Content-Type-Options"), "nosniff");
  // Found out late, when the buffer of the head has grown.
  http::test::Client chunks(app->port());
  chunks.send(
      "POST /git HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\nX-Request-Id: two\r\n\r\n2\r\nab\r\nzz\r\n");
  const auto malformed = test::split(chunks.response());
  EXPECT_EQ(malformed.status, 400);
  EXPECT_EQ(malformed.body, "the chunked body is malformed\n");
  EXPECT_EQ(malformed.header("X-Request-Id"), "two");
  http::test::Client garbage(app->port());
  garbage.send("GET / HTTP/1.1\r\nHost : x\r\n\r\n");
  const auto unread = test::split(garbage.response());
  EXPECT_EQ(unread.status, 400);
  EXPECT_THAT(unread.header("X-Request-Id"), testing::MatchesRegex("[0-9a-f]{16}"));
  EXPECT_THAT(unread.body, HasSubstr(R"("code":"BadRequest")"));
  const std::string figures = ask(*app, "GET /metrics").body;
  EXPECT_THAT(figures, HasSubstr(R"(stackgate_http_requests_total{route="/a/{x}",method="POST",code="413"} 1)"));
  EXPECT_THAT(figures, HasSubstr(R"(stackgate_http_requests_total{route="unmatched",method="other",code="400"} 1)"));
  EXPECT_THAT(figures, HasSubstr("stackgate_http_server_rejected_requests_total 3"));
  EXPECT_THAT(figures, HasSubstr("stackgate_http_server_connections_total 4"));
  EXPECT_THAT(figures, HasSubstr("stackgate_http_requests_in_flight 1"));
  const std::lock_guard lock(mutex);
  ASSERT_GE(seen.size(), 3U);
  EXPECT_EQ(seen[0], "POST /a/{x} 413 one");
  EXPECT_EQ(seen[1], "POST /git 400 two");
  EXPECT_THAT(seen[2], testing::StartsWith(" unmatched 400 "));
}

TEST(App, SaysWhatWentWrongWhenAnAnswerWasGivenUpBeforeItsFirstByte) {
  const auto app = test::start({
      {"GET",
       "/failure",
       [](Call& call) -> Answer {
         const auto writer = call.start({200, "text/plain"}, 10);
         return Failure{503, "the object store is away"};
       },
       {.dialect = Dialect::hub}},
      {"GET",
       "/nothing",
       [](Call& call) -> Answer {
         (void)call.start({200, "text/plain"}, 10);
         return Streamed{};
       },
       {.dialect = Dialect::lfs}},
  });
  const auto failure = ask(*app, "GET /failure");
  EXPECT_EQ(failure.status, 503);
  EXPECT_EQ(failure.header("X-Error-Message"), "the object store is away");
  const auto nothing = ask(*app, "GET /nothing");
  EXPECT_EQ(nothing.status, 500);
  EXPECT_EQ(nothing.header("Content-Type"), "application/vnd.git-lfs+json");
  EXPECT_NE(nothing.header("X-Request-Id"), "");
}

TEST(App, ShowsTheLastFiguresAfterItsEnd) {
  metrics::Registry registry;
  {
    AppConfig config;
    config.metrics = &registry;
    const auto app = test::start({{"GET", "/", [](Call&) { return text(""); }}}, std::move(config));
    ask(*app, "GET /");
  }
  EXPECT_THAT(registry.render(), HasSubstr("stackgate_http_server_connections_total 1\n"));
  EXPECT_THAT(registry.render(), HasSubstr("stackgate_http_pool_running 0\n"));
}

TEST(App, KnowsItsOwnAddress) {
  const auto app = test::start({{"GET", "/", [](Call& call) { return text(call.base_url()); }}});
  EXPECT_EQ(ask(*app, "GET /").body, "http://test");
  EXPECT_EQ(ask(*app, "GET /", {}, "X-Forwarded-Host: evil\r\n").body, "http://test");
  AppConfig trusting;
  trusting.trust_forwarded = true;
  const auto proxied = test::start({{"GET", "/", [](Call& call) { return text(call.base_url()); }}}, trusting);
  EXPECT_EQ(ask(*proxied, "GET /", {}, "X-Forwarded-Host: a.b:8443, c\r\nX-Forwarded-Proto: https\r\n").body,
            "https://a.b:8443");
  EXPECT_EQ(ask(*proxied, "GET /", {}, "X-Forwarded-Host: \"><script>\r\nX-Forwarded-Proto: js\r\n").body,
            "http://test");
  AppConfig fixed;
  fixed.public_url = "https://models.example/";
  const auto named = test::start({{"GET", "/", [](Call& call) { return text(call.base_url()); }}}, fixed);
  EXPECT_EQ(ask(*named, "GET /").body, "https://models.example");
}

TEST(App, RefusesToStartWithAWrongTable) {
  const Handler nothing = [](Call&) { return text(""); };
  EXPECT_FALSE(App::start({}, {{"GET", "nothing", nothing}}));
  EXPECT_FALSE(App::start({}, {{"GET", "/{a}", nothing}, {"GET", "/{b}", nothing}}));
  EXPECT_FALSE(App::start({}, {{"GET", "/", nothing, {.on_io_thread = true, .streams_body = true}}}));
}

TEST(App, DrainsWhatIsBeingServed) {
  std::promise<void> gate;
  std::shared_future<void> opened(gate.get_future());
  std::atomic<bool> running = false;
  const auto app = test::start({{"GET", "/", [&running, opened](Call&) {
                                   running = true;
                                   opened.wait();
                                   return text("done");
                                 }}});
  http::test::Client client(app->port());
  client.send(test::request_text("GET /"));
  while (!running) std::this_thread::yield();
  std::thread drainer([&] { app->server().drain(std::chrono::seconds(5)); });
  gate.set_value();
  EXPECT_EQ(test::split(client.response()).body, "done");
  drainer.join();
}

}  // namespace
}  // namespace stackgate::web
