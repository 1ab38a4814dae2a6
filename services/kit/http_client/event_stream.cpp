#include "services/kit/http_client/event_stream.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "services/kit/base/number.hpp"

namespace stackgate::http_client {

bool EventReader::refuse(std::string why) {
  fault_ = std::move(why);
  ended_ = true;
  return false;
}

bool EventReader::feed(std::string_view bytes, const std::function<bool(const Event&)>& each) {
  while (!ended_ && !bytes.empty()) {
    if (std::exchange(after_cr_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = std::min(bytes.find_first_of("\r\n"), bytes.size());
    if (line_.size() + end > limits_.line)
      return refuse(fmt::format("a line of the event stream is longer than {} bytes", limits_.line));
    line_.append(bytes, 0, end);
    if (end == bytes.size()) break;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (!end_line(each)) ended_ = true;
    line_.clear();
  }
  return !ended_;
}

bool EventReader::end_line(const std::function<bool(const Event&)>& each) {
  std::string_view line = line_;
  if (std::exchange(first_line_, false) && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  if (line.empty()) {
    Event event = std::exchange(event_, {});
    if (!std::exchange(has_data_, false)) return true;
    event.data.pop_back();  // the last line's LF
    event.id = last_id_;
    return each(event);
  }
  const std::size_t colon = line.find(':');
  if (colon == 0) return true;  // a comment
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  return field(line.substr(0, colon), value);
}

bool EventReader::field(std::string_view name, std::string_view value) {
  if (name == "data") {
    if (event_.data.size() + value.size() > limits_.data)
      return refuse(fmt::format("an event's data is longer than {} bytes", limits_.data));
    event_.data.append(value).push_back('\n');
    has_data_ = true;
  } else if (name == "event") {
    event_.type = value;
  } else if (name == "id") {
    if (!value.contains('\0')) last_id_ = value;
  } else if (name == "retry") {
    if (const auto wait = to_number<std::uint64_t>(value)) retry_ = wait;
  }
  return true;
}

}  // namespace stackgate::http_client
