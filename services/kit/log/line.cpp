#include "services/kit/log/line.hpp"

#include <chrono>
#include <cmath>
#include <iterator>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "services/kit/base/time.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::log {
namespace line_detail {

constexpr std::size_t kept_memory = 64 * 1024;

bool is_plain(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c == '\x7f' || (static_cast<unsigned char>(c) & 0x80U) != 0)
      return false;
  }
  return true;
}

void append_field(std::string& line, Format format, const Field& field) {
  const bool json = format == Format::json;
  const auto append_text = [&](std::string_view text) {
    if (!json && is_plain(text))
      line += text;
    else
      json::append_quoted(line, text);
  };
  line += json ? ',' : ' ';
  if (json)
    json::append_quoted(line, field.key());
  else
    line += field.key();
  line += json ? ':' : '=';
  const auto append_value = [&]<class T>(const T& value) {
    if constexpr (std::is_same_v<T, std::string_view>) {
      append_text(value);
    } else if constexpr (std::is_same_v<T, std::span<const std::string_view>>) {
      if (json) line += '[';
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (i > 0) line += ',';
        append_text(value[i]);
      }
      if (json) line += ']';
    } else if (json && std::is_same_v<T, double> && !std::isfinite(static_cast<double>(value))) {
      line += "null";
    } else {
      fmt::format_to(std::back_inserter(line), "{}", value);
    }
  };
  std::visit(append_value, field.value());
}

}  // namespace line_detail

Event::Event(Level with_level, std::string_view message, std::span<const Field> with_fields)
    : log_msg({}, to_spdlog(with_level), {message.data(), message.size()}), fields(with_fields) {}

// "2026-11-21T02:51:34.123Z"; the part before the dot is made once a second.
void LineFormatter::append_time(spdlog::log_clock::time_point time) {
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count();
  if (const std::time_t second = ms / 1000; second != second_) {
    to_rfc3339(time).copy(date_, sizeof date_ - 1);
    second_ = second;
  }
  fmt::format_to(std::back_inserter(line_), "{}.{:03}", format_ == Format::json ? date_ : date_ + 11, ms % 1000);
  if (format_ == Format::json) line_ += 'Z';
}

std::string_view LineFormatter::line(const Event& event) {
  if (line_.capacity() > line_detail::kept_memory) std::string().swap(line_);
  line_.clear();
  if (format_ == Format::json) {
    line_ += R"({"time":")";
    append_time(event.time);
    line_ += R"(","level":")";
    line_ += to_string(event.ours());
    line_ += R"(","message":)";
    json::append_quoted(line_, event.message());
    for (const Field& field : event.fields) line_detail::append_field(line_, format_, field);
    line_ += "}\n";
    return line_;
  }
  append_time(event.time);
  line_ += ' ';
  line_ += to_string(event.ours());
  line_ += ' ';
  for (const char c : event.message())
    line_ += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;  // stays one line
  for (const Field& field : event.fields) line_detail::append_field(line_, format_, field);
  line_ += '\n';
  return line_;
}

void LineFormatter::format(const spdlog::details::log_msg& event, spdlog::memory_buf_t& out) {
  const std::string_view text = line(static_cast<const Event&>(event));
  out.append(text.data(), text.data() + text.size());
}

}  // namespace stackgate::log
