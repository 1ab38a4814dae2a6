// The engine over HTTP/2 (nginx): shared connections, and ones that die without a word.
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <spawn.h>
#include <sys/wait.h>

#include "services/kit/http_client/client.hpp"
#include "services/kit/http_client/engine.hpp"
#include "tests/certs/pairs.hpp"
#include "tests/kit/http_client/serving.hpp"
#include "tests/support/nginx.hpp"
#include "tests/support/tcp_proxy.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::http_client {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

std::uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(fd, any, size), 0);
  ::getsockname(fd, any, &size);
  ::close(fd);
  return ntohs(address.sin_port);
}

int connect_to(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  ::close(fd);
  return -1;
}

/// nginx with TLS and HTTP/2: /small answers at once, /slow/… never (its upstream takes connections and is silent).
class Http2Test : public testing::Test {
 protected:
  void SetUp() override {
    const std::string nginx = stackgate::test::find_nginx();
    if (nginx.empty()) GTEST_SKIP() << "there is no nginx: set NGINX, or install Debian's package nginx";
    const auto ca = certs::test::make_ca();
    const auto leaf = certs::test::make_leaf(ca);
    dir_.write("ca.crt", ca.certificates);
    dir_.write("tls.crt", leaf.certificates);
    dir_.write("tls.key", leaf.key);
    dir_.write("nginx.conf", config());
    const std::string file = dir_ / "nginx.conf", folder = dir_ / "", log = dir_ / "error.log";
    const char* const argv[] = {nginx.c_str(), "-e", log.c_str(), "-p", folder.c_str(), "-c", file.c_str(), nullptr};
    ASSERT_EQ(::posix_spawn(&pid_, argv[0], nullptr, nullptr, const_cast<char**>(argv), environ), 0);
    for (const auto until = Clock::now() + 5s; Clock::now() < until; std::this_thread::sleep_for(5ms)) {
      if (const int fd = connect_to(port_); fd >= 0) {
        ::close(fd);
        return;
      }
    }
    FAIL() << "nginx did not start";
  }
  void TearDown() override {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }
  std::string config() const {
    return "daemon off; master_process off; pid " + (dir_ / "pid") +
           ";\nevents { worker_connections 512; }\nhttp { access_log off;\n client_body_temp_path " + (dir_ / "body") +
           "; proxy_temp_path " + (dir_ / "proxy") + "; fastcgi_temp_path " + (dir_ / "fastcgi") +
           "; uwsgi_temp_path " + (dir_ / "uwsgi") + "; scgi_temp_path " + (dir_ / "scgi") +
           ";\n server { listen 127.0.0.1:" + std::to_string(port_) + " ssl http2; ssl_certificate " +
           (dir_ / "tls.crt") + "; ssl_certificate_key " + (dir_ / "tls.key") +
           ";\n location /small { return 200 \"small $request_uri\"; }\n location /slow { proxy_pass " + silent_.url() +
           "; } } }\n";
  }
  Options options() const { return {.retries = 0, .ca_file = dir_ / "ca.crt", .http2 = true, .engine = engine_}; }
  std::string url(std::uint16_t port, std::string_view path) const {
    return "https://localhost:" + std::to_string(port) + std::string(path);
  }

  const stackgate::test::TempDir dir_;
  const std::uint16_t port_ = free_port();
  const test::Peer silent_{64, [](int fd) {
                             (void)test::Peer::receive(fd);
                             std::this_thread::sleep_for(200ms);
                           }};
  std::shared_ptr<Engine> engine_ = *Engine::start();
  pid_t pid_ = -1;
};

TEST_F(Http2Test, many_calls_share_a_connection) {
  const Client client(options());
  ASSERT_TRUE(client.call({.url = url(port_, "/small")}));
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  const auto begun = Clock::now();
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string path = "/small?" + std::to_string(t * 1000 + i);
        const auto reply = client.call({.url = url(port_, path)});
        good += reply && reply->http2 && reply->body == "small " + path ? 1 : 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 800);
  EXPECT_EQ(engine_->stats().connections_total, 1U);
  EXPECT_EQ(engine_->stats().http2_answers_total, 801U);
  EXPECT_LT(Clock::now() - begun, 5s) << "no answer lies about unnoticed";
}

TEST_F(Http2Test, http1_is_spoken_where_nobody_asked_for_more) {
  Options plain = options();
  plain.http2 = false;
  const auto reply = Client(plain).call({.url = url(port_, "/small")});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_FALSE(reply->http2);
}

TEST_F(Http2Test, a_connection_that_went_silent_is_closed_at_the_first_deadline_and_not_used_again) {
  stackgate::test::TcpProxy proxy(url(port_, ""));
  const auto proxied = [&](std::string_view path) {
    return "https://localhost" + proxy.url().substr(proxy.url().rfind(':')) + std::string(path);
  };
  const Client client(options());
  ASSERT_TRUE(client.call({.url = proxied("/small")}));
  // A stream that waits over the same connection, as a watch does.
  std::atomic<bool> watch_ended = false;
  const Opening watch = client.open({.url = proxied("/slow/watch")}, [&](const auto&) { watch_ended = true; });
  std::this_thread::sleep_for(50ms);
  EXPECT_FALSE(watch_ended);
  proxy.stall();
  const auto lost = client.call({.url = proxied("/small"), .head = 300ms});
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().message, HasSubstr("timed out: no answer within"));
  EXPECT_EQ(engine_->stats().stalled_connections_total, 1U);
  const auto begun = Clock::now();
  const auto next = client.call({.url = proxied("/small"), .head = 3s});
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_LT(Clock::now() - begun, 1s);
  EXPECT_EQ(engine_->stats().connections_total, 2U);
  for (const auto until = Clock::now() + 2s; !watch_ended && Clock::now() < until;) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(watch_ended) << "what waited over the dead connection learns of it";
}

TEST_F(Http2Test, one_slow_answer_does_not_end_the_connection_of_the_others) {
  const Client client(options());
  std::atomic<bool> over = false;
  std::thread busy([&] {
    while (!over) {
      EXPECT_TRUE(client.call({.url = url(port_, "/small")}));
      std::this_thread::sleep_for(5ms);
    }
  });
  std::this_thread::sleep_for(30ms);
  EXPECT_FALSE(client.call({.url = url(port_, "/slow/call"), .head = 100ms}));
  std::this_thread::sleep_for(50ms);
  over = true;
  busy.join();
  EXPECT_EQ(engine_->stats().stalled_connections_total, 0U);
  EXPECT_EQ(engine_->stats().connections_total, 1U);
}

}  // namespace
}  // namespace stackgate::http_client
