// Leader election on a real API server; see live.hpp.
#include "services/kit/kube/leader.hpp"

#include <atomic>
#include <csignal>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "services/kit/json/read.hpp"
#include "tests/e2e/live/live.hpp"

namespace stackgate::kube::leader_test {
namespace {

using live::environment;
using live::within;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;
using Clock = std::chrono::steady_clock;

constexpr LeaderTuning quick{.lease_duration = 3s, .renew_deadline = 2s, .retry = 300ms};

class LiveLeader : public testing::Test {
 protected:
  void SetUp() override {
    const std::string file = environment("STACKGATE_TEST_KUBECONFIG");
    if (file.empty()) GTEST_SKIP() << live::no_server;
    client = connect();
    static std::atomic<int> count{0};
    lease = "leader-" + std::to_string(getpid()) + "-" + std::to_string(++count);
  }
  void TearDown() override {
    if (client != nullptr) (void)client->remove(types::leases, "default", lease);
  }
  static std::unique_ptr<Client> connect() {
    auto config = load_kubeconfig(environment("STACKGATE_TEST_KUBECONFIG"));
    EXPECT_TRUE(config) << config.error().message;
    auto connected = Client::connect(*config);
    EXPECT_TRUE(connected);
    return std::move(*connected);
  }
  std::unique_ptr<LeaderElector> compete(Client& with, std::string identity, LeaderCallbacks callbacks = {},
                                         const LeaderTuning& tuning = quick) {
    auto started =
        LeaderElector::start(with, {.ns = "default", .name = lease, .identity = std::move(identity), .tuning = tuning},
                             std::move(callbacks));
    EXPECT_TRUE(started) << started.error().message;
    return std::move(*started);
  }
  LeaseRecord stored() {
    const auto read = client->get(types::leases, "default", lease);
    EXPECT_TRUE(read) << read.error().message;
    return read ? read_lease(read->root()) : LeaseRecord{};
  }

  std::unique_ptr<Client> client;
  std::string lease;
};

TEST_F(LiveLeader, the_first_leads_and_renews) {
  std::atomic<int> started{0};
  const auto one = compete(*client, "one", {.started = [&] { ++started; }});
  ASSERT_TRUE(within(5s, [&] { return one->is_leader() && started == 1; }));
  const LeaseRecord first = stored();
  EXPECT_EQ(first.holder, "one");
  EXPECT_EQ(first.duration, 3s);
  EXPECT_THAT(first.acquire_time, HasSubstr("T"));
  ASSERT_TRUE(within(5s, [&] { return one->numbers().counts.renewals >= 3; }));
  const LeaseRecord later = stored();
  EXPECT_EQ(later.acquire_time, first.acquire_time);
  EXPECT_GT(later.renew_time, first.renew_time);
  EXPECT_EQ(later.transitions, first.transitions);
  EXPECT_TRUE(one->is_leader());
}

TEST_F(LiveLeader, a_released_lease_is_taken_over_within_a_second) {
  const auto other_client = connect();
  auto one = compete(*client, "one");
  ASSERT_TRUE(within(5s, [&] { return one->is_leader(); }));
  std::atomic<Clock::rep> started{0};
  const auto two =
      compete(*other_client, "two", {.started = [&] { started = Clock::now().time_since_epoch().count(); }});
  ASSERT_TRUE(within(5s, [&] { return two->numbers().holder == "one"; }));
  std::this_thread::sleep_for(500ms);
  EXPECT_FALSE(two->is_leader());
  const auto released = Clock::now();
  one->release();
  EXPECT_FALSE(one->is_leader());
  ASSERT_TRUE(within(5s, [&] { return two->is_leader() && started != 0; }));
  const auto took = Clock::time_point(Clock::duration(started)) - released;
  RecordProperty("hand_over_ms", static_cast<int>(took / 1ms));
  std::printf("hand-over: %.1f ms\n", static_cast<double>(took / 1us) / 1000);
  EXPECT_LT(took, 1s);
  EXPECT_EQ(stored().holder, "two");
  EXPECT_EQ(stored().transitions, 1);
}

TEST_F(LiveLeader, a_release_leaves_nobody_as_holder) {
  auto one = compete(*client, "one");
  ASSERT_TRUE(within(5s, [&] { return one->is_leader(); }));
  one.reset();
  EXPECT_EQ(stored().holder, "");
  EXPECT_EQ(stored().duration, 1s);
}

TEST_F(LiveLeader, keeps_the_labels_of_its_lease) {
  const auto one = compete(*client, "one");
  ASSERT_TRUE(within(5s, [&] { return one->is_leader(); }));
  ASSERT_TRUE(
      client->patch(types::leases, "default", lease, PatchType::merge, R"({"metadata":{"labels":{"team":"a"}}})"));
  const auto before = one->numbers().counts.renewals;
  ASSERT_TRUE(within(5s, [&] { return one->numbers().counts.renewals >= before + 2; }));
  EXPECT_TRUE(one->is_leader());
  EXPECT_EQ(one->numbers().counts.lost, 0U);
  const auto read = client->get(types::leases, "default", lease);
  ASSERT_TRUE(read);
  ASSERT_NE(json::at(&read->root(), {"metadata", "labels", "team"}), nullptr);
}

TEST_F(LiveLeader, of_many_that_start_at_once_one_leads) {
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<std::unique_ptr<LeaderElector>> electors;
  std::atomic<int> leading{0}, most{0};
  for (int i = 0; i < 5; ++i) clients.push_back(connect());
  for (int i = 0; i < 5; ++i)
    electors.push_back(compete(*clients[static_cast<std::size_t>(i)], "candidate-" + std::to_string(i),
                               {.started = [&] { most = std::max(most.load(), ++leading); },
                                .stopped = [&](const std::string&) { --leading; }}));
  ASSERT_TRUE(within(5s, [&] { return leading == 1; }));
  // Each in turn hands over to one of the others.
  for (int round = 0; round < 4; ++round) {
    for (auto& elector : electors) {
      if (elector == nullptr || !elector->is_leader()) continue;
      --leading;  // release() calls nobody
      elector.reset();
      break;
    }
    ASSERT_TRUE(within(5s, [&] { return leading == 1; })) << round;
  }
  EXPECT_EQ(most, 1);
  EXPECT_EQ(stored().transitions, 4);
}

TEST_F(LiveLeader, a_lease_that_another_took_by_force_is_lost) {
  std::string why;
  std::atomic<bool> stopped{false};
  const auto one = compete(*client, "one", {.stopped = [&](const std::string& reason) {
    why = reason;
    stopped = true;
  }});
  ASSERT_TRUE(within(5s, [&] { return one->is_leader(); }));
  ASSERT_TRUE(client->patch(types::leases, "default", lease, PatchType::merge,
                            R"({"spec":{"holderIdentity":"thief","leaseDurationSeconds":2}})"));
  ASSERT_TRUE(within(3s, [&] { return stopped.load(); }));
  EXPECT_FALSE(one->is_leader());
  EXPECT_THAT(why, HasSubstr("taken by thief"));
  ASSERT_TRUE(within(6s, [&] { return one->is_leader(); })) << "the thief does not renew";
}

TEST_F(LiveLeader, a_deleted_lease_is_made_anew) {
  const auto one = compete(*client, "one");
  ASSERT_TRUE(within(5s, [&] { return one->is_leader(); }));
  ASSERT_TRUE(client->remove(types::leases, "default", lease));
  ASSERT_TRUE(within(5s, [&] { return client->get(types::leases, "default", lease).has_value(); }));
  EXPECT_EQ(stored().holder, "one");
  EXPECT_TRUE(one->is_leader());
}

TEST_F(LiveLeader, a_namespace_that_does_not_exist_is_told_and_does_no_harm) {
  auto started = LeaderElector::start(*client, {.ns = "nowhere", .name = lease, .identity = "one", .tuning = quick});
  ASSERT_TRUE(started);
  ASSERT_TRUE(within(5s, [&] { return !(*started)->numbers().last_error.empty(); }));
  EXPECT_THAT((*started)->numbers().last_error, HasSubstr("nowhere"));
  std::this_thread::sleep_for(1s);
  EXPECT_LT((*started)->numbers().counts.conflicts, 20U) << "it does not spin";
  EXPECT_FALSE((*started)->is_leader());
}

/// A process of its own that leads until it is killed. It says "L" on the pipe when it leads.
pid_t leading_process(const std::string& lease, const LeaderTuning& tuning, int pipe) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  auto config = load_kubeconfig(environment("STACKGATE_TEST_KUBECONFIG"));
  auto connected = config ? Client::connect(*config) : std::unexpected(config.error());
  if (!connected) _exit(1);
  const auto elector =
      LeaderElector::start(**connected, {.ns = "default", .name = lease, .identity = "doomed", .tuning = tuning},
                           {.started = [pipe] { (void)!write(pipe, "L", 1); }});
  for (;;) pause();
}

void take_over_after_kill(const std::string& lease, const LeaderTuning& tuning,
                          const std::function<std::unique_ptr<LeaderElector>(LeaderCallbacks)>& compete) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t pid = leading_process(lease, tuning, ends[1]);
  ASSERT_GT(pid, 0);
  char said = 0;
  ASSERT_EQ(read(ends[0], &said, 1), 1);
  std::atomic<Clock::rep> started{0};
  const auto two = compete({.started = [&] { started = Clock::now().time_since_epoch().count(); }});
  ASSERT_TRUE(within(5s, [&] { return two->numbers().holder == "doomed"; }));
  std::this_thread::sleep_for(tuning.retry * 2);
  const auto killed = Clock::now();
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  ASSERT_TRUE(within(tuning.lease_duration + 5s, [&] { return two->is_leader() && started != 0; }));
  const auto took = Clock::time_point(Clock::duration(started)) - killed;
  std::printf("after kill -9: %.2f s with a lease of %lld s\n", static_cast<double>(took / 1ms) / 1000,
              static_cast<long long>(tuning.lease_duration.count()));
  EXPECT_LE(took, tuning.lease_duration + 2s);
  EXPECT_GE(took, tuning.lease_duration - tuning.retry - 1s) << "not before the lease has run out";
  close(ends[0]);
  close(ends[1]);
}

TEST_F(LiveLeader, a_killed_leader_is_followed_when_its_lease_has_run_out) {
  client.reset();  // fork() wants no other threads
  take_over_after_kill(lease, quick, [&](LeaderCallbacks callbacks) {
    client = connect();
    return compete(*client, "two", std::move(callbacks));
  });
}

TEST_F(LiveLeader, a_killed_leader_is_followed_with_the_usual_figures) {
  client.reset();
  take_over_after_kill(lease, {}, [&](LeaderCallbacks callbacks) {
    client = connect();
    return compete(*client, "two", std::move(callbacks), {});
  });
}

TEST_F(LiveLeader, does_not_believe_in_itself_beyond_the_deadline_while_its_thread_hangs) {
  const auto one = compete(*client, "one", {}, {.lease_duration = 2s, .renew_deadline = 1s, .retry = 900ms});
  ASSERT_TRUE(within(5s, [&] { return one->is_leader(); }));
  const auto begun = Clock::now();
  std::atomic<bool> free{false};
  // Nothing is sent or received, not even a time-out is told: the elector's thread waits for its renewal.
  client->transport().run([&] {
    while (!free) std::this_thread::sleep_for(1ms);
  });
  EXPECT_TRUE(within(5s, [&] { return !one->is_leader(); }));
  EXPECT_LT(Clock::now() - begun, 1500ms);
  free = true;
  EXPECT_TRUE(within(5s, [&] { return one->is_leader(); }));
}

TEST_F(LiveLeader, survives_a_restart_of_the_api_server) {
  const std::string restart = environment("STACKGATE_TEST_RESTART_APISERVER");
  if (restart.empty()) GTEST_SKIP() << "STACKGATE_TEST_RESTART_APISERVER is not set";
  const auto other_client = connect();
  const auto one = compete(*client, "one"), two = compete(*other_client, "two");
  ASSERT_TRUE(within(5s, [&] { return one->is_leader() != two->is_leader(); }));
  std::atomic<bool> over{false};
  std::atomic<int> both{0};
  std::thread looking([&] {
    for (; !over; std::this_thread::sleep_for(1ms))
      if (one->is_leader() && two->is_leader()) ++both;
  });
  ASSERT_EQ(std::system(restart.c_str()), 0);
  EXPECT_TRUE(within(15s, [&] { return one->is_leader() || two->is_leader(); }));
  std::this_thread::sleep_for(3s);
  over = true;
  looking.join();
  EXPECT_EQ(both, 0);
  EXPECT_NE(one->is_leader(), two->is_leader());
}

TEST(LeaderIdentity, is_the_pods_name_and_never_the_same_twice) {
  setenv("POD_NAME", "operator-7", 1);
  EXPECT_THAT(make_identity(), StartsWith("operator-7_"));
  EXPECT_NE(make_identity(), make_identity());
  unsetenv("POD_NAME");
  EXPECT_GT(make_identity().size(), 17U);
}

}  // namespace
}  // namespace stackgate::kube::leader_test
