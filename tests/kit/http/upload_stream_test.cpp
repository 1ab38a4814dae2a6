// Streamed request bodies over real sockets, plain and TLS.
#include "tests/kit/http/streaming.hpp"

// Less of what was freed is kept back than the usual 256 MiB, so that a body of 300 MB that is held shows.
extern "C" const char* __asan_default_options();  // NOLINT(bugprone-reserved-identifier): the sanitizer asks for it
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=64"; }  // NOLINT

namespace stackgate::http::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct UploadStream : StreamingTest {
  void judge_all(std::size_t piece = 64 * 1024, std::chrono::milliseconds nap = 0ms) {
    start([=](const Request& request, Responder respond) {
      respond(text_answer(200, request.stream ? judge(*request.stream, piece, nap) : "buffered"));
    });
  }
};
INSTANTIATE_TEST_SUITE_P(, UploadStream, testing::Values(false, true),
                         [](const auto& test) { return test.param ? "tls" : "plain"; });

TEST_P(UploadStream, takes_hundreds_of_megabytes_with_flat_memory) {
  judge_all();
  const auto client = connect();
  Pattern pattern;
  const double before = reset_peak();
  constexpr std::uint64_t size = 300'000'000;
  client->send(post("/", size));
  while (pattern.at() < size) client->send(pattern.next(std::min<std::uint64_t>(65521, size - pattern.at())));
  EXPECT_EQ(body_of(client->response(false, 30s)), "300000000 bytes");
  EXPECT_LT(peak_mib() - before, most_growth);
}

TEST_P(UploadStream, takes_chunks_of_any_size_and_the_request_behind_them) {
  judge_all(1000);
  const auto client = connect();
  Pattern pattern;
  client->send(post_chunked("/"));
  for (const std::size_t size : {1U, 15U, 16U, 17U, 999U, 1000U, 1001U, 70'000U, 300'000U})
    client->send(chunk(pattern.next(size)));
  client->send("0\r\nTrailer: x\r\n\r\n" + post("/", 3) + Pattern().next(3) + get("/"));
  EXPECT_EQ(body_of(client->response()), std::to_string(pattern.at()) + " bytes");
  EXPECT_EQ(body_of(client->response()), "3 bytes");
  EXPECT_EQ(body_of(client->response()), "0 bytes");
}

TEST_P(UploadStream, keeps_a_pipelined_request_that_is_larger_than_the_buffer) {
  judge_all(256 * 1024);
  const auto client = connect();
  client->send(post_chunked("/") + chunk(Pattern().next(10)) + "0\r\n\r\n" + post("/", 200'000) +
               Pattern().next(200'000));
  EXPECT_EQ(body_of(client->response()), "10 bytes");
  EXPECT_EQ(body_of(client->response()), "200000 bytes");
}

TEST_P(UploadStream, serves_bodies_whole_where_the_policy_says_so) {
  judge_all();
  const auto client = connect();
  client->send(post("/whole", 5) + "abcde");
  EXPECT_EQ(body_of(client->response()), "buffered");
  client->send(post("/", 5) + Pattern().next(5));
  EXPECT_EQ(body_of(client->response()), "5 bytes");
}

TEST_P(UploadStream, holds_a_client_back_while_the_handler_is_slow) {
  judge_all(256 * 1024, 10ms);
  const auto client = connect();
  const std::string body = Pattern().next(8'000'000);
  client->send(post("/", body.size()) + body);
  EXPECT_EQ(body_of(client->response(false, 20s)), "8000000 bytes");
}

TEST_P(UploadStream, waits_for_a_client_that_sends_a_byte_at_a_time) {
  judge_all();
  const auto client = connect();
  const std::string body = Pattern().next(10);
  client->send(post("/", body.size()));
  for (const char c : body) {
    client->send({&c, 1});
    std::this_thread::sleep_for(30ms);
  }
  EXPECT_EQ(body_of(client->response()), "10 bytes");
}

TEST_P(UploadStream, gives_up_on_a_pause_and_on_dribbling) {
  for (const std::uint64_t progress : {1U, 1000U}) {
    start([](const Request& request, Responder respond) { respond(text_answer(408, judge(*request.stream))); },
          {.stream = true, .body_bytes = 0, .pause = 300ms, .progress = progress});
    const auto client = connect();
    client->send(post("/", 1000));
    const std::string body = Pattern().next(6);
    for (const char c : body) {
      client->send({&c, 1});
      if (progress > 1) std::this_thread::sleep_for(100ms);
    }
    const std::string answer = client->response(false, 3s);
    EXPECT_THAT(answer, HasSubstr("Connection: close"));
    EXPECT_EQ(body_of(answer), "408: the request's body did not arrive in time");
  }
}

TEST_P(UploadStream, names_what_is_wrong_with_a_body) {
  start([](const Request& request, Responder respond) { respond(text_answer(200, judge(*request.stream))); },
        {.stream = true, .body_bytes = 100});
  const auto chunks = connect();
  chunks->send(post_chunked("/") + chunk(Pattern().next(60)) + "29\r\n");
  EXPECT_EQ(body_of(chunks->response()), "413: the request's body is larger than this server takes");
  const auto malformed = connect();
  malformed->send(post_chunked("/") + "zz\r\n");
  EXPECT_EQ(body_of(malformed->response()), "400: the chunked body is malformed");
  const auto announced = connect();
  announced->send(post("/", 101));
  EXPECT_THAT(announced->response(), StartsWith("HTTP/1.1 413 "));
}

TEST_P(UploadStream, tells_the_handler_when_the_client_leaves_in_the_middle) {
  std::promise<std::string> seen;
  start([&](const Request& request, Responder) { seen.set_value(judge(*request.stream)); });
  auto client = connect();
  client->send(post("/", 1'000'000) + Pattern().next(100'000));
  client->reset();
  EXPECT_EQ(seen.get_future().get(), "0: the client has closed the connection in the middle of its body");
}

TEST_P(UploadStream, asks_for_the_body_at_the_first_read_only) {
  std::promise<void> read_now;
  start([&, go = read_now.get_future().share()](const Request& request, Responder respond) {
    go.wait();
    respond(text_answer(200, judge(*request.stream)));
  });
  const auto client = connect();
  client->send(post("/", 4, "Expect: 100-continue\r\n"));
  EXPECT_EQ(client->some(100ms), "");
  read_now.set_value();
  EXPECT_EQ(client->response(true), "HTTP/1.1 100 Continue\r\n\r\n");
  client->send(Pattern().next(4));
  EXPECT_EQ(body_of(client->response()), "4 bytes");
}

TEST_P(UploadStream, answers_without_asking_for_a_body_that_is_not_wanted) {
  judge_all();
  for (const char* path : {"/unwanted", "/broken-policy"}) {
    const auto client = connect();
    client->send(post(path, 1'000'000, "Expect: 100-continue\r\n"));
    EXPECT_THAT(client->response(),
                StartsWith(std::string_view(path) == "/unwanted" ? "HTTP/1.1 401 " : "HTTP/1.1 500 "));
    EXPECT_EQ(client->rest(), "");
    EXPECT_TRUE(client->closed());
  }
  const auto client = connect();  // without a body there is no reason to part
  client->send(get("/unwanted") + post("/unwanted", 3) + "abc" + get("/"));
  EXPECT_THAT(client->response(), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(client->response(), StartsWith("HTTP/1.1 401 "));
  EXPECT_EQ(body_of(client->response()), "0 bytes");
}

TEST_P(UploadStream, an_early_answer_arrives_although_the_client_is_still_sending) {
  start([](const Request& request, Responder respond) {
    char first[16];
    (void)request.stream->read(first);
    respond(plain_answer(403, "enough"));
  });
  const auto client = connect();
  std::thread sender([&] {
    client->send(post("/", 1'000'000'000));
    const std::string part(1 << 16, 'x');
    for (int i = 0; i < 50; ++i) client->send(part);
  });
  sender.join();
  const std::string answer = client->response();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(answer, HasSubstr("Connection: close"));
}

TEST_P(UploadStream, the_body_ends_with_the_answer_for_a_thread_that_still_reads) {
  std::promise<std::string> seen;
  start([&](const Request& request, Responder respond) {
    std::thread reader([&, body = request.stream] {
      const std::string first = judge(*body);
      char more[16];
      seen.set_value(first + " / " + body->read(more).error().error.message);
    });
    std::this_thread::sleep_for(50ms);
    respond(text_answer(200, "done"));
    reader.join();
  });
  const auto client = connect();
  client->send(post("/", 100) + Pattern().next(10));
  EXPECT_EQ(body_of(client->response()), "done");
  const std::string ended = "the request has been answered: its body can be read no more";
  EXPECT_EQ(seen.get_future().get(), "0: " + ended + " / " + ended);
}

TEST_P(UploadStream, a_handler_that_throws_gives_500_and_the_server_goes_on) {
  start([](const Request& request, Responder respond) {
    if (request.path == "/throw") throw std::runtime_error("broken on purpose");
    respond(text_answer(200, judge(*request.stream)));
  });
  const auto client = connect();
  client->send(post("/throw", 1'000'000) + Pattern().next(1000));
  EXPECT_THAT(client->response(), StartsWith("HTTP/1.1 500 "));
  const auto next = connect();
  next->send(post("/", 7) + Pattern().next(7));
  EXPECT_EQ(body_of(next->response()), "7 bytes");
}

TEST_P(UploadStream, a_drain_lets_an_upload_finish_and_the_end_of_the_server_cuts_it) {
  std::promise<std::string> cut;
  std::atomic<int> begun = 0;
  start([&](const Request& request, Responder respond) {
    ++begun;
    const std::string verdict = judge(*request.stream);
    if (request.path == "/cut") cut.set_value(verdict);
    respond(text_answer(200, verdict));
  });
  const auto whole = connect(), half = connect();
  whole->send(post("/", 20) + Pattern().next(10));
  half->send(post("/cut", 20) + Pattern().next(10));
  ASSERT_TRUE(soon([&] { return begun == 2; }));
  std::thread drain([&] { server->drain(500ms); });
  std::this_thread::sleep_for(100ms);
  whole->send(Pattern(10).next(10));
  const std::string answer = whole->response();
  EXPECT_THAT(answer, HasSubstr("Connection: close"));
  EXPECT_EQ(body_of(answer), "20 bytes");
  drain.join();
  server.reset();
  EXPECT_THAT(cut.get_future().get(), StartsWith("503: the server has ended before the body was whole"));
}

}  // namespace
}  // namespace stackgate::http::test
