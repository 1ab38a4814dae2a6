#include "services/guardrail/store/store.hpp"

#include <atomic>
#include <thread>

#include "tests/guardrail/store/folder_support.hpp"

namespace stackgate::guardrail {
namespace {

using namespace std::chrono_literals;
using test::bad;
using test::good;

class StoreTest : public testing::Test {
 protected:
  Store make(std::chrono::milliseconds look = 0ms) {
    return Store({.folder = folder_.path(), .look = look}, registry_);
  }
  static std::string states(const Store& store) {
    std::string out;
    for (const auto& [id, each] : store.snapshot()->configurations())
      out += id + (each.valid ? "=valid " : each.configuration != nullptr ? "=stale " : "=invalid ");
    return out;
  }
  static ConfigurationPtr one(const Store& store, const std::string& id) {
    return store.snapshot()->find({&id, 1}).configuration;
  }
  std::string metric(const std::string& line) const {
    const std::string all = registry_.render();
    const auto at = all.find(line + " ");
    return at == std::string::npos ? "none"
                                   : all.substr(at + line.size() + 1, all.find('\n', at) - at - line.size() - 1);
  }

  test::Folder folder_;
  metrics::Registry registry_;
};

TEST_F(StoreTest, asks_once_whether_what_compiles_can_be_served_here) {
  folder_.write("a/config.yml", good);
  folder_.write("b/config.yml", bad);
  folder_.write("c/config.yml", good);
  std::string asked;
  bool broken = false;
  Store store({.folder = folder_.path(),
               .look = 0ms,
               .trial = [&](const Configuration& each) -> validate::Findings {
                 asked += each.id + " ";
                 if (each.id != "c" || !broken) return {};
                 return {{.rule = "r", .path = "c/actions.py:3:1", .problem = "fails", .fix = "mend it"}};
               }},
              registry_);
  EXPECT_EQ(states(store), "a=valid b=invalid c=valid ");
  EXPECT_EQ(asked, "a b c ") << "of b all faults are wanted";
  broken = true;
  folder_.write("c/rails.co", "define bot x\n  \"y\"\n");
  store.reload();
  EXPECT_EQ(states(store), "a=valid b=invalid c=stale ");
  EXPECT_EQ(store.snapshot()->configurations().at("c").error, "c/actions.py:3:1: fails; mend it [r]");
  EXPECT_EQ(asked, "a b c c ");
}

TEST_F(StoreTest, serves_what_compiles_and_tells_what_does_not) {
  folder_.write("a/config.yml", good);
  folder_.write("b/config.yml", bad);
  const Store store = make();
  EXPECT_EQ(states(store), "a=valid b=invalid ");
  const auto snapshot = store.snapshot();
  EXPECT_NE(snapshot->configurations().at("b").error.find("b/config.yml"), std::string::npos)
      << snapshot->configurations().at("b").error;
  EXPECT_TRUE(snapshot->problems().starts_with("configuration b: ")) << snapshot->problems();
  using Fault = FoundConfiguration::Fault;
  const std::string names[] = {"a", "b", "c"};
  EXPECT_EQ(snapshot->find({&names[0], 1}).fault, Fault::none);
  EXPECT_EQ(snapshot->find({&names[0], 1}).configuration->id, "a");
  EXPECT_EQ(snapshot->find({&names[1], 1}).fault, Fault::broken);
  EXPECT_EQ(snapshot->find({&names[2], 1}).fault, Fault::unknown);
  EXPECT_EQ(snapshot->find(names).id, "b");
  EXPECT_EQ(metric(R"(stackgate_guardrail_configurations{state="valid"})"), "1");
  EXPECT_EQ(metric(R"(stackgate_guardrail_configurations{state="invalid"})"), "1");
  EXPECT_EQ(metric(R"(stackgate_guardrail_configuration_loads_total{outcome="failed"})"), "1");
}

TEST_F(StoreTest, what_stops_compiling_keeps_what_compiled_last) {
  folder_.write("a/config.yml", good);
  folder_.write("b/config.yml", good);
  Store store = make();
  const auto a = one(store, "a"), b = one(store, "b");
  const auto old = store.snapshot();
  folder_.write("a/config.yml", bad);
  store.reload();
  EXPECT_EQ(states(store), "a=stale b=valid ");
  EXPECT_EQ(one(store, "a"), a);
  EXPECT_EQ(one(store, "b"), b);  // not compiled again
  EXPECT_NE(store.snapshot()->problems().find("the last valid one answers"), std::string::npos);
  EXPECT_EQ(metric(R"(stackgate_guardrail_configuration_loads_total{outcome="kept"})"), "1");
  EXPECT_EQ(old->problems(), "");  // who holds the old one sees the old one
  const auto same = store.snapshot();
  store.reload();
  EXPECT_EQ(store.snapshot(), same);  // nothing changed: nothing done
  folder_.write("a/config.yml", "models: []\npassthrough: true\n");
  store.reload();
  EXPECT_EQ(states(store), "a=valid b=valid ");
  EXPECT_NE(one(store, "a"), a);
  EXPECT_TRUE(one(store, "a")->passthrough);
}

TEST_F(StoreTest, what_is_removed_is_gone_unless_all_is_away) {
  folder_.write("a/config.yml", good);
  folder_.write("b/config.yml", good);
  Store store = make();
  folder_.remove("a");
  store.reload();
  EXPECT_EQ(states(store), "b=valid ");
  folder_.remove("");
  store.reload();
  EXPECT_EQ(states(store), "b=valid ");
  EXPECT_NE(store.snapshot()->problems().find("cannot be read"), std::string::npos);
}

TEST_F(StoreTest, a_file_that_is_too_large_makes_its_configuration_invalid_and_no_other) {
  folder_.write("a/config.yml", good);
  folder_.write("a/kb/x.md", std::string(2U << 20U, 'x'));
  folder_.write("b/config.yml", good);
  Store store = make();
  EXPECT_EQ(states(store), "a=invalid b=valid ");
  EXPECT_NE(store.snapshot()->configurations().at("a").error.find("a/kb/x.md: "), std::string::npos);
  folder_.write("a/kb/x.md", "x");
  store.reload();
  EXPECT_EQ(states(store), "a=valid b=valid ");
}

TEST_F(StoreTest, what_misses_a_file_does_not_compile_without_it) {
  folder_.write("a/config.yml", good);
  folder_.write("b/config.yml", good);
  folder_.write("c__config.yml", good);
  folder_.link("b/rails.co", "nowhere.co");
  folder_.link("c__rails.co", "/etc/passwd");
  Store store = make();
  EXPECT_EQ(states(store), "a=valid b=invalid c=invalid ");
  folder_.remove("b/rails.co");
  folder_.remove("c__rails.co");
  store.reload();
  EXPECT_EQ(states(store), "a=valid b=valid c=valid ");
}

TEST_F(StoreTest, several_as_one_are_made_once) {
  folder_.write("a/config.yml", "models: []\npassthrough: true\n");
  folder_.write("b/config.yml", good);
  Store store = make();
  const std::vector<std::string> ids = {"a", "b"};
  const auto snapshot = store.snapshot();
  const auto first = snapshot->find(ids);
  ASSERT_NE(first.configuration, nullptr) << first.error;
  EXPECT_EQ(snapshot->find(ids).configuration, first.configuration);
  folder_.write("b/config.yml", "models: []\nlowest_temperature: 0.5\n");
  store.reload();
  EXPECT_NE(store.snapshot()->find(ids).configuration, first.configuration);
}

// Clients choose the lists.
TEST_F(StoreTest, of_several_as_one_a_bounded_number_is_kept) {
  folder_.write("a/config.yml", "models: []\n");
  folder_.write("b/config.yml", "models: []\npassthrough: true\n");
  Store store = make();
  const auto snapshot = store.snapshot();
  const auto list = [](unsigned number) {
    std::vector<std::string> out;
    for (unsigned bit = 0; bit < 9; ++bit) out.emplace_back((number >> bit & 1U) != 0 ? "b" : "a");
    return out;
  };
  const std::weak_ptr<const Configuration> first = snapshot->find(list(0)).configuration;
  ASSERT_FALSE(first.expired());
  for (unsigned number = 1; number <= 256; ++number) ASSERT_NE(snapshot->find(list(number)).configuration, nullptr);
  EXPECT_TRUE(first.expired());
}

TEST_F(StoreTest, one_that_searches_makes_all_of_them_slow) {
  folder_.write("a/config.yml", good);
  Store store = make();
  EXPECT_TRUE(store.snapshot()->are_quick());
  folder_.write("b/config.yml", good);
  folder_.write("b/kb/page.md", "# Page\ntext\n");
  store.reload();
  EXPECT_FALSE(store.snapshot()->are_quick());
}

TEST_F(StoreTest, managed_ones_stand_beside_those_of_the_folder) {
  folder_.write("a/config.yml", good);
  Store store = make();
  const auto a = one(store, "a");
  const auto file = [](std::string_view text) {
    return std::vector<File>{{.name = "config.yml", .text = std::string(text), .shown = "data"}};
  };
  store.set_managed({{"a", file(bad)}, {"m", file(good)}, {"x", file(bad)}});
  EXPECT_EQ(states(store), "a=valid m=valid x=invalid ");
  EXPECT_EQ(one(store, "a"), a);
  folder_.write("b/config.yml", good);
  store.reload();
  EXPECT_EQ(states(store), "a=valid b=valid m=valid x=invalid ");
  store.set_managed({});
  EXPECT_EQ(states(store), "a=valid b=valid ");
}

TEST_F(StoreTest, without_a_folder_there_is_nothing) {
  Store store({}, registry_);
  store.reload();
  EXPECT_EQ(states(store), "");
  EXPECT_EQ(store.snapshot()->problems(), "");
}

TEST_F(StoreTest, a_config_map_is_swapped_while_requests_run) {
  folder_.mount({{"a__config.yml", std::string(good)}, {"b__config.yml", std::string(good)}});
  Store store = make(20ms);
  std::atomic<bool> end = false;
  std::atomic<int> torn = 0;
  std::jthread reader([&] {
    const std::vector<std::string> ids = {"a", "b"};
    while (!end) {
      const auto snapshot = store.snapshot();
      const auto& all = snapshot->configurations();
      // Both keys change with each swap: one state, never half of two.
      if (all.at("a").configuration->passthrough != all.at("b").configuration->passthrough) ++torn;
      if (snapshot->find(ids).configuration == nullptr) ++torn;
    }
  });
  for (int i = 1; i <= 20; ++i) {
    const std::string text = std::string(good) + (i % 2 == 1 ? "passthrough: true\n" : "passthrough: false\n");
    folder_.mount({{"a__config.yml", text}, {"b__config.yml", text}});
    bool seen = false;
    for (int n = 0; n < 500 && !seen; ++n, std::this_thread::sleep_for(10ms))
      seen = one(store, "a")->passthrough == (i % 2 == 1);
    EXPECT_TRUE(seen) << i;
  }
  end = true;
  reader.join();
  EXPECT_EQ(torn, 0);
}

}  // namespace
}  // namespace stackgate::guardrail
