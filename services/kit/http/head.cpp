#include "services/kit/http/head.hpp"

#include <cstring>
#include <limits>

#include "services/kit/http/text.hpp"

namespace stackgate::http {
namespace head_detail {

using Fault = std::optional<Reject>;

// What only the sum of all headers tells.
struct Seen {
  int hosts = 0, lengths = 0, transfer_encodings = 0;
  bool close = false, keep_alive = false;
};

// "GET /a?b HTTP/1.1", without its line end.
Fault parse_request_line(std::string_view line, Request& request, Head& head) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last)
    return Reject{400, "the request line is not METHOD TARGET VERSION"};
  request.method = line.substr(0, first);
  if (request.method.empty() || request.method.size() > 32 || !all(Char::token, request.method)) {
    return Reject{400, "the method is not a token of at most 32 characters"};
  }
  const std::string_view version = line.substr(last + 1);
  if (version.size() != 8 || !version.starts_with("HTTP/") || version[6] != '.' || version[5] < '0' ||
      version[5] > '9' || version[7] < '0' || version[7] > '9') {
    return Reject{400, "the request line does not end in HTTP/1.1"};
  }
  if (version[5] != '1') return Reject{505, "only HTTP/1.1 and HTTP/1.0 are spoken here"};
  head.http10 = version[7] == '0';

  std::string_view target = line.substr(first + 1, last - first - 1);
  if (target.empty() || !all(Char::target, target)) {
    return Reject{400, "the request target is empty or has a character that a URL must escape"};
  }
  if (request.method == "CONNECT") return Reject{501, "this is no proxy"};
  if (target.front() != '/' && target != "*") {  // absolute form (RFC 9112, 3.2.2)
    const std::size_t scheme = target.find("://");
    const std::string_view word = target.substr(0, scheme == std::string_view::npos ? 0 : scheme);
    if (!equal_ignoring_case(word, "http") && !equal_ignoring_case(word, "https")) {
      return Reject{400, "the request target begins with neither '/' nor a scheme"};
    }
    target.remove_prefix(scheme + 3);
    const std::size_t path = target.find_first_of("/?");
    if (path == 0) return Reject{400, "the request target has a scheme but no host"};
    target.remove_prefix(path == std::string_view::npos ? target.size() : path);
  }
  const std::size_t mark = target.find('?');
  request.path = target.substr(0, mark);
  request.query = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  if (request.path.empty()) request.path = "/";
  return {};
}

Fault read_content_length(std::string_view value, Head& head) {
  if (value.empty() || value.size() > 18)
    return Reject{400, "Content-Length is not a number"};  // 18 digits fit 64 bits
  std::uint64_t length = 0;
  for (const char c : value) {
    if (c < '0' || c > '9') return Reject{400, "Content-Length is not a number"};
    length = length * 10 + static_cast<std::uint64_t>(c - '0');
  }
  head.content_length = length;
  head.framing = Head::Framing::length;
  return {};
}

void read_connection(std::string_view value, Seen& seen) {
  for (;;) {
    const std::size_t comma = value.find(',');
    const std::string_view option = trim(value.substr(0, comma));
    if (equal_ignoring_case(option, "close")) seen.close = true;
    if (equal_ignoring_case(option, "keep-alive")) seen.keep_alive = true;
    if (comma == std::string_view::npos) return;
    value.remove_prefix(comma + 1);
  }
}

// The headers that decide about framing and connection.
Fault interpret(const Header& header, Head& head, Seen& seen) {
  switch (header.name.size()) {  // few names reach a comparison
    case 4:
      if (equal_ignoring_case(header.name, "host")) ++seen.hosts;
      return {};
    case 6:
      if (!equal_ignoring_case(header.name, "expect")) return {};
      if (!equal_ignoring_case(header.value, "100-continue"))
        return Reject{417, "the only expectation known is 100-continue"};
      head.expects_continue = true;
      return {};
    case 10:
      if (equal_ignoring_case(header.name, "connection")) read_connection(header.value, seen);
      return {};
    case 14:
      if (!equal_ignoring_case(header.name, "content-length")) return {};
      if (++seen.lengths > 1) return Reject{400, "more than one Content-Length"};
      return read_content_length(header.value, head);
    case 17:
      if (!equal_ignoring_case(header.name, "transfer-encoding")) return {};
      if (++seen.transfer_encodings > 1) return Reject{400, "more than one Transfer-Encoding"};
      if (!equal_ignoring_case(header.value, "chunked"))
        return Reject{501, "the only transfer encoding known is chunked"};
      return {};
    default:
      return {};
  }
}

Fault conclude(const Seen& seen, Head& head) {
  if (seen.hosts > 1 || (seen.hosts == 0 && !head.http10)) return Reject{400, "exactly one Host header is required"};
  if (seen.transfer_encodings > 0) {
    if (seen.lengths > 0) return Reject{400, "both Content-Length and Transfer-Encoding"};
    if (head.http10) return Reject{400, "HTTP/1.0 has no Transfer-Encoding"};
    head.framing = Head::Framing::chunked;
  }
  head.keep_alive = !seen.close && (!head.http10 || seen.keep_alive);
  if (head.http10) head.expects_continue = false;  // RFC 9110, 10.1.1
  return {};
}

}  // namespace head_detail

HeadScanner::Found HeadScanner::scan(std::string_view bytes) {
  while (at_ < bytes.size()) {
    const void* hit = std::memchr(bytes.data() + at_, '\n', bytes.size() - at_);
    if (hit == nullptr) break;
    const auto feed = static_cast<std::size_t>(static_cast<const char*>(hit) - bytes.data());
    if (feed == line_ || bytes[feed - 1] != '\r') return Found::bare_line_feed;
    at_ = feed + 1;
    if (feed == line_ + 1) return Found::end;
    line_ = at_;
  }
  at_ = bytes.size();
  return Found::nothing;
}

std::optional<Reject> parse_head(std::string_view bytes, Request& request, Head& head) {
  using namespace head_detail;
  head = {};
  request.headers.clear();
  const auto next_line = [&bytes] {
    const std::size_t end = bytes.find("\r\n");
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 2);
    return line;
  };
  if (auto fault = parse_request_line(next_line(), request, head)) return fault;
  Seen seen;
  while (!bytes.empty()) {
    const std::string_view line = next_line();
    if (line.empty()) break;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return Reject{400, "a header line has no colon"};
    const Header header{line.substr(0, colon), trim(line.substr(colon + 1))};
    if (header.name.empty() || !all(Char::token, header.name)) return Reject{400, "a header name is not a token"};
    if (!all(Char::field, header.value)) return Reject{400, "a header value has a control character"};
    if (request.headers.size() == max_headers) return Reject{431, "too many headers"};
    request.headers.push_back(header);
    if (auto fault = interpret(header, head, seen)) return fault;
  }
  return conclude(seen, head);
}

}  // namespace stackgate::http
