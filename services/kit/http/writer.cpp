#include "services/kit/http/writer.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "services/kit/http/text.hpp"

namespace stackgate::http {
namespace writer_detail {

void append_clean(std::string& out, std::string_view text, Char kind) {
  if (all(kind, text)) {
    out += text;
    return;
  }
  for (const char c : text) out += is(kind, c) ? c : '?';
}

void append_header(std::string& out, std::string_view name, std::string_view value) {
  append_clean(out, name, Char::token);
  out += ": ";
  append_clean(out, value, Char::field);
  out += "\r\n";
}

}  // namespace writer_detail

void append_response(std::string& out, const Response& response, const WriteOptions& options) {
  append_head(out, response, options, Framing::length, response.body.size());
  if (may_have_body(response.status) && !options.head_only) out += response.body;
}

void append_head(std::string& out, const Response& response, const WriteOptions& options, Framing framing,
                 std::uint64_t length) {
  using namespace writer_detail;
  if (response.status == 200) {
    out += "HTTP/1.1 200 OK\r\nDate: ";
  } else {
    fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\nDate: ", response.status,
                   reason_phrase(response.status));
  }
  out += options.date;
  out += "\r\n";
  if (may_have_body(response.status)) {
    if (!response.content_type.empty()) append_header(out, "Content-Type", response.content_type);
    if (framing == Framing::length) {
      out += "Content-Length: ";
      const fmt::format_int digits(length);
      out.append(digits.data(), digits.size());
      out += "\r\n";
    } else if (framing == Framing::chunked) {
      out += "Transfer-Encoding: chunked\r\n";
    }
  }
  if (options.close) {
    out += "Connection: close\r\n";
  } else if (options.keep_alive) {
    out += "Connection: keep-alive\r\n";
  }
  for (const auto& [name, value] : response.headers) append_header(out, name, value);
  out += "\r\n";
}

std::string_view reason_phrase(int status) {
  static constexpr std::pair<int, std::string_view> phrases[] = {{200, "OK"},
                                                                 {201, "Created"},
                                                                 {202, "Accepted"},
                                                                 {204, "No Content"},
                                                                 {206, "Partial Content"},
                                                                 {301, "Moved Permanently"},
                                                                 {302, "Found"},
                                                                 {303, "See Other"},
                                                                 {304, "Not Modified"},
                                                                 {307, "Temporary Redirect"},
                                                                 {308, "Permanent Redirect"},
                                                                 {400, "Bad Request"},
                                                                 {401, "Unauthorized"},
                                                                 {403, "Forbidden"},
                                                                 {404, "Not Found"},
                                                                 {405, "Method Not Allowed"},
                                                                 {406, "Not Acceptable"},
                                                                 {408, "Request Timeout"},
                                                                 {409, "Conflict"},
                                                                 {410, "Gone"},
                                                                 {411, "Length Required"},
                                                                 {412, "Precondition Failed"},
                                                                 {413, "Content Too Large"},
                                                                 {414, "URI Too Long"},
                                                                 {415, "Unsupported Media Type"},
                                                                 {416, "Range Not Satisfiable"},
                                                                 {417, "Expectation Failed"},
                                                                 {422, "Unprocessable Content"},
                                                                 {429, "Too Many Requests"},
                                                                 {431, "Request Header Fields Too Large"},
                                                                 {500, "Internal Server Error"},
                                                                 {501, "Not Implemented"},
                                                                 {502, "Bad Gateway"},
                                                                 {503, "Service Unavailable"},
                                                                 {504, "Gateway Timeout"},
                                                                 {505, "HTTP Version Not Supported"}};
  const auto found = std::ranges::find(phrases, status, &std::pair<int, std::string_view>::first);
  return found == std::end(phrases) ? "Unknown" : found->second;
}

}  // namespace stackgate::http
