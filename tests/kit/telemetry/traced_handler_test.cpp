#include "services/kit/telemetry/traced_handler.hpp"

#include <memory>
#include <vector>

#include <gmock/gmock.h>

#include "services/kit/base/current_trace.hpp"
#include "tests/kit/telemetry/collector.hpp"

namespace stackgate::telemetry {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

struct Heard final : http::Responder::Sink {
  std::vector<int> statuses;
  void send(http::Response&& response) override { statuses.push_back(response.status); }
  std::unique_ptr<http::BodyWriter> start(http::Response&&, std::optional<std::uint64_t>) override { return nullptr; }
  std::unique_ptr<http::AsyncBodyWriter> stream(http::Response&&, std::optional<std::uint64_t>) override {
    return nullptr;
  }
  void observe(std::shared_ptr<http::AnswerWatcher>) override {}
};

constexpr std::string_view parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

struct TracedHandler : testing::Test {
  Options options(const std::string& url) const {
    Options out{.encoding = Encoding::json};
    out.spans.delay = 10ms;
    if (!url.empty()) out.traces = {Exporter::otlp, url + "/v1/traces"};
    return out;
  }
  /// What a client of `handler` gets for POST `path`.
  std::vector<int> call(const http::Handler& handler, std::string_view path) const {
    const auto heard = std::make_shared<Heard>();
    handler({.method = "POST",
             .path = path,
             .headers = {{"traceparent", parent}, {"Host", "gate:9443"}},
             .body = "{}",
             .peer = "10.0.0.7:1"},
            http::Responder(heard));
    return heard->statuses;
  }
  metrics::Registry registry_;
};

TEST_F(TracedHandler, continues_the_callers_trace_and_ends_its_span_with_the_answer) {
  Collector collector;
  const auto telemetry = Telemetry::start(options(collector.url()), registry_, true);
  std::string inside;
  const http::Handler handler = traced(
      [&](const http::Request& request, http::Responder respond) {
        inside = current_trace() != nullptr ? current_trace()->trace_id : "none";
        EXPECT_EQ(request.body, "{}");
        if (request.path == "/validate") respond({.status = 200, .body = "good"});
      },
      *telemetry, {"/validate"});
  EXPECT_THAT(call(handler, "/validate"), testing::ElementsAre(200));
  EXPECT_EQ(inside, "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(current_trace(), nullptr);
  EXPECT_THAT(call(handler, "/other"), testing::ElementsAre(500)) << "dropped by its handler";
  telemetry->shutdown(2s);
  std::string all;
  for (const Delivery& each : collector.all()) all += each.body;
  EXPECT_THAT(all, AllOf(HasSubstr(R"("name":"POST /validate")"), HasSubstr(R"("name":"POST")"),
                         HasSubstr(R"("traceId":"0af7651916cd43dd8448eb211c80319c")"),
                         HasSubstr(R"("parentSpanId":"b7ad6b7169203331")"),
                         HasSubstr(R"({"key":"url.scheme","value":{"stringValue":"https"}})"),
                         HasSubstr(R"({"key":"http.request.body.size","value":{"intValue":"2"}})"),
                         HasSubstr(R"({"key":"http.response.body.size","value":{"intValue":"4"}})"),
                         HasSubstr(R"({"key":"http.response.status_code","value":{"intValue":"500"}})")));
}

TEST_F(TracedHandler, is_the_handler_itself_when_no_traces_are_exported) {
  const auto telemetry = Telemetry::start(options(""), registry_, true);
  const http::Handler handler = traced(
      [](const http::Request&, http::Responder respond) {
        EXPECT_EQ(current_trace(), nullptr);
        respond({.status = 204});
      },
      *telemetry, {"/validate"});
  EXPECT_THAT(call(handler, "/validate"), testing::ElementsAre(204));
}

}  // namespace
}  // namespace stackgate::telemetry
