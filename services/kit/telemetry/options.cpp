#include "services/kit/telemetry/options.hpp"

#include <algorithm>

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/percent.hpp"
#include "services/kit/base/version.hpp"
#include "services/kit/http/text.hpp"

namespace stackgate::telemetry {
namespace options_detail {

constexpr auto no_level = static_cast<log::Level>(4);  // above every line's

std::optional<log::Level> level_of(std::string_view word) {
  const std::string name = ascii::to_lower(word);
  if (name == "trace" || name == "verbose" || name == "all") return log::Level::debug;
  if (name == "warn") return log::Level::warning;
  if (name == "fatal" || name == "critical") return log::Level::error;
  if (name == "none" || name == "off") return no_level;
  return log::parse_level(name);
}

bool is_header(const std::pair<std::string, std::string>& pair) {
  return std::ranges::all_of(pair.first, [](char c) { return c > ' ' && c < '\x7f' && c != ':'; }) &&
         std::ranges::none_of(pair.second, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

std::string signal_url(const settings::Values& values, Signal signal) {
  const std::string name(to_string(signal));
  if (const std::string& own = values.text("otel-" + name + "-endpoint"); !own.empty()) {
    const auto host = own.find("://") + 3;
    return own.find('/', host) == std::string::npos ? own + "/" : own;
  }
  std::string base = values.text("otel-endpoint");
  if (base.empty()) return base;
  while (base.ends_with('/')) base.pop_back();
  return base + "/v1/" + name;
}

Output output(const settings::Values& values, Signal signal) {
  const std::string& word = values.text("otel-" + std::string(to_string(signal)) + "-exporter");
  Output out{.exporter = word == "otlp" ? Exporter::otlp : word == "console" ? Exporter::console : Exporter::none};
  if (out.exporter == Exporter::otlp) {
    out.url = signal_url(values, signal);
    if (out.url.empty()) out.exporter = Exporter::none;
  }
  return out;
}

Batching batching(const settings::Values& values, const std::string& item) {
  const auto of = [&](const char* what) { return values.integer("otel-" + item + "-" + what); };
  Batching out{.delay = std::chrono::milliseconds(of("delay")),
               .queued = static_cast<std::size_t>(of("queue")),
               .batch = static_cast<std::size_t>(of("batch")),
               .whole = std::chrono::milliseconds(of("timeout"))};
  out.batch = std::min(out.batch, out.queued);
  return out;
}

Attributes resource(const settings::Values& values, std::string_view program, std::string_view instance) {
  Attributes out;
  const auto set = [&out](std::string_view key, std::string_view value) {
    const auto found = std::ranges::find(out, key, &Attribute::key);
    if (found == out.end()) {
      out.push_back({std::string(key), std::string(value)});
    } else {
      found->value = std::string(value);
    }
  };
  set("service.name", program);
  set("service.version", version);
  set("service.instance.id", instance);
  set("host.name", instance);
  set("telemetry.sdk.name", "stackgate");
  set("telemetry.sdk.language", "cpp");
  set("telemetry.sdk.version", version);
  if (const auto pairs = parse_pairs(values.text("otel-resource-attributes"))) {
    for (const auto& [key, value] : *pairs) set(key, value);
  }
  if (values.has("otel-service-name")) set("service.name", values.text("otel-service-name"));
  return out;
}

const std::string& excluded(const settings::Values& values) {
  return values.text(values.has("otel-excluded-urls") ? "otel-excluded-urls" : "otel-python-excluded-urls");
}

}  // namespace options_detail

std::string_view to_string(Signal signal) {
  return signal == Signal::traces ? "traces" : signal == Signal::metrics ? "metrics" : "logs";
}

std::optional<std::vector<std::pair<std::string, std::string>>> parse_pairs(std::string_view text) {
  using http::trim;
  std::vector<std::pair<std::string, std::string>> out;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const std::string_view part = trim(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (part.empty()) continue;
    const auto equals = part.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    auto key = percent_decoded(trim(part.substr(0, equals)));
    auto value = percent_decoded(trim(part.substr(equals + 1)));
    if (!key || key->empty() || !value) return std::nullopt;
    out.emplace_back(*std::move(key), *std::move(value));
  }
  return out;
}

validate::Findings check_telemetry(const settings::Values& values) {
  using namespace options_detail;
  validate::Findings out;
  const auto complain = [&out](std::string flag, std::string problem, std::string fix) {
    out.push_back(settings::fault(std::move(flag), std::move(problem), std::move(fix)));
  };
  if (!level_of(values.text("otel-log-level")))
    complain("--otel-log-level", "must be a level of log lines", "write debug, info, warn, error or none");
  if (!values.text("otel-traces-sampler-arg").empty() && values.text("otel-traces-sampler").ends_with("traceidratio") &&
      !parse_ratio(values.text("otel-traces-sampler-arg")))
    complain("--otel-traces-sampler-arg", "must be a number from 0 to 1", "write 0.1 for every tenth trace");
  if (!parse_pairs(values.text("otel-resource-attributes")))
    complain("--otel-resource-attributes", "must be a list of name=value",
             "write for example team=search,deployment.environment=test, with %2C for a comma inside");
  const auto headers = parse_pairs(values.text("otel-headers"));
  if (!headers || !std::ranges::all_of(*headers, is_header))
    complain("--otel-headers-file", "must be a list of name=value that can be sent as headers",
             "write for example authorization=Bearer%20TOKEN");
  for (const char* name : {"otel-excluded-urls", "otel-python-excluded-urls"}) {
    std::string fault;
    ExcludedUrls::compile(values.text(name), fault);
    if (!fault.empty())
      complain(std::string("--") + name, "is no list of regular expressions: " + fault,
               "write for example health,^http://[^/]+/metrics");
  }
  return out;
}

Options read_telemetry(const settings::Values& values, std::string_view program, std::string_view instance) {
  using namespace options_detail;
  Options out;
  out.sampler = parse_sampler(values.text("otel-traces-sampler")).value_or(Sampler{});
  out.sampler.ratio = parse_ratio(values.text("otel-traces-sampler-arg")).value_or(1);
  if (!values.flag("otel-sdk-disabled")) {
    out.traces = output(values, Signal::traces);
    out.metrics = output(values, Signal::metrics);
    if (values.flag("otel-logging")) out.logs = output(values, Signal::logs);
  }
  out.log_level = level_of(values.text("otel-log-level")).value_or(log::Level::info);
  if (out.log_level == no_level) out.logs = {};
  out.encoding = values.text("otel-protocol") == "http/json" ? Encoding::json : Encoding::protobuf;
  out.gzip = values.text("otel-compression") == "gzip";
  out.headers = parse_pairs(values.text("otel-headers")).value_or(out.headers);
  out.timeout = std::chrono::milliseconds(values.integer("otel-timeout"));
  out.ca_file = values.text("otel-ca-file");
  out.resource = resource(values, program, instance);
  out.excluded_urls = excluded(values);
  out.spans = batching(values, "span");
  out.records = batching(values, "log");
  out.metric_interval = std::chrono::milliseconds(values.integer("otel-metric-interval"));
  out.metric_whole = std::chrono::milliseconds(values.integer("otel-metric-timeout"));
  return out;
}

}  // namespace stackgate::telemetry
