#include "services/kit/web/request_record.hpp"

#include <algorithm>
#include <array>
#include <exception>

#include "services/kit/base/ascii.hpp"
#include "services/kit/http/text.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/web/app.hpp"
#include "services/kit/web/http_metrics.hpp"

namespace stackgate::web {
namespace request_record_detail {

constexpr std::size_t longest_target = 1024;

bool sounds_secret(std::string_view name) {
  static constexpr std::array<std::string_view, 10> words{"token", "secret", "passw", "sig",  "key",
                                                          "cred",  "auth",   "jwt",   "code", "session"};
  const std::string lower = ascii::to_lower(name);
  // An escaped name could hide one of the words.
  return lower.contains('%') || std::ranges::any_of(words, [&](auto word) { return lower.contains(word); });
}

void write_log(const RequestRecord& record, const Outcome& outcome, std::chrono::nanoseconds took) {
  const log::Level level = record.quiet            ? log::Level::debug
                           : outcome.status >= 500 ? log::Level::warning
                                                   : log::Level::info;
  if (!log::enabled(level)) return;
  const http::Request& request = *record.request;
  const std::string target = loggable_target(request.path, request.query);
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
  const std::array<log::Field, 12> fields{{{"method", request.method},
                                           {"route", record.pattern},
                                           {"path", target},
                                           {"status", outcome.status},
                                           {"bytes_in", record.bytes_in},
                                           {"bytes_out", outcome.bytes_out},
                                           {"ms", static_cast<double>(micros) / 1000.0},
                                           {"actor", record.actor},
                                           {"request_id", record.request_id},
                                           {"trace_id", record.trace.trace_id},
                                           {"peer", request.peer},
                                           {"cut_off", !outcome.whole}}};
  log::write(level, "request", {fields.data(), outcome.whole ? fields.size() - 1 : fields.size()});
}

}  // namespace request_record_detail

bool is_request_id(std::string_view text) {
  return !text.empty() && text.size() <= 128 && std::ranges::all_of(text, [](char c) {
    return ascii::is_alphanumeric(c) || std::string_view("._-:/+=").contains(c);
  });
}

RequestRecord begin_record(const http::Request& request, const Route* route, const AppConfig& config) {
  RequestRecord record;
  record.request = &request;
  if (route != nullptr) {
    record.pattern = route->pattern;
    record.quiet = route->options.quiet;
  }
  std::string_view parent, state;
  for (const http::Header& header : request.headers) {
    if (http::equal_ignoring_case(header.name, "x-request-id")) {
      if (record.request_id.empty() && is_request_id(header.value)) record.request_id = header.value;
    } else if (http::equal_ignoring_case(header.name, "traceparent")) {
      parent = header.value;
    } else if (http::equal_ignoring_case(header.name, "tracestate")) {
      state = header.value;
    }
  }
  if (record.request_id.empty()) record.request_id = random_hex(16);
  record.trace = continue_trace(parent, state, config.sample_new_traces);
  record.bytes_in = request.body.size();
  if (config.sampler) record.trace.sampled = config.sampler(request, record.trace, record.quiet);
  return record;
}

void add_common_headers(http::Response& response, std::string_view request_id) {
  bool has_options = false;
  for (const auto& [name, value] : response.headers) has_options = has_options || name == "X-Content-Type-Options";
  if (!has_options) response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.headers.emplace_back("X-Request-Id", request_id);
}

void finish_record(const RequestRecord& record, const Outcome& outcome, HttpMetrics& metrics,
                   const AppConfig& config) noexcept {
  const auto took = std::chrono::steady_clock::now() - record.at;
  const http::Request& request = *record.request;
  try {
    metrics.finished(record.pattern, request.method, outcome.status, record.bytes_in, outcome.bytes_out, took,
                     record.quiet);
    request_record_detail::write_log(record, outcome, took);
    if (config.observers.empty()) return;
    const Served served{request,        record.pattern,  record.request_id, record.actor,
                        outcome.status, record.bytes_in, outcome.bytes_out, took,
                        record.trace,   record.began,    record.quiet,      outcome.whole};
    for (const auto& observer : config.observers) observer(served);
  } catch (const std::exception& error) {
    try {
      log::error("a request was served, but not recorded", {{"error", error.what()}});
    } catch (...) {
      return;  // no memory for the line either
    }
  } catch (...) {
    return;  // an observer's own business; the request is answered
  }
}

std::string loggable_target(std::string_view path, std::string_view query) {
  std::string out(path.substr(0, request_record_detail::longest_target));
  char before = '?';
  while (!query.empty() && out.size() < request_record_detail::longest_target) {
    const auto end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const std::string_view name = pair.substr(0, pair.find('='));
    out += std::exchange(before, '&');
    if (name.size() < pair.size() && request_record_detail::sounds_secret(name)) {
      out.append(name).append("=...");
    } else {
      out.append(pair);
    }
  }
  if (out.size() > request_record_detail::longest_target) out.resize(request_record_detail::longest_target);
  return out;
}

KeptRequest::KeptRequest(const http::Request& request) {
  std::size_t size = request.method.size() + request.path.size() + request.query.size() + request.peer.size();
  for (const auto& [name, value] : request.headers) size += name.size() + value.size();
  bytes_.reserve(size);  // the views must not move
  const auto keep = [this](std::string_view text) {
    const std::size_t at = bytes_.size();
    bytes_ += text;
    return std::string_view(bytes_).substr(at);
  };
  request_.method = keep(request.method);
  request_.path = keep(request.path);
  request_.query = keep(request.query);
  request_.peer = keep(request.peer);
  request_.stream = request.stream;
  request_.headers.reserve(request.headers.size());
  for (const auto& [name, value] : request.headers) {
    const std::string_view kept_name = keep(name);
    request_.headers.push_back({kept_name, keep(value)});
  }
}

}  // namespace stackgate::web
