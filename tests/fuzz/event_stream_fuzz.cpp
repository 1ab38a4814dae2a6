// Server-Sent Events: whatever the bytes, the events do not depend on how they were split.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "services/kit/http_client/event_stream.hpp"

namespace {

using stackgate::http_client::Event;
using stackgate::http_client::EventReader;

std::vector<std::string> read(std::string_view bytes, std::size_t part) {
  EventReader reader({.line = 64, .data = 128});
  std::vector<std::string> out;
  for (std::size_t at = 0; at < bytes.size(); at += part) {
    const bool goes_on = reader.feed(bytes.substr(at, part), [&](const Event& event) {
      if (event.data.size() > 128 || event.type.size() > 64 || event.id.size() > 64) std::abort();
      out.push_back(event.type + '\1' + event.data + '\1' + event.id);
      return true;
    });
    if (!goes_on) break;
  }
  out.push_back(reader.fault());
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto whole = read(bytes, size == 0 ? 1 : size);
  for (const std::size_t part : {std::size_t{1}, std::size_t{2}, std::size_t{7}})
    if (read(bytes, part) != whole) std::abort();
  return 0;
}
