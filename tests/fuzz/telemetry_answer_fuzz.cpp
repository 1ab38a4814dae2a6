// What a collector answers, in either encoding.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "services/kit/telemetry/answers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  for (const std::string_view type : {"application/json", "application/x-protobuf", "text/plain"}) {
    const auto partial = stackgate::telemetry::read_partial(type, body);
    const auto words = stackgate::telemetry::read_refusal(type, body);
    if (partial.message.size() > 200 || words.size() > 200 || words.find('\n') != std::string::npos) std::abort();
  }
  return 0;
}
