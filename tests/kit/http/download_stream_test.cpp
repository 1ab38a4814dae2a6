// Streamed answers over real sockets, plain and TLS.
#include <fcntl.h>

#include "tests/kit/http/streaming.hpp"

namespace stackgate::http::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A file of the pattern without a name.
class PatternFile {
 public:
  explicit PatternFile(std::uint64_t size) : file_(std::tmpfile()) {
    for (Pattern pattern; pattern.at() < size;) {
      const std::string part = pattern.next(std::min<std::uint64_t>(65521, size - pattern.at()));
      std::fwrite(part.data(), 1, part.size(), file_);
    }
    std::fflush(file_);
  }
  ~PatternFile() { std::fclose(file_); }
  PatternFile(const PatternFile&) = delete;
  PatternFile& operator=(const PatternFile&) = delete;
  int fd() const { return ::fileno(file_); }

 private:
  std::FILE* file_;
};

/// Strips chunked framing; "?" where it is malformed or unfinished.
std::string unchunk(std::string_view bytes) {
  std::string out;
  for (;;) {
    const auto end = bytes.find("\r\n");
    if (end == std::string_view::npos) return "?";
    const std::size_t size = std::strtoul(std::string(bytes.substr(0, end)).c_str(), nullptr, 16);
    bytes.remove_prefix(end + 2);
    if (bytes.size() < size + 2 || bytes.substr(size, 2) != "\r\n") return "?";
    if (size == 0) return bytes.size() == 2 ? out : "?";
    out += bytes.substr(0, size);
    bytes.remove_prefix(size + 2);
  }
}

/// Head, then body bytes held against the pattern as they come: the number of them.
std::uint64_t receive_pattern(Client& client, std::uint64_t size) {
  std::string head;
  while (head.find("\r\n\r\n") == std::string::npos) {
    const std::string part = client.some();
    if (part.empty()) return 0;
    head += part;
  }
  Pattern pattern;
  if (!pattern.goes_on_with(body_of(head))) return 0;
  while (pattern.at() < size) {
    const std::string part = client.some();
    if (part.empty() || !pattern.goes_on_with(part)) break;
  }
  return pattern.at();
}

// n=SIZE in pieces of `piece`, with its length unless the query says "chunked".
void write_pattern(const Request& request, Responder respond, std::size_t piece = 40'000) {
  const std::uint64_t size = number(request, "n");
  const bool chunked = request.query.find("chunked") != std::string_view::npos;
  const auto body = respond.start({.content_type = "x/y"}, chunked ? std::nullopt : std::optional(size));
  for (Pattern pattern; pattern.at() < size;)
    if (!body->write(pattern.next(std::min<std::uint64_t>(piece, size - pattern.at())))) return;
  (void)body->finish();
}

struct DownloadStream : StreamingTest {};
INSTANTIATE_TEST_SUITE_P(, DownloadStream, testing::Values(false, true),
                         [](const auto& test) { return test.param ? "tls" : "plain"; });

TEST_P(DownloadStream, sends_hundreds_of_megabytes_with_flat_memory) {
  start([](const Request& request, Responder respond) { write_pattern(request, std::move(respond), 300'000); });
  const auto client = connect();
  const double before = reset_peak();
  client->send(get("/?n=300000000"));
  EXPECT_EQ(receive_pattern(*client, 300'000'000), 300'000'000U);
  EXPECT_LT(peak_mib() - before, most_growth);
}

TEST_P(DownloadStream, sends_parts_of_a_file_and_keeps_the_connection) {
  const PatternFile file(100'000'000);
  start([&](const Request&, Responder respond) {
    const auto body = respond.start({}, 100'000'000);
    ASSERT_TRUE(body->send_file(file.fd(), 0, 65'521'000));
    ASSERT_TRUE(body->write(Pattern(65'521'000).next(1000)));
    ASSERT_TRUE(body->send_file(file.fd(), 65'522'000, 34'478'000));
    ASSERT_TRUE(body->finish());
  });
  const auto client = connect();
  for (int i = 0; i < 2; ++i) {
    client->send(get("/"));
    EXPECT_EQ(receive_pattern(*client, 100'000'000), 100'000'000U);
  }
  EXPECT_EQ(server->stats().connections_total, 1U);
}

TEST_P(DownloadStream, frames_an_unknown_length_by_chunks_or_by_the_connection_s_end) {
  const PatternFile file(500'000);
  start([&](const Request&, Responder respond) {
    const auto body = respond.start({}, std::nullopt);
    (void)body->write("");
    (void)body->send_file(file.fd(), 0, 300'000);
    (void)body->write(Pattern(300'000).next(200'000));
    (void)body->finish();
  });
  const std::string expected = Pattern().next(500'000);
  const auto newer = connect();
  newer->send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  std::string answer = newer->rest();
  EXPECT_THAT(answer.substr(0, 300), HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_TRUE(unchunk(body_of(answer)) == expected);
  const auto older = connect();
  older->send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  answer = older->rest();
  EXPECT_THAT(answer.substr(0, 300), Not(HasSubstr("Transfer-Encoding")));
  EXPECT_THAT(answer.substr(0, 300), HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(older->closed());
  EXPECT_TRUE(body_of(answer) == expected);
}

TEST_P(DownloadStream, sends_the_head_alone_where_no_body_may_follow) {
  start([](const Request& request, Responder respond) {
    const auto body = respond.start({.status = request.path == "/204" ? 204 : 200},
                                    request.path == "/chunked" ? std::nullopt : std::optional<std::uint64_t>(5));
    EXPECT_TRUE(body->write("hello"));
    EXPECT_TRUE(body->finish());
  });
  const auto client = connect();
  client->send(get("/", "1.1", "HEAD"));
  EXPECT_THAT(client->response(true), HasSubstr("Content-Length: 5\r\n"));
  client->send(get("/chunked", "1.1", "HEAD"));
  EXPECT_THAT(client->response(true), HasSubstr("Transfer-Encoding: chunked\r\n"));
  client->send(get("/204"));
  EXPECT_THAT(client->response(true), Not(HasSubstr("Content-Length")));
  client->send(get("/"));
  EXPECT_EQ(body_of(client->response()), "hello");
}

TEST_P(DownloadStream, answers_pipelined_requests_in_order) {
  start([](const Request& request, Responder respond) { write_pattern(request, std::move(respond)); });
  const auto client = connect();
  client->send(get("/?n=100000") + get("/?n=3") + get("/?n=0") + get("/?n=4"));
  for (const std::size_t size : {100'000U, 3U, 0U, 4U})
    EXPECT_TRUE(body_of(client->response()) == Pattern().next(size));
}

TEST_P(DownloadStream, reads_and_writes_at_the_same_time) {
  start([](const Request& request, Responder respond) {
    const auto body = respond.start({}, std::nullopt);
    std::vector<char> space(100'000);
    for (;;) {
      const auto n = request.stream->read(space);
      ASSERT_TRUE(n) << n.error().error.message;
      if (*n == 0) break;
      ASSERT_TRUE(body->write({space.data(), *n}));
    }
    ASSERT_TRUE(body->finish());
  });
  const auto client = connect();
  client->send(post_chunked("/"));
  std::string sent, got;
  for (int i = 0; i < 50; ++i) {
    const std::string part = Pattern(sent.size()).next(5000);
    client->send(chunk(part));
    sent += part;
    got += client->some();
  }
  client->send("0\r\n\r\n" + get("/"));
  while (got.find("\r\n0\r\n\r\nHTTP") == std::string::npos) {
    const std::string part = client->some();
    ASSERT_NE(part, "");
    got += part;
  }
  got = body_of(got);
  got.resize(got.find("0\r\n\r\nHTTP") + 5);
  EXPECT_TRUE(unchunk(got) == sent);
}

TEST_P(DownloadStream, two_threads_read_and_write_at_once) {
  std::promise<std::string> ended;  // the server's end cuts a handler off that still reads
  start([&ended](const Request& request, Responder respond) {
    std::string verdict;
    const auto body = respond.start({}, 20'000'000);
    std::thread reader([&] { verdict = judge(*request.stream); });
    for (Pattern pattern; pattern.at() < 20'000'000;) ASSERT_TRUE(body->write(pattern.next(100'000)));
    reader.join();
    EXPECT_TRUE(body->finish());
    ended.set_value(verdict);
  });
  const auto client = connect();
  client->send(post("/", 20'000'000));
  if (GetParam()) {  // a TLS session of the client has one user: pieces in turn
    Pattern sent, got;
    std::string head = client->some();
    ASSERT_THAT(head, StartsWith("HTTP/1.1 200"));
    while (head.find("\r\n\r\n") == std::string::npos) head += client->some();
    ASSERT_TRUE(got.goes_on_with(body_of(head)));
    while (got.at() < 20'000'000) {
      if (sent.at() < 20'000'000) client->send(sent.next(20'000));
      const std::string part = client->some();
      if (part.empty() || !got.goes_on_with(part)) break;
    }
    EXPECT_EQ(got.at(), 20'000'000U);
  } else {
    std::thread sender([&] {
      for (Pattern pattern; pattern.at() < 20'000'000;) client->send(pattern.next(100'000));
    });
    EXPECT_EQ(receive_pattern(*client, 20'000'000), 20'000'000U);
    sender.join();
  }
  EXPECT_EQ(ended.get_future().get(), "20000000 bytes");
}

TEST_P(DownloadStream, waits_for_a_slow_client_and_gives_up_on_one_that_stops) {
  std::promise<std::string> ended;
  Limits limits;
  limits.write = 300ms;
  start(
      [&](const Request& request, Responder respond) {
        const auto body = respond.start({}, std::nullopt);
        std::expected<void, Error> done;
        for (int i = 0; i < 200 && done; ++i) done = body->write(std::string(100'000, 'x'));
        if (request.path == "/stop") ended.set_value(done ? "taken" : done.error().message);
        if (done) (void)body->finish();
      },
      {.stream = true}, limits);
  const auto slow = connect();
  slow->send(get("/"));
  std::string got;
  while (got.size() < 20'000'000) {
    const std::string part = slow->some();
    if (part.empty()) break;
    got += part;
    if (got.size() % 3 == 0) std::this_thread::sleep_for(1ms);
  }
  EXPECT_GT(got.size(), 20'000'000U);
  const auto stopped = connect();
  stopped->send(get("/stop"));
  EXPECT_EQ(ended.get_future().get(), "the client has not taken its answer in time");
}

TEST_P(DownloadStream, cuts_a_client_that_takes_a_trickle_and_keeps_one_that_is_slow_but_steady) {
  std::promise<std::string> steady_end, trickle_end;
  Limits limits;
  limits.write = 200ms;
  limits.write_progress = 10'000;
  start(
      [&](const Request& request, Responder respond) {
        const auto body = respond.start({}, std::nullopt);
        std::expected<void, Error> done;
        for (int i = 0; i < 80 && done; ++i) done = body->write(std::string(100'000, 'x'));
        if (done) done = body->finish();
        (request.path == "/steady" ? steady_end : trickle_end).set_value(done ? "taken" : done.error().message);
      },
      {.stream = true}, limits);
  // Two megabytes a second, while the kernel asks for more only when a third of its megabytes has gone.
  const auto steady = connect();
  steady->send(get("/steady"));
  for (std::string part = steady->some(); !part.empty() && !part.ends_with("\r\n0\r\n\r\n"); part = steady->some())
    std::this_thread::sleep_for(std::chrono::microseconds(part.size() / 2));
  EXPECT_EQ(steady_end.get_future().get(), "taken");
  const auto trickle = connect();
  trickle->send(get("/trickle"));
  auto ended = trickle_end.get_future();
  while (ended.wait_for(20ms) != std::future_status::ready) trickle->take(100);
  EXPECT_EQ(ended.get(), "the client has not taken its answer in time");
}

TEST_P(DownloadStream, tells_the_handler_that_the_client_is_gone) {
  std::promise<void> seen, failed;
  start([&](const Request&, Responder respond) {
    const auto body = respond.start({}, std::nullopt);
    EXPECT_FALSE(body->gone());
    ASSERT_TRUE(body->write("first"));
    while (!body->gone()) std::this_thread::sleep_for(5ms);
    seen.set_value();
    while (body->write(std::string(100'000, 'x'))) {
    }
    failed.set_value();
  });
  auto client = connect();
  client->send(get("/"));
  EXPECT_NE(client->some(), "");
  client->close();
  EXPECT_EQ(seen.get_future().wait_for(5s), std::future_status::ready);
  EXPECT_EQ(failed.get_future().wait_for(5s), std::future_status::ready);
}

TEST_P(DownloadStream, an_answer_that_breaks_off_cannot_be_taken_for_a_whole_one) {
  start([](const Request& request, Responder respond) {
    const auto body =
        respond.start({}, request.path == "/length" ? std::optional<std::uint64_t>(100'000) : std::nullopt);
    if (request.path == "/nothing") throw std::runtime_error("before the first byte");
    (void)body->write("part");
    if (request.path == "/short") (void)body->finish();
    throw std::runtime_error("in the middle");
  });
  for (const char* path : {"/length", "/chunks"}) {
    const auto client = connect();
    client->send(get(path));
    const std::string answer = client->rest();
    EXPECT_TRUE(client->closed());
    EXPECT_THAT(answer, Not(HasSubstr("\r\n0\r\n\r\n")));
  }
  const auto client = connect();
  client->send(get("/nothing") + get("/short"));
  EXPECT_THAT(client->response(), StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(client->rest(200ms), HasSubstr("4\r\npart\r\n0\r\n\r\n"));
}

TEST_P(DownloadStream, refuses_more_or_fewer_bytes_than_announced) {
  std::promise<std::string> more, fewer, file;
  const PatternFile small(1000);
  start([&](const Request& request, Responder respond) {
    const auto body = respond.start({}, 2000);
    if (request.path == "/file") {
      file.set_value(body->send_file(small.fd(), 0, 2000).error().message);
    } else if (request.path == "/more") {
      more.set_value(body->write(std::string(2001, 'x')).error().message);
    } else {
      (void)body->write("x");
      fewer.set_value(body->finish().error().message);
    }
  });
  const auto one = connect(), two = connect(), three = connect();
  one->send(get("/more"));
  two->send(get("/fewer"));
  three->send(get("/file"));
  EXPECT_EQ(more.get_future().get(), "more bytes than the answer has announced");
  EXPECT_EQ(fewer.get_future().get(), "fewer bytes than the answer has announced");
  EXPECT_EQ(file.get_future().get(), "the file is shorter than the answer has announced");
}

TEST_P(DownloadStream, an_endless_answer_learns_of_the_drain_and_is_cut_with_the_server) {
  std::promise<void> polite, rude;
  start([&](const Request& request, Responder respond) {
    const auto body = respond.start({.content_type = "text/event-stream"}, std::nullopt);
    const bool ends = request.path == "/polite";
    while (body->write(": \n\n") && !(ends && body->draining())) std::this_thread::sleep_for(5ms);
    if (ends) (void)body->finish();
    (ends ? polite : rude).set_value();
  });
  const auto one = connect(), two = connect();
  one->send(get("/polite"));
  two->send(get("/rude"));
  ASSERT_NE(one->some(), "");
  ASSERT_NE(two->some(), "");
  server->drain(300ms);
  EXPECT_EQ(polite.get_future().wait_for(0s), std::future_status::ready);
  EXPECT_EQ(server->stats().connections_open, 1U);
  server.reset();
  EXPECT_EQ(rude.get_future().wait_for(5s), std::future_status::ready);
  EXPECT_TRUE((one->rest(), one->closed()));
}

TEST_P(DownloadStream, a_blocked_writer_wakes_when_the_server_ends) {
  std::promise<std::string> ended;
  start([&](const Request&, Responder respond) {
    const auto body = respond.start({}, std::nullopt);
    std::expected<void, Error> done;
    while (done) done = body->write(std::string(1'000'000, 'x'));
    ended.set_value(done.error().message);
  });
  const auto client = connect();
  client->send(get("/"));
  ASSERT_NE(client->some(), "");
  std::this_thread::sleep_for(200ms);
  server.reset();
  auto told = ended.get_future();
  ASSERT_EQ(told.wait_for(5s), std::future_status::ready);
  EXPECT_THAT(told.get(), HasSubstr("the server has ended before the answer was whole"));
}

TEST_P(DownloadStream, a_failed_answer_in_the_middle_of_an_upload_lets_the_reader_out) {
  std::promise<std::string> read;
  start([&](const Request& request, Responder respond) {
    std::thread reader([&, body = request.stream] { read.set_value(judge(*body)); });
    std::this_thread::sleep_for(50ms);
    {
      const auto body = respond.start({}, std::nullopt);
      (void)body->write("x");
    }
    reader.join();
  });
  const auto client = connect();
  client->send(post("/", 100) + Pattern().next(5));
  EXPECT_THAT(read.get_future().get(), StartsWith("0: "));
}

}  // namespace
}  // namespace stackgate::http::test
