#include "services/kit/telemetry/records.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "services/kit/web/request_record.hpp"

namespace stackgate::telemetry {
namespace records_detail {

constexpr std::size_t longest_text = 8192;  // of one value: batches stay below what collectors take

std::string text(std::string_view whole) { return std::string(whole.substr(0, longest_text)); }

struct Address {
  std::string_view host;
  std::int64_t port = 0;  // 0: not said
};

// "10.0.0.7:41234", "[::1]:8000", "example.org"
Address split(std::string_view text) {
  Address out{text};
  const auto colon = text.rfind(':');
  const auto bracket = text.rfind(']');
  if (colon != std::string_view::npos &&
      (bracket == std::string_view::npos ? text.find(':') == colon : colon > bracket)) {
    out.host = text.substr(0, colon);
    const std::string_view port = text.substr(colon + 1);
    std::from_chars(port.data(), port.data() + port.size(), out.port);
  }
  if (out.host.starts_with('[') && out.host.ends_with(']')) out.host = out.host.substr(1, out.host.size() - 2);
  return out;
}

bool is_known(std::string_view method) {
  static constexpr std::array<std::string_view, 9> known{"GET",    "HEAD",    "POST",    "PUT",  "PATCH",
                                                         "DELETE", "OPTIONS", "CONNECT", "TRACE"};
  return std::ranges::find(known, method) != known.end();
}

void add_method(Attributes& out, std::string_view method) {
  out.push_back({"http.request.method", std::string(is_known(method) ? method : "_OTHER")});
  if (!is_known(method)) out.push_back({"http.request.method_original", text(method)});
}

struct ToValue {
  Attribute::Value operator()(std::string_view words) const { return text(words); }
  Attribute::Value operator()(bool flag) const { return flag; }
  Attribute::Value operator()(std::int64_t whole) const { return whole; }
  Attribute::Value operator()(std::uint64_t whole) const {
    // OTLP has no unsigned numbers.
    return whole <= static_cast<std::uint64_t>(INT64_MAX) ? Attribute::Value(static_cast<std::int64_t>(whole))
                                                          : Attribute::Value(std::to_string(whole));
  }
  Attribute::Value operator()(double number) const { return number; }
  Attribute::Value operator()(std::span<const std::string_view> words) const {
    return std::vector<std::string>(words.begin(), words.end());
  }
};

}  // namespace records_detail

std::string url_of(const http::Request& request, bool tls) {
  const std::string_view host = request.header("host");
  std::string out = fmt::format("{}://{}{}", tls ? "https" : "http", host.empty() ? "localhost" : host, request.path);
  if (!request.query.empty()) out.append("?").append(request.query);
  for (char& c : out) {
    if ((static_cast<unsigned char>(c) & 0x80U) != 0) c = '?';  // patterns want UTF-8, which a raw target need not be
  }
  return out;
}

Span server_span(const web::Served& served, bool tls) {
  using namespace records_detail;
  const http::Request& request = served.request;
  const bool known = is_known(request.method), routed = served.pattern != "unmatched";
  Span out{.trace_id = served.trace.trace_id,
           .span_id = served.trace.span_id,
           .parent_id = served.trace.parent_id,
           .state = served.trace.state,
           .name = known ? std::string(request.method) : "HTTP",
           .kind = Span::Kind::server,
           .began = served.began,
           .ended = served.began + std::chrono::duration_cast<Time::duration>(served.took)};
  if (routed) out.name.append(" ").append(served.pattern);
  Attributes& to = out.attributes;
  to.reserve(16);
  add_method(to, request.method);
  if (routed) to.push_back({"http.route", std::string(served.pattern)});
  to.push_back({"http.response.status_code", std::int64_t{served.status}});
  to.push_back({"url.scheme", tls ? "https" : "http"});
  to.push_back({"url.path", web::loggable_target(request.path, {})});
  if (!request.query.empty()) to.push_back({"url.query", web::loggable_target({}, request.query).substr(1)});
  if (const Address server = split(request.header("host")); !server.host.empty()) {
    to.push_back({"server.address", text(server.host)});
    if (server.port != 0) to.push_back({"server.port", server.port});
  }
  const Address peer = split(request.peer);
  to.push_back({"client.address", text(peer.host)});
  to.push_back({"network.peer.address", text(peer.host)});
  if (peer.port != 0) to.push_back({"network.peer.port", peer.port});
  if (const auto agent = request.header("user-agent"); !agent.empty())
    to.push_back({"user_agent.original", std::string(agent.substr(0, 256))});
  to.push_back({"http.request.body.size", static_cast<std::int64_t>(served.bytes_in)});
  to.push_back({"http.response.body.size", static_cast<std::int64_t>(served.bytes_out)});
  to.push_back({"stackgate.request_id", std::string(served.request_id)});
  if (served.status >= 500) {
    to.push_back({"error.type", std::to_string(served.status)});
    out.failed = true;
  } else if (!served.whole) {
    to.push_back({"error.type", "cut_off"});
    out.failed = true;
    out.failure = "the answer was cut off";
  }
  return out;
}

Span client_span(const http_client::Traced& call) {
  using namespace records_detail;
  Span out{.trace_id = std::string(call.trace.trace_id),
           .span_id = std::string(call.span_id),
           .parent_id = std::string(call.trace.span_id),
           .state = std::string(call.trace.state),
           .name = is_known(call.method) ? std::string(call.method) : "HTTP",
           .kind = Span::Kind::client,
           .began = call.began,
           .ended = call.began + std::chrono::duration_cast<Time::duration>(call.took)};
  Attributes& to = out.attributes;
  add_method(to, call.method);
  to.push_back({"url.full", text(call.url)});
  if (const auto scheme = call.url.find("://"); scheme != std::string_view::npos) {
    const std::string_view rest = call.url.substr(scheme + 3);
    const Address server = split(rest.substr(0, rest.find_first_of("/?")));
    to.push_back({"server.address", text(server.host)});
    to.push_back({"server.port", server.port != 0 ? server.port : call.url.starts_with("https") ? 443 : 80});
  }
  if (call.status != 0) to.push_back({"http.response.status_code", std::int64_t{call.status}});
  if (call.status == 0 || call.status >= 400) {
    to.push_back({"error.type", call.status == 0 ? "no_reply" : std::to_string(call.status)});
    out.failed = true;
    out.failure = text(call.error);
  }
  return out;
}

LogRecord log_record(log::Level level, std::string_view message, std::span<const log::Field> fields,
                     const CurrentTrace* trace, Time at) {
  using namespace records_detail;
  LogRecord out{.at = at, .level = level, .message = text(message)};
  out.attributes.reserve(fields.size());
  for (const log::Field& field : fields) {
    if (trace != nullptr && field.key() == "trace_id") continue;  // has a place of its own
    out.attributes.push_back({std::string(field.key()), std::visit(ToValue{}, field.value())});
  }
  if (trace != nullptr) {
    out.trace_id = trace->trace_id;
    out.span_id = trace->span_id;
    out.sampled = trace->sampled;
  }
  return out;
}

}  // namespace stackgate::telemetry
