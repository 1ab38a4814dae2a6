// The OTEL_* variables of OpenTelemetry
// (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ and .../protocol/exporter/) as
// settings of our services, and what they come to. Pure.
#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/kit/findings/finding.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/settings/settings.hpp"
#include "services/kit/telemetry/data.hpp"
#include "services/kit/telemetry/documents.hpp"
#include "services/kit/telemetry/sampling.hpp"

namespace stackgate::telemetry {

enum class Signal : std::uint8_t { traces, metrics, logs };
inline constexpr std::array<Signal, 3> signals = {Signal::traces, Signal::metrics, Signal::logs};
std::string_view to_string(Signal signal);

enum class Exporter : std::uint8_t { none, console, otlp };

struct Output {
  Exporter exporter = Exporter::none;
  std::string url{};  // of otlp: "http://collector:4318/v1/traces"
};

/// How spans or log records are gathered.
struct Batching {
  std::chrono::milliseconds delay{5'000};   // the longest that an item waits for others
  std::size_t queued = 2048;                // beyond it items are dropped
  std::size_t batch = 512;                  // in one request
  std::chrono::milliseconds whole{30'000};  // for one batch with its repetitions
};

struct Options {
  Output traces{}, metrics{}, logs{};
  Encoding encoding = Encoding::protobuf;
  bool gzip = true;
  std::vector<std::pair<std::string, std::string>> headers{};
  std::chrono::milliseconds timeout{10'000};  // for one request
  std::string ca_file{};
  Attributes resource{};
  Sampler sampler{};
  std::string excluded_urls{};
  log::Level log_level = log::Level::info;
  Batching spans{}, records{.delay = std::chrono::milliseconds(1'000)};
  std::chrono::milliseconds metric_interval{60'000}, metric_whole{30'000};

  const Output& of(Signal signal) const {
    return signal == Signal::traces ? traces : signal == Signal::metrics ? metrics : logs;
  }
  bool any() const {
    return traces.exporter != Exporter::none || metrics.exporter != Exporter::none || logs.exporter != Exporter::none;
  }
};

/// For service::common_settings().
std::vector<settings::Setting> telemetry_settings();

/// What no single setting's kind can see: sampler arguments, lists of headers, patterns of URLs.
validate::Findings check_telemetry(const settings::Values& values);

/// Of settings that passed. `instance`: what tells this process from its replicas (the host's name).
Options read_telemetry(const settings::Values& values, std::string_view program, std::string_view instance);

/// "k=v,k2=v2", percent-decoded, as OTEL_EXPORTER_OTLP_HEADERS and OTEL_RESOURCE_ATTRIBUTES are written. Nothing when a
/// part has no '=', no key, or a broken escape. Empty parts are left out.
std::optional<std::vector<std::pair<std::string, std::string>>> parse_pairs(std::string_view text);

}  // namespace stackgate::telemetry
