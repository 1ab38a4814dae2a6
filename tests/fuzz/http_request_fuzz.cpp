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

using Part = RequestReader::Part;
using State = ChunkedDecoder::State;

// Reads a streamed body in pieces of `room` bytes; false when it is faulty or the bytes end. `step` is the size of what
// one receive brings.
bool drink(RequestReader& reader, std::string_view& bytes, std::size_t step, std::size_t room, std::string& body) {
  std::vector<char> space(room);
  while (reader.phase() == RequestReader::Phase::streaming) {
    Part part;
    if (reader.has_raw()) {
      part = reader.take_buffered(space);
    } else {
      const std::size_t n = std::min({step, bytes.size(), room, reader.wanted()});
      if (n == 0) return false;
      std::memcpy(space.data(), bytes.data(), n);
      bytes.remove_prefix(n);
      part = reader.take({space.data(), n});
    }
    if (part.body > room) std::abort();
    body.append(space.data(), part.body);
    if (part.state == State::malformed || part.state == State::too_large) return false;
    if (body.size() > limits.body_bytes) std::abort();
  }
  return true;
}

// Every request in turn, and how it ended. `step` is the size of a piece; `streams`: bodies pass the buffer by, into
// pieces of `room` bytes.
std::vector<std::string> read(std::string_view bytes, std::size_t step, bool streams = false, std::size_t room = 1) {
  BufferPool pool;
  RequestReader reader(limits, pool, streams);
  std::vector<std::string> seen;
  for (;;) {
    switch (reader.step()) {
      case RequestReader::Step::plan:
        reader.plan(true, limits.body_bytes);
        continue;
      case RequestReader::Step::request: {
        if (reader.request().body.size() > limits.body_bytes) std::abort();
        std::string told = describe(reader.request());
        if (reader.phase() == RequestReader::Phase::streaming) {
          std::string body;
          if (!drink(reader, bytes, step, room, body)) {
            seen.emplace_back("ended");
            return seen;
          }
          told.insert(told.size() - 1, body);
          if (describe(reader.request()) + body != told.substr(0, told.size() - 1 - body.size()) + '\x1f' + body)
            std::abort();  // the head's views moved
        }
        seen.push_back(told);
        reader.finish();
        continue;
      }
      case RequestReader::Step::send_continue:
        continue;  // depends on what has arrived: not compared
      case RequestReader::Step::reject:
        if (reader.rejected().status < 400 || reader.rejected().reason.empty()) std::abort();
        seen.emplace_back("ended");  // which of two faults is seen first may depend on the cut
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
  if (reader.phase() != RequestReader::Phase::idle) seen.emplace_back("ended");
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto whole = read(bytes, size + 1);
  if (read(bytes, 1) != whole || read(bytes, 7) != whole) std::abort();
  if (read(bytes, 1, true, 5) != whole || read(bytes, size + 1, true, 4096) != whole ||
      read(bytes, 9, true, 3) != whole)
    std::abort();
  return 0;
}
