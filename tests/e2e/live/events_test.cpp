// Events on a real API server; see live.hpp.
#include "services/kit/kube/events.hpp"

#include <array>
#include <atomic>
#include <cstdio>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/e2e/live/live.hpp"

namespace stackgate::kube::events_test {
namespace {

using live::environment;
using live::within;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;
using Clock = std::chrono::steady_clock;

struct Stored {
  std::string name, reason, message, type;
  std::int64_t count = 0;
};

class LiveEvents : public testing::Test {
 protected:
  void SetUp() override {
    const std::string file = environment("STACKGATE_TEST_KUBECONFIG");
    if (file.empty()) GTEST_SKIP() << live::no_server;
    auto config = load_kubeconfig(file);
    ASSERT_TRUE(config) << config.error().message;
    auto connected = Client::connect(*config);
    ASSERT_TRUE(connected);
    client = std::move(*connected);
    static std::atomic<int> count{0};
    ns = "events-" + std::to_string(getpid()) + "-" + std::to_string(++count);
    ASSERT_TRUE(client->create(types::namespaces, "", R"({"metadata":{"name":")" + ns + R"("}})"));
    const auto made = client->create(types::config_maps, ns, R"({"metadata":{"name":"llm"}})");
    ASSERT_TRUE(made) << made.error().message;
    about = {"v1", "ConfigMap", ns, "llm", std::string(metadata(made->root(), "uid")), "", ""};
  }
  void TearDown() override {
    if (client == nullptr) return;
    (void)client->request("DELETE", collection_path(types::events, ns));
    (void)client->remove(types::config_maps, ns, "llm");
    (void)client->remove(types::namespaces, "", ns);
  }
  std::vector<Stored> stored(std::string_view where) {
    std::vector<Stored> out;
    const auto text = [](const json::Value& event, std::string_view key) {
      return std::string(event.find(key)->string());
    };
    const auto listed = client->list(types::events, where, {}, [&](const json::Value& event) {
      out.push_back({std::string(metadata(event, "name")), text(event, "reason"), text(event, "message"),
                     text(event, "type"), event.find("count")->integer()});
    });
    EXPECT_TRUE(listed) << listed.error().message;
    return out;
  }
  std::vector<Stored> stored() { return stored(ns); }

  std::unique_ptr<Client> client;
  std::string ns;
  ObjectReference about;
};

TEST_F(LiveEvents, one_event_for_each_reason_and_message) {
  EventRecorder recorder(*client, {.instance = "pod-1"});
  recorder.record(about, EventType::warning, "ImagePullBackOff", "image \"a:1\" cannot be pulled");
  recorder.record(about, EventType::normal, "Ready", "all replicas serve");
  recorder.record(about, EventType::normal, "Ready", "all replicas serve");
  ASSERT_TRUE(within(5s, [&] { return recorder.numbers().created == 2 && recorder.numbers().folded == 1; }));
  const auto events = stored();
  ASSERT_THAT(events, SizeIs(2));
  for (const Stored& event : events) {
    EXPECT_EQ(event.count, 1);
    EXPECT_EQ(event.type, event.reason == "Ready" ? "Normal" : "Warning");
  }
  recorder.stop();
  EXPECT_EQ(recorder.numbers().patched, 1U) << "what is folded is told at the end";
  for (const Stored& event : stored()) EXPECT_EQ(event.count, event.reason == "Ready" ? 2 : 1);
  EXPECT_EQ(recorder.numbers().failed, 0U);
}

TEST_F(LiveEvents, repeats_are_patched_at_their_interval) {
  EventRecorder recorder(*client, {.tuning = {.patch_interval = 300ms}});
  for (int i = 0; i < 50; ++i) {
    recorder.record(about, EventType::warning, "Unschedulable", "no node has 8 GPUs");
    std::this_thread::sleep_for(10ms);
  }
  ASSERT_TRUE(within(5s, [&] {
    const auto events = stored();
    return events.size() == 1 && events[0].count == 50;
  }));
  EXPECT_EQ(recorder.numbers().created, 1U);
  EXPECT_LE(recorder.numbers().patched, 4U);
}

TEST_F(LiveEvents, many_similar_ones_become_one) {
  EventRecorder recorder(*client, {});
  for (int i = 0; i < 100; ++i)
    recorder.record(about, EventType::warning, "BackOff", "restart number " + std::to_string(i));
  recorder.stop();
  const auto events = stored();
  EXPECT_THAT(events, SizeIs(11));
  int combined = 0;
  for (const Stored& event : events) {
    if (!event.message.starts_with("(combined from similar events): ")) continue;
    ++combined;
    EXPECT_EQ(event.count, 90);
    EXPECT_THAT(event.message, HasSubstr("restart number 99"));
  }
  EXPECT_EQ(combined, 1);
}

TEST_F(LiveEvents, an_event_that_is_gone_is_made_anew_with_its_count) {
  EventRecorder recorder(*client, {.tuning = {.patch_interval = 0ms}});
  recorder.record(about, EventType::normal, "Ready", "m");
  ASSERT_TRUE(within(5s, [&] { return recorder.numbers().created == 1; }));
  ASSERT_TRUE(client->request("DELETE", collection_path(types::events, ns)));
  recorder.record(about, EventType::normal, "Ready", "m");
  recorder.stop();
  const auto events = stored();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].count, 2);
}

TEST_F(LiveEvents, long_messages_and_odd_characters_are_taken) {
  EventRecorder recorder(*client, {});
  std::string text = "\"quoted\" \\ \n\t \x01 € ";
  for (int i = 0; i < 1000; ++i) text += "€";
  recorder.record(about, EventType::warning, "Odd", text);
  recorder.stop();
  const auto events = stored();
  ASSERT_THAT(events, SizeIs(1)) << recorder.numbers().failed;
  EXPECT_LE(events[0].message.size(), most_event_message);
  EXPECT_THAT(events[0].message, HasSubstr("\"quoted\" \\ \n\t \x01 €"));
}

TEST_F(LiveEvents, of_a_cluster_wide_object_are_in_default) {
  const auto space = client->get(types::namespaces, "", ns);
  ASSERT_TRUE(space);
  EventRecorder recorder(*client, {});
  recorder.record({"v1", "Namespace", "", ns, std::string(metadata(space->root(), "uid")), "", ""}, EventType::normal,
                  "Seen", "of " + ns);
  recorder.stop();
  EXPECT_EQ(recorder.numbers().created, 1U);
  int found = 0;
  for (const Stored& event : stored("default"))
    if (event.message == "of " + ns) {
      ++found;
      EXPECT_TRUE(client->remove(types::events, "default", event.name));
    }
  EXPECT_EQ(found, 1);
}

TEST_F(LiveEvents, what_the_server_refuses_is_counted_and_the_rest_goes_on) {
  EventRecorder recorder(*client, {});
  ObjectReference elsewhere = about;
  elsewhere.ns = "nowhere";
  recorder.record(elsewhere, EventType::normal, "Lost", "m");
  recorder.record(about, EventType::normal, "Found", "m");
  recorder.stop();
  EXPECT_EQ(recorder.numbers().failed, 1U);
  EXPECT_THAT(stored(), SizeIs(1));
}

TEST_F(LiveEvents, a_flood_is_dropped_and_counted_and_nobody_waits) {
  EventRecorder recorder(*client, {.most_waiting = 100});
  const auto begun = Clock::now();
  ObjectReference each = about;
  for (int i = 0; i < 20'000; ++i) {
    each.name = "o" + std::to_string(i);
    recorder.record(each, EventType::normal, "Flood", "m");
  }
  EXPECT_LT(Clock::now() - begun, 2s);
  recorder.stop(10s);
  const EventNumbers numbers = recorder.numbers();
  EXPECT_EQ(numbers.recorded, 20'000U);
  EXPECT_GT(numbers.dropped, 0U);
  EXPECT_EQ(numbers.recorded, numbers.created + numbers.folded + numbers.dropped + numbers.failed);
  EXPECT_EQ(numbers.waiting, 0U);
}

TEST_F(LiveEvents, describe_shows_them) {
  const std::string kubectl = environment("STACKGATE_TEST_KUBECTL");
  if (kubectl.empty()) GTEST_SKIP() << "STACKGATE_TEST_KUBECTL is not set";
  EventRecorder recorder(*client, {});
  recorder.record(about, EventType::warning, "SecretMissing", "secret \"hub\" does not exist");
  recorder.stop();
  const std::string command =
      kubectl + " --kubeconfig=" + environment("STACKGATE_TEST_KUBECONFIG") + " -n " + ns + " describe configmap llm";
  std::string shown;
  FILE* out = popen(command.c_str(), "r");
  ASSERT_NE(out, nullptr);
  std::array<char, 4096> buffer{};
  while (const std::size_t size = fread(buffer.data(), 1, buffer.size(), out)) shown.append(buffer.data(), size);
  ASSERT_EQ(pclose(out), 0) << shown;
  EXPECT_THAT(shown, AllOf(HasSubstr("Warning"), HasSubstr("SecretMissing"), HasSubstr("stackgate"),
                           HasSubstr("secret \"hub\" does not exist")));
}

}  // namespace
}  // namespace stackgate::kube::events_test
