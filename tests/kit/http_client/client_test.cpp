// The client against the project's own server and against sockets that misbehave.
#include "services/kit/http_client/client.hpp"

#include <atomic>
#include <future>
#include <thread>

#include <gmock/gmock.h>

#include "certs/identity.hpp"
#include "services/kit/http_client/engine.hpp"
#include "tests/certs/pairs.hpp"
#include "tests/kit/http_client/serving.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::http_client {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Clock = std::chrono::steady_clock;

using test::Peer;
using test::text;

struct Identity final : http::TlsSource {
  std::shared_ptr<ssl_ctx_st> context;
  std::shared_ptr<ssl_ctx_st> current() const override { return context; }
};

using ClientTest = test::Serving;

// "METHOD path type=… body"
void echo(const http::Request& request, http::Responder respond, const std::string& body) {
  respond(text(200, std::string(request.method) + " " + std::string(request.path) +
                        " type=" + std::string(request.header("content-type")) +
                        " length=" + std::string(request.header("content-length")) + " " + body));
}

TEST_F(ClientTest, speaks_every_method_with_the_body_it_was_given) {
  serve([](const http::Request& request, http::Responder respond) {
    const std::string body = drink(*request.stream);
    echo(request, std::move(respond), body);
  });
  Client client;
  const std::pair<Request, const char*> table[] = {
      {{.url = "/a"}, "GET /a type= length= "},
      {{.method = "DELETE", .url = "/a"}, "DELETE /a type= length= "},
      {{.method = "POST", .url = "/a", .body = "abc"}, "POST /a type= length=3 abc"},
      {{.method = "POST", .url = "/a"}, "POST /a type= length=0 "},
      {{.method = "PUT", .url = "/a", .headers = {{"Content-Type", "x/y"}}, .body = "abc"},
       "PUT /a type=x/y length=3 abc"},
      {{.method = "PATCH", .url = "/a", .body = "abc"}, "PATCH /a type= length=3 abc"},
      {{.method = "DELETE", .url = "/a", .body = "abc"}, "DELETE /a type= length=3 abc"},
  };
  for (auto [call, expected] : table) {
    call.url = base_ + call.url;
    const auto reply = client.call(call);
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->status, 200);
    EXPECT_EQ(reply->body, expected);
    EXPECT_EQ(reply->header("CONTENT-TYPE"), "text/plain; charset=utf-8");
    EXPECT_EQ(reply->header("absent"), std::nullopt);
  }
  const auto head = client.call({.method = "HEAD", .url = base_ + "/a"});
  ASSERT_TRUE(head) << head.error().message;
  EXPECT_EQ(head->body, "");
  EXPECT_EQ(server_->stats().connections_total, 1U) << "connections are kept";
}

TEST_F(ClientTest, an_exchange_leaves_nothing_to_the_next_one) {
  serve([](const http::Request& request, http::Responder respond) {
    const std::string body = drink(*request.stream);
    echo(request, std::move(respond), body + " " + std::string(request.header("x-of")));
  });
  const Client client;
  const auto read_once = [](std::string_view text) {
    return [text, read = false](char* space, std::size_t) mutable {
      return std::exchange(read, true) ? std::size_t{0} : text.copy(space, text.size());
    };
  };
  const std::pair<Request, const char*> table[] = {
      {{}, "GET / type= length=  "},
      {{.headers = {{"X-Of", "this"}}}, "GET / type= length=  this"},
      {{.method = "HEAD"}, ""},
      {{.method = "DELETE"}, "DELETE / type= length=  "},
      {{.method = "DELETE", .body = "abc"}, "DELETE / type= length=3 abc "},
      {{.method = "POST"}, "POST / type= length=0  "},
      {{.method = "POST", .headers = {{"Content-Type", "x/y"}}, .body = "abc"}, "POST / type=x/y length=3 abc "},
      {{.method = "POST", .read_body = read_once("streamed")}, "POST / type= length= streamed "},
      {{.method = "POST", .read_body = read_once("sized"), .body_size = 5}, "POST / type= length=5 sized "},
  };
  for (const auto& [first, first_expected] : table) {
    for (const auto& [second, second_expected] : table) {
      for (const auto& [call, expected] : {std::pair(first, first_expected), std::pair(second, second_expected)}) {
        Request copy = call;
        copy.url = base_ + "/";
        const auto reply = client.call(copy);
        ASSERT_TRUE(reply) << reply.error().message;
        EXPECT_EQ(reply->body, expected);
      }
    }
  }
}

TEST_F(ClientTest, streams_both_ways) {
  serve([](const http::Request& request, http::Responder respond) {
    const bool sized = request.path == "/sized";
    const auto body = respond.start({}, sized ? request.stream->length() : std::nullopt);
    std::vector<char> space(65536);
    for (auto n = request.stream->read(space); n && *n > 0; n = request.stream->read(space))
      if (!body->write({space.data(), *n})) return;
    (void)body->finish();
  });
  Client client;
  for (const bool sized : {true, false}) {
    constexpr std::uint64_t size = 50'000'000;
    std::uint64_t sent = 0, got = 0;
    Request call{.method = "PUT", .url = base_ + (sized ? "/sized" : "/chunked")};
    call.read_body = [&](char* space, std::size_t room) {
      const auto n = std::min<std::uint64_t>(room, size - sent);
      for (std::size_t i = 0; i < n; ++i) space[i] = static_cast<char>((sent + i) % 251);
      sent += n;
      return static_cast<std::size_t>(n);
    };
    if (sized) call.body_size = size;
    bool same = true;
    call.take_body = [&](std::string_view part) {
      for (std::size_t i = 0; i < part.size(); i += 997) same &= part[i] == static_cast<char>((got + i) % 251);
      got += part.size();
      return true;
    };
    const auto reply = client.call(call);
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(got, size);
    EXPECT_TRUE(same);
    EXPECT_EQ(reply->body, "");
  }
}

TEST_F(ClientTest, hands_a_refusal_to_the_caller_instead_of_the_stream) {
  serve([](const http::Request&, http::Responder respond) { respond(text(403, "no")); });
  Client client;
  bool taken = false;
  const auto reply = client.call({.url = base_ + "/", .take_body = [&](std::string_view) { return taken = true; }});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 403);
  EXPECT_EQ(reply->body, "no");
  EXPECT_FALSE(taken);
}

TEST_F(ClientTest, stops_when_either_side_of_a_stream_does) {
  serve([](const http::Request& request, http::Responder respond) {
    (void)drink(*request.stream);
    respond(text(200, std::string(100'000, 'x')));
  });
  Client client;
  auto reply = client.call({.url = base_ + "/", .take_body = [](std::string_view) { return false; }});
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("cancelled by the caller"));
  reply =
      client.call({.method = "PUT", .url = base_ + "/", .read_body = [](char*, std::size_t) { return body_failed; }});
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("the body to be sent could not be read"));
  reply = client.call({.method = "PUT",
                       .url = base_ + "/",
                       .read_body = [](char*, std::size_t) { return std::size_t{0}; },
                       .body_size = 5});
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("announced 5 bytes"));
  reply = client.call({.url = base_ + "/", .largest_reply = 99'999});
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("larger than 99999 bytes"));
  EXPECT_THROW((void)client.call({.url = base_ + "/",
                                  .take_body = [](std::string_view) -> bool { throw std::runtime_error("mine"); }}),
               std::runtime_error);
  EXPECT_TRUE(client.call({.url = base_ + "/"}));
}

TEST_F(ClientTest, repeats_what_may_be_repeated_and_honours_retry_after) {
  std::atomic<int> calls = 0;
  serve([&](const http::Request& request, http::Responder respond) {
    const std::string body = drink(*request.stream);
    if (++calls % 3 != 0) {
      http::Response response = text(503, "busy");
      if (request.path == "/later") response.headers.emplace_back("Retry-After", "1");
      if (request.path == "/never") response.headers.emplace_back("Retry-After", "3600");
      return respond(std::move(response));
    }
    respond(text(200, body));
  });
  Client client;
  auto begun = Clock::now();
  auto reply = client.call({.method = "PUT", .url = base_ + "/", .body = "abc"});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->body, "abc");
  EXPECT_EQ(calls, 3);
  EXPECT_GE(Clock::now() - begun, 250ms);
  begun = Clock::now();
  EXPECT_EQ(client.call({.url = base_ + "/later"})->status, 200);
  EXPECT_GE(Clock::now() - begun, 2s);
  calls = 0;
  EXPECT_EQ(client.call({.method = "POST", .url = base_ + "/"})->status, 503);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(client.call({.method = "POST", .url = base_ + "/", .repeatable = true})->status, 200);
  calls = 0;
  EXPECT_EQ(client.call({.url = base_ + "/never"})->status, 503);
  EXPECT_EQ(calls, 1);
}

TEST_F(ClientTest, gives_up_between_two_attempts) {
  serve([&](const http::Request& request, http::Responder respond) {
    drink(*request.stream);
    http::Response response = text(503, "busy");
    response.headers.emplace_back("Retry-After", "30");
    respond(std::move(response));
  });
  const auto begun = Clock::now();
  const auto reply = Client().call({.url = base_ + "/", .give_up = [&] { return Clock::now() - begun > 300ms; }});
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, testing::HasSubstr("cancelled by the caller"));
  EXPECT_LT(Clock::now() - begun, 10s);
}

TEST_F(ClientTest, repeats_a_stream_only_when_it_can_begin_again) {
  std::atomic<int> calls = 0;
  serve([&](const http::Request& request, http::Responder respond) {
    const std::string body = drink(*request.stream);
    respond(++calls == 1 ? text(503, "busy") : text(200, body));
  });
  Client client;
  std::size_t at = 0;
  Request call{.method = "PUT", .url = base_ + "/"};
  call.read_body = [&](char* space, std::size_t) -> std::size_t { return at == 3 ? 0 : (space[0] = "abc"[at++], 1); };
  EXPECT_EQ(client.call(call)->status, 503);
  calls = 0;
  at = 0;
  call.rewind = [&] { return at = 0, true; };
  const auto reply = client.call(call);
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->body, "abc");
}

TEST_F(ClientTest, keeps_its_deadlines) {
  serve([](const http::Request& request, http::Responder respond) {
    const auto body = respond.start({}, std::nullopt);
    for (int i = 0; i < (request.path == "/pause" ? 1 : 40) && body->write("x"); ++i)
      std::this_thread::sleep_for(100ms);
    while (request.path == "/pause" && !body->gone()) std::this_thread::sleep_for(10ms);
    (void)body->finish();
  });
  Client client({.pause = 1'500ms, .retries = 0});
  auto begun = Clock::now();
  auto reply = client.call({.url = base_ + "/pause"});
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("no byte came or went for 1500 ms"));
  EXPECT_LT(Clock::now() - begun, 4s);
  begun = Clock::now();
  reply = client.call({.url = base_ + "/slow", .whole = 500ms});
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("timed out"));
  EXPECT_LT(Clock::now() - begun, 1500ms);
}

TEST_F(ClientTest, names_host_and_cause_but_no_credentials) {
  Client client({.connect = 500ms, .retries = 1});
  const auto refused =
      client.call({.method = "POST", .url = "http://ada:secret@127.0.0.1:1/key?X-Amz-Signature=abcdef"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr("POST http://127.0.0.1:1/key?…: "), HasSubstr("Connection refused"),
                    HasSubstr("(tried 2 times)"), Not(HasSubstr("secret")), Not(HasSubstr("abcdef"))));
  for (const char* url : {"ftp://ada:secret@x/", "http://ada:secret@[x/", "file:///etc/passwd", ""}) {
    const auto bad = client.call({.url = url});
    ASSERT_FALSE(bad) << url;
    EXPECT_THAT(bad.error().message, Not(HasSubstr("secret"))) << url;
  }
}

TEST_F(ClientTest, follows_redirects_only_within_the_origin_and_only_when_told) {
  std::string elsewhere;
  std::atomic<int> strangers = 0;
  serve([&](const http::Request& request, http::Responder respond) {
    if (request.header("host").starts_with("localhost")) ++strangers;
    http::Response response = text(request.path == "/see-other" ? 303 : 307, "moved");
    if (request.path == "/a") response.headers.emplace_back("Location", "b?x=1");
    if (request.path == "/see-other") response.headers.emplace_back("Location", base_ + "/end");
    if (request.path == "/b") response.headers.emplace_back("Location", "/end");
    if (request.path == "/loop") response.headers.emplace_back("Location", "/loop");
    if (request.path == "/away") response.headers.emplace_back("Location", elsewhere);
    const std::string body = drink(*request.stream);
    if (request.path == "/end") response = text(200, std::string(request.method) + " " + body);
    respond(std::move(response));
  });
  elsewhere = "http://localhost:" + std::to_string(server_->port()) + "/end";
  Client follows({.redirects = 3}), stays;
  EXPECT_EQ(follows.call({.method = "PUT", .url = base_ + "/a", .body = "abc"})->body, "PUT abc");
  EXPECT_EQ(follows.call({.method = "POST", .url = base_ + "/see-other", .body = "abc"})->body, "GET ");
  EXPECT_EQ(follows.call({.url = base_ + "/loop"})->status, 307);
  EXPECT_EQ(follows.call({.url = base_ + "/away", .headers = {{"Authorization", "x"}}})->status, 307);
  EXPECT_EQ(stays.call({.url = base_ + "/a"})->status, 307);
  EXPECT_EQ(strangers, 0);
}

TEST_F(ClientTest, opens_no_socket_to_an_address_that_is_not_public) {
  serve([](const http::Request&, http::Responder respond) { respond(text(200, "secret")); });
  Client careful({.connect = 1s, .public_addresses_only = true});
  const std::string port = std::to_string(server_->port());
  for (const std::string& host : {std::string("127.0.0.1"), std::string("localhost"), std::string("[::ffff:127.0.0.1]"),
                                  std::string("2130706433"), std::string("0x7f.1"), std::string("0.0.0.0")}) {
    const auto reply = careful.call({.url = "http://" + host + ":" + port + "/"});
    ASSERT_FALSE(reply) << host;
    EXPECT_THAT(reply.error().message, HasSubstr("not one of the public Internet")) << host;
  }
  EXPECT_EQ(server_->stats().connections_total, 0U);
}

TEST_F(ClientTest, trusts_the_given_authority_only) {
  const auto ca = certs::test::make_ca();
  auto identity = std::make_shared<Identity>();
  identity->context =
      certs::test::must(certs::make_identity(certs::test::make_leaf(ca), std::chrono::system_clock::now())).context;
  serve([](const http::Request&, http::Responder respond) { respond(text(200, "over TLS")); }, identity);
  stackgate::test::TempDir dir;
  dir.write("ca.crt", ca.certificates);
  Client knows({.ca_file = dir / "ca.crt"}), does_not({.retries = 0});
  const auto reply = knows.call({.url = base_ + "/"});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->body, "over TLS");
  const auto refused = does_not.call({.url = base_ + "/"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("certificate"));
  EXPECT_TRUE(Client({.retries = 0, .skip_verification = true}).call({.url = base_ + "/"}));
}

TEST_F(ClientTest, tells_whether_anything_was_sent) {
  const auto ca = certs::test::make_ca();
  auto identity = std::make_shared<Identity>();
  identity->context =
      certs::test::must(certs::make_identity(certs::test::make_leaf(ca), std::chrono::system_clock::now())).context;
  serve([](const http::Request&, http::Responder respond) { respond(text(200, "")); }, identity);
  const auto nothing_sent = [&](const std::string& url) {
    std::promise<std::optional<bool>> told;
    const Client own({.connect = 1s, .retries = 0});
    (void)own.open({.method = "POST", .url = url, .body = "{}"}, [&](const std::expected<Answer, NoAnswer>& answer) {
      told.set_value(answer ? std::nullopt : std::optional(answer.error().nothing_sent));
    });
    return told.get_future().get();
  };
  EXPECT_EQ(nothing_sent(base_ + "/"), true) << "a stranger's certificate";
  EXPECT_EQ(nothing_sent("https" + Peer(0, {}).url().substr(4)), true) << "connection refused";
  EXPECT_EQ(nothing_sent("http://nowhere.invalid/"), true) << "no such host";
  EXPECT_EQ(nothing_sent("ftp://127.0.0.1/"), true) << "no URL";
  Peer no_tls(1, [](int fd) { Peer::send(fd, "HTTP/1.1 400 Bad Request\r\n\r\n"); });
  EXPECT_EQ(nothing_sent("https" + no_tls.url().substr(4)), true) << "TLS failed";
  Peer breaks(1, [](int fd) { Peer::receive(fd); });
  EXPECT_EQ(nothing_sent(breaks.url()), false) << "broken off";
}

TEST_F(ClientTest, survives_a_server_that_drops_kept_connections_and_many_threads) {
  std::atomic<int> calls = 0;
  serve([&](const http::Request& request, http::Responder respond) {
    http::Response response = text(200, std::string(request.query));
    if (++calls % 5 == 0) response.headers.emplace_back("Connection", "close");  // and yet the server keeps it open
    respond(std::move(response));
  });
  Client client;
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        const std::string mark = std::to_string(t * 1000 + i);
        const auto reply = client.call({.url = base_ + "/?" + mark});
        good += reply && reply->body == mark ? 1 : 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 200);
}

TEST_F(ClientTest, an_exchange_cancelled_at_once_counts_no_connection) {
  serve([](const http::Request&, http::Responder respond) { respond(text(200, "")); });
  auto engine = *Engine::start();
  const Client client({.engine = engine});
  ASSERT_TRUE(client.call({.url = base_}));
  EXPECT_EQ(engine->stats().connections_total, 1U);
  std::promise<void> ended;
  engine->run([&] {  // on the engine's thread nothing comes between the two
    client
        .open({.url = base_},
              [&](const auto& answer) {
                EXPECT_FALSE(answer);
                ended.set_value();
              })
        .cancel();
  });
  ended.get_future().wait();
  EXPECT_EQ(engine->stats().connections_total, 1U) << "its handle had made one before";
}

TEST_F(ClientTest, a_reply_that_breaks_off_is_an_error_and_a_get_is_tried_again) {
  int connection = 0;
  const Peer peer(4, [&](int fd) {
    (void)Peer::receive(fd);
    const std::string_view whole = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    Peer::send(fd, connection++ == 2 ? whole : whole.substr(0, whole.size() - 2));
  });
  Client client;
  const auto reply = client.call({.url = peer.url()});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->body, "hello");
  const auto post = client.call({.method = "POST", .url = peer.url()});
  EXPECT_FALSE(post) << "a POST may have done its work";
}

}  // namespace
}  // namespace stackgate::http_client
