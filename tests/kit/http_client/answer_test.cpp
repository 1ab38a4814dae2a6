// Answers that are read as they come, blocking and asynchronously.
#include "services/kit/http_client/answer.hpp"

#include <atomic>
#include <condition_variable>
#include <future>
#include <optional>

#include <gmock/gmock.h>

#include "services/kit/http_client/client.hpp"
#include "services/kit/http_client/engine.hpp"
#include "tests/kit/http_client/serving.hpp"

namespace stackgate::http_client {
namespace {

using namespace std::chrono_literals;
using test::Peer;
using test::text;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Clock = std::chrono::steady_clock;

using AnswerTest = test::Serving;

template <class Condition>
bool soon(const Condition& condition) {
  for (const auto until = Clock::now() + 5s; Clock::now() < until; std::this_thread::sleep_for(1ms))
    if (condition()) return true;
  return false;
}

std::string rest_of(Answer& answer) {
  std::string all;
  char part[1000];
  for (auto n = answer.read(part); n && *n > 0; n = answer.read(part)) all.append(part, *n);
  return all;
}

/// Reads piece by piece on the engine's thread; the future has the body, or the fault.
class Collector : public std::enable_shared_from_this<Collector> {
 public:
  static std::future<std::string> collect(Answer answer) {
    const auto self = std::make_shared<Collector>();
    auto out = self->whole_.get_future();
    self->begin(std::move(answer));
    return out;
  }
  void begin(Answer answer) {
    answer_.emplace(std::move(answer));
    next();
  }
  std::string wait() { return whole_.get_future().get(); }
  std::size_t largest() const { return largest_; }

 private:
  void next() {
    answer_->read([self = shared_from_this()](std::expected<std::string, Error> piece) {
      if (piece && !piece->empty()) {
        self->bytes_ += *piece;
        self->largest_ = std::max(self->largest_, piece->size());
        return self->next();
      }
      self->whole_.set_value(piece ? self->bytes_ : self->bytes_ + " and then: " + piece.error().message);
      self->answer_.reset();
    });
  }
  std::optional<Answer> answer_;
  std::string bytes_;
  std::size_t largest_ = 0;  // of its pieces
  std::promise<std::string> whole_;
};

TEST_F(AnswerTest, shows_its_head_before_its_body_has_ended) {
  std::promise<void> seen;
  auto head_was_seen = seen.get_future().share();
  serve([&](const http::Request&, http::Responder respond) {
    const auto body = respond.start({.headers = {{"X-Kind", "slow"}}}, std::nullopt);
    EXPECT_TRUE(body->write("first "));
    head_was_seen.wait();
    EXPECT_TRUE(body->write("second"));
    EXPECT_TRUE(body->finish());
  });
  const Client client;
  auto answer = client.open({.url = base_ + "/"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->head().status, 200);
  EXPECT_EQ(answer->head().header("x-kind"), "slow");
  char part[100];
  const auto first = answer->read(part);
  ASSERT_TRUE(first);
  EXPECT_EQ(std::string_view(part, *first), "first ");
  seen.set_value();
  EXPECT_EQ(rest_of(*answer), "second");
  EXPECT_EQ(*answer->read(part), 0U) << "the end stays the end";
}

TEST_F(AnswerTest, a_hundred_are_waited_for_and_read_without_a_thread) {
  std::atomic<int> arrived = 0;
  serve([&](const http::Request& request, http::Responder respond) {
    ++arrived;
    soon([&] { return arrived == 100; });
    const auto body = respond.start({}, std::nullopt);
    for (const char* word : {"a", "b", "c"}) {
      (void)body->write(std::string(request.query) + word + " ");
      std::this_thread::sleep_for(2ms);
    }
    (void)body->finish();
  });
  const Client client;
  std::vector<std::promise<std::string>> results(100);
  for (int i = 0; i < 100; ++i)
    (void)client.open({.url = base_ + "/?" + std::to_string(i)}, [&, i](std::expected<Answer, Error> answer) {
      if (!answer) return results[static_cast<std::size_t>(i)].set_value(answer.error().message);
      auto shared = std::make_shared<std::optional<Answer>>(std::move(*answer));
      auto whole = std::make_shared<std::string>();
      auto next = std::make_shared<std::function<void()>>();
      *next = [&results, i, shared, whole, next] {
        (*shared)->read([&results, i, shared, whole, next](std::expected<std::string, Error> piece) {
          if (piece && !piece->empty()) {
            *whole += *piece;
            return (*next)();
          }
          results[static_cast<std::size_t>(i)].set_value(piece ? *whole : piece.error().message);
          shared->reset();
          *next = nullptr;
        });
      };
      (*next)();
    });
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string n = std::to_string(i);
    EXPECT_EQ(results[i].get_future().get(), n + "a " + n + "b " + n + "c ");
  }
  EXPECT_EQ(server_->stats().connections_total, 100U);
  // They are all kept.
  arrived = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 100; ++i) threads.emplace_back([&] { EXPECT_TRUE(client.call({.url = base_ + "/"})); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(server_->stats().connections_total, 100U);
}

TEST_F(AnswerTest, comes_in_small_pieces_where_that_is_wanted_and_the_next_as_usual) {
  const std::string body(300'000, 'x');
  serve([&](const http::Request&, http::Responder respond) { respond(text(200, body)); });
  const Client client;
  const auto largest_of = [&](Pieces pieces) {
    const auto collector = std::make_shared<Collector>();
    (void)client.open({.url = base_ + "/", .pieces = pieces}, [&](std::expected<Answer, Error> answer) {
      if (answer) collector->begin(std::move(*answer));
    });
    EXPECT_EQ(collector->wait(), body);
    return collector->largest();
  };
  EXPECT_LE(largest_of(Pieces::small), 2048U);
  const std::size_t usual = largest_of(Pieces::usual);
  EXPECT_GT(usual, 2048U);
  EXPECT_LE(usual, 16384U);
}

TEST_F(AnswerTest, what_nobody_reads_stays_with_the_server) {
  const auto sent = std::make_shared<std::atomic<std::uint64_t>>(0);  // the server outlives this block
  static constexpr std::uint64_t whole = 64'000'000;
  serve([sent](const http::Request&, http::Responder respond) {
    const auto body = respond.start({}, whole);
    const std::string part(100'000, 'x');
    for (std::uint64_t n = 0; n < whole; n += part.size()) {
      if (!body->write(part)) return;
      *sent += part.size();
    }
    (void)body->finish();
  });
  const Client client({.pause = 300ms});
  auto answer = client.open({.url = base_ + "/"});
  ASSERT_TRUE(answer) << answer.error().message;
  std::this_thread::sleep_for(700ms);
  EXPECT_LT(*sent, 20'000'000U) << "sockets' buffers and 256 KiB of ours";
  std::uint64_t got = 0;
  std::vector<char> part(1'000'000);
  auto n = answer->read(part);
  for (; n && *n > 0; n = answer->read(part)) got += *n;
  EXPECT_TRUE(n) << n.error().message << ": our own pause is not the server's";
  EXPECT_EQ(got, whole);
  auto again = client.open({.url = base_ + "/"});
  ASSERT_TRUE(again);
  EXPECT_EQ(Collector::collect(std::move(*again)).get().size(), whole);
}

TEST_F(AnswerTest, full_reads_wait_for_whole_pieces) {
  std::string sent(3'000'000, ' ');
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 7 + i / 251);
  serve([&](const http::Request&, http::Responder respond) {
    const auto body = respond.start({}, sent.size());
    for (std::size_t at = 0; at < sent.size(); at += 7777) (void)body->write(std::string_view(sent).substr(at, 7777));
    (void)body->finish();
  });
  const Client client;
  for (const std::size_t piece : {std::size_t{1000}, std::size_t{250'000}, std::size_t{4'000'000}}) {
    auto answer = client.open({.url = base_ + "/"});
    ASSERT_TRUE(answer);
    std::vector<char> part(piece);
    std::string got(5, '?');
    ASSERT_EQ(*answer->read(std::span(got)), 5U) << "both kinds of reading go together";
    for (auto n = answer->read_full(part, 10s); n && *n > 0; n = answer->read_full(part, 10s)) {
      got.append(part.data(), *n);
      EXPECT_TRUE(*n == piece || got.size() == sent.size()) << *n;
    }
    EXPECT_TRUE(got == sent) << got.size() << " bytes in pieces of " << piece;
  }
}

TEST_F(AnswerTest, a_full_read_has_patience_only_once_there_are_bytes) {
  const Peer peer(1, [](int fd) {
    (void)Peer::receive(fd);
    Peer::send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
    std::this_thread::sleep_for(50ms);
    Peer::send(fd, "hello");
    std::this_thread::sleep_for(200ms);
  });
  const Client client;
  auto answer = client.open({.url = peer.url()});
  ASSERT_TRUE(answer);
  char part[100];
  EXPECT_EQ(*answer->read_full(part, 1ms), 5U);
  const auto rest = answer->read_full(part, 1ms);
  ASSERT_FALSE(rest) << "the peer goes before the end";
  EXPECT_FALSE(answer->read_full(part, 1ms)) << "the fault stays";
}

TEST_F(AnswerTest, letting_go_of_it_ends_the_transfer) {
  std::atomic<int> gone = 0;
  serve([&](const http::Request&, http::Responder respond) {
    const auto body = respond.start({}, std::nullopt);
    (void)body->write("x");
    gone += soon([&] { return body->gone(); }) ? 1 : 0;
  });
  const Client client;
  {
    auto answer = client.open({.url = base_ + "/"});
    ASSERT_TRUE(answer);
    answer->read([](const auto&) {});
    bool called = false;
    answer->read([&](const auto&) { called = true; });
    EXPECT_FALSE(called);
  }
  EXPECT_TRUE(soon([&] { return gone == 1; }));
  std::optional<std::expected<Answer, Error>> later;
  std::promise<void> ended;
  serve([&](const http::Request& request, http::Responder respond) {
    soon([&] { return false; });
    (void)request;
    respond(text(200, "late"));
  });
  Opening opening = client.open({.url = base_ + "/"}, [&](std::expected<Answer, Error> answer) {
    later.emplace(std::move(answer));
    ended.set_value();
  });
  std::this_thread::sleep_for(50ms);
  const auto begun = Clock::now();
  opening.cancel();
  ended.get_future().wait();
  EXPECT_LT(Clock::now() - begun, 1s);
  ASSERT_FALSE(*later);
  EXPECT_THAT(later->error().message, HasSubstr("cancelled by the caller"));
}

TEST_F(AnswerTest, is_the_first_that_counts) {
  std::atomic<int> calls = 0;
  serve([&](const http::Request& request, http::Responder respond) {
    const int call = ++calls;
    http::Response response = text(call % 3 != 0 ? 503 : 200, "answer " + std::to_string(call));
    if (request.path == "/never") response.headers.emplace_back("Retry-After", "3600");
    respond(std::move(response));
  });
  const Client client;
  auto answer = client.open({.url = base_ + "/"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(rest_of(*answer), "answer 3");
  EXPECT_EQ(server_->stats().connections_total, 1U) << "what does not count is read to its end";
  answer = client.open({.method = "POST", .url = base_ + "/"});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->head().status, 503);
  EXPECT_EQ(rest_of(*answer), "answer 4");
  answer = client.open({.url = base_ + "/never"});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->head().status, 503) << "an hour is too long";
  const auto refused = Client({.retries = 1}).open({.url = "http://ada:secret@127.0.0.1:1/?sig=abcdef"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("Connection refused"), HasSubstr("(tried 2 times)"),
                                             Not(HasSubstr("secret")), Not(HasSubstr("abcdef"))));
}

TEST_F(AnswerTest, informational_heads_and_trailers_are_not_its_head) {
  const Peer peer(1, [](int fd) {
    (void)Peer::receive(fd);
    Peer::send(fd,
               "HTTP/1.1 100 Continue\r\nX-A: 1\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </style>\r\nX-A: 2\r\n\r\n"
               "HTTP/1.1 200 OK\r\nX-B: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-C: 4\r\n\r\n");
  });
  const Client client;
  auto answer = client.open({.url = peer.url()});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(rest_of(*answer), "hello");
  EXPECT_EQ(answer->head().status, 200);
  EXPECT_EQ(answer->head().header("x-a"), std::nullopt);
  EXPECT_EQ(answer->head().header("x-b"), "3");
  EXPECT_EQ(answer->head().header("x-c"), std::nullopt);
}

TEST_F(AnswerTest, a_head_too_large_is_refused_and_a_body_that_breaks_off_is_a_fault) {
  const Peer peer(3, [count = 0](int fd) mutable {
    (void)Peer::receive(fd);
    if (count++ == 0) {
      const std::string line = "X-Filler: " + std::string(1000, 'x') + "\r\n";
      Peer::send(fd, "HTTP/1.1 200 OK\r\n");
      for (int i = 0; i < 300; ++i) Peer::send(fd, line);
    } else {
      Peer::send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
    }
  });
  const Client client;
  const auto large = client.open({.url = peer.url()});
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().message, HasSubstr("head is larger than 262144 bytes"));
  auto answer = client.open({.url = peer.url() + "?sig=abcdef"});
  ASSERT_TRUE(answer);
  char part[100];
  ASSERT_EQ(*answer->read(part), 5U);
  const auto rest = answer->read(part);
  ASSERT_FALSE(rest);
  EXPECT_THAT(rest.error().message, AllOf(HasSubstr("GET http://127.0.0.1"), Not(HasSubstr("abcdef"))));
  answer = client.open({.url = peer.url()});
  ASSERT_TRUE(answer);
  EXPECT_THAT(Collector::collect(std::move(*answer)).get(), HasSubstr("hello and then: GET http://127.0.0.1"));
}

TEST_F(AnswerTest, keeps_the_deadline_of_its_head_over_all_attempts_and_none_of_its_body) {
  serve([](const http::Request& request, http::Responder respond) {
    if (request.path == "/busy") return respond(text(503, "busy"));
    if (request.path == "/silent") std::this_thread::sleep_for(1500ms);
    const auto body = respond.start({}, std::nullopt);
    for (int i = 0; i < 10 && body->write("x"); ++i) std::this_thread::sleep_for(60ms);
    (void)body->finish();
  });
  const Client client({.head = 400ms, .retries = 100});
  auto begun = Clock::now();
  const auto silent = client.open({.url = base_ + "/silent"});
  ASSERT_FALSE(silent);
  EXPECT_THAT(silent.error().message, HasSubstr("timed out: no answer within"));
  EXPECT_LT(Clock::now() - begun, 1s);
  begun = Clock::now();
  const auto busy = client.open({.url = base_ + "/busy"});
  ASSERT_TRUE(busy) << "the last one counts when there is no time for another";
  EXPECT_EQ(busy->head().status, 503);
  EXPECT_LT(Clock::now() - begun, 1s);
  auto slow = client.open({.url = base_ + "/slow"});
  ASSERT_TRUE(slow);
  EXPECT_EQ(rest_of(*slow), "xxxxxxxxxx");
}

TEST_F(AnswerTest, faults_are_errors_and_the_end_of_the_client_too) {
  Client client;
  for (const Request& bad :
       {Request{.method = "GET /x", .url = "http://h/"}, Request{.url = "http://h/", .headers = {{"A", "b\r\nC: d"}}},
        Request{.url = "http://h/", .read_body = [](char*, std::size_t) { return std::size_t{0}; }},
        Request{.url = "ftp://h/"}}) {
    EXPECT_FALSE(client.open(bad));
    std::promise<bool> given;
    (void)client.open(bad, [&](const std::expected<Answer, Error>& answer) { given.set_value(answer.has_value()); });
    EXPECT_FALSE(given.get_future().get());
  }
  const auto engine = *Engine::start();
  Client own({.engine = engine});
  std::promise<std::string> why;
  engine->run([&] {
    const auto blocked = own.open({.url = "http://127.0.0.1:1/"});
    why.set_value(blocked ? "" : blocked.error().message);
  });
  EXPECT_THAT(why.get_future().get(), HasSubstr("would never end"));
}

TEST_F(AnswerTest, the_last_holder_of_an_engine_may_let_go_of_it_on_its_own_thread) {
  serve([](const http::Request&, http::Responder respond) { respond(text(200, "x")); });
  std::promise<int> status;
  {
    Client client({.engine = *Engine::start()});
    (void)client.open({.url = base_ + "/"}, [&](std::expected<Answer, Error> answer) {
      std::this_thread::sleep_for(50ms);
      status.set_value(answer ? answer->head().status : 0);
    });
  }
  EXPECT_EQ(status.get_future().get(), 200);
}

}  // namespace
}  // namespace stackgate::http_client
