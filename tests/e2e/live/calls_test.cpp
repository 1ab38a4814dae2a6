// Many calls at once on a real API server; see live.hpp.
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "services/kit/json/read.hpp"
#include "services/kit/kube/client.hpp"
#include "services/kit/kube/watch_runner.hpp"
#include "tests/e2e/live/live.hpp"

namespace stackgate::kube::calls_test {
namespace {

using live::environment;
using live::within;
using namespace std::chrono_literals;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using Clock = std::chrono::steady_clock;

std::string config_map(std::string_view name) {
  return R"({"metadata":{"name":")" + std::string(name) + R"("},"data":{"a":"1","b":"2"}})";
}

class LiveCalls : public testing::Test {
 protected:
  void SetUp() override {
    if (environment("STACKGATE_TEST_KUBECONFIG").empty()) GTEST_SKIP() << live::no_server;
    client = connect({.observer = [this](const SeenCall& call) {
      const std::scoped_lock lock(mutex);
      std::string key(call.verb);
      key.append(" ").append(call.resource).append(" ").append(std::to_string(call.code));
      if (!call.subresource.empty()) key.append(" ").append(call.subresource);
      ++seen[key];
      longest = std::max(longest, call.duration);
    }});
    static std::atomic<int> count{0};
    ns = "calls-" + std::to_string(getpid()) + "-" + std::to_string(++count);
    ASSERT_TRUE(client->create(types::namespaces, "", R"({"metadata":{"name":")" + ns + R"("}})"));
  }
  void TearDown() override {
    if (client == nullptr) return;
    (void)client->request("DELETE", collection_path(types::config_maps, ns));
    (void)client->remove(types::namespaces, "", ns);
  }
  static std::unique_ptr<Client> connect(ClientOptions options) {
    auto config = load_kubeconfig(environment("STACKGATE_TEST_KUBECONFIG"));
    EXPECT_TRUE(config) << config.error().message;
    auto connected = Client::connect(*config, std::move(options));
    EXPECT_TRUE(connected);
    return std::move(*connected);
  }
  Request create(const std::string& name) const { return Request::create(types::config_maps, ns, config_map(name)); }
  std::map<std::string, int> calls_seen() {
    const std::scoped_lock lock(mutex);
    return seen;
  }

  std::mutex mutex;
  std::map<std::string, int> seen;
  std::chrono::microseconds longest{0};
  std::unique_ptr<Client> client;
  std::string ns;
};

TEST_F(LiveCalls, results_stand_in_the_order_of_the_requests_and_failures_among_them) {
  std::vector<Request> requests;
  requests.push_back(create("a"));
  requests.push_back(Request::get(types::config_maps, ns, "not-there"));
  requests.push_back(Request::create(types::config_maps, ns, "{\"metadata\":{}}"));
  requests.push_back(create("b"));
  requests.push_back(Request::create(types::config_maps, "nowhere", config_map("c")));
  const auto results = client->send_many(std::move(requests));
  ASSERT_EQ(results.size(), 5U);
  ASSERT_TRUE(results[0]);
  EXPECT_EQ(results[0]->status, 201);
  EXPECT_THAT(results[0]->body, HasSubstr("\"a\""));
  EXPECT_TRUE(results[1].error().object_missing("not-there"));
  EXPECT_EQ(results[2].error().code, 422);
  EXPECT_THAT(results[2].error().message, HasSubstr("name or generateName is required"));
  ASSERT_TRUE(results[3]);
  EXPECT_THAT(results[3]->body, HasSubstr("\"b\""));
  EXPECT_EQ(results[4].error().code, 404);
}

TEST_F(LiveCalls, large_and_small_answers_side_by_side_never_wait_for_a_timer) {
  std::vector<Request> filling;
  for (int i = 0; i < 15; ++i)
    filling.push_back(Request::create(
        types::config_maps, ns,
        R"({"metadata":{"name":"f)" + std::to_string(i) + R"("},"data":{"a":")" + std::string(3000, 'x') + "\"}}"));
  for (const auto& made : client->send_many(std::move(filling))) ASSERT_TRUE(made) << made.error().message;
  Clock::duration longest_round{0};
  for (int round = 0; round < 250; ++round) {
    std::vector<Request> requests;
    for (int i = 0; i < 15; ++i)
      requests.push_back({.method = "GET",
                          .path = collection_path(i % 5 == 0 ? types::config_maps : types::secrets, ns),
                          .idempotent = true});
    const auto begun = Clock::now();
    for (const auto& result : client->send_many(std::move(requests))) ASSERT_TRUE(result) << result.error().message;
    longest_round = std::max(longest_round, Clock::now() - begun);
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_LT(longest_round, 2s);  // the connect time-out, after 5 s, used to be what woke a finished answer
}

TEST_F(LiveCalls, hundreds_at_once_share_a_connection) {
  std::vector<Request> requests;
  for (int i = 0; i < 400; ++i) requests.push_back(create("m" + std::to_string(i)));
  const auto results = client->send_many(std::move(requests));
  for (const auto& result : results) ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(client->transport().stats().connections_total, 1U);
  int found = 0;
  ASSERT_TRUE(client->list(types::config_maps, ns, {}, [&](const json::Value&) { ++found; }));
  EXPECT_GE(found, 400);
}

TEST_F(LiveCalls, a_call_goes_on_when_nobody_waits_for_it) {
  {
    const auto forgotten = client->start(create("forgotten"));
  }
  EXPECT_TRUE(within(5s, [&] { return client->get(types::config_maps, ns, "forgotten").has_value(); }));
}

TEST_F(LiveCalls, a_cancelled_call_leaves_the_others_alone) {
  std::vector<Pending> calls;
  for (int i = 0; i < 20; ++i) calls.push_back(client->start(create("c" + std::to_string(i))));
  for (std::size_t i = 0; i < 20; i += 2) calls[i].cancel();
  for (std::size_t i = 0; i < 20; ++i) {
    const auto result = calls[i].wait();
    if (i % 2 == 1) {
      EXPECT_TRUE(result) << result.error().message;
    } else if (!result) {
      EXPECT_EQ(result.error().failure, Failure::cancelled);
    }
  }
}

TEST_F(LiveCalls, a_json_patch_tells_what_did_not_fit_as_a_value) {
  ASSERT_TRUE(client->send(create("p")));
  const auto patch = [&](const char* text) {
    return client->patch(types::config_maps, ns, "p", PatchType::json, text);
  };
  const auto good =
      patch(R"([{"op":"test","path":"/data/a","value":"1"},{"op":"replace","path":"/data/a","value":"3"}])");
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(json::at(&good->root(), {"data", "a"})->string(), "3");
  const auto refused = patch(R"([{"op":"test","path":"/data/a","value":"1"},{"op":"remove","path":"/data/b"}])");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, 422);
  EXPECT_EQ(refused.error().reason, "Invalid");
  EXPECT_EQ(patch(R"([{"op":"remove","path":"/data/zzz"}])").error().code, 422);
  EXPECT_EQ(patch("{").error().code, 400);
}

TEST_F(LiveCalls, an_answer_without_content_is_the_metadata) {
  const auto made = object_of(client->send(create("meta").metadata_only()));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->name(), "meta");
  EXPECT_NE(made->resource_version(), "");
  EXPECT_EQ(made->root().find("data"), nullptr);
  const auto applied = object_of(client->send(
      Request::apply(types::config_maps, ns, "meta",
                     R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"meta"},"data":{"a":"9"}})")
          .metadata_only()));
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_EQ(applied->root().find("kind")->string(), "PartialObjectMetadata");
}

TEST_F(LiveCalls, metrics_see_every_exchange_watches_and_lists_included) {
  struct Nothing final : WatchSink {
    void relist_began() override {}
    void upsert(const json::Value&) override {}
    void remove(const json::Value&) override {}
    void relist_ended() override {}
  };
  {
    const Watch watch(client->transport(), {types::config_maps, ns, "", ""}, std::make_shared<Nothing>());
    ASSERT_TRUE(within(5s, [&] { return calls_seen()["watch configmaps 200"] == 1; }));
  }
  ASSERT_TRUE(client->send(create("a")));
  (void)client->send(create("a"));
  (void)client->get(types::config_maps, ns, "b");
  (void)client->apply(types::config_maps, ns, "a", R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})");
  (void)client->remove(types::config_maps, ns, "a");
  const auto all = calls_seen();
  for (const char* each :
       {"create namespaces 201", "list configmaps 200", "create configmaps 201", "create configmaps 409",
        "get configmaps 404", "apply configmaps 200", "delete configmaps 200"})
    EXPECT_THAT(all, Contains(Key(each)));
  EXPECT_GT(longest.count(), 0);
}

TEST_F(LiveCalls, the_rate_limit_holds_for_all_calls_together_but_not_for_exempt_ones) {
  const auto limited = connect({.rate_limit = {.per_second = 50, .burst = 5}});
  std::vector<Request> requests;
  for (int i = 0; i < 30; ++i) requests.push_back(create("l" + std::to_string(i)));
  auto begun = Clock::now();
  for (const auto& result : limited->send_many(std::move(requests))) EXPECT_TRUE(result) << result.error().message;
  EXPECT_GE(Clock::now() - begun, 480ms) << "25 of them wait for 20 ms each";
  EXPECT_LT(Clock::now() - begun, 3s);
  auto exempt = CallOptions{};
  exempt.rate_limited = false;
  begun = Clock::now();
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(limited->get(types::config_maps, ns, "l1", exempt));
  EXPECT_LT(Clock::now() - begun, 1s);
}

}  // namespace
}  // namespace stackgate::kube::calls_test
