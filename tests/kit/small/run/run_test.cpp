// The process shell: health and metrics over a real socket, and stopping by a real signal.
#include <atomic>
#include <chrono>
#include <ctime>
#include <mutex>
#include <optional>
#include <thread>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "services/kit/log/log.hpp"
#include "services/kit/run/metrics.hpp"
#include "services/kit/run/readiness.hpp"
#include "services/kit/run/stop.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::run {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string ask(const http::Server& server, std::string_view method, std::string_view target) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server.port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string out;
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    const std::string request =
        std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    (void)!::write(fd, request.data(), request.size());
    char part[65536];
    for (ssize_t n = 0; (n = ::read(fd, part, sizeof part)) > 0;) out.append(part, static_cast<std::size_t>(n));
  }
  ::close(fd);
  return out;
}

std::unique_ptr<http::Server> serve(http::Handler handler) {
  auto server = http::Server::start({}, std::move(handler));
  if (!server) throw std::runtime_error(server.error().message);
  return std::move(*server);
}

TEST(Health, names_every_check_and_the_reason_of_those_that_fail) {
  Readiness readiness;
  std::string reason = "not synced";
  readiness.add("listener", [] { return std::string(); });
  readiness.add("caches", [&] { return reason; });
  const auto server = serve(health_handler(readiness));
  EXPECT_THAT(ask(*server, "GET", "/readyz"),
              AllOf(StartsWith("HTTP/1.1 503"),
                    EndsWith("\r\n\r\n[+]listener ok\n[-]caches failed: not synced\nreadyz check failed\n")));
  EXPECT_THAT(ask(*server, "GET", "/healthz"), AllOf(StartsWith("HTTP/1.1 200"), EndsWith("\r\n\r\nok\n")));
  reason.clear();
  EXPECT_THAT(ask(*server, "GET", "/readyz"), AllOf(StartsWith("HTTP/1.1 200"), EndsWith("\r\n\r\nok\n")));
  EXPECT_THAT(ask(*server, "GET", "/readyz?verbose"),
              EndsWith("\r\n\r\n[+]listener ok\n[+]caches ok\nreadyz check passed\n"));
  readiness.begin_shutdown();
  EXPECT_THAT(ask(*server, "GET", "/readyz"), HasSubstr("[-]shutdown failed: the process is stopping\n"));
  EXPECT_THAT(ask(*server, "GET", "/livez"), StartsWith("HTTP/1.1 200"));
}

TEST(Readiness, shows_a_warning_and_stays_ready) {
  Readiness readiness;
  std::string reason = "may not list secrets";
  readiness.add("listener", [] { return std::string(); });
  readiness.add_warning("rights", [&reason] { return reason; });
  EXPECT_TRUE(readiness.report().ready);
  EXPECT_EQ(readiness.report().text, "[+]listener ok\n[!]rights: may not list secrets\n");
  reason.clear();
  EXPECT_EQ(readiness.report().text, "[+]listener ok\n[+]rights ok\n");
}

TEST(Health, answers_other_paths_and_methods_as_HTTP_wants) {
  const Readiness readiness;
  const auto server = serve(health_handler(readiness));
  EXPECT_THAT(ask(*server, "GET", "/"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(ask(*server, "POST", "/readyz"), AllOf(StartsWith("HTTP/1.1 405"), HasSubstr("Allow: GET, HEAD\r\n")));
  EXPECT_THAT(ask(*server, "HEAD", "/readyz"), AllOf(StartsWith("HTTP/1.1 200"), EndsWith("\r\n\r\n")));
}

TEST(Metrics, a_scrape_shows_process_and_server_and_promtool_agrees) {
  metrics::Registry registry;
  add_process_metrics(registry);
  const auto server = serve(metrics_handler(registry));
  add_server_metrics(registry, "stackgate_metrics_server", *server);
  const auto answer = ask(*server, "GET", "/metrics");
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  const auto value = [&](std::string_view name) {
    const auto at = answer.find("\n" + std::string(name) + " ");
    return at == std::string::npos ? -1.0 : std::stod(answer.substr(at + name.size() + 2));
  };
  EXPECT_GT(value("process_resident_memory_bytes"), 1e6);
  EXPECT_LT(value("process_resident_memory_bytes"), 4e9);
  EXPECT_GE(value("process_virtual_memory_bytes"), value("process_resident_memory_bytes"));
  EXPECT_GE(value("process_open_fds"), 5);
  EXPECT_LT(value("process_open_fds"), 200);
  EXPECT_GE(value("process_max_fds"), 256);
  EXPECT_GE(value("process_cpu_seconds_total"), 0);
  EXPECT_NEAR(value("process_start_time_seconds"), static_cast<double>(std::time(nullptr)), 600);
  EXPECT_EQ(value("stackgate_metrics_server_requests_total"), 1);
  EXPECT_EQ(value("stackgate_metrics_server_open_connections"), 1);
  if (std::system("command -v promtool >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "promtool is not installed (Debian: prometheus)";
  const test::TempDir dir;
  dir.write("metrics", answer.substr(answer.find("\r\n\r\n") + 4));
  EXPECT_EQ(std::system(("promtool check metrics <" + dir / "metrics").c_str()), 0);
}

struct StopTest : testing::Test {
  StopTest() { log::configure({.level = log::Level::error, .format = log::Format::text, .fd = 2}); }
  ~StopTest() override { log::configure({}); }
};

TEST_F(StopTest, a_signal_is_waited_for_and_ends_nothing_by_itself) {
  StopSignals signals;
  EXPECT_EQ(signals.wait_for(20ms), std::nullopt);
  ::kill(::getpid(), SIGTERM);
  EXPECT_EQ(signals.wait(), SIGTERM);
  ::kill(::getpid(), SIGINT);
  EXPECT_EQ(signals.wait_for(5s), SIGINT);
}

TEST_F(StopTest, stops_being_ready_then_serves_on_then_drains) {
  StopSignals signals;
  Readiness readiness;
  const auto server = serve([](const http::Request&, http::Responder respond) { respond({.body = "served"}); });
  std::thread stopping([&] { stop_gracefully(signals, readiness, *server, {.lame_duck = 300ms, .limit = 5s}); });
  while (readiness.report().ready) std::this_thread::sleep_for(1ms);
  EXPECT_THAT(ask(*server, "GET", "/"), EndsWith("served"));
  stopping.join();
  EXPECT_EQ(ask(*server, "GET", "/"), "");
}

TEST_F(StopTest, requests_that_outlast_the_drain_may_end_themselves) {
  StopSignals signals;
  Readiness readiness;
  std::mutex mutex;
  std::optional<http::Responder> held;
  const auto server = serve([&](const http::Request&, http::Responder respond) {
    const std::lock_guard lock(mutex);
    held = std::move(respond);
  });
  std::string answer;
  std::thread client([&] { answer = ask(*server, "GET", "/"); });
  for (bool there = false; !there; std::this_thread::sleep_for(1ms)) {
    const std::lock_guard lock(mutex);
    there = held.has_value();
  }
  const auto begun = std::chrono::steady_clock::now();
  stop_gracefully(signals, readiness, *server, {.lame_duck = 0ms, .limit = 1s, .at_limit = [&] {
                                                  const std::lock_guard lock(mutex);
                                                  (*held)({.body = "last words"});
                                                }});
  const auto took = std::chrono::steady_clock::now() - begun;
  client.join();
  EXPECT_THAT(answer, EndsWith("last words"));
  EXPECT_GE(took, 700ms);
  EXPECT_LT(took, 1s);
}

TEST_F(StopTest, serves_on_while_requests_keep_coming) {
  StopSignals signals;
  Readiness readiness;
  const auto server = serve([](const http::Request&, http::Responder respond) { respond({.body = "served"}); });
  std::thread stopping([&] { stop_gracefully(signals, readiness, *server, {.lame_duck = 300ms, .limit = 20s}); });
  const auto learned = std::chrono::steady_clock::now() + 1s;  // the load balancer's late news
  int calls = 0, served = 0;
  for (; std::chrono::steady_clock::now() < learned; ++calls) served += ask(*server, "GET", "/").ends_with("served");
  stopping.join();
  EXPECT_EQ(served, calls);
  EXPECT_LT(std::chrono::steady_clock::now() - learned, 5s);
}

TEST_F(StopTest, does_not_serve_for_ever) {
  StopSignals signals;
  Readiness readiness;
  const auto server = serve([](const http::Request&, http::Responder respond) { respond({.body = "served"}); });
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<bool> stopped = false;
  std::thread caller([&] {
    while (!stopped) ask(*server, "GET", "/");
  });
  stop_gracefully(signals, readiness, *server, {.lame_duck = 100ms, .limit = 2s});
  stopped = true;
  caller.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 8s);
}

TEST_F(StopTest, a_second_signal_cuts_the_drain_time_short) {
  StopSignals signals;
  Readiness readiness;
  log::configure({.level = log::Level::error, .format = log::Format::text, .fd = 2});
  const auto server = serve([](const http::Request&, http::Responder respond) { respond({.body = "served"}); });
  ::kill(::getpid(), SIGTERM);
  const auto begin = std::chrono::steady_clock::now();
  stop_gracefully(signals, readiness, *server, {.lame_duck = 60s, .limit = 5s});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

}  // namespace
}  // namespace stackgate::run
