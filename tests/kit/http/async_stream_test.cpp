// Answers that no thread waits for, over real sockets, plain and TLS.
#include <optional>

#include "tests/kit/http/streaming.hpp"

namespace stackgate::http::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Watcher final : AnswerWatcher {
  std::atomic<int> room{0}, ends{0};
  std::atomic<bool> whole{false};
  std::function<void()> on_room;
  void writable() override {
    ++room;
    if (on_room) on_room();
  }
  void ended(bool is_whole) override {
    whole = is_whole;
    ++ends;
  }
};

/// A request that its handler has put aside.
struct Pending {
  std::shared_ptr<Watcher> watcher = std::make_shared<Watcher>();
  std::optional<Responder> respond;
  std::unique_ptr<AsyncBodyWriter> body;
  void begin(std::optional<std::uint64_t> length = {}) {
    body = respond->stream({.content_type = "x/y"}, length);
    respond.reset();
  }
};

class AsyncStream : public StreamingTest {
 protected:
  ~AsyncStream() override {
    server.reset();  // while what watches it is still there
  }
  /// The handler runs on the I/O thread, watches and puts the request aside.
  void listen(Limits limits = {}) {
    ServerConfig config;
    if (GetParam()) config.tls = identity();
    config.limits = limits;
    auto started = Server::start(config, [this](const Request&, Responder respond) {
      auto made = std::make_shared<Pending>();
      respond.observe(made->watcher);
      made->respond.emplace(std::move(respond));
      const std::lock_guard lock(mutex_);
      pending_.push_back(std::move(made));
    });
    ASSERT_TRUE(started) << started.error().message;
    server = std::move(*started);
  }
  std::shared_ptr<Pending> take() {
    std::shared_ptr<Pending> out;
    soon([&] {
      const std::lock_guard lock(mutex_);
      if (pending_.empty()) return false;
      out = std::move(pending_.front());
      pending_.erase(pending_.begin());
      return true;
    });
    return out;
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<Pending>> pending_;
};
INSTANTIATE_TEST_SUITE_P(, AsyncStream, testing::Values(false, true),
                         [](const auto& test) { return test.param ? "tls" : "plain"; });

TEST_P(AsyncStream, each_piece_leaves_as_it_comes_and_the_connection_goes_on) {
  listen();
  const auto client = connect();
  for (int round = 0; round < 3; ++round) {
    client->send(get("/"));
    const auto pending = take();
    ASSERT_TRUE(pending);
    pending->begin();
    EXPECT_TRUE(pending->body->write({}));  // the head alone
    const std::string head = client->some();
    EXPECT_THAT(head, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(head, HasSubstr("\r\nTransfer-Encoding: chunked\r\n"));
    EXPECT_THAT(head, EndsWith("\r\n\r\n"));
    EXPECT_TRUE(pending->body->write("one"));
    EXPECT_EQ(client->some(), chunk("one"));
    EXPECT_TRUE(pending->body->write("three"));
    EXPECT_EQ(client->some(), chunk("three"));
    EXPECT_EQ(pending->watcher->ends, 0);
    pending->body->finish();
    EXPECT_EQ(client->some(), "0\r\n\r\n");
    EXPECT_TRUE(soon([&] { return pending->watcher->ends == 1; }));
    EXPECT_TRUE(pending->watcher->whole);
    EXPECT_FALSE(pending->body->write("late"));
  }
}

TEST_P(AsyncStream, a_whole_answer_may_come_later_from_any_thread) {
  listen();
  const auto client = connect();
  client->send(get("/"));
  const auto pending = take();
  ASSERT_TRUE(pending);
  (*pending->respond)(text_answer(200, "later"));
  EXPECT_THAT(client->response(), EndsWith("later"));
  EXPECT_TRUE(soon([&] { return pending->watcher->ends == 1; }));
  EXPECT_TRUE(pending->watcher->whole);
}

TEST_P(AsyncStream, has_every_framing) {
  struct Case {
    std::string request;
    std::optional<std::uint64_t> length;
    std::string in_head, body;
    bool closes = false;
  };
  const std::vector<Case> cases{
      {get("/"), 6, "Content-Length: 6\r\n", "abcdef"},
      {get("/", "1.1", "HEAD"), 6, "Content-Length: 6\r\n", ""},
      {get("/", "1.1", "HEAD"), {}, "Transfer-Encoding: chunked\r\n", ""},
      {get("/", "1.0"), {}, "Connection: close\r\n", "abcdef", true},
  };
  listen();
  for (const Case& each : cases) {
    const auto client = connect();
    client->send(each.request);
    const auto pending = take();
    ASSERT_TRUE(pending);
    pending->begin(each.length);
    pending->body->write("abc");
    pending->body->write("def");
    pending->body->finish();
    const std::string answer = each.closes ? client->rest() : client->response(each.body.empty());
    EXPECT_THAT(answer, HasSubstr(each.in_head));
    EXPECT_EQ(body_of(answer), each.body);
    if (!each.closes) {  // nothing else was sent before the next answer
      client->send(get("/"));
      const auto next = take();
      ASSERT_TRUE(next);
      (*next->respond)(text_answer(200, "next"));
      EXPECT_THAT(client->response(), StartsWith("HTTP/1.1 200 OK"));
    }
  }
}

TEST_P(AsyncStream, a_part_never_looks_like_the_whole) {
  listen();
  const std::vector<std::function<void(Pending&)>> ways{
      [](Pending& each) {
        each.begin();
        each.body->write("part");
        each.body.reset();
      },
      [](Pending& each) {
        each.begin(3);
        each.body->write("pa");
        each.body->finish();
      },
      [](Pending& each) {
        each.begin(3);
        EXPECT_TRUE(each.body->write("pa"));
        EXPECT_FALSE(each.body->write("rt"));
      },
  };
  for (const auto& way : ways) {
    const auto client = connect();
    client->send(get("/"));
    const auto pending = take();
    ASSERT_TRUE(pending);
    way(*pending);
    const std::string answer = client->rest();
    EXPECT_TRUE(client->closed());
    EXPECT_THAT(answer, Not(EndsWith("0\r\n\r\n")));
    EXPECT_TRUE(soon([&] { return pending->watcher->ends == 1; }));
    EXPECT_FALSE(pending->watcher->whole);
  }
}

TEST_P(AsyncStream, dropped_before_its_first_byte_is_500) {
  listen();
  const auto client = connect();
  for (const bool begins : {true, false}) {
    client->send(get("/"));
    const auto pending = take();
    ASSERT_TRUE(pending);
    if (begins) pending->begin();
    pending->body.reset();
    pending->respond.reset();
    EXPECT_THAT(client->response(), StartsWith("HTTP/1.1 500 "));
  }
}

TEST_P(AsyncStream, a_client_that_is_behind_stops_the_writer_and_gets_every_byte) {
  listen();
  const auto client = connect();
  client->send(get("/"));
  const auto pending = take();
  ASSERT_TRUE(pending);
  constexpr std::uint64_t size = 64'000'000;
  pending->begin(size);
  Pattern pattern;
  std::mutex one_at_a_time;
  const auto write_on = [&] {
    const std::lock_guard lock(one_at_a_time);
    while (pattern.at() < size)
      if (!pending->body->write(pattern.next(std::min<std::uint64_t>(10'007, size - pattern.at())))) return;
    pending->body->finish();
  };
  pending->watcher->on_room = write_on;
  const double before = reset_peak();
  write_on();
  std::this_thread::sleep_for(200ms);
  std::uint64_t held = 0;
  {
    const std::lock_guard lock(one_at_a_time);
    held = pattern.at();
  }
  EXPECT_LT(held, size / 2);  // what the kernel takes, and 64 KiB
  std::string head;
  while (head.find("\r\n\r\n") == std::string::npos) head += client->some();
  Pattern expected;
  ASSERT_TRUE(expected.goes_on_with(body_of(head)));
  while (expected.at() < size) {
    const std::string part = client->some();
    ASSERT_FALSE(part.empty());
    ASSERT_TRUE(expected.goes_on_with(part));
  }
  EXPECT_TRUE(soon([&] { return pending->watcher->ends == 1; }));
  EXPECT_TRUE(pending->watcher->whole);
  EXPECT_GT(pending->watcher->room, 10);
  EXPECT_LT(peak_mib() - before, most_growth);
}

TEST_P(AsyncStream, the_last_answer_of_a_connection_arrives_whole) {
  listen();
  const auto client = connect();
  client->send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const auto pending = take();
  ASSERT_TRUE(pending);
  constexpr std::uint64_t size = 2'000'000;  // the kernel takes all of it
  pending->begin(size);
  pending->body->write(Pattern().next(size));
  pending->body->finish();
  std::this_thread::sleep_for(100ms);
  const std::string body = body_of(client->rest());
  EXPECT_EQ(body.size(), size);
  EXPECT_TRUE(Pattern().goes_on_with(body));
  EXPECT_TRUE(client->closed());
}

TEST_P(AsyncStream, a_client_that_leaves_is_noticed_at_once) {
  listen();
  const std::vector<std::function<void(Client&)>> ways{[](Client& each) { each.close(); },
                                                       [](Client& each) { each.reset(); },
                                                       [](Client& each) { each.finish_sending(); },
                                                       [](Client& each) {  // behind its goodbye something is unread
                                                         each.send("GET /next HTTP/1.1\r\n");
                                                         std::this_thread::sleep_for(20ms);
                                                         each.close();
                                                       }};
  for (const auto& way : ways) {
    for (const bool begun : {false, true}) {
      const auto client = connect();
      client->send(get("/"));
      const auto pending = take();
      ASSERT_TRUE(pending);
      if (begun) {
        pending->begin();
        pending->body->write("first");
        EXPECT_THAT(client->some(), StartsWith("HTTP/1.1 200"));
      }
      EXPECT_EQ(pending->watcher->ends, 0);
      const auto left = std::chrono::steady_clock::now();
      way(*client);
      ASSERT_TRUE(soon([&] { return pending->watcher->ends == 1; })) << begun;
      EXPECT_LT(std::chrono::steady_clock::now() - left, 2s);
      EXPECT_FALSE(pending->watcher->whole);
      if (!begun) pending->begin();
      pending->body->write("to nobody");
      EXPECT_TRUE(soon([&] { return !pending->body->write("to nobody"); }));
      pending->body->finish();
    }
  }
  EXPECT_EQ(server->stats().connections_open, 0U);
}

TEST_P(AsyncStream, a_client_that_takes_nothing_is_let_go) {
  listen({.write = 200ms});
  const auto client = connect();
  client->send(get("/"));
  const auto pending = take();
  ASSERT_TRUE(pending);
  pending->begin();
  const std::string much(60'000, 'x');
  ASSERT_TRUE(soon([&] {
    for (int i = 0; i < 100; ++i) pending->body->write(much);
    return pending->watcher->ends == 1;
  }));
  EXPECT_FALSE(pending->watcher->whole);
}

TEST_P(AsyncStream, a_drain_waits_for_it_and_the_end_of_the_server_cuts_it) {
  listen();
  const auto first = connect(), second = connect();
  first->send(get("/"));
  const auto kept = take();
  second->send(get("/"));
  const auto cut = take();
  ASSERT_TRUE(kept && cut);
  kept->begin();
  kept->body->write("a");
  cut->begin();
  cut->body->write("b");
  EXPECT_THAT(first->some(), EndsWith("a\r\n"));
  EXPECT_FALSE(kept->body->draining());
  std::thread finishes([&] {
    soon([&] { return kept->body->draining(); });
    std::this_thread::sleep_for(100ms);
    kept->body->finish();
  });
  server->drain(1s);
  finishes.join();
  EXPECT_EQ(first->rest(), "0\r\n\r\n");
  EXPECT_TRUE(kept->watcher->whole);
  EXPECT_EQ(cut->watcher->ends, 0);
  server.reset();
  EXPECT_EQ(cut->watcher->ends, 1);
  EXPECT_FALSE(cut->watcher->whole);
  EXPECT_FALSE(cut->body->write("nobody is there any more") && cut->body->write("for this either"));
  EXPECT_THAT(second->rest(), Not(EndsWith("0\r\n\r\n")));
}

TEST_P(AsyncStream, a_request_body_that_streamed_in_may_be_answered_so) {
  std::shared_ptr<Pending> pending;
  std::atomic<bool> is_read{false};
  start([&](const Request& request, Responder respond) {
    pending = std::make_shared<Pending>();
    EXPECT_EQ(judge(*request.stream), "3000000 bytes");
    respond.observe(pending->watcher);
    pending->respond.emplace(std::move(respond));
    is_read = true;
  });
  const auto client = connect();
  client->send(post("/", 3'000'000));
  client->send(Pattern().next(3'000'000));
  ASSERT_TRUE(soon([&] { return is_read.load(); }));
  pending->begin(4);
  pending->body->write("done");
  pending->body->finish();
  EXPECT_THAT(client->response(), EndsWith("done"));
}

TEST_P(AsyncStream, many_at_a_time_from_many_threads) {
  listen();
  constexpr int clients = 40, pieces = 25;
  std::vector<std::unique_ptr<Client>> all;
  for (int i = 0; i < clients; ++i) all.push_back(connect());
  for (const auto& client : all) client->send(get("/"));
  std::vector<std::shared_ptr<Pending>> pending;
  for (int i = 0; i < clients; ++i) pending.push_back(take());
  std::vector<std::thread> writers;
  for (int worker = 0; worker < 4; ++worker)
    writers.emplace_back([&, worker] {
      for (std::size_t i = static_cast<std::size_t>(worker); i < pending.size(); i += 4) pending[i]->begin();
      for (int piece = 0; piece < pieces; ++piece)
        for (std::size_t i = static_cast<std::size_t>(worker); i < pending.size(); i += 4)
          EXPECT_TRUE(pending[i]->body->write("piece"));
      for (std::size_t i = static_cast<std::size_t>(worker); i < pending.size(); i += 4) pending[i]->body->finish();
    });
  for (std::thread& each : writers) each.join();
  std::string whole;
  for (int i = 0; i < pieces; ++i) whole += chunk("piece");
  for (const auto& client : all) {
    std::string answer;
    while (!answer.ends_with("0\r\n\r\n")) {
      const std::string part = client->some();
      ASSERT_FALSE(part.empty());
      answer += part;
    }
    EXPECT_EQ(body_of(answer), whole + "0\r\n\r\n");
  }
}

}  // namespace
}  // namespace stackgate::http::test
