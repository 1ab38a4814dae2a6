#include "services/kit/telemetry/options.hpp"

#include <fstream>
#include <map>
#include <regex>

#include <gmock/gmock.h>

#include "services/kit/service/service.hpp"
#include "services/kit/settings/names.hpp"
#include "tests/support/paths.hpp"

namespace stackgate::telemetry {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using namespace std::chrono_literals;

using Variables = std::map<std::string, std::string>;

const settings::Program& sample_program() {
  static const settings::Program it{.name = "stackgate-sample", .summary = "", .settings = telemetry_settings()};
  return it;
}

settings::Outcome outcome_of(const Variables& variables) {
  auto out = settings::read(
      sample_program(), {},
      [&](const std::string& name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
      },
      [](const std::string&) { return std::nullopt; }, "1");
  for (auto& finding : check_telemetry(out.values)) out.findings.push_back(finding);
  return out;
}

Options options_of(const Variables& variables) {
  const auto outcome = outcome_of(variables);
  EXPECT_THAT(outcome.findings, IsEmpty()) << settings::to_text(sample_program(), outcome.findings);
  return read_telemetry(outcome.values, "stackgate-sample", "pod-1");
}

std::string complaint_of(const Variables& variables) {
  return settings::to_text(sample_program(), outcome_of(variables).findings);
}

std::string attribute(const Options& options, std::string_view key) {
  for (const Attribute& each : options.resource) {
    if (each.key == key) return std::get<std::string>(each.value);
  }
  return "(none)";
}

TEST(TelemetryOptions, send_nothing_unless_there_is_an_endpoint) {
  EXPECT_FALSE(options_of({}).any());
  EXPECT_FALSE(options_of({{"OTEL_TRACES_EXPORTER", "otlp"}}).any());
  const Options all = options_of({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318"}});
  for (const Signal signal : signals) EXPECT_EQ(all.of(signal).exporter, Exporter::otlp);
  EXPECT_FALSE(options_of({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"}, {"OTEL_SDK_DISABLED", "true"}}).any());
}

TEST(TelemetryOptions, append_the_signals_path_to_the_endpoint_but_not_to_a_signals_own) {
  struct Case {
    Variables variables;
    std::string traces, logs;
  };
  for (const auto& [variables, traces, logs] : std::initializer_list<Case>{
           {{{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"}}, "http://c:4318/v1/traces", "http://c:4318/v1/logs"},
           {{{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/"}}, "http://c:4318/v1/traces", "http://c:4318/v1/logs"},
           {{{"OTEL_EXPORTER_OTLP_ENDPOINT", "https://c/otlp"}}, "https://c/otlp/v1/traces", "https://c/otlp/v1/logs"},
           {{{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"}, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t:1/x"}},
            "http://t:1/x",
            "http://c:4318/v1/logs"},
           {{{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t:1"}}, "http://t:1/", ""},
       }) {
    const Options options = options_of(variables);
    EXPECT_EQ(options.traces.url, traces);
    EXPECT_EQ(options.logs.url, logs);
  }
}

TEST(TelemetryOptions, let_each_signal_be_switched_off_or_printed) {
  const Options options = options_of({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"},
                                      {"OTEL_TRACES_EXPORTER", "console"},
                                      {"OTEL_METRICS_EXPORTER", "none"}});
  EXPECT_EQ(options.traces.exporter, Exporter::console);
  EXPECT_EQ(options.metrics.exporter, Exporter::none);
  EXPECT_EQ(options.logs.exporter, Exporter::otlp);
  for (const auto& [name, value] :
       Variables{{"OTEL_PYTHON_LOGGING_AUTO_INSTRUMENTATION_ENABLED", "false"}, {"OTEL_LOG_LEVEL", "none"}}) {
    EXPECT_EQ(options_of({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"}, {name, value}}).logs.exporter,
              Exporter::none)
        << name;
  }
}

TEST(TelemetryOptions, take_levels_in_the_operators_spelling_and_in_opentelemetrys) {
  for (const auto& [word, level] : std::map<std::string, log::Level>{{"INFO", log::Level::info},
                                                                     {"DEBUG", log::Level::debug},
                                                                     {"warn", log::Level::warning},
                                                                     {"warning", log::Level::warning},
                                                                     {"error", log::Level::error}}) {
    EXPECT_EQ(options_of({{"OTEL_LOG_LEVEL", word}}).log_level, level) << word;
  }
}

TEST(TelemetryOptions, describe_the_service_with_the_environments_word_first) {
  EXPECT_EQ(attribute(options_of({}), "service.name"), "stackgate-sample");
  EXPECT_EQ(attribute(options_of({}), "service.instance.id"), "pod-1");
  const Variables attributes{
      {"OTEL_RESOURCE_ATTRIBUTES", "service.name=a,service.namespace=prod, note=x%2Cy%3D,service.instance.id=7"}};
  const Options options = options_of(attributes);
  EXPECT_EQ(attribute(options, "service.name"), "a");
  EXPECT_EQ(attribute(options, "service.namespace"), "prod");
  EXPECT_EQ(attribute(options, "note"), "x,y=");
  EXPECT_EQ(attribute(options, "service.instance.id"), "7");
  Variables named = attributes;
  named["OTEL_SERVICE_NAME"] = "b";
  EXPECT_EQ(attribute(options_of(named), "service.name"), "b");
}

TEST(TelemetryOptions, read_headers_times_and_sizes) {
  const Options options = options_of({{"OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20abc,x-team=one"},
                                      {"OTEL_EXPORTER_OTLP_TIMEOUT", "1500"},
                                      {"OTEL_BSP_SCHEDULE_DELAY", "20"},
                                      {"OTEL_BSP_MAX_QUEUE_SIZE", "8"},
                                      {"OTEL_BLRP_MAX_EXPORT_BATCH_SIZE", "3"},
                                      {"OTEL_METRIC_EXPORT_INTERVAL", "700"},
                                      {"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"},
                                      {"OTEL_EXPORTER_OTLP_COMPRESSION", "none"}});
  EXPECT_THAT(options.headers, ElementsAre(Pair("authorization", "Bearer abc"), Pair("x-team", "one")));
  EXPECT_EQ(options.timeout, 1500ms);
  EXPECT_EQ(options.spans.delay, 20ms);
  EXPECT_EQ(options.spans.batch, 8U) << "no more than the queue holds";
  EXPECT_EQ(options.records.batch, 3U);
  EXPECT_EQ(options.metric_interval, 700ms);
  EXPECT_EQ(options.encoding, Encoding::json);
  EXPECT_FALSE(options.gzip);
}

TEST(TelemetryOptions, are_refused_with_what_to_write_instead) {
  struct Case {
    Variables variables;
    std::string flag, words;
  };
  for (const auto& [variables, flag, words] : std::initializer_list<Case>{
           {{{"OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"}}, "--otel-endpoint", "http"},
           {{{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}}, "--otel-protocol", "http/protobuf"},
           {{{"OTEL_TRACES_EXPORTER", "jaeger"}}, "--otel-traces-exporter", "otlp, console, none"},
           {{{"OTEL_TRACES_SAMPLER", "ratio"}}, "--otel-traces-sampler", "parentbased_always_on"},
           {{{"OTEL_TRACES_SAMPLER", "traceidratio"}, {"OTEL_TRACES_SAMPLER_ARG", "1.5"}},
            "--otel-traces-sampler-arg",
            "0 to 1"},
           {{{"OTEL_RESOURCE_ATTRIBUTES", "team"}}, "--otel-resource-attributes", "name=value"},
           {{{"OTEL_RESOURCE_ATTRIBUTES", "team=%G1"}}, "--otel-resource-attributes", "name=value"},
           {{{"OTEL_LOG_LEVEL", "loud"}}, "--otel-log-level", "debug, info"},
           {{{"OTEL_EXCLUDED_URLS", "health,("}}, "--otel-excluded-urls", "regular expressions"},
           {{{"OTEL_PYTHON_EXCLUDED_URLS", "["}}, "--otel-python-excluded-urls", "regular expressions"},
           {{{"OTEL_BSP_MAX_QUEUE_SIZE", "0"}}, "--otel-span-queue", "at least 1"},
       }) {
    EXPECT_THAT(complaint_of(variables), AllOf(HasSubstr(flag + ": "), HasSubstr(words)));
  }
}

TEST(TelemetryOptions, never_quote_the_headers_which_hold_tokens) {
  for (const char* headers : {"Bearer hunter2", "a=hunter2%0D%0Ab: c", "x y=hunter2"}) {
    EXPECT_THAT(complaint_of({{"OTEL_EXPORTER_OTLP_HEADERS", headers}}),
                AllOf(HasSubstr("--otel-headers-file: "), Not(HasSubstr("hunter2"))));
  }
}

TEST(TelemetryOptions, exclude_urls_by_either_variable_and_ours_wins) {
  EXPECT_EQ(options_of({{"OTEL_PYTHON_EXCLUDED_URLS", "health"}}).excluded_urls, "health");
  EXPECT_EQ(options_of({{"OTEL_PYTHON_EXCLUDED_URLS", "a"}, {"OTEL_EXCLUDED_URLS", "b"}}).excluded_urls, "b");
}

TEST(TelemetryOptions, are_part_of_every_services_settings_and_know_what_the_operator_sets) {
  std::vector<std::string> variables;
  for (const auto& setting : service::common_settings()) variables.push_back(settings::variable_of(setting));
  std::ifstream file(test::source_dir() / "reconcile/plan/stack_common.cpp");
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  static const std::regex name("\"(OTEL_[A-Z_]+)\"");
  std::vector<std::string> set;
  for (std::sregex_iterator it(source.begin(), source.end(), name), end; it != end; ++it) set.push_back((*it)[1]);
  EXPECT_GE(set.size(), 10U);
  for (const std::string& each : set) EXPECT_THAT(variables, Contains(each));
}

}  // namespace
}  // namespace stackgate::telemetry
