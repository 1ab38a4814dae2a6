#include "services/kit/log/log.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <memory>
#include <mutex>
#include <utility>

#include <poll.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include "services/kit/log/line.hpp"

namespace stackgate::log {
namespace log_detail {

constexpr std::array<std::string_view, 4> level_words{"debug", "info", "warning", "error"};  // by Level

std::atomic<std::uint64_t> lost{0};

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
      lost.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
}

// What a thread has gathered; trivial to destroy, so that a thread may log while it ends.
struct Gathered {
  int batches = 0;
  std::size_t size = 0;
  char lines[PIPE_BUF] = {};
};
thread_local constinit Gathered gathered;

/// Writes each line to a descriptor at once, or with the thread's other lines where a Batch lives. base_sink's lock is
/// held while it writes, so that no line is torn, however long it is and however little the descriptor takes at a time.
class DescriptorSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit DescriptorSink(const Options& options) { configure(options); }

  void configure(const Options& options) {
    set_level(to_spdlog(options.level));
    const std::lock_guard lock(mutex_);
    fd_ = options.fd;
    formatter_ = std::make_unique<LineFormatter>(options.format);
  }

 private:
  void sink_it_(const spdlog::details::log_msg& event) override {
    const std::string_view line = static_cast<LineFormatter&>(*formatter_).line(static_cast<const Event&>(event));
    if (gathered.size + line.size() > sizeof gathered.lines) flush_();
    if (gathered.batches == 0 || line.size() > sizeof gathered.lines) return write_whole(fd_, line);
    line.copy(gathered.lines + gathered.size, line.size());
    gathered.size += line.size();
  }
  /// Of this thread's lines.
  void flush_() override { write_whole(fd_, {gathered.lines, std::exchange(gathered.size, 0)}); }

  int fd_ = 2;
};

/// Hands events to a function: set_sink().
class FunctionSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  FunctionSink() { set_level(spdlog::level::off); }

  void replace(spdlog::level::level_enum from, Sink function) {
    const std::lock_guard lock(mutex_);
    set_level(from);
    sink_ = std::move(function);
  }

 private:
  void sink_it_(const spdlog::details::log_msg& msg) override {
    const auto& event = static_cast<const Event&>(msg);
    if (sink_) sink_(event.ours(), event.message(), event.fields);
  }
  void flush_() override {}

  Sink sink_;
};

class Logger final : public spdlog::logger {
 public:
  Logger(std::shared_ptr<FunctionSink> function, std::shared_ptr<DescriptorSink> descriptor)
      : logger("", {function, descriptor}), function_(std::move(function)), descriptor_(std::move(descriptor)) {
    flush_on(spdlog::level::warn);
    set_error_handler([](const std::string&) { lost.fetch_add(1, std::memory_order_relaxed); });
    choose_level();
  }

  void write(const Event& event) { log_it_(event, true, false); }
  void configure(const Options& options) {
    descriptor_->configure(options);
    choose_level();
  }
  void replace(spdlog::level::level_enum from, Sink function) {
    function_->replace(from, std::move(function));
    choose_level();
  }

 private:
  /// The lowest of the sinks'.
  void choose_level() { set_level(std::min(descriptor_->level(), function_->level())); }

  const std::shared_ptr<FunctionSink> function_;
  const std::shared_ptr<DescriptorSink> descriptor_;
};

Logger& logger() {
  // Not destroyed: threads may log while the process ends.
  static auto* const one = new Logger(std::make_shared<FunctionSink>(), std::make_shared<DescriptorSink>(Options{}));
  return *one;
}

}  // namespace log_detail

Batch::Batch() { ++log_detail::gathered.batches; }

Batch::~Batch() {
  if (--log_detail::gathered.batches == 0 && log_detail::gathered.size > 0) log_detail::logger().flush();
}

bool Batch::has_lines() { return log_detail::gathered.size > 0; }

std::string_view to_string(Level level) { return log_detail::level_words[static_cast<std::size_t>(level)]; }

std::optional<Level> parse_level(std::string_view word) {
  const auto found = std::ranges::find(log_detail::level_words, word);
  if (found == log_detail::level_words.end()) return std::nullopt;
  return static_cast<Level>(found - log_detail::level_words.begin());
}

std::optional<Format> parse_format(std::string_view word) {
  if (word == "text") return Format::text;
  if (word == "json") return Format::json;
  return std::nullopt;
}

void configure(const Options& options) { log_detail::logger().configure(options); }

Format default_format(int fd) { return ::isatty(fd) != 0 ? Format::text : Format::json; }

void set_sink(Level level, Sink sink) {
  const auto from = sink ? to_spdlog(level) : spdlog::level::off;
  log_detail::logger().replace(from, std::move(sink));
}

bool enabled(Level level) { return log_detail::logger().should_log(to_spdlog(level)); }

std::uint64_t lost_lines() { return log_detail::lost.load(std::memory_order_relaxed); }

std::string format_line(Format format, Level level, std::string_view message, std::span<const Field> fields) {
  return std::string(LineFormatter(format).line({level, message, fields}));
}

void write(Level level, std::string_view message, std::span<const Field> fields) {
  if (enabled(level)) log_detail::logger().write({level, message, fields});
}

}  // namespace stackgate::log
