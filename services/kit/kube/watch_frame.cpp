#include "services/kit/kube/watch_frame.hpp"

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/kube/object.hpp"

namespace stackgate::kube {
namespace {

constexpr std::size_t most_rest_bytes = 1U << 20U;

bool is_json_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

std::size_t ObjectEnd::advance(std::string_view bytes, bool& complete) {
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

void FrameSplitter::reset() { *this = FrameSplitter{}; }

bool FrameSplitter::feed(std::string_view bytes, const PieceSink& sink) {
  while (!bytes.empty()) {
    if (held_.empty()) {
      std::size_t start = 0;
      while (start < bytes.size() && is_json_space(bytes[start])) ++start;
      bytes.remove_prefix(start);
      if (bytes.empty()) return true;
      if (bytes.front() != '{') {
        fault_ = "the watch sent something that is no object";
        return false;
      }
    }
    bool complete = false;
    const std::size_t length = end_.advance(bytes, complete);
    if (held_.size() + length > most_object_bytes) {
      fault_ = fmt::format("the watch sent an object of more than {} bytes", most_object_bytes);
      return false;
    }
    if (!complete) {
      held_.append(bytes);
      return true;
    }
    bool go_on = true;
    if (held_.empty()) {
      go_on = sink(bytes.substr(0, length));
    } else {
      held_.append(bytes.substr(0, length));
      go_on = sink(held_);
      // A large object's buffer is not kept for the hours that a watch may last.
      if (held_.capacity() > 64 * 1024) held_ = {};
      held_.clear();
    }
    if (!go_on) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::size_t ListSplitter::feed_item(std::string_view bytes, const PieceSink& sink) {
  bool complete = false;
  const std::size_t length = end_.advance(bytes, complete);
  if (held_.size() + length > most_object_bytes) {
    fault_ = fmt::format("the list holds an object of more than {} bytes", most_object_bytes);
    return 0;
  }
  if (!complete || !held_.empty()) held_.append(bytes.substr(0, length));
  in_item_ = !complete;
  if (!complete) return length;
  if (!sink(held_.empty() ? bytes.substr(0, length) : std::string_view(held_))) {
    fault_ = "an item of the list cannot be read";
    return 0;
  }
  held_.clear();
  return length;
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
      const std::size_t length = feed_item(bytes, sink);
      bytes.remove_prefix(length);
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
