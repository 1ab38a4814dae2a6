// spdlog's formatter for our lines: an event with typed fields, as JSON or as text.
#pragma once
#include <ctime>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <spdlog/details/log_msg.h>
#include <spdlog/formatter.h>

#include "services/kit/log/log.hpp"

namespace stackgate::log {

/// What travels through spdlog: its message, and our fields beside it. Every message of our logger is one, so sinks and
/// formatters may cast. A view, good for the duration of the call.
struct Event : spdlog::details::log_msg {
  Event(Level with_level, std::string_view message, std::span<const Field> with_fields);
  Level ours() const { return static_cast<Level>(level - spdlog::level::debug); }
  std::string_view message() const { return {payload.data(), payload.size()}; }
  std::span<const Field> fields;
};

constexpr spdlog::level::level_enum to_spdlog(Level level) {
  return static_cast<spdlog::level::level_enum>(spdlog::level::debug + static_cast<int>(level));
}
static_assert(to_spdlog(Level::error) == spdlog::level::err);

/// One line and its end for each event. Not thread-safe: a sink has one of its own, and a lock around it.
class LineFormatter final : public spdlog::formatter {
 public:
  explicit LineFormatter(Format format) : format_(format) {}
  void format(const spdlog::details::log_msg& event, spdlog::memory_buf_t& out) override;
  /// The line; good until the next call.
  std::string_view line(const Event& event);
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<LineFormatter>(format_); }

 private:
  void append_time(spdlog::log_clock::time_point time);

  const Format format_;
  std::string line_;  // keeps its memory between lines
  std::time_t second_ = -1;
  char date_[20] = {};  // of `second_`: 2026-11-21T02:51:34
};

}  // namespace stackgate::log
