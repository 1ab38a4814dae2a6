// The executor against an API server that does not answer.
#include "services/customizer/runs/cluster/cluster.hpp"

#include <thread>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "services/kit/files/file.hpp"
#include "tests/customizer/objects/objects_support.hpp"

namespace stackgate::customizer {
namespace {

using namespace std::chrono_literals;

/// A port that takes connections, and answers nothing.
struct Silent {
  files::File socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::uint16_t port = 0;
  Silent() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket.fd(), generic, size) == 0 && ::listen(socket.fd(), 16) == 0 &&
        ::getsockname(socket.fd(), generic, &size) == 0)
      port = ntohs(address.sin_port);
  }
};

TEST(Cluster, that_does_not_answer_is_waited_for_once) {
  const Silent server;
  ASSERT_NE(server.port, 0);
  kube::Config config;
  config.server = "http://127.0.0.1:" + std::to_string(server.port);
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
