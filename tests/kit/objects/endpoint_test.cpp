#include "services/kit/objects/endpoint.hpp"

#include <string>

#include <gtest/gtest.h>

#include "services/kit/objects/options.hpp"

namespace {

using namespace stackgate;

std::string authority_of(std::string_view text, bool ssl) {
  const auto endpoint = objects::parse_endpoint(text, ssl);
  return endpoint ? std::string(endpoint->scheme()) + " " + endpoint->authority() : "error: " + endpoint.error();
}

TEST(Endpoint, ShowsThePortUnlessItIsTheSchemesOwn) {
  EXPECT_EQ(authority_of("rgw:7480", false), "http rgw:7480");
  EXPECT_EQ(authority_of("rgw:443", false), "http rgw:443");
  EXPECT_EQ(authority_of("rgw:443", true), "https rgw");
  EXPECT_EQ(authority_of("RGW.Example", true), "https rgw.example");
  EXPECT_EQ(authority_of("rgw:80", false), "http rgw");
  EXPECT_EQ(authority_of("[::1]:8080", false), "http [::1]:8080");
  EXPECT_EQ(authority_of("[fe80::1]", false), "http [fe80::1]");
}

TEST(Endpoint, LetsASchemeDecide) {
  EXPECT_EQ(authority_of("http://rgw:7480", true), "http rgw:7480");
  EXPECT_EQ(authority_of("https://s3.example/", false), "https s3.example");
}

TEST(Endpoint, RefusesWhatIsNoHostAndPort) {
  for (const char* text :
       {"", ":80", "host:", "host:0", "host:65536", "host:8o", "host:80:80", "http://", "ftp://host", "host/bucket",
        "https://host/bucket", "host?x", "ho st", "::1", "[::1", "[zz]:1", "-host", "host\n", "http://http://host"})
    EXPECT_TRUE(authority_of(text, true).starts_with("error: ")) << text << " " << authority_of(text, true);
}

TEST(Endpoint, DoesNotRepeatCredentials) {
  EXPECT_FALSE(authority_of("https://me:hunter2@host", true).contains("hunter2"));
}

TEST(Bucket, FollowsTheStricterRuleWhereItIsPartOfTheHost) {
  EXPECT_TRUE(objects::valid_bucket("my-bucket.2", false));
  EXPECT_TRUE(objects::valid_bucket("My_Bucket", true));
  for (const char* name : {"My_Bucket", "ab", "-ab", "ab-", "a..b", ""})
    EXPECT_FALSE(objects::valid_bucket(name, false));
  for (const char* name : {"", "ab", "a/b/c", "..", "a b c", "a?b"}) EXPECT_FALSE(objects::valid_bucket(name, true));
}

TEST(StoreOptions, NamesEveryFaultAtOnceAndNoSecret) {
  objects::Options options;
  EXPECT_EQ(objects::faults_of(options).size(), 1U);
  options.s3 = {.endpoint = "host:x", .public_endpoint = "a/b", .region = "", .access_key = "a b", .part_size = 1};
  EXPECT_EQ(objects::faults_of(options).size(), 7U);
  options.s3 = {.endpoint = "host:1", .bucket = "?", .access_key = "key", .secret_key = "hunter2"};
  const auto store = objects::open_store(options);
  ASSERT_FALSE(store);
  EXPECT_TRUE(store.error().message.contains("bucket")) << store.error().message;
  EXPECT_FALSE(store.error().message.contains("hunter2"));
}

}  // namespace
