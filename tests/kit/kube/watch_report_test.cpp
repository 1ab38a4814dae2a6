#include "services/kit/kube/watch_report.hpp"

#include <gtest/gtest.h>

namespace stackgate::kube {
namespace {

WatchReport report(std::string type, std::string ns, Coverage coverage, std::string error = "") {
  WatchReport out{std::move(type), std::move(ns), coverage, {}};
  out.health.last_error = std::move(error);
  return out;
}

TEST(WatchReports, name_the_last_error_of_a_first_list_that_is_not_complete) {
  EXPECT_EQ(first_lists_problem(std::vector{report("secrets", "", Coverage::listed, "old trouble"),
                                            report("configmaps", "", Coverage::unlisted),
                                            report("pods", "ml", Coverage::unlisted, "connection refused")}),
            "2 of 3 first lists are not complete yet, pods in namespace ml: connection refused");
  EXPECT_EQ(first_lists_problem(std::vector{report("secrets", "", Coverage::unlisted)}),
            "1 of 1 first lists are not complete yet");
}

TEST(WatchReports, count_no_types_that_are_absent_or_refused) {
  EXPECT_EQ(first_lists_problem(std::vector{report("secrets", "", Coverage::refused, "forbidden"),
                                            report("routes.example.com", "", Coverage::absent, "not found")}),
            "the first lists are not complete yet");
}

TEST(WatchReports, name_what_may_not_be_listed) {
  EXPECT_EQ(
      unseen_types(std::vector{report("deployments.apps", "", Coverage::refused, "forbidden"),
                               report("pods", "", Coverage::listed), report("routes.example.com", "", Coverage::absent),
                               report("secrets", "ml", Coverage::refused, "forbidden")}),
      "deployments.apps, secrets in namespace ml");
  EXPECT_EQ(unseen_types(std::vector{report("pods", "", Coverage::listed)}), "");
}

}  // namespace
}  // namespace stackgate::kube
