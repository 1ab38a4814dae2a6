// A multipart body gives the same parts however it is cut; whatever comes, no more content than bytes, and no part
// without an end unless the body fails.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "services/kit/web/multipart.hpp"

namespace {

using stackgate::web::Failure;
using Done = std::expected<void, Failure>;

struct Seen {
  std::string text;
  int status = 0;
  std::size_t begun = 0, ended = 0, bytes = 0;
};

Seen read(std::string_view boundary, std::string_view body, std::size_t step) {
  Seen seen;
  stackgate::web::MultipartParser parser(boundary,
                                         {.begin = [&](const stackgate::web::PartHead& head) -> Done {
                                            ++seen.begun;
                                            seen.text += "<" + head.name + "|" + head.file_name.value_or("-") + ">";
                                            return {};
                                          },
                                          .data = [&](std::string_view bytes) -> Done {
                                            seen.bytes += bytes.size();
                                            seen.text += bytes;
                                            return {};
                                          },
                                          .end = [&]() -> Done {
                                            ++seen.ended;
                                            return {};
                                          }},
                                         {.parts = 8, .head_bytes = 200, .part_bytes = 500});
  for (std::size_t at = 0; at < body.size(); at += step) {
    if (auto done = parser.add(body.substr(at, step)); !done) {
      seen.status = done.error().status;
      return seen;
    }
  }
  if (auto done = parser.finish(); !done) seen.status = done.error().status;
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto line = std::min(text.find('\n'), text.size());
  const auto boundary = stackgate::web::multipart_boundary(text.substr(0, line));
  const std::string_view body = text.substr(std::min(line + 1, text.size()));
  const std::string used = boundary.value_or("b");
  const Seen whole = read(used, body, std::max<std::size_t>(body.size(), 1));
  const Seen bytes = read(used, body, 1);
  const Seen pieces = read(used, body, 1 + data[0] % 40U);
  if (whole.status == 0 && (whole.text != bytes.text || whole.text != pieces.text || bytes.status != 0)) std::abort();
  if ((whole.status == 0) != (pieces.status == 0)) std::abort();
  if (whole.bytes > body.size() || whole.ended > whole.begun) std::abort();
  if (whole.status == 0 && whole.ended != whole.begun) std::abort();
  return 0;
}
