// A server that is gone or hangs: each call ends in bounded time and says so. Runs when a script has taken the server
// of STACKGATE_TEST_S3 away and says so with STACKGATE_TEST_S3_AWAY.
#include <chrono>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "services/kit/objects/s3_store.hpp"
#include "tests/kit/objects/s3_environment.hpp"

namespace {

using namespace stackgate;
using objects::Fault;

class S3AwayTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto s3 = test::s3_from_environment();
    if (!s3 || std::getenv("STACKGATE_TEST_S3_AWAY") == nullptr) GTEST_SKIP() << "STACKGATE_TEST_S3_AWAY is not set";
    objects::S3Options options = *s3;
    options.pause = std::chrono::seconds(2);
    options.connect = std::chrono::seconds(2);
    options.retries = 1;
    store_ = std::make_unique<objects::S3Store>(options);
  }

  template <typename Body>
  void is_told_in_time(Body&& body) {
    const auto start = std::chrono::steady_clock::now();
    const auto outcome = body();
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().fault, Fault::away) << outcome.error().message;
    EXPECT_TRUE(outcome.error().message.contains("does not answer")) << outcome.error().message;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  }

  std::unique_ptr<objects::S3Store> store_;
};

TEST_F(S3AwayTest, IsToldByTheCheckWithinItsTime) {
  const auto start = std::chrono::steady_clock::now();
  is_told_in_time([&] { return store_->check(); });
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(7));
}

TEST_F(S3AwayTest, IsToldByEveryCall) {
  is_told_in_time([&] { return store_->stat("a"); });
  is_told_in_time([&] { return store_->open("a", 0); });
  is_told_in_time([&] { return store_->remove("a"); });
  is_told_in_time([&] {
    auto upload = store_->create("a", 1);
    EXPECT_TRUE(upload && (*upload)->write("x"));
    return (*upload)->commit();
  });
}

TEST_F(S3AwayTest, SignsUrlsAllTheSame) { EXPECT_TRUE(store_->presigned_get("a", {})); }

}  // namespace
