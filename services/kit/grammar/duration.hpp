// Durations as text: Prometheus' ("1h30m", units y w d h m s ms in this order) and Go's ("1.5h", "300ms").
#pragma once
#include <chrono>
#include <expected>
#include <string_view>

#include "services/kit/grammar/problem.hpp"

namespace stackgate::validate::grammar {

/// Source: the pattern of type Duration in the ServiceMonitor CRD (monitoring.coreos.com/v1), and the bound of
/// prometheus/common model.ParseDuration (2^63-1 ns, about 292 years). A year has 365 days. Empty is a problem.
std::expected<std::chrono::milliseconds, Problem> parse_prometheus_duration(std::string_view text);

/// Source: Go's time.ParseDuration.
std::expected<std::chrono::nanoseconds, Problem> parse_go_duration(std::string_view text);

}  // namespace stackgate::validate::grammar
