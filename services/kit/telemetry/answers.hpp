// What a collector answers to a batch. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace stackgate::telemetry {

/// Export…PartialSuccess: how many items were refused, and why. A message without refused items is a warning.
struct Partial {
  std::uint64_t rejected = 0;
  std::string message{};
};

/// Of a 200 answer, in the encoding that its content type names. What cannot be read counts as full success, as the
/// protocol has it for an empty answer.
Partial read_partial(std::string_view content_type, std::string_view body);

/// The words of another answer (google.rpc.Status, or plain text), at most 200 bytes, on one line; may be empty.
std::string read_refusal(std::string_view content_type, std::string_view body);

/// 429, 502, 503, 504 (https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes).
bool is_retryable(int status);

}  // namespace stackgate::telemetry
