// ModelClient against a server on the loopback.
#include "services/guardrail/models/client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/base/current_trace.hpp"
#include "services/kit/web/sse.hpp"
#include "tests/guardrail/models/upstream_double.hpp"

namespace stackgate::guardrail {
namespace {

using namespace std::chrono_literals;
using test::Asked;
using test::says;
using test::UpstreamDouble;
using test::Waiter;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using web::test::soon;

ModelEndpoint endpoint_of(const UpstreamDouble& upstream) { return {.base_url = upstream.base_url(), .model = "m"}; }
ModelRequest question(std::string text = "q") { return {.task = "general", .messages = {{"user", std::move(text)}}}; }

ModelResult<ModelAnswer> ask(const ModelClient& client, const ModelEndpoint& endpoint, ModelRequest request) {
  Waiter<ModelResult<ModelAnswer>> waiter;
  (void)client.ask(endpoint, std::move(request), waiter.function());
  return waiter.get();
}

TEST(ModelClient, asks_with_the_key_of_the_moment_and_the_trace) {
  const UpstreamDouble upstream([](auto&, auto&, int) { return says("hi"); });
  std::string key = "sk-one";
  metrics::Registry registry;
  const ModelClient client({.variable = [&](const std::string& name) -> std::optional<std::string> {
                             return name == "MY_KEY" ? std::optional(key) : std::nullopt;
                           }},
                           registry);
  ModelEndpoint endpoint = endpoint_of(upstream);
  endpoint.api_key_env = "MY_KEY";
  {
    const TraceScope scope({.trace_id = "0123456789abcdef0123456789abcdef", .span_id = "0123456789abcdef"});
    const auto answer = ask(client, endpoint, question());
    ASSERT_TRUE(answer) << answer.error().cause;
    EXPECT_EQ(answer->text, "hi");
    EXPECT_EQ(answer->usage.prompt, 3U);
    EXPECT_GT(answer->took, 0ns);
  }
  key = "sk-two\n";
  ASSERT_TRUE(ask(client, endpoint, question()));
  const auto asked = upstream.asked();
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked[0].path, "/v1/chat/completions");
  EXPECT_EQ(asked[0].body, R"({"model":"m","messages":[{"role":"user","content":"q"}]})");
  EXPECT_EQ(asked[0].authorization, "Bearer sk-one");
  EXPECT_THAT(asked[0].traceparent, HasSubstr("0123456789abcdef0123456789abcdef"));
  EXPECT_EQ(asked[1].authorization, "Bearer sk-two");
  EXPECT_THAT(registry.render(),
              HasSubstr(R"(stackgate_guardrail_model_calls_total{type="main",task="general",result="answered"} 2)"));
}

TEST(ModelClient, never_gives_a_setting_of_ours_away_as_a_key) {
  const UpstreamDouble upstream([](auto&, auto&, int) { return says("hi"); });
  metrics::Registry registry;
  const ModelClient client({.variable = [](const std::string&) { return std::optional<std::string>("secret"); }},
                           registry);
  for (const char* name : {"STACKGATE_DATABASE_URL", "STACKGATE_X"}) {
    ModelEndpoint endpoint = endpoint_of(upstream);
    endpoint.api_key_env = name;
    const auto answer = ask(client, endpoint, question());
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().status, 500);
    EXPECT_THAT(answer.error().cause, HasSubstr(name));
    EXPECT_THAT(answer.error().message, Not(HasSubstr(name)));
  }
  EXPECT_EQ(upstream.count(), 0U);
}

TEST(ModelClient, repeats_what_passes_and_passes_on_what_does_not) {
  const UpstreamDouble upstream([](auto&, const Asked& asked, int number) -> web::Answer {
    if (asked.body.contains("passes")) {
      if (number == 1) return test::json_reply(503, "{}");
      return says("in the end");
    }
    http::Response limited = test::json_reply(429, R"({"error":{"message":"slow down","type":"rate_limit"}})");
    limited.headers.emplace_back("Retry-After", "17");
    return limited;
  });
  metrics::Registry registry;
  const ModelClient client({}, registry);
  const auto answer = ask(client, endpoint_of(upstream), question("passes"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text, "in the end");
  EXPECT_EQ(upstream.count(), 2U);
  const auto refused = ask(client, endpoint_of(upstream), question());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status, 429);
  EXPECT_EQ(refused.error().message, "slow down");
  EXPECT_EQ(refused.error().retry_after, 17s);
  EXPECT_EQ(upstream.count(), 3U);
}

TEST(ModelClient, ends_with_its_deadline) {
  std::mutex mutex;
  std::vector<std::shared_ptr<web::Deferred>> held;
  UpstreamDouble upstream([&](web::Call& call, auto&, int) -> web::Answer {
    const std::lock_guard lock(mutex);
    held.push_back(*call.defer());
    return web::Later{};
  });
  metrics::Registry registry;
  const ModelClient client({}, registry);
  ModelRequest request = question();
  request.deadline = 150ms;
  const auto answer = ask(client, endpoint_of(upstream), std::move(request));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().status, 504);
  EXPECT_THAT(answer.error().cause, HasSubstr("150 ms"));
  const std::lock_guard lock(mutex);
  held.clear();
}

TEST(ModelClient, an_upstream_that_is_not_there_opens_its_breaker) {
  metrics::Registry registry;
  const ModelClient client({.retries = 0, .breaker = {.failures = 3, .rest = 60s, .longest_rest = 60s}}, registry);
  const ModelEndpoint nobody{.base_url = "http://127.0.0.1:1/v1", .model = "m"};
  for (int i = 0; i < 3; ++i) {
    const auto answer = ask(client, nobody, question());
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().status, 502);
  }
  const auto answer = ask(client, nobody, question());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().status, 503);
  EXPECT_THAT(answer.error().cause, HasSubstr("breaker"));
  EXPECT_GE(answer.error().retry_after, 1s);
  const UpstreamDouble other([](auto&, auto&, int) { return says("hi"); });
  EXPECT_TRUE(ask(client, endpoint_of(other), question()));
  EXPECT_THAT(registry.render(),
              HasSubstr(R"(stackgate_guardrail_model_breaker_state{upstream="http://127.0.0.1:1"} 2)"));
}

TEST(ModelClient, answers_that_cannot_be_used_are_failures) {
  const UpstreamDouble upstream([](auto&, auto&, int number) -> web::Answer {
    if (number == 1) return test::json_reply(200, "{\"choices\":");
    if (number == 2) return test::json_reply(200, R"({"choices":[]})");
    return http::Response{302, "text/plain", {{"Location", "http://127.0.0.1:1/"}}, ""};
  });
  metrics::Registry registry;
  const ModelClient client({}, registry);
  for (int i = 0; i < 3; ++i) {
    const auto answer = ask(client, endpoint_of(upstream), question());
    ASSERT_FALSE(answer) << i;
    EXPECT_EQ(answer.error().status, 502) << i;
  }
}

TEST(ModelClient, refuses_at_once_when_too_many_wait) {
  std::mutex mutex;
  std::vector<std::shared_ptr<web::Deferred>> held;
  const UpstreamDouble upstream([&](web::Call& call, auto&, int) -> web::Answer {
    const std::lock_guard lock(mutex);
    held.push_back(*call.defer());
    return web::Later{};
  });
  metrics::Registry registry;
  const ModelClient client({.calls = 1, .waiting = 1}, registry);
  Waiter<ModelResult<ModelAnswer>> first, second;
  auto under_way = client.ask(endpoint_of(upstream), question(), first.function());
  (void)client.ask(endpoint_of(upstream), question("second"), second.function());
  const auto third = ask(client, endpoint_of(upstream), question());
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().status, 503);
  EXPECT_EQ(third.error().retry_after, 1s);
  EXPECT_TRUE(soon([&] { return upstream.count() == 1; }));
  under_way.cancel();
  EXPECT_TRUE(soon([&] { return upstream.count() == 2; })) << "the second one takes the place";
  const std::lock_guard lock(mutex);
  held[1]->answer(says("second"));
  const auto answer = second.get();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text, "second");
  EXPECT_FALSE(first.is_there());
  held.clear();
}

TEST(ModelClient, a_call_that_waits_too_long_for_a_place_ends) {
  std::mutex mutex;
  std::vector<std::shared_ptr<web::Deferred>> held;
  const UpstreamDouble upstream([&](web::Call& call, auto&, int) -> web::Answer {
    const std::lock_guard lock(mutex);
    held.push_back(*call.defer());
    return web::Later{};
  });
  metrics::Registry registry;
  const ModelClient client({.calls = 1, .waiting = 1}, registry);
  auto under_way = client.ask(endpoint_of(upstream), question(), [](const auto&) {});
  ModelRequest hurried = question();
  hurried.deadline = 100ms;
  const auto answer = ask(client, endpoint_of(upstream), std::move(hurried));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().status, 503);
  under_way.cancel();
  const std::lock_guard lock(mutex);
  held.clear();
}

TEST(ModelClient, finds_the_model_that_nobody_names_once) {
  const UpstreamDouble upstream([](auto&, const Asked& asked, int) -> web::Answer {
    if (asked.path == "/v1/models") return test::json_reply(200, R"({"data":[{"id":"llama"},{"id":"b"}]})");
    return says("hi");
  });
  metrics::Registry registry;
  const ModelClient client({}, registry);
  ModelEndpoint endpoint = endpoint_of(upstream);
  endpoint.model.clear();
  ASSERT_TRUE(ask(client, endpoint, question()));
  ASSERT_TRUE(ask(client, endpoint, question()));
  std::vector<std::string> paths;
  for (const Asked& each : upstream.asked()) paths.push_back(each.path);
  EXPECT_THAT(paths, ElementsAre("/v1/models", "/v1/chat/completions", "/v1/chat/completions"));
  EXPECT_THAT(upstream.asked()[1].body, HasSubstr(R"("model":"llama")"));
}

TEST(ModelClient, embeds_lists_and_posts) {
  const UpstreamDouble upstream([](auto&, const Asked& asked, int) -> web::Answer {
    if (asked.path == "/v1/models") return test::json_reply(200, R"({"data":[{"id":"a"}]})");
    if (asked.path == "/other") return test::json_reply(200, R"({"jailbreak":true})");
    return test::json_reply(200, R"({"data":[{"index":0,"embedding":[1,2]}]})");
  });
  metrics::Registry registry;
  const ModelClient client({}, registry);
  Waiter<ModelResult<std::vector<std::vector<float>>>> embedded;
  (void)client.embed(endpoint_of(upstream), {"text"}, embedded.function());
  const auto vectors = embedded.get();
  ASSERT_TRUE(vectors);
  EXPECT_THAT(*vectors, ElementsAre(ElementsAre(1.F, 2.F)));
  EXPECT_EQ(upstream.asked()[0].body, R"({"model":"m","input":["text"]})");
  Waiter<ModelResult<std::vector<std::vector<float>>>> two;
  (void)client.embed(endpoint_of(upstream), {"a", "b"}, two.function());
  EXPECT_FALSE(two.get());
  Waiter<ModelResult<std::string>> listed, posted;
  (void)client.list_models(endpoint_of(upstream), listed.function());
  EXPECT_EQ(listed.get().value_or(""), R"({"data":[{"id":"a"}]})");
  std::string url = upstream.base_url();
  url.replace(url.size() - 3, 3, "/other");
  (void)client.post(url, "", "{}", "jailbreak_detection", posted.function());
  EXPECT_EQ(posted.get().value_or(""), R"({"jailbreak":true})");
}

struct Streamed {
  ModelResult<ModelAnswer> end;
  std::string text;
};

Streamed stream(const ModelClient& client, const ModelEndpoint& endpoint) {
  const auto text = std::make_shared<std::string>();
  Waiter<ModelResult<ModelAnswer>> waiter;
  (void)client.stream(endpoint, question(),
                      {.delta =
                           [text](const ModelDelta& delta) {
                             *text += delta.text;
                             return true;
                           },
                       .end = waiter.function()});
  auto end = waiter.get();
  return {std::move(end), *text};
}

TEST(ModelStream, gives_each_delta_and_the_whole) {
  const UpstreamDouble upstream([](auto&, auto&, int) {
    return test::event_stream(": ping\n\n" + test::chunk("one ") + test::chunk("two") +
                              "data: [DONE]\n\ndata: junk\n\n");
  });
  metrics::Registry registry;
  const ModelClient client({}, registry);
  const auto streamed = stream(client, endpoint_of(upstream));
  ASSERT_TRUE(streamed.end) << streamed.end.error().cause;
  EXPECT_EQ(streamed.text, "one two");
  EXPECT_EQ(streamed.end->text, "one two");
  EXPECT_EQ(streamed.end->message, R"({"role":"assistant","content":"one two"})");
  EXPECT_THAT(upstream.asked()[0].body, HasSubstr(R"("stream":true)"));
}

TEST(ModelStream, an_endpoint_that_answers_whole_is_one_delta) {
  const UpstreamDouble upstream([](auto&, auto&, int) { return says("all"); });
  metrics::Registry registry;
  const ModelClient client({}, registry);
  const auto streamed = stream(client, endpoint_of(upstream));
  ASSERT_TRUE(streamed.end);
  EXPECT_EQ(streamed.text, "all");
}

TEST(ModelStream, what_breaks_or_lies_is_a_failure) {
  const std::vector<std::pair<std::string, int>> table = {
      {test::chunk("a"), 502},
      {test::chunk("a") + "data: {\"choices\":7}\n\n", 502},
      {test::chunk("a") + "data: nothing\n\n" + "data: [DONE]\n\n", 502},
      {test::chunk("a") + R"(data: {"error":{"message":"busy","code":429}})" + "\n\n", 429},
      {test::chunk("a") + "data: " + std::string(2'000'000, 'x') + "\n\n", 502},
      {"", 502}};
  for (const auto& [body, status] : table) {
    const UpstreamDouble upstream([&](auto&, auto&, int) { return test::event_stream(body); });
    metrics::Registry registry;
    const ModelClient client({}, registry);
    const auto streamed = stream(client, endpoint_of(upstream));
    ASSERT_FALSE(streamed.end) << body.substr(0, 200);
    EXPECT_EQ(streamed.end.error().status, status) << body.substr(0, 200);
    EXPECT_EQ(streamed.text, body.empty() ? "" : "a");
  }
}

TEST(ModelStream, back_pressure_reaches_the_upstream_and_a_cancel_ends_it) {
  std::atomic<std::uint64_t> written{0};
  std::atomic<bool> closed{false};
  std::mutex mutex;
  std::shared_ptr<web::Deferred> body;
  const std::string piece = test::chunk(std::string(10'000, 'a'));
  std::function<void()> fill = [&] {
    while (written < 200'000'000) {
      written += piece.size();
      if (!body->write(piece)) return;
    }
  };
  UpstreamDouble upstream([&](web::Call& call, auto&, int) -> web::Answer {
    const std::lock_guard lock(mutex);
    body = *call.defer();
    body->on_closed([&] { closed = true; });
    body->on_writable([&] { fill(); });
    body->start(web::event_stream_head(), std::nullopt);
    fill();
    return web::Later{};
  });
  metrics::Registry registry;
  {
    const ModelClient client({}, registry);
    std::atomic<int> deltas{0};
    auto handle = client.stream(endpoint_of(upstream), question(),
                                {.delta = [&](const ModelDelta&) { return ++deltas != 3; }, .end = [](const auto&) {}});
    ASSERT_TRUE(soon([&] { return deltas == 3; }));
    std::uint64_t before = 0;
    ASSERT_TRUE(soon([&] {
      const bool still = written == std::exchange(before, written.load());
      std::this_thread::sleep_for(50ms);
      return still;
    }));
    EXPECT_EQ(deltas, 3);
    EXPECT_LT(written, 100'000'000U);
    handle.resume();
    ASSERT_TRUE(soon([&] { return deltas > 3 && written > before; }));
    handle.cancel();
    const int at_cancel = deltas;
    EXPECT_TRUE(soon([&] { return closed.load(); }));
    EXPECT_LE(deltas, at_cancel + 1);
  }
  const std::lock_guard lock(mutex);
  body.reset();
}

TEST(ModelClient, its_end_cancels_what_is_under_way_and_lets_go_of_the_functions) {
  std::mutex mutex;
  std::vector<std::shared_ptr<web::Deferred>> held;
  std::atomic<int> closed{0};
  const UpstreamDouble upstream([&](web::Call& call, auto&, int) -> web::Answer {
    const std::lock_guard lock(mutex);
    held.push_back(*call.defer());
    held.back()->on_closed([&] { ++closed; });
    return web::Later{};
  });
  metrics::Registry registry;
  const auto token = std::make_shared<int>(0);
  {
    const ModelClient client({.calls = 2}, registry);
    for (int i = 0; i < 4; ++i)
      (void)client.ask(endpoint_of(upstream), question(), [token](const auto&) { FAIL() << "called"; });
    ASSERT_TRUE(soon([&] { return upstream.count() == 2; }));
  }
  EXPECT_TRUE(soon([&] { return closed == 2 && token.use_count() == 1; })) << closed << " " << token.use_count();
  const std::lock_guard lock(mutex);
  held.clear();
}

}  // namespace
}  // namespace stackgate::guardrail
