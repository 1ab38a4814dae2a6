#include "services/kit/kube/watch_frame.hpp"

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/kube/object.hpp"

namespace stackgate::kube {
namespace {

constexpr std::size_t most_rest_bytes = 1U << 20U;

bool is_json_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

std::size_t ObjectGatherer::advance(std::string_view bytes, bool& complete) {
  complete = false;
  std::size_t i = 0;
  while (i < bytes.size()) {
    if (in_string_) {
      if (escaped_) {
        escaped_ = false;
        ++i;
        continue;
      }
      i = bytes.find_first_of("\"\\", i);
      if (i == std::string_view::npos) return bytes.size();
      if (bytes[i] == '"')
        in_string_ = false;
      else
        escaped_ = true;
      ++i;
      continue;
    }
    const char c = bytes[i++];
    if (c == '"') {
      in_string_ = true;
    } else if (c == '{') {
      ++depth_;
    } else if (c == '}' && --depth_ == 0) {
      complete = true;
      return i;
    }
  }
  return i;
}

ObjectGatherer::State ObjectGatherer::feed(std::string_view& bytes, const PieceSink& sink) {
  bool complete = false;
  const std::string_view piece = bytes.substr(0, advance(bytes, complete));
  if (held_.size() + piece.size() > most_object_bytes) return State::too_large;
  bytes.remove_prefix(piece.size());
  if (!complete || !held_.empty()) held_.append(piece);
  if (!complete) return State::more;
  const bool go_on = sink(held_.empty() ? piece : std::string_view(held_));
  // A large object's buffer is not kept for the hours that a watch may last.
  if (held_.capacity() > 64 * 1024) held_ = {};
  held_.clear();
  return go_on ? State::whole : State::stopped;
}

bool FrameSplitter::feed(std::string_view bytes, const PieceSink& sink) {
  for (;;) {
    if (!object_.is_open()) {
      while (!bytes.empty() && is_json_space(bytes.front())) bytes.remove_prefix(1);
      if (!bytes.empty() && bytes.front() != '{') {
        fault_ = "the watch sent something that is no object";
        return false;
      }
    }
    if (bytes.empty()) return true;
    const auto state = object_.feed(bytes, sink);
    if (state == ObjectGatherer::State::too_large)
      fault_ = fmt::format("the watch sent an object of more than {} bytes", most_object_bytes);
    if (state == ObjectGatherer::State::too_large || state == ObjectGatherer::State::stopped) return false;
  }
}

void ListSplitter::feed_item(std::string_view& bytes, const PieceSink& sink) {
  const auto state = item_.feed(bytes, sink);
  in_item_ = state == ObjectGatherer::State::more;
  if (state == ObjectGatherer::State::too_large)
    fault_ = fmt::format("the list holds an object of more than {} bytes", most_object_bytes);
  if (state == ObjectGatherer::State::stopped) fault_ = "an item of the list cannot be read";
}

void ListSplitter::feed_rest(char c) {
  if (rest_.size() >= most_rest_bytes) {
    fault_ = "the list's own fields are too large";
    return;
  }
  rest_ += c;
  if (in_string_) {
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
      return;
    }
    if (depth_ == 1 && !after_colon_) key_ += c;
    return;
  }
  switch (c) {
    case '"':
      in_string_ = true;
      if (depth_ == 1 && !after_colon_) key_.clear();
      break;
    case ':':
      after_colon_ = after_colon_ || depth_ == 1;
      break;
    case ',':
      if (depth_ == 1) after_colon_ = false;
      break;
    case '{':
      ++depth_;
      break;
    case '[':
      if (depth_ == 1 && after_colon_ && key_ == "items") in_items_ = true;
      ++depth_;
      break;
    case '}':
    case ']':
      if (depth_ > 0) --depth_;
      break;
    default:
      break;
  }
}

bool ListSplitter::feed(std::string_view bytes, const PieceSink& sink) {
  while (!bytes.empty() && fault_.empty()) {
    if (in_item_) {
      feed_item(bytes, sink);
    } else if (in_items_) {
      const char c = bytes.front();
      if (c == '{') {
        in_item_ = true;
      } else if (c == ']') {
        in_items_ = false;
        feed_rest(c);
        bytes.remove_prefix(1);
      } else if (is_json_space(c) || c == ',') {
        bytes.remove_prefix(1);
      } else {
        fault_ = "the list holds something that is no object";
      }
    } else {
      feed_rest(bytes.front());
      bytes.remove_prefix(1);
    }
  }
  return fault_.empty();
}

std::expected<ListPage, Error> ListSplitter::finish() {
  if (!fault_.empty()) return std::unexpected(Error{fault_});
  json::Document document;
  const auto root = json::parse(rest_, document);
  if (!root) return std::unexpected(Error{fmt::format("the list is not JSON: {}", root.error().message)});
  if (root->find("items") == nullptr) return std::unexpected(Error{"the answer is no list: it has no items"});
  return ListPage{std::string(metadata(*root, "resourceVersion")), std::string(metadata(*root, "continue"))};
}

}  // namespace stackgate::kube
