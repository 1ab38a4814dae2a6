#include "services/kit/kube/retry.hpp"

#include <gtest/gtest.h>

#include "services/kit/kube/resource.hpp"

namespace stackgate::kube {
namespace {

using namespace std::chrono_literals;

struct RetryCase {
  std::string name;
  ApiError error;
  bool idempotent_again, other_again;
};

ApiError answer(int code, std::chrono::seconds after = 0s) { return {Failure::answered, code, "", "", after}; }
ApiError broken(Failure failure) { return {failure, 0, "", "", 0s}; }

class Retry : public testing::TestWithParam<RetryCase> {};

TEST_P(Retry, is_tried_only_where_it_cannot_do_harm) {
  EXPECT_EQ(may_retry(GetParam().error, true), GetParam().idempotent_again);
  EXPECT_EQ(may_retry(GetParam().error, false), GetParam().other_again);
}

INSTANTIATE_TEST_SUITE_P(, Retry,
                         testing::Values(RetryCase{"unreachable", broken(Failure::unreachable), true, true},
                                         RetryCase{"timed_out", broken(Failure::timed_out), true, false},
                                         RetryCase{"interrupted", broken(Failure::interrupted), true, false},
                                         RetryCase{"cancelled", broken(Failure::cancelled), false, false},
                                         RetryCase{"no_credentials", broken(Failure::credentials), false, false},
                                         RetryCase{"too_many_requests", answer(429, 1s), true, true},
                                         RetryCase{"unavailable_with_a_time", answer(503, 1s), true, true},
                                         RetryCase{"unavailable", answer(503), true, false},
                                         RetryCase{"bad_gateway", answer(502), true, false},
                                         RetryCase{"internal_error", answer(500), false, false},
                                         RetryCase{"not_found", answer(404), false, false},
                                         RetryCase{"conflict", answer(409), false, false},
                                         RetryCase{"gone", answer(410), false, false},
                                         RetryCase{"forbidden", answer(403), false, false}),
                         [](const auto& one) { return one.param.name; });

TEST(RetryWait, honours_what_the_server_asks_for) {
  Backoff backoff({100ms, 1s, 2});
  Jitter jitter(1);
  const auto wait = wait_before_retry(answer(429, 3s), true, 1, 0ms, {}, backoff, jitter);
  ASSERT_TRUE(wait);
  EXPECT_GE(*wait, 3s);
}

TEST(RetryWait, is_over_with_the_attempts_or_the_time) {
  Backoff backoff({100ms, 1s, 2});
  Jitter jitter(1);
  EXPECT_FALSE(wait_before_retry(answer(429), true, 4, 0ms, {}, backoff, jitter));
  EXPECT_FALSE(wait_before_retry(answer(429, 60s), true, 1, 0ms, {}, backoff, jitter));
  EXPECT_FALSE(wait_before_retry(answer(429), true, 1, 30s, {}, backoff, jitter));
}

TEST(BackoffWaits, double_up_to_the_limit_and_start_over) {
  Backoff backoff({100ms, 1s, 2});
  Jitter jitter(7);
  std::chrono::milliseconds whole = 100ms;
  for (int i = 0; i < 100; ++i) {
    const auto wait = backoff.next(jitter);
    EXPECT_GE(wait, whole / 2);
    EXPECT_LE(wait, whole);
    whole = std::min<std::chrono::milliseconds>(whole * 2, 1s);
  }
  backoff.reset();
  EXPECT_LE(backoff.next(jitter), 100ms);
}

TEST(Paths, of_collections_and_objects) {
  EXPECT_EQ(collection_path(types::secrets, "ml"), "/api/v1/namespaces/ml/secrets");
  EXPECT_EQ(collection_path(types::secrets, ""), "/api/v1/secrets");
  EXPECT_EQ(collection_path(types::storage_classes, "ml"), "/apis/storage.k8s.io/v1/storageclasses");
  EXPECT_EQ(object_path(types::secrets, "ml", "hub"), "/api/v1/namespaces/ml/secrets/hub");
  EXPECT_EQ(object_path(types::secrets, "ml", "hub", "status"), "/api/v1/namespaces/ml/secrets/hub/status");
}

TEST(Paths, are_never_left_by_a_name) {
  EXPECT_EQ(object_path(types::secrets, "ml", "../../x?y#z"), "/api/v1/namespaces/ml/secrets/..%2F..%2Fx%3Fy%23z");
  EXPECT_EQ(object_path(types::secrets, "..", "."), "/api/v1/namespaces/%2E%2E/secrets/%2E");
  EXPECT_EQ(escape("ü"), "%C3%BC");
}

TEST(Paths, have_only_the_query_that_was_given) {
  EXPECT_EQ(Query().text(), "");
  EXPECT_EQ(Query().add("a", "").add("b", "x=1,y").add("c", "2").text(), "?b=x%3D1%2Cy&c=2");
}

}  // namespace
}  // namespace stackgate::kube
