#include "services/kit/log/log.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cmath>
#include <ctime>
#include <iterator>
#include <mutex>
#include <shared_mutex>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "services/kit/json/write.hpp"

namespace stackgate::log {
namespace log_detail {

struct Settings {
  std::atomic<Level> level{Level::info};
  std::atomic<Format> format{Format::text};
  std::atomic<int> fd{2};
  std::atomic<std::uint64_t> lost{0};
};
Settings settings;

constexpr int no_sink = 255;  // above every level
struct SinkPlace {
  std::atomic<int> level{no_sink};
  std::shared_mutex mutex;
  Sink sink;
};
SinkPlace& sink_place() {
  static auto* place = new SinkPlace;  // threads may log while the process ends
  return *place;
}

// "2026-11-21T02:51:34.123Z"; the part before the dot is made once a second per thread.
void append_time(std::string& line, Format format) {
  struct Cache {
    std::time_t second = -1;
    char text[20] = {};  // 2026-11-21T02:51:34
  };
  thread_local Cache cache;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (now.tv_sec != cache.second) {
    std::tm parts{};
    gmtime_r(&now.tv_sec, &parts);
    std::strftime(cache.text, sizeof cache.text, "%Y-%m-%dT%H:%M:%S", &parts);
    cache.second = now.tv_sec;
  }
  const auto ms = static_cast<int>(now.tv_nsec / 1'000'000);
  const char fraction[] = {'.', static_cast<char>('0' + ms / 100), static_cast<char>('0' + ms / 10 % 10),
                           static_cast<char>('0' + ms % 10)};
  line.append(format == Format::json ? cache.text : cache.text + 11);
  line.append(fraction, sizeof fraction);
  if (format == Format::json) line += 'Z';
}

bool is_plain(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c == '\x7f' || (static_cast<unsigned char>(c) & 0x80U) != 0)
      return false;
  }
  return true;
}

void append_word(std::string& line, std::string_view text) {
  if (is_plain(text)) {
    line += text;
  } else {
    json::append_quoted(line, text);
  }
}

void append_line(std::string& line, Format format, Level level, std::string_view message,
                 std::span<const Field> fields) {
  if (format == Format::json) {
    line += R"({"time":")";
    append_time(line, format);
    line += R"(","level":")";
    line += to_string(level);
    line += R"(","message":)";
    json::append_quoted(line, message);
    for (const Field& field : fields) field.append_json(line);
    line += "}\n";
    return;
  }
  append_time(line, format);
  line += ' ';
  line += to_string(level);
  line += ' ';
  for (const char c : message) line += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;  // stays one line
  for (const Field& field : fields) field.append_text(line);
  line += '\n';
}

// One write(2) as a rule; only a signal, a full disk or a non-blocking descriptor makes it more.
void write_whole(int fd, std::string_view line) {
  while (!line.empty()) {
    const ssize_t n = ::write(fd, line.data(), line.size());
    if (n >= 0) {
      line.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      pollfd wait{fd, POLLOUT, 0};
      ::poll(&wait, 1, 1000);
    } else if (errno != EINTR) {
      settings.lost.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
}

// What a thread has gathered; trivial to destroy, so that a thread may log while it ends.
struct Gathered {
  int batches = 0;
  std::size_t size = 0;
  char lines[PIPE_BUF] = {};

  void send() {
    const std::string_view all(lines, size);
    size = 0;
    write_whole(settings.fd.load(std::memory_order_relaxed), all);
  }
  /// False when the line has to leave by itself.
  bool take(std::string_view line) {
    if (size + line.size() > sizeof lines) send();
    if (line.size() > sizeof lines) return false;
    line.copy(lines + size, line.size());
    size += line.size();
    return true;
  }
};
thread_local constinit Gathered gathered;

}  // namespace log_detail

Batch::Batch() { ++log_detail::gathered.batches; }

Batch::~Batch() {
  if (--log_detail::gathered.batches == 0) log_detail::gathered.send();
}

std::string_view to_string(Level level) {
  switch (level) {
    case Level::debug:
      return "debug";
    case Level::info:
      return "info";
    case Level::warning:
      return "warning";
    case Level::error:
      return "error";
  }
  return "error";
}

std::optional<Level> parse_level(std::string_view word) {
  for (const Level level : {Level::debug, Level::info, Level::warning, Level::error}) {
    if (word == to_string(level)) return level;
  }
  return std::nullopt;
}

std::optional<Format> parse_format(std::string_view word) {
  if (word == "text") return Format::text;
  if (word == "json") return Format::json;
  return std::nullopt;
}

void Field::append_whole(std::string& line) const {
  auto out = std::back_inserter(line);
  if (kind_ == Kind::boolean) {
    line += integer_ != 0 ? "true" : "false";
  } else if (kind_ == Kind::integer) {
    fmt::format_to(out, "{}", integer_);
  } else {
    fmt::format_to(out, "{}", static_cast<std::uint64_t>(integer_));
  }
}

void Field::append_json(std::string& line) const {
  line += ',';
  json::append_quoted(line, key_);
  line += ':';
  switch (kind_) {
    case Kind::text:
      json::append_quoted(line, text_);
      break;
    case Kind::boolean:
    case Kind::integer:
    case Kind::count:
      append_whole(line);
      break;
    case Kind::number:
      if (std::isfinite(number_)) {
        fmt::format_to(std::back_inserter(line), "{}", number_);
      } else {
        line += "null";
      }
      break;
    case Kind::words: {
      line += '[';
      for (std::size_t i = 0; i < words_.size(); ++i) {
        if (i > 0) line += ',';
        json::append_quoted(line, words_[i]);
      }
      line += ']';
      break;
    }
  }
}

void Field::append_text(std::string& line) const {
  line += ' ';
  line += key_;
  line += '=';
  switch (kind_) {
    case Kind::text:
      log_detail::append_word(line, text_);
      break;
    case Kind::boolean:
    case Kind::integer:
    case Kind::count:
      append_whole(line);
      break;
    case Kind::number:
      fmt::format_to(std::back_inserter(line), "{}", number_);
      break;
    case Kind::words:
      for (std::size_t i = 0; i < words_.size(); ++i) {
        if (i > 0) line += ',';
        log_detail::append_word(line, words_[i]);
      }
      break;
  }
}

void configure(const Options& options) {
  log_detail::settings.level = options.level;
  log_detail::settings.format = options.format;
  log_detail::settings.fd = options.fd;
}

Format default_format(int fd) { return ::isatty(fd) != 0 ? Format::text : Format::json; }

Field::Value Field::value() const {
  switch (kind_) {
    case Kind::boolean:
      return integer_ != 0;
    case Kind::integer:
      return integer_;
    case Kind::count:
      return static_cast<std::uint64_t>(integer_);
    case Kind::number:
      return number_;
    case Kind::words:
      return words_;
    case Kind::text:
      break;
  }
  return text_;
}

void set_sink(Level level, Sink sink) {
  log_detail::SinkPlace& place = log_detail::sink_place();
  const std::unique_lock lock(place.mutex);
  place.level.store(sink ? static_cast<int>(level) : log_detail::no_sink, std::memory_order_relaxed);
  place.sink = std::move(sink);
}

bool enabled(Level level) {
  return level >= log_detail::settings.level.load(std::memory_order_relaxed) ||
         static_cast<int>(level) >= log_detail::sink_place().level.load(std::memory_order_relaxed);
}

std::uint64_t lost_lines() { return log_detail::settings.lost.load(std::memory_order_relaxed); }

std::string format_line(Format format, Level level, std::string_view message, std::span<const Field> fields) {
  std::string line;
  log_detail::append_line(line, format, level, message, fields);
  return line;
}

void write(Level level, std::string_view message, std::span<const Field> fields) {
  log_detail::SinkPlace& place = log_detail::sink_place();
  if (static_cast<int>(level) >= place.level.load(std::memory_order_relaxed)) {
    const std::shared_lock lock(place.mutex);
    if (place.sink) place.sink(level, message, fields);
  }
  if (level < log_detail::settings.level.load(std::memory_order_relaxed)) return;
  thread_local std::string line;  // keeps its memory between lines
  line.clear();
  log_detail::append_line(line, log_detail::settings.format.load(std::memory_order_relaxed), level, message, fields);
  log_detail::Gathered& gathered = log_detail::gathered;
  const bool taken = gathered.batches > 0 && gathered.take(line);
  if (level >= Level::warning && taken) gathered.send();
  if (!taken) log_detail::write_whole(log_detail::settings.fd.load(std::memory_order_relaxed), line);
  if (line.capacity() > 64 * 1024) std::string().swap(line);
}

}  // namespace stackgate::log
