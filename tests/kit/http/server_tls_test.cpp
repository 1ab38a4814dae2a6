// The server over real sockets: what TLS adds.
#include <atomic>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "certs/identity.hpp"
#include "services/kit/http/server.hpp"
#include "services/kit/log/log.hpp"
#include "tests/certs/pairs.hpp"
#include "tests/kit/http/client.hpp"

namespace stackgate::http {
namespace {

using namespace std::chrono_literals;
using certs::test::make_ca;
using certs::test::make_leaf;
using certs::test::must;
using test::Client;
using testing::HasSubstr;
using testing::StartsWith;

// An identity that the test changes at will.
struct Switchable final : TlsSource {
  mutable std::mutex mutex;
  std::shared_ptr<ssl_ctx_st> context;
  std::shared_ptr<ssl_ctx_st> current() const override {
    const std::lock_guard lock(mutex);
    return context;
  }
  void use(const certs::PemPair& pair) {
    auto made = must(certs::make_identity(pair, std::chrono::system_clock::now()));
    const std::lock_guard lock(mutex);
    context = made.context;
  }
};

struct TlsServerTest : testing::Test {
  certs::PemPair ca = make_ca();
  certs::PemPair pair = make_leaf(ca);
  std::shared_ptr<Switchable> identity = std::make_shared<Switchable>();
  std::unique_ptr<Server> server;

  TlsServerTest() { log::configure({.level = log::Level::error, .format = log::Format::text, .fd = 2}); }
  void start(Limits limits = {}, unsigned threads = 1) {
    auto started = Server::start(
        {.tls = identity, .threads = threads, .limits = limits}, [](const Request& request, Responder respond) {
          respond({.content_type = "text/plain", .body = std::string(request.path) + " " + std::string(request.body)});
        });
    ASSERT_TRUE(started) << started.error().message;
    server = std::move(*started);
  }
  template <class Condition>
  bool soon(Condition condition) {
    for (int i = 0; i < 500; ++i) {
      if (condition(server->stats())) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }
};

constexpr const char* get_a = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

TEST_F(TlsServerTest, serves_requests_of_all_sizes) {
  identity->use(pair);
  start();
  Client client(server->port());
  ASSERT_TRUE(client.secure());
  for (const std::size_t size : {0U, 1U, 16'000U, 16'384U, 17'000U, 1'000'000U}) {
    const std::string body(size, 'x');
    client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" + body);
    EXPECT_THAT(client.response(), HasSubstr("\r\n\r\n/a " + body)) << size;
  }
  EXPECT_EQ(server->stats().handshakes_total, 1U);
}

TEST_F(TlsServerTest, answers_what_was_pipelined_inside_one_record) {
  identity->use(pair);
  start();
  Client client(server->port());
  ASSERT_TRUE(client.secure());
  client.send(std::string(get_a) + get_a + get_a);
  for (int i = 0; i < 3; ++i) EXPECT_THAT(client.response(), HasSubstr("/a "));
}

TEST_F(TlsServerTest, speaks_TLS_1_2_and_1_3_and_nothing_older) {
  identity->use(pair);
  start();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Client client(server->port());
    ASSERT_TRUE(client.secure(version));
    client.send(get_a);
    EXPECT_THAT(client.response(), HasSubstr("/a "));
  }
  Client old(server->port());
  EXPECT_FALSE(old.secure(TLS1_1_VERSION));
  EXPECT_TRUE(soon([](const ServerStats& stats) { return stats.handshake_failures_total == 1; }));
}

TEST_F(TlsServerTest, chooses_http_1_1_by_ALPN_and_refuses_a_client_that_knows_only_h2) {
  identity->use(pair);
  start();
  Client both(server->port());
  ASSERT_TRUE(both.secure(0, "\x02h2\x08http/1.1"));
  EXPECT_EQ(both.protocol(), "http/1.1");
  Client none(server->port());
  ASSERT_TRUE(none.secure());
  EXPECT_EQ(none.protocol(), "");
  EXPECT_FALSE(Client(server->port()).secure(0, "\x02h2"));
}

TEST_F(TlsServerTest, says_goodbye_before_it_closes) {
  identity->use(pair);
  start();
  Client client(server->port());
  ASSERT_TRUE(client.secure());
  client.send("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.rest(), HasSubstr("Connection: close"));
  EXPECT_TRUE(client.closed());
}

TEST_F(TlsServerTest, answers_a_rejected_upload) {
  identity->use(pair);
  start();
  Client client(server->port());
  ASSERT_TRUE(client.secure());
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n" + std::string(300'000, 'x'));
  EXPECT_THAT(client.response(), StartsWith("HTTP/1.1 413"));
}

TEST_F(TlsServerTest, tells_plain_HTTP_where_it_is) {
  identity->use(pair);
  start();
  Client client(server->port());
  client.send(get_a);
  EXPECT_THAT(client.response(), testing::EndsWith("400 this port speaks TLS: write https:// here\n"));
}

TEST_F(TlsServerTest, gives_up_on_a_handshake_that_does_not_come) {
  identity->use(pair);
  start({.handshake = 100ms});
  Client silent(server->port()), half(server->port());
  half.send("\x16\x03\x01");
  silent.rest(2s);
  half.rest(2s);
  EXPECT_TRUE(silent.closed());
  EXPECT_TRUE(half.closed());
  EXPECT_EQ(server->stats().handshake_failures_total, 2U);
}

TEST_F(TlsServerTest, closes_connections_while_there_is_no_certificate_and_serves_once_there_is) {
  log::configure({.level = log::Level::error, .format = log::Format::text, .fd = -1});
  start();
  EXPECT_FALSE(Client(server->port()).secure());
  identity->use(pair);
  Client client(server->port());
  ASSERT_TRUE(client.secure());
  client.send(get_a);
  EXPECT_THAT(client.response(), HasSubstr("/a "));
}

TEST_F(TlsServerTest, a_new_identity_is_served_at_once_and_old_connections_go_on) {
  identity->use(pair);
  start();
  Client before(server->port());
  ASSERT_TRUE(before.secure());
  const auto renewed = make_leaf(ca);
  identity->use(renewed);
  Client after(server->port());
  ASSERT_TRUE(after.secure());
  EXPECT_EQ(before.peer_serial(), must(certs::describe(pair.certificates)).serial);
  EXPECT_EQ(after.peer_serial(), must(certs::describe(renewed.certificates)).serial);
  for (Client* client : {&before, &after}) {
    client->send(get_a);
    EXPECT_THAT(client->response(), HasSubstr("/a "));
  }
}

TEST_F(TlsServerTest, not_one_request_fails_while_the_identity_changes_under_load) {
  identity->use(pair);
  start({}, 2);
  std::atomic<bool> stop{false};
  std::atomic<int> good{0}, bad{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back([&] {
      while (!stop) {
        Client client(server->port());
        bool fine = client.secure();
        for (int n = 0; n < 5 && fine; ++n) {
          client.send(get_a);
          fine = client.response().ends_with("/a ");
          ++(fine ? good : bad);
        }
      }
    });
  }
  const auto other = make_leaf(ca);
  for (int i = 0; i < 20; ++i) {
    identity->use(i % 2 == 0 ? other : pair);
    std::this_thread::sleep_for(20ms);
  }
  stop = true;
  for (auto& client : clients) client.join();
  EXPECT_GT(good, 50);
  EXPECT_EQ(bad, 0);
}

TEST_F(TlsServerTest, survives_garbage_inside_a_good_session) {
  identity->use(pair);
  start();
  {
    Client client(server->port());
    ASSERT_TRUE(client.secure());
    const std::string garbage = "\x17\x03\x03\x00\x20" + std::string(32, 'x');
    ::send(client.fd(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
    client.rest(2s);
    EXPECT_TRUE(client.closed());
  }
  Client client(server->port());
  ASSERT_TRUE(client.secure());
  client.send(get_a);
  EXPECT_THAT(client.response(), HasSubstr("/a "));
}

}  // namespace
}  // namespace stackgate::http
