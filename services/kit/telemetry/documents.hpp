// The bodies of OTLP's three requests. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "services/kit/telemetry/data.hpp"

namespace stackgate::telemetry {

enum class Encoding : std::uint8_t { protobuf, json };

/// "application/x-protobuf", "application/json".
std::string_view media_type(Encoding encoding);

/// `resource`: who speaks, in every request.
std::string traces_document(Encoding encoding, const Attributes& resource, std::span<const Span> spans);
std::string logs_document(Encoding encoding, const Attributes& resource, std::span<const LogRecord> records);
std::string metrics_document(Encoding encoding, const Attributes& resource, const Metrics& metrics);

}  // namespace stackgate::telemetry
