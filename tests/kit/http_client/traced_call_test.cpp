#include "services/kit/http_client/traced_call.hpp"

#include <optional>

#include <gmock/gmock.h>

#include "services/kit/http/server.hpp"

namespace stackgate::http_client {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Pair;

constexpr CurrentTrace sampled{
    .trace_id = "0af7651916cd43dd8448eb211c80319c", .span_id = "b7ad6b7169203331", .state = "a=b", .sampled = true};

TEST(TracedCall, passes_the_trace_on_only_under_one_and_never_to_strangers) {
  const Request plain{.url = "http://h/"}, knows{.url = "http://h/", .headers = {{"TraceParent", "00-…"}}};
  EXPECT_FALSE(passes_trace_on(plain, {}));
  const TraceScope scope(sampled);
  EXPECT_TRUE(passes_trace_on(plain, {}));
  EXPECT_FALSE(passes_trace_on(knows, {}));
  EXPECT_FALSE(passes_trace_on(plain, {.public_addresses_only = true}));
}

TEST(TracedCall, passes_on_a_trace_that_was_written_down) {
  const Request call{.url = "http://h/"};
  const std::string header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  {
    const TraceCopy kept(header);
    std::optional<TraceScope> scope;
    kept.enter(scope);
    ASSERT_TRUE(scope);
    EXPECT_THAT(TracedCall(call).take_headers(), ElementsAre(Pair("traceparent", header)));
  }
  const TraceCopy broken("00-0af7-b7ad-01");
  std::optional<TraceScope> scope;
  broken.enter(scope);
  EXPECT_FALSE(scope);
}

TEST(TracedCall, passes_the_callers_span_on_while_nobody_records_one_of_its_own) {
  const TraceScope scope(sampled);
  const Request call{.url = "http://h/"};
  EXPECT_THAT(TracedCall(call).take_headers(),
              ElementsAre(Pair("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
                          Pair("tracestate", "a=b")));
  CurrentTrace quiet = sampled;
  quiet.sampled = false;
  quiet.state = {};
  const TraceScope inner(quiet);
  EXPECT_THAT(TracedCall(call).take_headers(),
              ElementsAre(Pair("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")));
}

TEST(TracedCall, is_told_to_the_observer_with_the_span_that_the_other_side_knows) {
  struct Heard {
    std::string span, parent, url, error;
    int status;
  };
  std::vector<Heard> heard;
  set_observer([&](const Traced& call) {
    heard.push_back({std::string(call.span_id), std::string(call.trace.span_id), std::string(call.url),
                     std::string(call.error), call.status});
  });
  std::string told;
  auto server = http::Server::start({}, [&](const http::Request& request, http::Responder respond) {
    told = request.header("traceparent");
    respond(http::text_answer(404, "no"));
  });
  ASSERT_TRUE(server);
  Client client({.retries = 0});
  {
    const TraceScope scope(sampled);
    const std::string port = std::to_string((*server)->port());
    ASSERT_TRUE(client.call({.url = "http://127.0.0.1:" + port + "/x?sig=s3cret"}));
    ASSERT_FALSE(client.call({.url = "http://127.0.0.1:1/"}));
  }
  ASSERT_TRUE(client.call({.url = "http://127.0.0.1:" + std::to_string((*server)->port()) + "/outside"}));
  set_observer({});
  EXPECT_EQ(told, "") << "the last call belongs to no trace";
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_THAT(heard[0].span, MatchesRegex("[0-9a-f]{16}"));
  EXPECT_NE(heard[0].span, heard[1].span);
  EXPECT_EQ(heard[0].parent, sampled.span_id);
  EXPECT_EQ(heard[0].status, 404);
  EXPECT_THAT(heard[0].url, testing::Not(HasSubstr("s3cret")));
  EXPECT_EQ(heard[1].status, 0);
  EXPECT_THAT(heard[1].error, HasSubstr("127.0.0.1"));
}

TEST(TraceScope, ends_with_its_block_and_is_each_threads_own) {
  EXPECT_EQ(current_trace(), nullptr);
  {
    const TraceScope outer(sampled);
    {
      CurrentTrace other = sampled;
      other.span_id = "1111111111111111";
      const TraceScope inner(other);
      EXPECT_EQ(current_trace()->span_id, "1111111111111111");
    }
    EXPECT_EQ(current_trace()->span_id, sampled.span_id);
  }
  EXPECT_EQ(current_trace(), nullptr);
}

TEST(Client, gives_a_call_up_when_its_caller_says_so) {
  std::optional<http::Responder> kept;
  auto server =
      http::Server::start({}, [&](const http::Request&, http::Responder respond) { kept.emplace(std::move(respond)); });
  ASSERT_TRUE(server);
  Client client;
  const auto began = std::chrono::steady_clock::now();
  const auto reply = client.call({.url = "http://127.0.0.1:" + std::to_string((*server)->port()) + "/",
                                  .give_up = [&] { return std::chrono::steady_clock::now() - began > 100ms; }});
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("cancelled by the caller"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 3s);
}

}  // namespace
}  // namespace stackgate::http_client
