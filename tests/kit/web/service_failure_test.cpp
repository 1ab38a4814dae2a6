#include <gmock/gmock.h>

#include "services/kit/web/answer.hpp"

namespace stackgate::web {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

struct StatusCase {
  ServiceFault fault;
  int status;
};
class ServiceFaults : public testing::TestWithParam<StatusCase> {};
TEST_P(ServiceFaults, have_one_status) {
  EXPECT_EQ(to_failure({.fault = GetParam().fault, .message = "why"}).status, GetParam().status);
}
INSTANTIATE_TEST_SUITE_P(
    Table, ServiceFaults,
    testing::Values(StatusCase{ServiceFault::unauthenticated, 401}, StatusCase{ServiceFault::forbidden, 403},
                    StatusCase{ServiceFault::missing, 404}, StatusCase{ServiceFault::exists, 409},
                    StatusCase{ServiceFault::too_large, 413}, StatusCase{ServiceFault::invalid, 422},
                    StatusCase{ServiceFault::limited, 429}, StatusCase{ServiceFault::broken, 500},
                    StatusCase{ServiceFault::unavailable, 503}, StatusCase{ServiceFault::full, 507},
                    StatusCase{ServiceFault::quota, 507}, StatusCase{ServiceFault::body, 400}),
    [](const auto& each) {
      return std::to_string(each.param.status) + "_" + std::to_string(static_cast<int>(each.param.fault));
    });

TEST(ServiceFailure, carries_what_clients_wait_for_and_sign_in_with) {
  EXPECT_THAT(to_failure({ServiceFault::unavailable, "x"}).headers, ElementsAre(Pair("Retry-After", "5")));
  EXPECT_THAT(to_failure({ServiceFault::limited, "x", std::chrono::seconds(30)}).headers,
              ElementsAre(Pair("Retry-After", "30")));
  EXPECT_THAT(to_failure({ServiceFault::unauthenticated, "x"}).headers,
              ElementsAre(Pair("WWW-Authenticate", testing::StartsWith("Basic realm=\"stackgate\""))));
  EXPECT_THAT(to_failure({ServiceFault::full, "x"}).headers, IsEmpty());
  EXPECT_EQ(to_failure({.fault = ServiceFault::body, .message = "x", .status = 408}).status, 408);
  EXPECT_EQ(to_failure({.fault = ServiceFault::missing, .message = "x", .code = "RepoNotFound"}).code, "RepoNotFound");
}

}  // namespace
}  // namespace stackgate::web
