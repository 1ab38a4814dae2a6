#include "services/kit/http/writer.hpp"

#include <iterator>

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
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Unknown";
  }
}

}  // namespace stackgate::http
