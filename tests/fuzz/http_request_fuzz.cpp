// Bytes of an HTTP/1.x connection. The reader must give the same requests however the bytes are cut, and no view may
// reach outside what was sent.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/http/reader.hpp"

namespace {

using namespace stackgate::http;

constexpr ReadLimits limits{2048, 4096};

std::string describe(const Request& request) {
  std::string text;
  const auto add = [&text](std::string_view part) { text.append(part).push_back('\x1f'); };
  add(request.method);
  add(request.path);
  add(request.query);
  for (const auto& header : request.headers) {
    add(header.name);
    add(header.value);
  }
  add(request.body);
  return text;
}

// Every request in turn, and how it ended. `step` is the size of a piece.
std::vector<std::string> read(std::string_view bytes, std::size_t step) {
  BufferPool pool;
  RequestReader reader(limits, pool);
  std::vector<std::string> seen;
  for (;;) {
    switch (reader.step()) {
      case RequestReader::Step::request:
        if (reader.request().body.size() > limits.body_bytes) std::abort();
        seen.push_back(describe(reader.request()));
        reader.finish();
        continue;
      case RequestReader::Step::send_continue:
        continue;  // depends on what has arrived: not compared
      case RequestReader::Step::reject:
        if (reader.rejected().status < 400 || reader.rejected().reason.empty()) std::abort();
        seen.emplace_back("rejected");  // which of two faults is seen first may depend on the cut
        return seen;
      case RequestReader::Step::need_more:
        break;
    }
    if (bytes.empty()) break;
    const auto space = reader.space();
    if (space.empty()) std::abort();
    const std::size_t n = std::min({step, bytes.size(), space.size()});
    std::memcpy(space.data(), bytes.data(), n);
    reader.add(n);
    bytes.remove_prefix(n);
  }
  seen.emplace_back(reader.phase() == RequestReader::Phase::idle ? "end" : "unfinished");
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto whole = read(bytes, size + 1);
  if (read(bytes, 1) != whole || read(bytes, 7) != whole) std::abort();
  return 0;
}
