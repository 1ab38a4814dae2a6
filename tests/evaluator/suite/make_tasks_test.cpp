#include "services/evaluator/suite/make_tasks.hpp"

#include <algorithm>

#include <gmock/gmock.h>

namespace stackgate::evaluator {
namespace {

TEST(MakeTasks, each_framework_has_its_suite_which_misses_its_files) {
  for (const Framework each :
       {Framework::similarity_metrics, Framework::llm_as_judge, Framework::bfcl, Framework::mt_bench,
        Framework::agentic_eval, Framework::bigcode_eval_harness, Framework::retriever, Framework::rag}) {
    const auto made = make_tasks({.framework = each, .tasks = {std::string(to_string(each))}}, {});
    ASSERT_FALSE(made) << to_string(each);
    EXPECT_TRUE(std::ranges::any_of(made.error(), [](const auto& fault) { return fault.path == "dataset"; }))
        << to_string(each);
  }
}

}  // namespace
}  // namespace stackgate::evaluator
