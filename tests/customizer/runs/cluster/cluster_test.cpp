// The executor against an API server that does not answer.
#include "services/customizer/runs/cluster/cluster.hpp"

#include <thread>

#include <gmock/gmock.h>

#include "tests/customizer/objects/objects_support.hpp"
#include "tests/support/silent_server.hpp"

namespace stackgate::customizer {
namespace {

using namespace std::chrono_literals;

TEST(Cluster, that_does_not_answer_is_waited_for_once) {
  const test::SilentServer server;
  kube::Config config;
  config.server = server.url();
  auto executor = ClusterExecutor::open({.config = config,
                                         .setup = tests::full_setup(Scheduler::plain),
                                         .addresses = tests::addresses(),
                                         .defaults = tests::full_defaults,
                                         .call_limit = 400ms});
  ASSERT_TRUE(executor) << executor.error().message;
  Work work;
  work.job = tests::full_job();
  work.stored.job.id = work.job.id;
  work.stored.job.stage(Stage::download).attempts = 1;
  const auto create = [&] {
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_FALSE((*executor)->create(work, Stage::download));
    return std::chrono::steady_clock::now() - begun;
  };
  EXPECT_GE(create(), 300ms);
  for (int i = 0; i < 5; ++i) EXPECT_LT(create(), 100ms) << "those behind it are not kept waiting";
  std::this_thread::sleep_for(2s);
  EXPECT_GE(create(), 300ms) << "it is asked again";
}

}  // namespace
}  // namespace stackgate::customizer
