// What every store promises, held against the directory, and against S3 when STACKGATE_TEST_S3 names one:
// "http://host:port,ACCESS_KEY,SECRET_KEY,BUCKET".
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "services/kit/crypto/digest.hpp"
#include "services/kit/objects/options.hpp"
#include "tests/kit/objects/s3_environment.hpp"
#include "tests/support/temp_dir.hpp"

namespace {

using namespace stackgate;
using objects::Fault;

std::string suite_bytes(std::size_t count, unsigned seed = 1) {
  std::string out(count, '\0');
  std::uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 1;
  for (char& c : out) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    c = static_cast<char>(state >> 56U);
  }
  return out;
}

class StoreSuite : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    objects::Options options;
    if (GetParam() == "directory") {
      options.directory = directory_ / "objects";
    } else {
      options.s3 = *test::s3_from_environment();
    }
    auto opened = objects::open_store(options);
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::move(*opened);
    // A prefix of its own for each test: a bucket outlives them.
    prefix_ = "t" + crypto::to_hex(crypto::sha256(crypto::random_bytes(8))).substr(0, 12) + "/";
  }

  std::string key(const std::string& name) const { return prefix_ + name; }

  void put(const std::string& name, std::string_view bytes, bool announced = true) {
    auto upload = store_->create(key(name), announced ? std::optional<std::uint64_t>(bytes.size()) : std::nullopt);
    ASSERT_TRUE(upload) << upload.error().message;
    for (std::size_t at = 0; at < bytes.size(); at += 100'000) {
      auto written = (*upload)->write(bytes.substr(at, 100'000));
      ASSERT_TRUE(written) << written.error().message;
    }
    auto committed = (*upload)->commit();
    ASSERT_TRUE(committed) << committed.error().message;
  }

  std::string get(const std::string& name, std::uint64_t offset = 0) {
    auto download = store_->open(key(name), offset);
    if (!download) return "error: " + download.error().message;
    std::string out;
    std::vector<char> space(70'001);
    while (true) {
      auto count = (*download)->read(space);
      if (!count) return "error: " + count.error().message;
      if (*count == 0) return out;
      out.append(space.data(), *count);
    }
  }

  std::set<std::string> names(const std::string& prefix) {
    std::set<std::string> out;
    auto listed = store_->list(prefix_ + prefix, [&](const objects::Entry& entry) {
      EXPECT_TRUE(out.insert(entry.key.substr(prefix_.size())).second) << entry.key << " came twice";
      return true;
    });
    EXPECT_TRUE(listed) << listed.error().message;
    return out;
  }

  test::TempDir directory_;
  std::unique_ptr<objects::Store> store_;
  std::string prefix_;
};

TEST_P(StoreSuite, IsReady) {
  const auto checked = store_->check();
  EXPECT_TRUE(checked) << checked.error().message;
}

TEST_P(StoreSuite, GivesBackWhatItTook) {
  for (const std::size_t size : {0UZ, 1UZ, 4'096UZ, 1'000'000UZ}) {
    const std::string bytes = suite_bytes(size);
    const std::string name = "sized/" + std::to_string(size);
    put(name, bytes);
    EXPECT_TRUE(get(name) == bytes) << size;
    const auto info = store_->stat(key(name));
    ASSERT_TRUE(info) << info.error().message;
    EXPECT_EQ(info->size, size);
    const auto age = std::chrono::system_clock::now() - info->modified;
    EXPECT_LT(age, std::chrono::minutes(5));
    EXPECT_GT(age, -std::chrono::minutes(5));
  }
}

TEST_P(StoreSuite, TakesMoreThanOnePartWithAndWithoutAnnouncedSize) {
  const std::string bytes = suite_bytes(20'000'000, 2);
  put("big/announced", bytes);
  put("big/unannounced", bytes, false);
  put("big/small-unannounced", bytes.substr(0, 10), false);
  put("big/empty-unannounced", "", false);
  EXPECT_TRUE(get("big/announced") == bytes);
  EXPECT_TRUE(get("big/unannounced") == bytes);
  EXPECT_EQ(get("big/small-unannounced"), bytes.substr(0, 10));
  EXPECT_EQ(get("big/empty-unannounced"), "");
}

TEST_P(StoreSuite, TakesExactlyOneAndTwoParts) {
  const std::string bytes = suite_bytes(10'485'760, 3);
  put("exact/one", bytes.substr(0, 5'242'880), false);
  put("exact/two", bytes, false);
  EXPECT_TRUE(get("exact/one") == bytes.substr(0, 5'242'880));
  EXPECT_TRUE(get("exact/two") == bytes);
}

TEST_P(StoreSuite, ReadsFromAnyOffset) {
  const std::string bytes = suite_bytes(9'000'000, 4);
  put("offset", bytes);
  for (const std::uint64_t offset :
       {0ULL, 1ULL, 1'048'575ULL, 1'048'576ULL, 4'194'303ULL, 4'194'304ULL, 8'999'999ULL, 9'000'000ULL}) {
    auto download = store_->open(key("offset"), offset);
    ASSERT_TRUE(download) << download.error().message;
    EXPECT_EQ((*download)->size(), bytes.size());
    EXPECT_TRUE(get("offset", offset) == bytes.substr(offset)) << offset;
  }
  const auto beyond = store_->open(key("offset"), 9'000'001);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().fault, Fault::refused) << beyond.error().message;
}

TEST_P(StoreSuite, SaysThatAnObjectIsMissing) {
  const auto info = store_->stat(key("none"));
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().fault, Fault::missing) << info.error().message;
  const auto download = store_->open(key("none/below"));
  ASSERT_FALSE(download);
  EXPECT_EQ(download.error().fault, Fault::missing) << download.error().message;
}

TEST_P(StoreSuite, ShowsNothingBeforeTheCommit) {
  auto upload = store_->create(key("later"), 3);
  ASSERT_TRUE(upload);
  ASSERT_TRUE((*upload)->write("abc"));
  EXPECT_FALSE(store_->stat(key("later")));
  EXPECT_EQ(names(""), std::set<std::string>{});
  ASSERT_TRUE((*upload)->commit());
  EXPECT_EQ(get("later"), "abc");
}

TEST_P(StoreSuite, LeavesNothingOfAnUploadThatIsDropped) {
  for (const std::size_t size : {3UZ, 12'000'000UZ}) {
    auto upload = store_->create(key("dropped"), std::nullopt);
    ASSERT_TRUE(upload);
    ASSERT_TRUE((*upload)->write(suite_bytes(size)));
    upload->reset();
    EXPECT_FALSE(store_->stat(key("dropped")));
  }
  EXPECT_EQ(names(""), std::set<std::string>{});
}

TEST_P(StoreSuite, RefusesMoreOrLessThanAnnounced) {
  auto more = store_->create(key("more"), 3);
  ASSERT_TRUE(more);
  EXPECT_FALSE((*more)->write("abcd"));
  EXPECT_FALSE((*more)->write("a"));
  EXPECT_FALSE((*more)->commit());
  auto less = store_->create(key("less"), 3);
  ASSERT_TRUE(less);
  ASSERT_TRUE((*less)->write("ab"));
  EXPECT_FALSE((*less)->commit());
  EXPECT_FALSE((*less)->commit());
  EXPECT_EQ(names(""), std::set<std::string>{});
}

TEST_P(StoreSuite, CommitsOnce) {
  auto upload = store_->create(key("once"), 1);
  ASSERT_TRUE(upload);
  ASSERT_TRUE((*upload)->write("a"));
  ASSERT_TRUE((*upload)->commit());
  EXPECT_FALSE((*upload)->write(""));
  EXPECT_FALSE((*upload)->commit());
  upload->reset();
  EXPECT_EQ(get("once"), "a");
}

TEST_P(StoreSuite, ReplacesWhatWasThereAtOnce) {
  put("same", "old");
  put("same", "newer");
  EXPECT_EQ(get("same"), "newer");
}

TEST_P(StoreSuite, RemovesAndDoesNotMindTwice) {
  put("gone", "x");
  EXPECT_TRUE(store_->remove(key("gone")));
  EXPECT_FALSE(store_->stat(key("gone")));
  const auto again = store_->remove(key("gone"));
  EXPECT_TRUE(again) << again.error().message;
  EXPECT_TRUE(store_->remove(key("never/there")));
}

TEST_P(StoreSuite, ListsByPrefixAndStopsWhenTold) {
  for (const char* name : {"a/1", "a/2", "a/b/3", "ab/4", "c=d/e.f-g_h"}) put(name, name);
  EXPECT_EQ(names(""), (std::set<std::string>{"a/1", "a/2", "a/b/3", "ab/4", "c=d/e.f-g_h"}));
  EXPECT_EQ(names("a/"), (std::set<std::string>{"a/1", "a/2", "a/b/3"}));
  EXPECT_EQ(names("a"), (std::set<std::string>{"a/1", "a/2", "a/b/3", "ab/4"}));
  EXPECT_EQ(names("c=d/e"), (std::set<std::string>{"c=d/e.f-g_h"}));
  EXPECT_EQ(names("none/"), std::set<std::string>{});
  int seen = 0;
  ASSERT_TRUE(store_->list(prefix_, [&](const objects::Entry& entry) {
    EXPECT_EQ(entry.info.size + prefix_.size(), entry.key.size());
    return ++seen < 2;
  }));
  EXPECT_EQ(seen, 2);
}

TEST_P(StoreSuite, RefusesKeysThatAreNone) {
  for (const std::string& name :
       {std::string(), std::string("/"), std::string("/etc/passwd"), std::string("a//b"), std::string("a/"),
        std::string("."), std::string(".."), std::string("a/../b"), std::string("../../etc/passwd"),
        std::string("a/./b"), std::string("a b"), std::string("a\\b"), std::string("a%2e"), std::string("ä"),
        std::string("a\0b", 3), std::string("a\nb"), std::string("+unfinished/x"), std::string(256, 'a'),
        std::string(300, 'a') + "/" + std::string(300, 'b')}) {
    const auto refused = [&](const auto& outcome) {
      ASSERT_FALSE(outcome) << name;
      EXPECT_EQ(outcome.error().fault, Fault::refused) << name;
    };
    refused(store_->stat(name));
    refused(store_->open(name));
    refused(store_->create(name, 1));
    refused(store_->remove(name));
    EXPECT_EQ(store_->presigned_get(name, {}), std::nullopt) << name;
    EXPECT_EQ(store_->presigned_put(name, {}), std::nullopt) << name;
  }
}

TEST_P(StoreSuite, LetsManyWriteTheSameKeyAndKeepsOneWhole) {
  std::vector<std::thread> threads;
  std::vector<std::string> texts;
  for (unsigned t = 0; t < 4; ++t) texts.push_back(suite_bytes(200'000, t + 10));
  for (const std::string& text : texts)
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        auto upload = store_->create(key("raced/deep/er"), text.size());
        ASSERT_TRUE(upload && (*upload)->write(text) && (*upload)->commit());
        const std::string seen = get("raced/deep/er");
        ASSERT_TRUE(std::ranges::find(texts, seen) != texts.end()) << seen.substr(0, 200);
      }
    });
  for (auto& thread : threads) thread.join();
}

std::vector<std::string> stores_here() {
  std::vector<std::string> out = {"directory"};
  if (test::s3_from_environment()) out.emplace_back("s3");
  return out;
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreSuite, testing::ValuesIn(stores_here()),
                         [](const auto& about) { return about.param; });

}  // namespace
