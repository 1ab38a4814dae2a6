#include "services/kit/kube/cache.hpp"

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/kube/indexed_cache.hpp"

namespace stackgate::kube {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// An object with an owner, the Secrets that it names, and a size.
Object object(const std::string& ns, const std::string& name, const std::string& owner = "",
              const std::string& secrets = "[]", int size = 0) {
  bool valid = false;
  Object out = Object::parse(R"({"metadata":{"name":")" + name + R"(","namespace":")" + ns + R"("},"owner":")" + owner +
                                 R"(","secrets":)" + secrets + R"(,"size":)" + std::to_string(size) + "}",
                             valid);
  EXPECT_TRUE(valid);
  return out;
}

enum : std::size_t { by_owner, by_secret };

int project(const json::Value& value, IndexKeys& keys) {
  keys.add(by_owner, value.find("owner")->string());
  for (const json::Value& secret : value.find("secrets")->items())
    keys.add(by_secret, in_namespace(metadata(value, "namespace"), secret.string()));
  return static_cast<int>(value.find("size")->integer());
}

struct Indexed : testing::Test {
  IndexedCache<int> cache{2, project};

  void put(const Object& made) { cache.upsert(made.root()); }
  std::multiset<std::string> found(std::size_t index, std::string_view key) const {
    std::multiset<std::string> out;
    cache.for_each_by(index, key, [&out](std::string_view ns, std::string_view name, int kept) {
      out.insert(std::string(ns) + "/" + std::string(name) + "=" + std::to_string(kept));
    });
    EXPECT_EQ(cache.count_by(index, key), out.size());
    return out;
  }
};

TEST_F(Indexed, finds_by_name_and_by_each_index) {
  put(object("ml", "a", "u1", R"(["hub","db"])", 1));
  put(object("ml", "b", "u1", R"(["hub"])", 2));
  put(object("other", "a", "u2", R"(["hub"])", 3));
  EXPECT_EQ(cache.find("ml", "b"), 2);
  EXPECT_EQ(cache.find("ml", "c"), std::nullopt);
  EXPECT_EQ(cache.find("nowhere", "b"), std::nullopt);
  EXPECT_THAT(found(by_owner, "u1"), UnorderedElementsAre("ml/a=1", "ml/b=2"));
  EXPECT_THAT(found(by_secret, "ml/hub"), UnorderedElementsAre("ml/a=1", "ml/b=2"));
  EXPECT_THAT(found(by_secret, "ml/db"), UnorderedElementsAre("ml/a=1"));
  EXPECT_THAT(found(by_secret, "hub"), IsEmpty()) << "the namespace is part of the key";
  EXPECT_EQ(cache.size(), 3U);
}

TEST_F(Indexed, follows_an_object_whose_keys_change) {
  put(object("ml", "a", "u1", R"(["hub"])", 1));
  put(object("ml", "a", "u2", R"(["db","hub"])", 5));
  EXPECT_THAT(found(by_owner, "u1"), IsEmpty());
  EXPECT_THAT(found(by_owner, "u2"), UnorderedElementsAre("ml/a=5"));
  EXPECT_THAT(found(by_secret, "ml/hub"), UnorderedElementsAre("ml/a=5"));
  put(object("ml", "a", "", "[]", 6));
  EXPECT_THAT(found(by_owner, "u2"), IsEmpty());
  EXPECT_THAT(found(by_owner, ""), IsEmpty()) << "an empty key is none";
  EXPECT_THAT(found(by_secret, "ml/db"), IsEmpty());
  EXPECT_EQ(cache.find("ml", "a"), 6);
}

TEST_F(Indexed, counts_a_key_that_is_given_twice_once) {
  put(object("ml", "a", "u1", R"(["hub","hub"])", 1));
  EXPECT_THAT(found(by_secret, "ml/hub"), UnorderedElementsAre("ml/a=1"));
  put(object("ml", "a", "u1", "[]", 1));
  EXPECT_THAT(found(by_secret, "ml/hub"), IsEmpty());
}

TEST_F(Indexed, forgets_what_is_removed_in_every_index) {
  put(object("ml", "a", "u1", R"(["hub"])"));
  put(object("ml", "b", "u1", R"(["hub"])"));
  put(object("ml", "c", "u1", R"(["hub"])"));
  cache.remove(object("ml", "a").root());
  cache.remove(object("ml", "a").root());
  cache.remove(object("nowhere", "a").root());
  EXPECT_THAT(found(by_owner, "u1"), UnorderedElementsAre("ml/b=0", "ml/c=0"));
  EXPECT_THAT(found(by_secret, "ml/hub"), UnorderedElementsAre("ml/b=0", "ml/c=0"));
  EXPECT_EQ(cache.size(), 2U);
}

TEST_F(Indexed, drops_what_a_new_list_does_not_hold) {
  cache.relist_began();
  put(object("ml", "a", "u1", R"(["hub"])"));
  put(object("ml", "b", "u1", R"(["hub"])"));
  put(object("other", "c", "u1"));
  cache.relist_ended();
  cache.relist_began();
  put(object("ml", "a", "u1", R"(["hub"])"));
  EXPECT_EQ(cache.size(), 3U) << "until the list is whole";
  cache.relist_began();  // it broke off and begins again
  put(object("ml", "b", "u1", R"(["hub"])"));
  cache.relist_ended();
  EXPECT_THAT(found(by_owner, "u1"), UnorderedElementsAre("ml/b=0"));
  EXPECT_EQ(cache.find("ml", "a"), std::nullopt);
}

TEST_F(Indexed, is_written_while_readers_never_pause) {
  const auto begun = std::chrono::steady_clock::now();
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 3; ++t)
    readers.emplace_back([&] {
      while (!done) {
        cache.for_each_by(by_owner, "u1", [&](std::string_view ns, std::string_view, int) { wrong += ns != "ml"; });
        (void)cache.find("ml", "1");
        cache.for_each([&](std::string_view ns, std::string_view, int) { wrong += ns != "ml"; });
      }
    });
  for (int i = 0; i < 2000; ++i) {
    put(object("ml", std::to_string(i % 50), i % 3 == 0 ? "u1" : "u2", R"(["hub"])", i));
    if (i % 7 == 0) cache.remove(object("ml", std::to_string(i % 50)).root());
    if (i % 100 == 0) cache.relist_began();
    if (i % 100 == 90) cache.relist_ended();
  }
  done = true;
  for (auto& each : readers) each.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20)) << "readers keep the writer out";
}

TEST(PlainCache, keeps_the_projection_and_drops_what_a_new_list_does_not_hold) {
  Cache<int> cache([](const json::Value& value) { return static_cast<int>(value.find("size")->integer()); });
  cache.relist_began();
  cache.upsert(object("ml", "a", "", "[]", 7).root());
  cache.upsert(object("", "wide", "", "[]", 8).root());
  cache.relist_ended();
  EXPECT_EQ(cache.find("ml", "a"), 7);
  EXPECT_EQ(cache.find("", "wide"), 8);
  cache.relist_began();
  cache.upsert(object("ml", "b", "", "[]", 9).root());
  EXPECT_EQ(cache.size(), 3U);
  cache.relist_ended();
  EXPECT_EQ(cache.size(), 1U);
  cache.remove(object("ml", "b").root());
  EXPECT_EQ(cache.size(), 0U);
}

}  // namespace
}  // namespace stackgate::kube
