// The process log: one line per event, as JSON or for a person. No line is torn: each is part of one write(2).
// Thread-safe.
//   log::info("certificate reloaded", {{"file", path}, {"not_after", date}});
// Never give it a secret: nothing is redacted here. A sink that does not take the line (a full pipe) blocks the caller,
// because an admission decision that leaves no trace is worse than a late one.
#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace stackgate::log {

enum class Level : std::uint8_t { debug, info, warning, error };
enum class Format : std::uint8_t { text, json };

std::string_view to_string(Level level);
std::optional<Level> parse_level(std::string_view word);
std::optional<Format> parse_format(std::string_view word);

/// One key and its value; a view, good for the duration of the call.
class Field {
 public:
  using Value =
      std::variant<std::string_view, bool, std::int64_t, std::uint64_t, double, std::span<const std::string_view>>;
  Field(std::string_view key, std::string_view text) : key_(key), value_(text) {}
  Field(std::string_view key, const std::string& text) : Field(key, std::string_view(text)) {}
  Field(std::string_view key, const char* text) : Field(key, std::string_view(text)) {}
  template <std::same_as<bool> T>  // a pointer is no flag
  Field(std::string_view key, T flag) : key_(key), value_(flag) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Field(std::string_view key, T number)
      : key_(key), value_(static_cast<std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>(number)) {}
  Field(std::string_view key, double number) : key_(key), value_(number) {}
  /// A list of words; JSON writes an array, text joins them with commas.
  Field(std::string_view key, std::span<const std::string_view> words) : key_(key), value_(words) {}

  std::string_view key() const { return key_; }
  const Value& value() const { return value_; }

 private:
  std::string_view key_;
  Value value_;
};

struct Options {
  Level level = Level::info;
  Format format = Format::text;
  int fd = 2;
};

/// For the whole process; call it before other threads log. Without it: info and above, as text, on standard error.
void configure(const Options& options);
/// What a descriptor's reader wants: text on a terminal, JSON elsewhere.
Format default_format(int fd);

bool enabled(Level level);
void write(Level level, std::string_view message, std::span<const Field> fields);

/// While it lives, the lines of its thread leave together, some 4 KiB (PIPE_BUF) at a time; with a warning or an error
/// goes what is before it. For loops that log each event of a round: writing to a pipe whose reader sleeps costs as
/// much as a review does. A process that is killed loses what was gathered. One inside another does nothing.
class Batch {
 public:
  Batch();
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  /// Lines of this thread wait for the end of its batch.
  static bool has_lines();
};

/// The line that write() would send, with its end; for tests and for other sinks.
std::string format_line(Format format, Level level, std::string_view message, std::span<const Field> fields);
/// Lines that the sink did not take whole (disk full, closed pipe); for /metrics.
std::uint64_t lost_lines();

/// Somewhere else that lines go as well, whatever write() does with them. Called on the thread that logs, so it must
/// not wait, and must not log.
using Sink = std::function<void(Level, std::string_view message, std::span<const Field>)>;
/// Lines of `level` and above go to `sink` from now on; an empty one ends that, and returns when no call is left in it.
/// Thread-safe.
void set_sink(Level level, Sink sink);

inline void debug(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::debug, message, {fields.begin(), fields.size()});
}
inline void info(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::info, message, {fields.begin(), fields.size()});
}
inline void warning(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::warning, message, {fields.begin(), fields.size()});
}
inline void error(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::error, message, {fields.begin(), fields.size()});
}

}  // namespace stackgate::log
