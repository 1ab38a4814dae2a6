#include "services/kit/web/sse.hpp"

namespace stackgate::web {
namespace sse_detail {

// CR, LF and CRLF all end a line of an event stream.
void append_lines(std::string& out, std::string_view field, std::string_view text) {
  for (;;) {
    const auto end = text.find_first_of("\r\n");
    out.append(field).append(text.substr(0, end)).append("\n");
    if (end == std::string_view::npos) return;
    const bool pair = text.substr(end, 2) == "\r\n";
    text.remove_prefix(end + (pair ? 2 : 1));
  }
}

void append_field(std::string& out, std::string_view field, std::string_view text) {
  out += field;
  for (const char c : text) {
    if (c != '\r' && c != '\n' && c != '\0') out += c;
  }
  out += '\n';
}

}  // namespace sse_detail

std::string format_event(const Event& event) {
  std::string out;
  if (!event.name.empty()) sse_detail::append_field(out, "event: ", event.name);
  if (!event.id.empty()) sse_detail::append_field(out, "id: ", event.id);
  sse_detail::append_lines(out, "data: ", event.data);
  out += '\n';
  return out;
}

http::Response event_stream_head(Headers headers) {
  headers.emplace_back("Cache-Control", "no-cache");
  headers.emplace_back("X-Accel-Buffering", "no");
  return {200, "text/event-stream; charset=utf-8", std::move(headers), {}};
}

EventStream::EventStream(Call& call, Headers headers) {
  writer_ = call.start(event_stream_head(std::move(headers)), std::nullopt);
  (void)writer_->write(
      {});  // the head alone: a client may wait long for the first event. A fault shows at the next one
}

std::expected<void, Error> EventStream::send(const Event& event) { return writer_->write(format_event(event)); }

std::expected<void, Error> EventStream::keep_alive() { return writer_->write(":\n\n"); }

}  // namespace stackgate::web
