// Shared watches through bad networks, forgetful servers and long lists; see live.hpp.
#include <cstdlib>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include "services/kit/kube/shared_watches.hpp"
#include "tests/e2e/live/watching.hpp"
#include "tests/support/tcp_proxy.hpp"

namespace stackgate::kube {
namespace {

using live::environment;
using live::within;
using test::TcpProxy;
using namespace std::chrono_literals;
using testing::ElementsAre;

struct LiveWatchFaults : WatchingTest {
  void SetUp() override {
    WatchingTest::SetUp();
    if (client == nullptr) return;
    proxy = std::make_unique<TcpProxy>(client->transport().config().server);
    Config config = client->transport().config();
    config.server = proxy->url();
    through_proxy = connect(config);
  }
  void TearDown() override {
    through_proxy.reset();
    WatchingTest::TearDown();
  }
  /// Of all watches together.
  static WatchCounts counts(const SharedWatches& watches) {
    WatchCounts out;
    for (const WatchReport& each : watches.report()) {
      out.lists += each.health.counts.lists;
      out.watches += each.health.counts.watches;
      out.expired += each.health.counts.expired;
      out.stalls += each.health.counts.stalls;
      out.failures += each.health.counts.failures;
    }
    return out;
  }
  static bool all_connected(const SharedWatches& watches) {
    for (const WatchReport& each : watches.report())
      if (!each.health.connected) return false;
    return true;
  }

  std::unique_ptr<TcpProxy> proxy;
  std::unique_ptr<Client> through_proxy;
};

TEST_F(LiveWatchFaults, every_sink_is_right_after_the_server_has_forgotten_where_we_were) {
  const std::string compact = environment("STACKGATE_TEST_COMPACT"),
                    restart = environment("STACKGATE_TEST_RESTART_APISERVER");
  if (compact.empty() || restart.empty()) GTEST_SKIP() << "no commands to compact and restart with";
  make_map(ns, "kept");
  make_map(ns, "doomed");
  const auto a = std::make_shared<Names>(), b = std::make_shared<Names>(), c = std::make_shared<Names>();
  SharedWatches watches(through_proxy->transport(), {});
  watches.subscribe({types::config_maps, ns}, a);
  watches.subscribe({types::config_maps, ns}, b);
  watches.subscribe({types::config_maps, ns, "", "", true}, c);
  watches.start();
  ASSERT_TRUE(within(5s, [&] { return all_connected(watches); }));
  // Not cut: after some failures in a row they would list again unasked.
  proxy->stall_all(true);
  ASSERT_TRUE(client->remove(types::config_maps, ns, "doomed"));
  make_map(ns, "new");
  ASSERT_EQ(std::system(compact.c_str()), 0);
  // Its memory of events begins with what it reads from etcd now.
  ASSERT_EQ(std::system(restart.c_str()), 0);
  make_map(ns, "newer");
  proxy->stall_all(false);
  proxy->cut();
  const std::set<std::string> wanted{"kept", "new", "newer"};
  for (const auto& sink : {a, b, c})
    EXPECT_TRUE(within(20s, [&] { return sink->get() == wanted; })) << testing::PrintToString(sink->get());
  EXPECT_GE(counts(watches).expired, 1U) << "else this test has tried nothing";
  EXPECT_EQ(counts(watches).lists, 2U);
  make_map(ns, "last");
  EXPECT_TRUE(within(5s, [&] { return a->get().contains("last") && c->get().contains("last"); }));
}

TEST_F(LiveWatchFaults, a_proxy_that_holds_connections_open_and_passes_nothing_is_left_behind) {
  make_map(ns, "before");
  WatchTuning tuning;
  tuning.stall = 1s;
  const auto sink = std::make_shared<Names>(), secrets = std::make_shared<Names>();
  SharedWatches watches(through_proxy->transport(), {}, tuning);
  watches.subscribe({types::config_maps, ns}, sink);
  watches.subscribe({types::secrets, ns}, secrets);
  watches.start();
  ASSERT_TRUE(within(5s, [&] { return sink->get().contains("before") && all_connected(watches); }));
  proxy->stall();
  make_map(ns, "new");
  EXPECT_TRUE(within(10s, [&] { return sink->get().contains("new"); }));
  EXPECT_GE(counts(watches).stalls, 1U);
  EXPECT_EQ(counts(watches).lists, 2U) << "they resume, they do not list again";
}

TEST_F(LiveWatchFaults, a_network_that_is_silent_for_seconds_is_waited_out) {
  WatchTuning tuning;
  tuning.stall = 500ms;
  tuning.list_timeout = 2s;
  const auto sink = std::make_shared<Names>();
  SharedWatches watches(through_proxy->transport(), {}, tuning);
  const auto maps = watches.subscribe({types::config_maps, ns}, sink);
  proxy->stall_all(true);
  watches.start();
  make_map(ns, "a");
  std::this_thread::sleep_for(4s);
  EXPECT_FALSE(watches.synced());
  EXPECT_EQ(maps.coverage(ns), Coverage::unlisted);
  proxy->stall_all(false);
  EXPECT_TRUE(within(20s, [&] { return sink->get().contains("a"); })) << watches.report()[0].health.last_error;
  proxy->stall_all(true);
  make_map(ns, "b");
  std::this_thread::sleep_for(3s);
  EXPECT_EQ(maps.coverage(ns), Coverage::listed) << "what is known stays known";
  proxy->stall_all(false);
  EXPECT_TRUE(within(20s, [&] { return sink->get().contains("b"); })) << watches.report()[0].health.last_error;
}

TEST_F(LiveWatchFaults, connections_that_break_in_the_midst_of_lists_leave_nothing_out) {
  const std::string text(2'000, 'x');
  std::set<std::string> wanted;
  for (int i = 0; i < 60; ++i) {
    const std::string name = "m" + std::to_string(i);
    const auto made = client->create(types::config_maps, ns,
                                     R"({"metadata":{"name":")" + name + R"("},"data":{"k":")" + text + R"("}})");
    ASSERT_TRUE(made) << made.error().message;
    wanted.insert(name);
  }
  // 60 objects of 2.3 KB in pages of 10: no connection lives for the whole list.
  proxy->cut_after(60'000);
  WatchTuning tuning;
  tuning.page_size = 10;
  tuning.backoff = {10ms, 50ms, 2.0};
  const auto sink = std::make_shared<Names>();
  SharedWatches watches(through_proxy->transport(), {}, tuning);
  watches.subscribe({types::config_maps, ns}, sink);
  watches.start();
  std::this_thread::sleep_for(2s);
  EXPECT_FALSE(watches.synced());
  EXPECT_GE(counts(watches).failures, 3U);
  ASSERT_TRUE(client->remove(types::config_maps, ns, "m0"));
  wanted.erase("m0");
  proxy->cut_after(0);
  ASSERT_TRUE(within(20s, [&] { return watches.synced(); }));
  EXPECT_TRUE(within(5s, [&] { return sink->get() == wanted; }))
      << "the one that was deleted between two tries is gone";
}

/// Counts, and keeps nothing.
struct Counter final : WatchSink {
  void relist_began() override { count = 0; }
  void upsert(const json::Value&) override { ++count; }
  void remove(const json::Value&) override {}
  void relist_ended() override {}
  std::atomic<int> count{0};
};

// Their own memory would be measured.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__clang__)
constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool sanitized = false;
#endif

/// "VmRSS" or "VmHWM" of this process, in KiB.
long memory(const std::string& what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(what + ":")) return std::atol(line.c_str() + what.size() + 1);
  return 0;
}

TEST_F(LiveWatchFaults, a_list_of_5000_objects_takes_no_memory_to_speak_of) {
  constexpr int objects = 5'000;
  const std::string text(4'000, 'x');
  std::vector<std::thread> makers;
  std::atomic<int> made{0}, next{0};
  for (int t = 0; t < 8; ++t)
    makers.emplace_back([&] {
      for (int i = next++; i < objects; i = next++)
        made += client
                    ->create(types::config_maps, ns,
                             R"({"metadata":{"name":"m)" + std::to_string(i) + R"("},"data":{"k":")" + text + R"("}})")
                    .has_value();
    });
  for (auto& each : makers) each.join();
  ASSERT_EQ(made, objects);

  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";  // the high-water mark begins anew
  const long before = memory("VmRSS");
  const auto full = std::make_shared<Counter>(), bare = std::make_shared<Counter>();
  {
    SharedWatches watches(client->transport(), {});
    watches.subscribe({types::config_maps, ns}, full);
    watches.start();
    ASSERT_TRUE(within(60s, [&] { return watches.synced(); }));
    EXPECT_EQ(full->count, objects);
  }
  const long whole_objects = memory("VmHWM") - before;
  {
    SharedWatches watches(client->transport(), {});
    watches.subscribe({types::config_maps, ns, "", "", true}, bare);
    watches.start();
    ASSERT_TRUE(within(60s, [&] { return watches.synced(); }));
    EXPECT_EQ(bare->count, objects);
  }
  std::printf("%d objects of 4 KB listed: %ld KiB of memory more at most (RSS before: %ld KiB)\n", objects,
              whole_objects, before);
  RecordProperty("kibibytes", static_cast<int>(whole_objects));
  EXPECT_TRUE(sanitized || whole_objects < 3 * 1024) << "a list of 20 MB";
}

}  // namespace
}  // namespace stackgate::kube
