// The server over real sockets: plain HTTP, one behaviour per test.
#include "services/kit/http/server.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "services/kit/log/log.hpp"
#include "tests/kit/http/client.hpp"

namespace stackgate::http {
namespace {

using namespace std::chrono_literals;
using test::Client;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Answers "METHOD path?query body"; /later is kept for the test to answer, /drop is dropped, /throw throws, /big is 8
// MiB.
struct Echo {
  std::mutex mutex;
  std::condition_variable arrived;
  std::deque<Responder> later;

  void operator()(const Request& request, Responder respond) {
    if (request.path == "/throw") throw std::runtime_error("broken on purpose");
    if (request.path == "/drop") return;
    if (request.path == "/later") {
      const std::lock_guard lock(mutex);
      later.push_back(std::move(respond));
      arrived.notify_all();
      return;
    }
    Response response;
    response.content_type = "text/plain";
    response.body = request.path == "/big" ? std::string(8U << 20U, 'b')
                                           : std::string(request.method) + " " + std::string(request.path) + "?" +
                                                 std::string(request.query) + " " + std::string(request.body);
    respond(std::move(response));
  }
  Responder take() {
    std::unique_lock lock(mutex);
    arrived.wait_for(lock, 5s, [&] { return !later.empty(); });
    if (later.empty()) throw std::runtime_error("no request arrived");
    Responder respond = std::move(later.front());
    later.pop_front();
    return respond;
  }
};

struct ServerTest : testing::Test {
  std::shared_ptr<Echo> echo = std::make_shared<Echo>();
  std::unique_ptr<Server> server;

  ServerTest() { log::configure({.level = log::Level::error, .format = log::Format::text, .fd = 2}); }
  void start(ServerConfig config = {}) {
    auto started =
        Server::start(std::move(config), [echo = echo](const Request& q, Responder r) { (*echo)(q, std::move(r)); });
    ASSERT_TRUE(started) << started.error().message;
    server = std::move(*started);
  }
  void start(Limits limits) {
    ServerConfig config;
    config.limits = limits;
    start(config);
  }
  // The stats settle a moment after the client has seen the effect.
  template <class Condition>
  bool soon(Condition condition) {
    for (int i = 0; i < 6000; ++i) {
      if (condition(server->stats())) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }
};

std::string get(std::string_view path, std::string_view headers = "") {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n" + std::string(headers) + "\r\n";
}
std::string body_of(const std::string& response) {
  return response.substr(std::min(response.size(), response.find("\r\n\r\n") + 4));
}

TEST_F(ServerTest, answers_requests_on_one_connection_in_turn) {
  start();
  Client client(server->port());
  for (int i = 0; i < 3; ++i) {
    client.send(get("/a?n=" + std::to_string(i)));
    EXPECT_EQ(body_of(client.response()), "GET /a?n=" + std::to_string(i) + " ");
  }
  EXPECT_EQ(server->stats().connections_total, 1U);
  EXPECT_EQ(server->stats().requests_total, 3U);
}

TEST_F(ServerTest, takes_bodies_by_length_and_by_chunks) {
  start();
  Client client(server->port());
  client.send("POST /l HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
  EXPECT_EQ(body_of(client.response()), "POST /l? abc");
  client.send("POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  std::this_thread::sleep_for(20ms);
  client.send("2\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(body_of(client.response()), "POST /c? abcde");
  const std::string big(5U << 20U, 'x');
  client.send("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(big.size()) + "\r\n\r\n" + big);
  EXPECT_EQ(body_of(client.response()).size(), big.size() + std::string("POST /b? ").size());
}

TEST_F(ServerTest, answers_pipelined_requests_in_order_even_when_the_first_takes_long) {
  start();
  Client client(server->port());
  client.send(get("/later") + get("/2") + get("/3"));
  Responder first = echo->take();
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(server->stats().requests_total, 1U);  // the others wait their turn
  std::thread elsewhere([&] { first({.body = "1"}); });
  EXPECT_EQ(body_of(client.response()), "1");
  EXPECT_EQ(body_of(client.response()), "GET /2? ");
  EXPECT_EQ(body_of(client.response()), "GET /3? ");
  elsewhere.join();
}

TEST_F(ServerTest, serves_thousands_of_pipelined_requests_without_starving_others) {
  start();
  Client greedy(server->port()), modest(server->port());
  std::string many;
  for (int i = 0; i < 5000; ++i) many += get("/p");
  std::thread sending([&] { greedy.send(many); });
  modest.send(get("/m"));
  EXPECT_EQ(body_of(modest.response()), "GET /m? ");
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(body_of(greedy.response()), "GET /p? ") << i;
  sending.join();
}

TEST_F(ServerTest, tells_a_waiting_peer_to_continue) {
  start();
  Client client(server->port());
  client.send("POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(client.response(), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("abc");
  EXPECT_EQ(body_of(client.response()), "POST /a? abc");
}

TEST_F(ServerTest, speaks_HTTP_1_0) {
  start();
  Client closing(server->port());
  closing.send("GET /a HTTP/1.0\r\n\r\n");
  EXPECT_THAT(closing.rest(), HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(closing.closed());
  Client staying(server->port());
  for (int i = 0; i < 2; ++i) {
    staying.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_THAT(staying.response(), HasSubstr("Connection: keep-alive\r\n"));
  }
}

TEST_F(ServerTest, answers_HEAD_without_a_body) {
  start();
  Client client(server->port());
  client.send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.response(true), HasSubstr("Content-Length: 9\r\n"));
  client.send(get("/b"));
  EXPECT_EQ(body_of(client.response()), "GET /b? ");
}

TEST_F(ServerTest, closes_when_the_client_asks_for_it) {
  start();
  Client client(server->port());
  client.send(get("/a", "Connection: close\r\n"));
  EXPECT_THAT(client.rest(), HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(client.closed());
}

TEST_F(ServerTest, answers_a_client_that_has_finished_sending) {
  start();
  Client client(server->port());
  client.send(get("/later"));
  client.finish_sending();
  Responder respond = echo->take();
  std::this_thread::sleep_for(50ms);
  respond({.body = "late"});
  EXPECT_THAT(client.rest(), HasSubstr("late"));
  EXPECT_TRUE(client.closed());
}

TEST_F(ServerTest, answers_malformed_requests_with_their_status_and_closes) {
  start();
  const std::pair<std::string, int> cases[] = {
      {"nonsense\r\n\r\n", 400},
      {"GET / HTTP/1.1\nHost: x\n\n", 400},
      {std::string("\0\0\0\0", 4), 400},
      {"\x16\x03\x01\x02\x00\x01", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999\r\n\r\n", 413},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffff\r\n", 413},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
      {"GET /" + std::string(70'000, 'a'), 414},
      {"GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(70'000, 'a'), 431},
      {"GET / HTTP/1.1\r\nHost: x\r\nExpect: magic\r\n\r\n", 417},
  };
  std::uint64_t rejected = 0;
  for (const auto& [bytes, status] : cases) {
    SCOPED_TRACE(bytes.substr(0, 60));
    Client client(server->port());
    client.send(bytes);
    const auto answer = client.rest();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + std::to_string(status)));
    EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
    EXPECT_TRUE(client.closed());
    EXPECT_EQ(server->stats().rejected_total, ++rejected);
  }
  EXPECT_EQ(server->stats().requests_total, 0U);
}

TEST_F(ServerTest, a_rejected_upload_still_reads_its_answer) {
  start();
  Client client(server->port());
  const std::string upload(4U << 20U,
                           'x');  // more than the socket buffers hold: the server must take it while it lingers
  std::thread sending([&] { client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n" + upload); });
  EXPECT_THAT(client.response(), StartsWith("HTTP/1.1 413"));
  sending.join();
}

TEST_F(ServerTest, gives_up_on_a_slow_head) {
  start(Limits{.head = 150ms});
  Client client(server->port());
  client.send(get("/a"));
  client.response();
  client.send("GET /slow HT");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(client.rest(), StartsWith("HTTP/1.1 408"));
  EXPECT_TRUE(client.closed());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
}

TEST_F(ServerTest, gives_up_on_a_body_that_drips) {
  start(Limits{.body = 200ms});
  Client client(server->port());
  client.send("POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n");
  std::string answer;
  for (int i = 0; i < 100 && answer.empty(); ++i) {  // each byte comes early, the sum too late
    client.send("x");
    answer = client.response(false, 20ms);
  }
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 408"));
}

TEST_F(ServerTest, closes_connections_that_say_nothing) {
  start(Limits{.handshake = 100ms, .idle = 150ms});
  Client silent(server->port()), idle(server->port());
  idle.send(get("/a"));
  idle.response();
  EXPECT_EQ(silent.rest(2s), "");
  EXPECT_TRUE(silent.closed());
  EXPECT_EQ(idle.rest(2s), "");
  EXPECT_TRUE(idle.closed());
}

TEST_F(ServerTest, an_idle_connection_serves_after_a_while) {
  start(Limits{.handshake = 100ms, .head = 50ms});
  Client client(server->port());
  client.send(get("/a"));
  client.response();
  std::this_thread::sleep_for(300ms);
  client.send(get("/b"));
  EXPECT_EQ(body_of(client.response()), "GET /b? ");
}

TEST_F(ServerTest, gives_up_on_a_peer_that_does_not_read) {
  start(Limits{.write = 200ms});
  Client client(server->port());
  for (int i = 0; i < 4; ++i) client.send(get("/big"));
  EXPECT_TRUE(soon([](const ServerStats& stats) { return stats.rejected_total == 1; }));
  EXPECT_EQ(server->stats().connections_open, 0U);
  EXPECT_LT(server->stats().bytes_written_total, 8U << 20U);
}

TEST_F(ServerTest, sends_a_large_answer_to_a_peer_that_reads_slowly) {
  start();
  Client client(server->port());
  client.send(get("/big") + get("/a"));
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(body_of(client.response()).size(), 8U << 20U);
  EXPECT_EQ(body_of(client.response()), "GET /a? ");
}

TEST_F(ServerTest, goes_on_with_an_answer_for_as_long_as_its_peer_takes_enough) {
  start(Limits{.write = 500ms, .write_progress = 10'000});
  Client client(server->port());
  client.send(get("/big", "Connection: close\r\n"));
  std::size_t got = 0;
  for (std::string part = client.some(); !part.empty(); part = client.some()) {
    got += part.size();
    std::this_thread::sleep_for(std::chrono::microseconds(part.size() / 4));
  }
  EXPECT_GT(got, 8U << 20U);
}

TEST_F(ServerTest, tells_faults_in_the_words_of_the_application) {
  ServerConfig config;
  config.limits.body_bytes = 10;
  std::mutex mutex;
  std::vector<std::string> seen;
  config.fault_answer = [&](const Fault& fault) {
    const std::lock_guard lock(mutex);
    seen.push_back(std::to_string(fault.status) + " " +
                   (fault.request == nullptr ? "unread" : std::string(fault.request->path)));
    if (fault.status == 400) throw std::runtime_error("broken on purpose");
    return Response{fault.status, "application/json", {}, "{}"};
  };
  start(std::move(config));
  Client large(server->port()), malformed(server->port());
  large.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n");
  EXPECT_EQ(body_of(large.response()), "{}");
  malformed.send(get("/b"));
  malformed.response();
  malformed.send("GET /c HTTP/1.1\r\n\r\n");
  EXPECT_THAT(malformed.response(), AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("text/plain")));
  const std::lock_guard lock(mutex);
  EXPECT_EQ(seen, (std::vector<std::string>{"413 /a", "400 unread"}));
}

TEST_F(ServerTest, survives_clients_that_leave_at_any_point) {
  start();
  const std::string request = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabcde";
  for (std::size_t n = 0; n <= request.size(); n += 3) {
    Client polite(server->port()), rude(server->port());
    polite.send(request.substr(0, n));
    rude.send(request.substr(0, n));
    rude.reset();
  }
  for (int i = 0; i < 20; ++i) {
    Client gone(server->port());
    gone.send(get("/big") + get("/later"));
    gone.reset();
  }
  EXPECT_TRUE(soon([](const ServerStats& stats) { return stats.connections_open == 0; }));
  Client client(server->port());
  client.send(get("/alive"));
  // A sanitizer on a busy machine takes seconds for the twenty large answers before.
  EXPECT_EQ(body_of(client.response(false, std::chrono::seconds(60))), "GET /alive? ");
}

TEST_F(ServerTest, an_answer_for_a_client_that_has_left_is_dropped) {
  start();
  {
    Client client(server->port());
    client.send(get("/later"));
    Responder respond = echo->take();
    client.reset();
    EXPECT_TRUE(soon([](const ServerStats& stats) { return stats.connections_open == 0; }));
    respond({.body = "too late"});
  }
  Client client(server->port());
  client.send(get("/alive"));
  EXPECT_EQ(body_of(client.response()), "GET /alive? ");
}

TEST_F(ServerTest, a_handler_that_throws_or_drops_its_responder_answers_500) {
  log::configure({.level = log::Level::error, .format = log::Format::text, .fd = -1});
  start();
  Client client(server->port());
  for (const char* path : {"/throw", "/drop"}) {
    client.send(get(path));
    EXPECT_THAT(client.response(), StartsWith("HTTP/1.1 500"));
  }
  client.send(get("/later"));
  {
    const Responder dropped_elsewhere = echo->take();
  }
  EXPECT_THAT(client.response(), StartsWith("HTTP/1.1 500"));
  client.send(get("/alive"));
  EXPECT_EQ(body_of(client.response()), "GET /alive? ");
}

TEST_F(ServerTest, makes_room_for_new_connections_by_closing_the_oldest_idle_one) {
  start(Limits{.connections = 3});
  std::deque<Client> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(server->port());
    clients.back().send(get("/a"));
    clients.back().response();
  }
  clients[0].send(get("/again"));  // now the second is the oldest
  clients[0].response();
  Client fresh(server->port());
  fresh.send(get("/b"));
  EXPECT_EQ(body_of(fresh.response()), "GET /b? ");
  clients[1].rest(2s);
  EXPECT_TRUE(clients[1].closed());
  clients[0].send(get("/c"));
  EXPECT_EQ(body_of(clients[0].response()), "GET /c? ");
  EXPECT_EQ(server->stats().connections_open, 3U);
}

TEST_F(ServerTest, turns_a_connection_away_when_all_others_are_busy) {
  start(Limits{.connections = 2});
  Client one(server->port()), two(server->port());
  one.send(get("/later"));
  Responder first = echo->take();
  two.send(get("/later"));
  Responder second = echo->take();
  Client three(server->port());
  three.send(get("/a"));
  EXPECT_EQ(three.rest(2s), "");
  first({.body = "1"});
  EXPECT_EQ(body_of(one.response()), "1");
  second({.body = "2"});
  EXPECT_EQ(body_of(two.response()), "2");
}

TEST_F(ServerTest, holds_thousands_of_idle_connections_and_serves_beside_them) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  const auto count = static_cast<int>(std::min<rlim_t>(3000, (files.rlim_cur - 100) / 2));  // both ends are ours
  start();
  std::deque<Client> idle;
  for (int i = 0; i < count; ++i) {
    idle.emplace_back(server->port());
    ASSERT_TRUE(idle.back().is_open()) << i;
    idle.back().send(get("/a"));
  }
  for (auto& client : idle) ASSERT_EQ(body_of(client.response()), "GET /a? ");
  Client client(server->port());
  client.send(get("/b"));
  EXPECT_EQ(body_of(client.response()), "GET /b? ");
  EXPECT_EQ(server->stats().connections_open, static_cast<std::uint64_t>(count) + 1);
}

TEST_F(ServerTest, listens_on_IPv6_and_names_peers) {
  ServerConfig config;
  config.listen = "[::1]:0";
  std::string peer;
  auto started = Server::start(config, [&](const Request& request, Responder respond) {
    peer = request.peer;
    respond({.body = "six"});
  });
  if (!started) GTEST_SKIP() << "no IPv6 on this machine: " << started.error().message;
  Client client((*started)->port(), true);
  client.send(get("/a"));
  EXPECT_EQ(body_of(client.response()), "six");
  EXPECT_THAT(peer, StartsWith("[::1]:"));
}

TEST_F(ServerTest, all_addresses_means_IPv4_too) {
  ServerConfig config;
  config.listen = ":0";
  start(config);
  Client client(server->port());
  client.send(get("/a"));
  EXPECT_EQ(body_of(client.response()), "GET /a? ");
}

TEST_F(ServerTest, several_threads_share_one_port) {
  ServerConfig config;
  config.threads = 3;
  start(config);
  std::vector<std::thread> clients;
  std::atomic<int> good{0};
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      for (int c = 0; c < 10; ++c) {
        Client client(server->port());
        for (int n = 0; n < 20; ++n) {
          client.send(get("/a"));
          good += body_of(client.response()) == "GET /a? " ? 1 : 0;
        }
      }
    });
  }
  for (auto& client : clients) client.join();
  EXPECT_EQ(good, 800);
  EXPECT_EQ(server->stats().requests_total, 800U);
}

TEST_F(ServerTest, refuses_to_start_where_it_cannot_listen) {
  start();
  ServerConfig config;
  config.listen = "127.0.0.1:" + std::to_string(server->port());
  const auto second = Server::start(config, [](const Request&, Responder) {});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("another process uses that port"));
}

TEST_F(ServerTest, drains_by_finishing_what_is_in_flight_and_closing_the_rest) {
  start();
  Client idle(server->port()), busy(server->port()), half(server->port());
  idle.send(get("/a"));
  idle.response();
  busy.send(get("/later"));
  Responder respond = echo->take();
  half.send("GET /half HTTP/1.1\r\nHo");
  std::this_thread::sleep_for(50ms);
  std::thread draining([&] { server->drain(5s); });
  EXPECT_EQ(idle.rest(2s), "");
  EXPECT_TRUE(idle.closed());
  EXPECT_FALSE(Client(server->port()).is_open());  // nobody new
  half.send("st: x\r\n\r\n");
  const auto half_answer = half.rest(2s);
  EXPECT_THAT(half_answer, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(half_answer, HasSubstr("GET /half? "));
  respond({.body = "done"});
  const auto answer = busy.rest(2s);
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(answer, HasSubstr("done"));
  draining.join();
  EXPECT_EQ(server->stats().connections_open, 0U);
}

TEST_F(ServerTest, draining_ends_with_its_time_and_stopping_outlives_pending_answers) {
  start();
  Client busy(server->port());
  busy.send(get("/later"));
  Responder respond = echo->take();
  const auto begin = std::chrono::steady_clock::now();
  server->drain(100ms);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
  server.reset();
  respond({.body = "nobody hears this"});
  EXPECT_EQ(busy.rest(1s), "");
}

}  // namespace
}  // namespace stackgate::http
