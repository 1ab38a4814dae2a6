// What only a real S3 server can prove: presigned URLs in both directions and the words about what is wrong. Runs when
// STACKGATE_TEST_S3 names one.
#include "services/kit/objects/s3_store.hpp"

#include <cstdlib>
#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "services/kit/crypto/digest.hpp"
#include "tests/kit/objects/s3_environment.hpp"

namespace {

using namespace stackgate;
using objects::Fault;

class S3StoreTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto s3 = test::s3_from_environment();
    if (!s3) GTEST_SKIP() << "STACKGATE_TEST_S3 names no server";
    options_ = *s3;
    store_ = std::make_unique<objects::S3Store>(options_);
    prefix_ = "p" + crypto::to_hex(crypto::sha256(crypto::random_bytes(8))).substr(0, 12) + "/";
  }

  http_client::Response ask(const std::string& method, const std::string& url, std::string body = {},
                            std::vector<std::pair<std::string, std::string>> headers = {}) {
    http_client::Client client({.retries = 0});
    auto reply = client.call({.method = method, .url = url, .headers = std::move(headers), .body = std::move(body)});
    if (!reply) throw std::runtime_error(reply.error().message);
    return std::move(*reply);
  }

  void put(const std::string& key, std::string_view bytes) {
    auto upload = store_->create(key, bytes.size());
    ASSERT_TRUE(upload && (*upload)->write(bytes) && (*upload)->commit());
  }

  std::string why_not(objects::S3Options options) {
    options.retries = 0;
    objects::S3Store store(options);
    const auto checked = store.check();
    return checked ? "" : checked.error().message;
  }

  objects::S3Options options_;
  std::unique_ptr<objects::S3Store> store_;
  std::string prefix_;
};

TEST_F(S3StoreTest, LetsAStrangerDownloadByUrl) {
  const std::string key = prefix_ + "a=b.bin";
  put(key, "0123456789");
  const std::string url = *store_->presigned_get(
      key, {.content_disposition = "attachment; filename=\"ä b.bin\"", .content_type = "text/x-test"});
  const auto reply = ask("GET", url);
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.body, "0123456789");
  EXPECT_EQ(reply.header("content-disposition"), "attachment; filename=\"ä b.bin\"");
  EXPECT_EQ(reply.header("content-type"), "text/x-test");
  const auto part = ask("GET", url, {}, {{"range", "bytes=0-0"}});
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "0");
}

TEST_F(S3StoreTest, HoldsADownloadToMethodKeyAndTime) {
  const std::string key = prefix_ + "held";
  put(key, "x");
  const std::string url = *store_->presigned_get(key, {});
  EXPECT_EQ(ask("PUT", url, "y").status, 403);
  EXPECT_EQ(ask("DELETE", url).status, 403);
  EXPECT_EQ(ask("HEAD", url).status, 403);
  std::string other = url;
  other.replace(other.find("/held"), 5, "/helt");
  EXPECT_EQ(ask("GET", other).status, 403);
  std::string tampered = url;
  tampered.back() = tampered.back() == '0' ? '1' : '0';
  EXPECT_EQ(ask("GET", tampered).status, 403);
  std::string longer = url;
  longer.replace(longer.find("X-Amz-Expires=900"), 17, "X-Amz-Expires=901");
  EXPECT_EQ(ask("GET", longer).status, 403);
  EXPECT_EQ(ask("GET", url + "&response-content-type=text/html").status, 403);
  EXPECT_EQ(ask("GET", url, {}, {{"authorization", "Basic YTpi"}}).status, 400);
  const std::string brief = *store_->presigned_get(key, {.valid = std::chrono::seconds(1)});
  std::this_thread::sleep_for(std::chrono::milliseconds(2'500));
  EXPECT_EQ(ask("GET", brief).status, 403);
  EXPECT_EQ(ask("GET", url).status, 200);
}

TEST_F(S3StoreTest, LetsAStrangerUploadExactlyWhatWasAgreed) {
  const std::string key = prefix_ + "up";
  const std::string url = *store_->presigned_put(key, {.size = 10});
  EXPECT_EQ(ask("PUT", url, "012345678").status, 403);
  EXPECT_EQ(ask("PUT", url, "0123456789a").status, 403);
  EXPECT_EQ(ask("GET", url).status, 403);
  EXPECT_FALSE(store_->stat(key));
  EXPECT_EQ(ask("PUT", url, "0123456789").status, 200);
  EXPECT_EQ(store_->stat(key)->size, 10U);
}

TEST_F(S3StoreTest, LetsTheServerHoldAnUploadToItsHash) {
  const std::string key = prefix_ + "hashed";
  const std::string hash = crypto::to_hex(crypto::sha256("0123456789"));
  const std::string url = *store_->presigned_put(key, {.size = 10, .sha256 = hash});
  EXPECT_GE(ask("PUT", url, "0123456789").status, 400);  // without the header
  EXPECT_GE(ask("PUT", url, "0123456788", {{"x-amz-content-sha256", hash}}).status, 400);
  const std::string other = crypto::to_hex(crypto::sha256("0123456788"));
  EXPECT_EQ(ask("PUT", url, "0123456788", {{"x-amz-content-sha256", other}}).status, 403);
  EXPECT_FALSE(store_->stat(key));
  const auto reply = ask("PUT", url, "0123456789", {{"x-amz-content-sha256", hash}});
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_TRUE(store_->stat(key));
  EXPECT_EQ(store_->presigned_put(key, {.sha256 = "no hash"}), std::nullopt);
}

TEST_F(S3StoreTest, LetsAStrangerUploadInParts) {
  const std::string key = prefix_ + "parts";
  const std::string first(5ULL << 20U, 'a');
  auto upload = store_->begin_parts(key, 2, {});
  ASSERT_TRUE(upload && *upload) << upload.error().message;
  ASSERT_EQ((*upload)->urls.size(), 2U);
  const auto one = ask("PUT", (*upload)->urls[0], first);
  const auto two = ask("PUT", (*upload)->urls[1], "end");
  ASSERT_EQ(one.status, 200) << one.body;
  ASSERT_EQ(two.status, 200) << two.body;
  std::string swapped = (*upload)->urls[1];
  swapped.replace(swapped.find("partNumber=2"), 12, "partNumber=3");
  EXPECT_EQ(ask("PUT", swapped, "x").status, 403);
  const std::string etag_one(one.header("etag").value_or("")), etag_two(two.header("etag").value_or(""));
  EXPECT_FALSE(store_->finish_parts(key, (*upload)->id, {}));
  EXPECT_FALSE(store_->finish_parts(key, (*upload)->id, {{2, etag_two}, {1, etag_one}}));
  EXPECT_FALSE(store_->finish_parts(key, (*upload)->id, {{1, "\"wrong\""}, {2, etag_two}}));
  const auto finished = store_->finish_parts(key, (*upload)->id, {{1, etag_one}, {2, etag_two}});
  EXPECT_TRUE(finished) << finished.error().message;
  EXPECT_EQ(store_->stat(key)->size, first.size() + 3);
}

TEST_F(S3StoreTest, GivesUpAnUploadInParts) {
  const std::string key = prefix_ + "dropped";
  auto upload = store_->begin_parts(key, 1, {});
  ASSERT_TRUE(upload && *upload);
  EXPECT_TRUE(store_->drop_parts(key, (*upload)->id));
  EXPECT_TRUE(store_->drop_parts(key, (*upload)->id));
  EXPECT_EQ(ask("PUT", (*upload)->urls[0], "x").status, 404);
  EXPECT_FALSE(store_->begin_parts(key, 0, {}));
  EXPECT_FALSE(store_->begin_parts(key, 10'001, {}));
}

TEST_F(S3StoreTest, ListsMoreThanOnePage) {
  constexpr int count = 1'030;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = t; i < count; i += 4) put(prefix_ + "many/" + std::to_string(i), "x");
    });
  for (auto& thread : threads) thread.join();
  std::set<std::string> seen;
  const auto listed = store_->list(prefix_, [&](const objects::Entry& entry) { return seen.insert(entry.key).second; });
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(seen.size(), std::size_t{count});
}

TEST_F(S3StoreTest, SaysWhatIsWrongWithItsSettings) {
  objects::S3Options options = options_;
  EXPECT_EQ(why_not(options), "");
  options.bucket = "no-such-bucket";
  EXPECT_TRUE(why_not(options).contains("correct --s3-bucket")) << why_not(options);
  options = options_;
  options.access_key = "NOBODY";
  EXPECT_TRUE(why_not(options).contains("correct S3_ACCESS_KEY")) << why_not(options);
  options = options_;
  options.secret_key = "hunter2";
  EXPECT_TRUE(why_not(options).contains("S3_SECRET_KEY is not")) << why_not(options);
  EXPECT_FALSE(why_not(options).contains("hunter2"));
  options = options_;
  options.endpoint = "http://127.0.0.1:1";
  EXPECT_TRUE(why_not(options).contains("does not answer")) << why_not(options);
}

TEST_F(S3StoreTest, TellsAMissingBucketFromAMissingObject) {
  objects::S3Options options = options_;
  options.bucket = "no-such-bucket";
  objects::S3Store store(options);
  const auto info = store.stat("key");
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().fault, Fault::refused) << info.error().message;
}

TEST_F(S3StoreTest, KnowsTheServersClock) {
  EXPECT_EQ(store_->clock_skew(), std::nullopt);
  ASSERT_TRUE(store_->check());
  ASSERT_TRUE(store_->clock_skew());
  EXPECT_LT(std::abs(store_->clock_skew()->count()), 5);
}

TEST_F(S3StoreTest, NoticesThatAnObjectWasReplacedWhileItWasRead) {
  const std::string key = prefix_ + "changing";
  put(key, std::string(1'000'000, 'a'));
  auto download = store_->open(key, 0);
  ASSERT_TRUE(download);
  put(key, std::string(1'000'000, 'b'));
  std::vector<char> space(200'000);
  std::string seen;
  while (true) {
    const auto count = (*download)->read(space);
    if (!count) {
      EXPECT_TRUE(count.error().message.contains("replaced")) << count.error().message;
      break;
    }
    ASSERT_NE(*count, 0U) << "the end came without complaint";
    seen.append(space.data(), *count);
  }
  EXPECT_FALSE(seen.contains('b'));
}

TEST(S3Presign, UsesThePublicEndpointAndTheBucketsHost) {
  objects::S3Options options{.endpoint = "inner:7480",
                             .public_endpoint = "https://files.example",
                             .bucket = "my-bucket",
                             .access_key = "k",
                             .secret_key = "s",
                             .ssl = false};
  EXPECT_TRUE(objects::S3Store(options).presigned_get("a/b", {})->starts_with("https://files.example/my-bucket/a/b?"));
  options.path_style = false;
  EXPECT_TRUE(objects::S3Store(options).presigned_get("a/b", {})->starts_with("https://my-bucket.files.example/a/b?"));
  options.public_endpoint.clear();
  EXPECT_TRUE(objects::S3Store(options).presigned_put("a", {})->starts_with("http://my-bucket.inner:7480/a?"));
}

TEST(S3Presign, RefusesWhatCannotBeAHeaderOrAPut) {
  objects::S3Store store({.endpoint = "inner:7480", .bucket = "b-b", .access_key = "k", .secret_key = "s"});
  EXPECT_EQ(store.presigned_get("a", {.content_disposition = "x\r\nSet-Cookie: y"}), std::nullopt);
  EXPECT_EQ(store.presigned_put("a", {.size = (5ULL << 30U) + 1}), std::nullopt);
}

}  // namespace
