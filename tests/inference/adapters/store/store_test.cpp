#include "services/inference/adapters/store.hpp"

#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/inference/adapters/store/small_adapter.hpp"

namespace stackgate::inference {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;
using Acquired = std::expected<ServedAdapterPtr, web::Failure>;

template <class Holds>
bool soon(Holds holds) {
  for (int i = 0; i < 2'000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

/// A server's adapters out of a directory.
class Server : public ::testing::Test {
 protected:
  AdapterStoreOptions options() {
    AdapterStoreOptions out;
    out.source = source / "adapters";
    out.refresh_interval = 1s;
    out.data_dir = data / ".";
    out.base_names = {"small"};
    out.allowed_directory = elsewhere / ".";
    out.check = check_against(test::small_base(), {});
    out.load = load_for(test::small_base(), {});
    out.gone = [this](std::uint64_t key) { gone = key; };
    return out;
  }
  void start(const AdapterStoreOptions& with) {
    store.reset();
    registry = std::make_unique<metrics::Registry>();
    auto opened = AdapterStore::open(with, *registry);
    ASSERT_TRUE(opened) << opened.error();
    store = std::move(*opened);
  }
  void start() { start(options()); }
  bool is(std::string_view name, AdapterState state) {
    return soon([&] {
      store->refresh();
      return store->state(name) == state;
    });
  }
  Acquired acquire(std::string_view name) const {
    std::promise<Acquired> promise;
    store->acquire(name, [&](Acquired result) { promise.set_value(std::move(result)); });
    return promise.get_future().get();
  }
  std::expected<void, web::Failure> load(const std::string& name, const std::string& path,
                                         bool in_place = false) const {
    std::promise<std::expected<void, web::Failure>> promise;
    store->load(name, path, in_place, [&](auto result) { promise.set_value(std::move(result)); });
    return promise.get_future().get();
  }
  std::vector<std::string> directories() const {
    std::vector<std::string> out;
    for (const auto& each : fs::directory_iterator(data / "adapters"))
      if (each.is_directory()) out.push_back(each.path().filename());
    return out;
  }

  stackgate::test::TempDir source, data, elsewhere;
  std::atomic<std::uint64_t> gone = 0;
  std::unique_ptr<metrics::Registry> registry;
  std::unique_ptr<AdapterStore> store;

  void SetUp() override { fs::create_directories(source / "adapters"); }
};

TEST_F(Server, serves_what_its_directory_holds) {
  test::write_small_adapter(source, "adapters/one");
  fs::create_directories(source / "adapters/nothing");
  start();
  ASSERT_TRUE(is("one", AdapterState::served));
  const Acquired one = acquire("one");
  ASSERT_TRUE(one);
  EXPECT_EQ((*one)->rank, 2);
  EXPECT_EQ((*one)->weights->layers.at(0)[5].rank, 2);
  EXPECT_NE((*one)->key, 0);
  EXPECT_THAT(store->list(), SizeIs(1));
  EXPECT_EQ(store->list()[0].residency, Residency::resident);
  ASSERT_THAT(store->named(), SizeIs(1));
  EXPECT_EQ(store->named()[0].name, "one");
  EXPECT_TRUE(fs::exists(store->named()[0].directory + "/adapter_model.safetensors"));
  EXPECT_THAT(registry->render(), HasSubstr("stackgate_inference_adapters{state=\"ready\"} 1"));
}

TEST_F(Server, unknown_names_are_404) {
  start();
  EXPECT_EQ(store->state("one"), AdapterState::unknown);
  const Acquired one = acquire("one");
  ASSERT_FALSE(one);
  EXPECT_EQ(one.error().status, 404);
}

TEST_F(Server, what_does_not_fit_is_503_with_its_reason_until_it_does) {
  test::write_small_adapter(source, "adapters/one", 9);
  start();
  ASSERT_TRUE(soon([&] { return !store->list().empty() && store->list()[0].fitness == Fitness::failing; }));
  EXPECT_EQ(store->state("one"), AdapterState::failing);
  const Acquired one = acquire("one");
  ASSERT_FALSE(one);
  EXPECT_EQ(one.error().status, 503);
  EXPECT_THAT(one.error().message, HasSubstr("the base wants [2, 8]"));
  ASSERT_THAT(one.error().headers, SizeIs(1));
  EXPECT_EQ(one.error().headers[0].first, "Retry-After");
  EXPECT_THAT(directories(), IsEmpty());
  EXPECT_THAT(registry->render(),
              HasSubstr("stackgate_inference_adapter_failing{adapter=\"one\",version=\"\",reason=\""));
  EXPECT_THAT(registry->render(), HasSubstr("the base wants [2, 8]"));
  test::write_small_adapter(source, "adapters/one");
  EXPECT_TRUE(is("one", AdapterState::served));
  EXPECT_TRUE(soon([&] { return !registry->render().contains("adapter_failing{"); })) << registry->render();
  store.reset();
  EXPECT_THAT(registry->render(), HasSubstr("stackgate_inference_adapter_failing")) << "read when the store is gone";
}

TEST_F(Server, a_folder_written_anew_replaces_and_those_who_read_end_with_the_old) {
  test::write_small_adapter(source, "adapters/one");
  start();
  ASSERT_TRUE(is("one", AdapterState::served));
  Acquired old = acquire("one");
  ASSERT_TRUE(old);
  const std::uint64_t key = (*old)->key;
  const std::string directory = (*old)->directory;
  fs::remove_all(source / "adapters/one");
  test::write_small_adapter(source, "adapters/one");
  ASSERT_TRUE(soon([&] {
    store->refresh();
    const Acquired now = acquire("one");
    return now && (*now)->key != key;
  }));
  EXPECT_TRUE(fs::exists(directory + "/adapter_model.safetensors")) << "somebody reads it";
  EXPECT_EQ(gone, 0);
  old->reset();
  EXPECT_TRUE(soon([&] { return gone == key; }));
  EXPECT_TRUE(soon([&] { return !fs::exists(directory); }));
  EXPECT_THAT(directories(), SizeIs(1));
}

TEST_F(Server, what_leaves_the_directory_is_gone) {
  test::write_small_adapter(source, "adapters/one");
  start();
  ASSERT_TRUE(is("one", AdapterState::served));
  fs::remove_all(source / "adapters/one");
  EXPECT_TRUE(is("one", AdapterState::unknown));
  EXPECT_TRUE(soon([&] { return directories().empty(); }));
}

TEST_F(Server, a_source_that_is_away_takes_nothing_away_not_even_over_a_restart) {
  test::write_small_adapter(source, "adapters/one");
  start();
  ASSERT_TRUE(is("one", AdapterState::served));
  fs::rename(source / "adapters", elsewhere / "away");
  store->refresh();
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(store->state("one"), AdapterState::served);
  fs::create_directories(data / "adapters/half~1.part");
  data.write("adapters/half~1.part/adapter_config.json", "{");
  start();
  EXPECT_EQ(store->state("one"), AdapterState::served) << "before the first list";
  EXPECT_TRUE(acquire("one"));
  EXPECT_THAT(directories(), SizeIs(1)) << "what was not whole is gone";
}

TEST_F(Server, a_directory_on_the_disk_that_fits_no_more_is_fetched_again_or_fails) {
  test::write_small_adapter(source, "adapters/one");
  start();
  ASSERT_TRUE(is("one", AdapterState::served));
  const std::string directory = store->named()[0].directory;
  store.reset();
  fs::resize_file(directory + "/adapter_model.safetensors", 100);
  start();
  ASSERT_TRUE(is("one", AdapterState::served));
  EXPECT_GT(fs::file_size(store->named()[0].directory + "/adapter_model.safetensors"), 100);
}

TEST_F(Server, another_source_begins_anew) {
  test::write_small_adapter(source, "adapters/one");
  start();
  ASSERT_TRUE(is("one", AdapterState::served));
  AdapterStoreOptions other = options();
  other.source = elsewhere / ".";
  start(other);
  EXPECT_EQ(store->state("one"), AdapterState::unknown);
}

TEST_F(Server, takes_its_data_directory_for_itself) {
  start();
  metrics::Registry second;
  const auto opened = AdapterStore::open(options(), second);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error(), HasSubstr("is in use"));
}

TEST_F(Server, adapters_are_loaded_and_unloaded_by_calls) {
  test::write_small_adapter(elsewhere, "two");
  test::write_small_adapter(elsewhere, "bad", 9);
  test::write_small_adapter(source, "adapters/one");
  start();
  ASSERT_TRUE(is("one", AdapterState::served));
  ASSERT_TRUE(load("two", elsewhere / "two"));
  EXPECT_EQ(store->state("two"), AdapterState::served);
  const std::uint64_t key = (*acquire("two"))->key;
  EXPECT_EQ(load("two", elsewhere / "two").error().status, 400) << "loaded already";
  ASSERT_TRUE(load("two", elsewhere / "two", true));
  EXPECT_NE((*acquire("two"))->key, key);
  EXPECT_THAT(load("bad", elsewhere / "bad").error().message, HasSubstr("the base wants"));
  EXPECT_EQ(load("small", elsewhere / "two").error().status, 400) << "the base's name";
  EXPECT_EQ(load("one", elsewhere / "two", true).error().status, 400) << "the source's";
  EXPECT_EQ(store->unload("one").error().status, 400);
  EXPECT_TRUE(store->unload("two"));
  EXPECT_EQ(store->unload("two").error().status, 404);
  EXPECT_EQ(store->state("two"), AdapterState::unknown);
}

TEST_F(Server, calls_reach_no_files_outside_of_the_allowed_directory) {
  test::write_small_adapter(source, "adapters/one");
  fs::create_directory_symlink(source / "adapters/one", elsewhere / "link");
  fs::create_directories(elsewhere / "files");
  for (const char* name : {"adapter_config.json", "adapter_model.safetensors"})
    fs::create_symlink(source / "adapters/one" + ("/" + std::string(name)),
                       elsewhere / "files" + ("/" + std::string(name)));
  start();
  for (const std::string& path : {source / "adapters/one", elsewhere / "link", elsewhere / "files",
                                  elsewhere / "../one", std::string("/"), elsewhere / "none"}) {
    const auto loaded = load("x", path);
    ASSERT_FALSE(loaded) << path;
    EXPECT_EQ(loaded.error().status, 400);
  }
  EXPECT_EQ(store->state("x"), AdapterState::unknown);
}

TEST_F(Server, without_an_engine_keeps_directories_alone) {
  test::write_small_adapter(source, "adapters/one");
  AdapterStoreOptions upstream = options();
  upstream.check = check_alone({});
  upstream.load = {};
  start(upstream);
  ASSERT_TRUE(is("one", AdapterState::served));
  const Acquired one = acquire("one");
  ASSERT_TRUE(one);
  EXPECT_EQ((*one)->weights, nullptr);
  EXPECT_EQ((*one)->rank, 2);
  EXPECT_TRUE(fs::exists((*one)->directory + "/adapter_config.json"));
}

TEST(AdapterStoreOptions, that_do_not_fit_together_are_told) {
  AdapterStoreOptions options{.resident = 8, .memory = 4};
  options.refresh_interval = 0s;
  EXPECT_THAT(faults_of(options), SizeIs(3));
}

}  // namespace
}  // namespace stackgate::inference
