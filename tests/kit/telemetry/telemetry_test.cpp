// The exporters against a live collector that refuses, stalls and goes away.
#include "services/kit/telemetry/telemetry.hpp"

#include <fstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "services/kit/http_client/client.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/telemetry/throttled_log.hpp"
#include "tests/kit/telemetry/collector.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::telemetry {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Clock = std::chrono::steady_clock;

class TelemetryTest : public testing::Test {
 protected:
  TelemetryTest() {
    fd_ = ::open((folder_ / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    log::configure({.level = log::Level::info, .format = log::Format::text, .fd = fd_});
  }
  ~TelemetryTest() override {
    telemetry_.reset();
    log::configure({.level = log::Level::error, .format = log::Format::text, .fd = 2});
    ::close(fd_);
  }
  static Options only(Signal signal, const std::string& url) {
    Options out{.encoding = Encoding::json, .gzip = true, .timeout = 2s, .resource = {{"service.name", "sample"}}};
    out.spans = {.delay = 10ms, .queued = 64, .batch = 16, .whole = 5s};
    out.records = out.spans;
    Output& output = signal == Signal::traces ? out.traces : signal == Signal::metrics ? out.metrics : out.logs;
    output = {Exporter::otlp, url + "/v1/" + std::string(to_string(signal))};
    return out;
  }
  void start(Options options) { telemetry_ = Telemetry::start(std::move(options), registry_, false); }
  std::string log_text() const {
    std::ifstream file(folder_ / "log");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::uint64_t count(const std::string& series) const {
    const std::string text = "\n" + registry_.render();
    const auto at = text.find("\nstackgate_telemetry_" + series + " ");
    return at == std::string::npos ? 0 : std::stoull(text.substr(text.find(' ', at)));
  }
  std::uint64_t until(const std::string& series, std::uint64_t wanted) const {
    for (int i = 0; i < 1000 && count(series) < wanted; ++i) std::this_thread::sleep_for(5ms);
    return count(series);
  }
  static std::size_t times(std::string_view part, const std::string& whole) {
    std::size_t n = 0;
    for (auto at = whole.find(part); at != std::string::npos; at = whole.find(part, at + 1)) ++n;
    return n;
  }

  test::TempDir folder_;
  int fd_ = -1;
  metrics::Registry registry_;
  std::unique_ptr<Telemetry> telemetry_;
};

TEST_F(TelemetryTest, sends_log_lines_with_the_trace_that_they_belong_to) {
  Collector collector;
  Options options = only(Signal::logs, collector.url());
  options.headers = {{"authorization", "Bearer abc"}};
  options.log_level = log::Level::debug;
  start(std::move(options));
  {
    const TraceScope scope(
        {.trace_id = "0af7651916cd43dd8448eb211c80319c", .span_id = "b7ad6b7169203331", .sampled = true});
    log::debug("inside", {{"n", 7}, {"trace_id", "0af7651916cd43dd8448eb211c80319c"}});
  }
  log::error("outside");
  telemetry_->shutdown(2s);
  std::string all;
  for (const Delivery& each : collector.all()) {
    EXPECT_EQ(each.path, "/v1/logs");
    EXPECT_EQ(each.content_type, "application/json");
    EXPECT_EQ(each.authorization, "Bearer abc");
    EXPECT_EQ(each.traceparent, "");
    all += each.body;
  }
  EXPECT_THAT(all, HasSubstr(R"("severityText":"DEBUG","body":{"stringValue":"inside"},"attributes":[{"key":"n",)"
                             R"("value":{"intValue":"7"}}],"flags":1,"traceId":"0af7651916cd43dd8448eb211c80319c",)"
                             R"("spanId":"b7ad6b7169203331")"));
  EXPECT_THAT(all, HasSubstr(R"("body":{"stringValue":"outside"},"attributes":[],"observedTimeUnixNano")"));
  EXPECT_THAT(log_text(), AllOf(Not(HasSubstr("inside")), HasSubstr("outside"))) << "the log has a level of its own";
  EXPECT_EQ(count("sent_total{signal=\"logs\"}"), 2U);
  log::info("afterwards");
  EXPECT_THAT(collector.all().back().body, Not(HasSubstr("afterwards")));
}

TEST_F(TelemetryTest, compresses_what_is_large_and_sends_protobuf_when_told) {
  Collector collector;
  Options options = only(Signal::logs, collector.url());
  options.encoding = Encoding::protobuf;
  start(std::move(options));
  const std::string text(4000, 'y');
  log::info(text);
  telemetry_->shutdown(2s);
  ASSERT_EQ(collector.all().size(), 1U);
  EXPECT_EQ(collector.all()[0].encoding, "gzip");
  EXPECT_EQ(collector.all()[0].content_type, "application/x-protobuf");
  EXPECT_THAT(collector.all()[0].body, AllOf(HasSubstr(text), HasSubstr("service.name")));
}

TEST_F(TelemetryTest, sends_metrics_at_intervals_and_a_last_time) {
  Collector collector;
  Options options = only(Signal::metrics, collector.url());
  options.metric_interval = 50ms;
  auto& things = registry_.counter("things_total", "Things.").at();
  start(std::move(options));
  EXPECT_THAT(collector.wait_for(2).back().body, HasSubstr("\"name\":\"things_total\""));
  things.add(42);
  telemetry_->shutdown(2s);
  EXPECT_THAT(collector.all().back().body, HasSubstr("\"asInt\":\"42\""));
}

TEST_F(TelemetryTest, tries_again_when_it_is_asked_to_and_not_before) {
  Collector collector([](const Delivery&, std::size_t before) -> std::optional<http::Response> {
    if (before == 0) return http::Response{503, "text/plain", {{"Retry-After", "1"}}, "busy"};
    if (before == 1) return http::Response{429, "text/plain", {}, "slow down"};
    return http::Response{200, "application/json", {}, ""};
  });
  start(only(Signal::logs, collector.url()));
  log::info("one");
  const auto deliveries = collector.wait_for(3);
  ASSERT_EQ(deliveries.size(), 3U);
  EXPECT_GE(deliveries[1].at - deliveries[0].at, 950ms);
  EXPECT_EQ(deliveries[0].body, deliveries[2].body);
  EXPECT_EQ(until("sent_total{signal=\"logs\"}", 1), 1U);
  EXPECT_EQ(count("dropped_total{signal=\"logs\",reason=\"failed\"}"), 0U);
}

TEST_F(TelemetryTest, leaves_a_collector_alone_for_as_long_as_it_asks_even_beyond_a_batchs_time) {
  Collector collector([](const Delivery&, std::size_t before) -> std::optional<http::Response> {
    if (before == 0) return http::Response{503, "text/plain", {{"Retry-After", "1"}}, "busy"};
    return http::Response{200, "application/json", {}, ""};
  });
  Options options = only(Signal::logs, collector.url());
  options.records.whole = 500ms;
  start(std::move(options));
  log::info("lost");
  EXPECT_EQ(until("dropped_total{signal=\"logs\",reason=\"failed\"}", 1), 1U);
  log::info("kept");
  ASSERT_GE(collector.wait_for(2).size(), 2U);
  telemetry_->shutdown(2s);
  const auto deliveries = collector.all();
  EXPECT_GE(deliveries[1].at - deliveries[0].at, 950ms);
  std::string later;  // with the complaint's own line, together or not
  for (std::size_t i = 1; i < deliveries.size(); ++i) later += deliveries[i].body;
  EXPECT_THAT(later, AllOf(HasSubstr("kept"), Not(HasSubstr("\"lost\"}"))));
}

TEST_F(TelemetryTest, comes_and_goes_while_threads_log) {
  Collector collector;
  std::atomic<bool> enough = false;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      const TraceScope scope({.trace_id = "0af7651916cd43dd8448eb211c80319c", .span_id = "b7ad6b7169203331"});
      while (!enough) log::info("line", {{"n", 1}});
    });
  }
  for (int i = 0; i < 5; ++i) {
    metrics::Registry registry;
    const auto telemetry = Telemetry::start(only(Signal::logs, collector.url()), registry, false);
    collector.wait_for(collector.all().size() + 1);
    telemetry->shutdown(2s);
  }
  enough = true;
  EXPECT_GE(collector.all().size(), 5U);
}

TEST_F(TelemetryTest, prints_to_standard_output_when_told) {
  Options options;
  options.logs.exporter = Exporter::console;
  testing::internal::CaptureStdout();
  start(std::move(options));
  log::info("to be read");
  telemetry_->shutdown(1s);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), AllOf(testing::StartsWith("{\"resourceLogs\":["),
                                                            HasSubstr("to be read"), testing::EndsWith("]}]}]}\n")));
}

TEST_F(TelemetryTest, gives_a_batch_up_that_the_collector_refuses_and_says_so_once_a_minute) {
  Collector collector([](const Delivery&, std::size_t) {
    return http::Response{400, "application/json", {}, R"({"code":3,"message":"unknown field"})"};
  });
  start(only(Signal::logs, collector.url()));
  for (int i = 0; i < 4; ++i) {
    log::info("line");
    collector.wait_for(static_cast<std::size_t>(i) + 1);
  }
  EXPECT_GE(until("dropped_total{signal=\"logs\",reason=\"failed\"}", 4), 4U);
  EXPECT_EQ(times("telemetry does not arrive", log_text()), 1U);
  EXPECT_THAT(log_text(), AllOf(HasSubstr("answers 400: unknown field"), HasSubstr("signal=logs")));
}

TEST_F(TelemetryTest, tells_of_items_that_the_collector_did_not_take) {
  Collector collector([](const Delivery&, std::size_t before) {
    return http::Response{
        200,
        "application/json",
        {},
        before == 0 ? R"({"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"too old"}})" : "{}"};
  });
  start(only(Signal::logs, collector.url()));
  log::info("one");
  EXPECT_EQ(until("dropped_total{signal=\"logs\",reason=\"rejected\"}", 1), 1U);
  telemetry_->shutdown(2s);
  EXPECT_THAT(log_text(), AllOf(HasSubstr("too old"), HasSubstr("telemetry arrives again")));
}

TEST_F(TelemetryTest, drops_and_counts_what_does_not_fit_and_never_holds_up_who_logs) {
  Collector collector([](const Delivery&, std::size_t) { return std::nullopt; });
  start(only(Signal::logs, collector.url()));
  log::info("first");
  collector.wait_for(1);  // and now it hangs
  const auto began = Clock::now();
  for (int i = 0; i < 500; ++i) log::info("line");
  EXPECT_LT(Clock::now() - began, 500ms);
  EXPECT_GE(count("dropped_total{signal=\"logs\",reason=\"queue_full\"}"), 400U);
  EXPECT_EQ(times(" line\n", log_text()), 500U) << "the log itself loses none";
}

TEST_F(TelemetryTest, ends_in_time_though_the_collector_hangs) {
  Collector collector([](const Delivery&, std::size_t) { return std::nullopt; });
  Options options = only(Signal::logs, collector.url());
  options.timeout = 60s;
  options.records.whole = 60s;
  options.traces = {Exporter::otlp, collector.url() + "/v1/traces"};
  options.metrics = {Exporter::otlp, collector.url() + "/v1/metrics"};
  start(std::move(options));
  log::info("first");
  collector.wait_for(1);
  const auto began = Clock::now();
  telemetry_->shutdown(300ms);
  EXPECT_LT(Clock::now() - began, 2500ms);
}

TEST_F(TelemetryTest, flushes_what_waits_for_company_when_the_process_ends) {
  Collector collector;
  Options options = only(Signal::logs, collector.url());
  options.records.delay = 1h;
  start(std::move(options));
  for (int i = 0; i < 40; ++i) log::info("line");
  const auto began = Clock::now();
  telemetry_->shutdown(2s);
  EXPECT_LT(Clock::now() - began, 1s);
  std::size_t lines = 0;
  for (const Delivery& each : collector.all()) {
    const std::size_t here = times("\"stringValue\":\"line\"", each.body);
    EXPECT_LE(here, 16U) << "no batch is larger than it may be";
    lines += here;
  }
  EXPECT_EQ(lines, 40U);
}

TEST_F(TelemetryTest, gets_through_again_once_the_collector_is_back) {
  std::uint16_t port = 0;
  {
    const Collector before;
    port = before.port();
  }
  start(only(Signal::logs, "http://127.0.0.1:" + std::to_string(port)));
  log::info("while it was away");
  std::this_thread::sleep_for(300ms);
  Collector collector({}, "127.0.0.1:" + std::to_string(port));
  EXPECT_THAT(collector.wait_for(1).at(0).body, HasSubstr("while it was away"));
}

TEST_F(TelemetryTest, traces_requests_and_the_calls_made_for_them) {
  Collector collector;
  Collector other;  // a service that ours calls
  Options options = only(Signal::traces, collector.url());
  options.excluded_urls = "internal";
  start(std::move(options));
  web::AppConfig config;
  config.metrics = &registry_;
  config.sampler = telemetry_->sampler();
  config.observers.push_back(telemetry_->observer());
  http_client::Client client;
  std::vector<web::Route> routes;
  routes.push_back({"GET", "/things/{id}", [&](web::Call&) -> web::Answer {
                      const auto reply = client.call({.url = other.url() + "/there?sig=s3cret"});
                      return http::Response{reply ? 200 : 502, "text/plain", {}, "x"};
                    }});
  routes.push_back({"GET", "/fails", [](web::Call&) -> web::Answer { return web::Failure{500, "not now"}; }});
  routes.push_back(
      {"GET", "/internal", [](web::Call&) -> web::Answer { return http::Response{200, "text/plain", {}, ""}; }});
  routes.push_back({"GET",
                    "/health",
                    [](web::Call&) -> web::Answer { return http::Response{200, "text/plain", {}, ""}; },
                    {.quiet = true}});
  auto app = web::App::start(std::move(config), std::move(routes));
  ASSERT_TRUE(app);
  const std::string base = "http://127.0.0.1:" + std::to_string((*app)->port());
  const auto get = [&](const std::string& path, const std::string& parent) {
    ASSERT_TRUE(client.call({.url = base + path, .headers = {{"traceparent", parent}, {"tracestate", "a=b"}}}));
  };
  get("/things/7?token=hunter2&page=2", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  get("/fails", "00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  get("/things/8", "00-2af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");
  get("/internal", "00-3af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  get("/health", "00-4af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  app->reset();
  telemetry_->shutdown(2s);
  std::string all;
  for (const Delivery& each : collector.all()) all += each.body;
  EXPECT_EQ(times("\"traceId\"", all), 3U) << all;
  EXPECT_THAT(
      all,
      AllOf(HasSubstr(R"("traceState":"a=b","parentSpanId":"b7ad6b7169203331","name":"GET /things/{id}","kind":2)"),
            HasSubstr(R"({"key":"http.route","value":{"stringValue":"/things/{id}"}})"),
            HasSubstr(R"({"key":"http.response.status_code","value":{"intValue":"200"}})"),
            HasSubstr(R"({"key":"url.path","value":{"stringValue":"/things/7"}})"),
            HasSubstr(R"({"key":"url.query","value":{"stringValue":"token=...&page=2"}})"),
            HasSubstr(R"({"key":"client.address","value":{"stringValue":"127.0.0.1"}})"),
            HasSubstr(R"({"key":"error.type","value":{"stringValue":"500"}})"), Not(HasSubstr("hunter2")),
            Not(HasSubstr("s3cret"))));
  // The call's own span: the parent is the request's, and the other side was told of it.
  const auto told = other.all();
  ASSERT_EQ(told.size(), 2U);
  EXPECT_THAT(told[0].traceparent, testing::MatchesRegex("00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01"));
  EXPECT_THAT(told[1].traceparent, testing::MatchesRegex("00-2af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00"));
  EXPECT_THAT(all, HasSubstr(R"("spanId":")" + told[0].traceparent.substr(36, 16) + "\""));
  EXPECT_THAT(all, HasSubstr(R"("name":"GET","kind":3)"));
}

TEST_F(TelemetryTest, begins_traces_of_its_own_as_the_sampler_says) {
  Options options = only(Signal::traces, "http://127.0.0.1:1");
  options.sampler = {.root = Sampler::Root::always_off};
  start(options);
  const http::Request request{.method = "GET", .path = "/x"};
  const web::TraceContext begun{.trace_id = "0af7651916cd43dd8448eb211c80319c", .span_id = "b7ad6b7169203331"};
  web::TraceContext continued = begun;
  continued.parent_id = "b7ad6b7169203332";
  continued.sampled = true;
  EXPECT_FALSE(telemetry_->sampler()(request, begun, false));
  EXPECT_TRUE(telemetry_->sampler()(request, continued, false));
  EXPECT_FALSE(telemetry_->sampler()(request, continued, true));
}

TEST_F(TelemetryTest, starts_nothing_where_there_is_nothing_to_send) {
  start(Options{});
  EXPECT_FALSE(telemetry_->sampler());
  EXPECT_FALSE(telemetry_->observer());
  EXPECT_EQ(registry_.render(), "");
}

TEST_F(TelemetryTest, warns_of_the_port_that_grpc_usually_has) {
  start(only(Signal::logs, "http://127.0.0.1:4317"));
  EXPECT_THAT(log_text(), AllOf(HasSubstr("4317 is usually gRPC's"), HasSubstr("4318")));
}

TEST_F(TelemetryTest, complains_again_after_the_pause_with_what_was_lost_meanwhile) {
  ThrottledLog throttled_log(50ms);
  throttled_log.lost(Signal::traces, 3, "away");
  throttled_log.lost(Signal::traces, 4, "away");
  std::this_thread::sleep_for(60ms);
  throttled_log.lost(Signal::traces, 5, "away");
  throttled_log.arrived(Signal::traces);
  throttled_log.arrived(Signal::traces);
  EXPECT_THAT(log_text(), AllOf(HasSubstr("lost=3"), HasSubstr("lost=9")));
  EXPECT_EQ(times("telemetry does not arrive", log_text()), 2U);
  EXPECT_EQ(times("telemetry arrives again", log_text()), 1U);
}

}  // namespace
}  // namespace stackgate::telemetry
