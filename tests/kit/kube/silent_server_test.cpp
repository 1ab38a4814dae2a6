// What waits for a server that takes connections and never says a word.
#include "tests/support/silent_server.hpp"

#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/kube/events.hpp"
#include "services/kit/kube/leader.hpp"

namespace stackgate::kube::silent_server_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

/// A call that waits for another's connection was not sent.
bool ran_out_of_time(Failure failure) { return failure == Failure::timed_out || failure == Failure::unreachable; }

class SilentServer : public testing::Test {
 protected:
  void SetUp() override {
    config.server = server_.url();
    client = *Client::connect(config);
  }

 private:
  const test::SilentServer server_;  // outlives the client

 protected:
  Config config;
  std::unique_ptr<Client> client;
};

TEST_F(SilentServer, a_call_ends_when_it_is_cancelled) {
  auto call = client->start(Request::get(types::secrets, "ns", "a"));
  EXPECT_FALSE(call.wait_for(50ms));
  const auto begun = Clock::now();
  call.cancel();
  const auto result = call.wait();
  EXPECT_LT(Clock::now() - begun, 2s);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().failure, Failure::cancelled);
  EXPECT_THAT(result.error().message, HasSubstr("GET /api/v1/namespaces/ns/secrets/a"));
}

TEST_F(SilentServer, a_call_that_waits_for_its_turn_ends_when_it_is_cancelled) {
  const auto slow = *Client::connect(config, {.rate_limit = {.per_second = 0.1, .burst = 1}});
  auto first = slow->start(Request::get(types::secrets, "ns", "a"));
  auto second = slow->start(Request::get(types::secrets, "ns", "b"));
  EXPECT_FALSE(second.wait_for(20ms));
  second.cancel();
  EXPECT_EQ(second.wait().error().failure, Failure::cancelled);
  first.cancel();
  EXPECT_EQ(first.wait().error().failure, Failure::cancelled);
}

TEST_F(SilentServer, a_turn_that_would_come_too_late_is_refused_at_once) {
  const auto slow = *Client::connect(config, {.rate_limit = {.per_second = 0.1, .burst = 1}});
  auto first = slow->start(Request::get(types::secrets, "ns", "a"), CallOptions::once(500ms));
  const auto begun = Clock::now();
  const auto second = slow->send(Request::get(types::secrets, "ns", "b"), CallOptions::once(500ms));
  EXPECT_LT(Clock::now() - begun, 400ms);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().failure, Failure::limited);
  EXPECT_THAT(second.error().message, HasSubstr("rate limit leaves no room within 500 ms"));
  auto exempt = CallOptions::once(300ms);
  exempt.rate_limited = false;
  EXPECT_TRUE(ran_out_of_time(slow->send(Request::get(types::secrets, "ns", "c"), exempt).error().failure));
  EXPECT_EQ(first.wait().error().failure, Failure::timed_out);
}

TEST_F(SilentServer, calls_side_by_side_time_out_side_by_side) {
  std::vector<Request> requests;
  for (int i = 0; i < 10; ++i) requests.push_back(Request::get(types::secrets, "ns", "a" + std::to_string(i)));
  const auto begun = Clock::now();
  const auto results = client->send_many(std::move(requests), CallOptions::once(300ms));
  EXPECT_LT(Clock::now() - begun, 2s);
  ASSERT_EQ(results.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_TRUE(ran_out_of_time(results[i].error().failure));
    EXPECT_THAT(results[i].error().message, HasSubstr("secrets/a" + std::to_string(i)));
  }
  EXPECT_TRUE(client->send_many({}).empty());
}

// libcurl looks at no time-out while a request waits for the connection that another one is making.
TEST_F(SilentServer, a_call_that_waits_for_anothers_handshake_ends_in_its_own_time) {
  config.server.replace(0, 4, "https");
  const auto secure = *Client::connect(config);
  auto first = secure->start(Request::get(types::secrets, "ns", "a"), CallOptions::once(10s));
  EXPECT_FALSE(first.wait_for(50ms));
  auto begun = Clock::now();
  EXPECT_EQ(secure->send(Request::get(types::leases, "ns", "b"), CallOptions::once(300ms)).error().failure,
            Failure::unreachable);
  EXPECT_LT(Clock::now() - begun, 1s);
  begun = Clock::now();
  auto fresh = CallOptions::once(300ms);
  fresh.fresh_connection = true;
  EXPECT_FALSE(secure->send(Request::get(types::leases, "ns", "c"), fresh));
  EXPECT_LT(Clock::now() - begun, 1s);
  first.cancel();
  EXPECT_EQ(first.wait().error().failure, Failure::cancelled);
}

TEST_F(SilentServer, an_observer_learns_that_there_was_no_answer) {
  std::mutex mutex;
  std::vector<std::string> seen;
  auto observed =
      *Client::connect(config, {.observer = [&](const SeenCall& call) {
                         const std::scoped_lock lock(mutex);
                         seen.push_back(std::string(call.verb) + " " + std::string(call.resource) + " " +
                                        std::to_string(call.code) + " " + std::string(to_string(call.failure)));
                       }});
  (void)observed->send(Request::create(types::leases, "ns", "{}"), CallOptions::once(100ms));
  observed.reset();
  EXPECT_THAT(seen, testing::ElementsAre("create leases.coordination.k8s.io 0 timed_out"));
}

TEST_F(SilentServer, a_blocking_call_on_the_transports_thread_is_refused) {
  std::atomic<int> refused{0};
  std::atomic<bool> over{false};
  client->transport().run([&] {
    if (!client->get(types::secrets, "ns", "a")) ++refused;
    for (const auto& each : client->send_many({Request::get(types::secrets, "ns", "a")}))
      if (!each) ++refused;
    if (!client->list(types::secrets, "ns", {}, [](const json::Value&) {})) ++refused;
    over = true;
  });
  const auto limit = Clock::now() + 5s;
  while (!over && Clock::now() < limit) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(refused, 3);
}

TEST_F(SilentServer, an_elector_that_waits_for_an_answer_ends_in_time) {
  auto elector = *LeaderElector::start(*client, {.ns = "ns", .name = "lease", .identity = "one", .tuning = {}});
  std::this_thread::sleep_for(50ms);
  const auto begun = Clock::now();
  elector->release(200ms);
  EXPECT_LT(Clock::now() - begun, 2s) << "its call may take more than three";
  EXPECT_FALSE(elector->is_leader());
}

TEST_F(SilentServer, a_recorder_that_waits_for_an_answer_ends_in_time_and_counts_what_it_did_not_send) {
  EventRecorder recorder(*client, {});
  for (const char* reason : {"A", "B", "C"})
    recorder.record({"v1", "ConfigMap", "ns", "a", "", "", ""}, EventType::normal, reason, "m");
  std::this_thread::sleep_for(50ms);
  const auto begun = Clock::now();
  recorder.stop(200ms);
  EXPECT_LT(Clock::now() - begun, 2s);
  const EventNumbers numbers = recorder.numbers();
  EXPECT_EQ(numbers.failed + numbers.dropped, 3U);
  EXPECT_EQ(numbers.created, 0U);
}

}  // namespace
}  // namespace stackgate::kube::silent_server_test
