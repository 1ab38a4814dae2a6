// Reads Server-Sent Events. Pure; not thread-safe.
// Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace stackgate::http_client {

struct Event {
  std::string type;  // empty: "message"
  std::string data;  // lines joined with LF
  std::string id;    // of the last event that had one
};

struct EventLimits {
  std::size_t line = 1024 * 1024;      // bytes without the line's end
  std::size_t data = 8 * 1024 * 1024;  // bytes of an event's data
};

/// Bytes in, in pieces of any size; events out. An event that is not ended by an empty line is none. Text is passed on
/// as it came: whether it is UTF-8 is for the receiver to check.
class EventReader {
 public:
  explicit EventReader(const EventLimits& limits = {}) : limits_(limits) {}

  /// Calls `each` for every event that is complete; false from it ends the reading. False also when a limit is exceeded
  /// (see fault()); nothing more is read then.
  bool feed(std::string_view bytes, const std::function<bool(const Event&)>& each);

  /// Why the stream cannot be read on; empty: it can.
  const std::string& fault() const { return fault_; }
  /// The wait before connecting again that the server asked for last, in milliseconds.
  std::optional<std::uint64_t> retry() const { return retry_; }
  /// What to send as Last-Event-ID when connecting again.
  const std::string& last_id() const { return last_id_; }

 private:
  bool end_line(const std::function<bool(const Event&)>& each);
  bool field(std::string_view name, std::string_view value);
  bool refuse(std::string why);

  const EventLimits limits_;
  std::string line_;
  bool first_line_ = true;  // which may begin with a byte order mark
  bool after_cr_ = false;   // an LF that follows belongs to it
  bool ended_ = false;
  Event event_{};
  bool has_data_ = false;
  std::string last_id_{};
  std::optional<std::uint64_t> retry_{};
  std::string fault_{};
};

}  // namespace stackgate::http_client
