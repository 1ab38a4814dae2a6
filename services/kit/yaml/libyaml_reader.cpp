#include "services/kit/yaml/libyaml_reader.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <yaml.h>

#include "services/kit/json/keys.hpp"
#include "services/kit/yaml/parse.hpp"
#include "services/kit/yaml/resolve.hpp"

namespace stackgate::yaml {

namespace {

using json::Member;
using json::Value;

constexpr std::uint64_t most_aliased_nodes = 100'000;  // per document, counted as if every alias were written out

struct EventOwner {
  yaml_event_t event{};
  EventOwner() = default;
  EventOwner(const EventOwner&) = delete;
  EventOwner& operator=(const EventOwner&) = delete;
  ~EventOwner() { yaml_event_delete(&event); }
};

/// A value, how many nodes it stands for when its aliases are written out, and how deep they nest.
struct Node {
  Value value;
  std::uint64_t nodes = 1;
  std::uint32_t height = 0;
  bool is_merge = false;  // the plain scalar `<<`
};

struct Open {
  std::uint32_t offset = 0;
  bool is_object = false;
  std::string anchor;
  std::vector<Value> items;
  std::vector<Member> members;
  std::vector<bool> merged;  // per member: came through a merge key
  bool has_merge = false;
  bool key_waits = false;  // a key was read, its value is next
  bool merge_waits = false;
  std::uint64_t nodes = 1;
  std::uint32_t height = 0;
};

class Builder {
 public:
  Builder(std::string_view whole, std::size_t begin, std::size_t end, const json::ParseLimits& limits)
      : whole_(whole), begin_(begin), limits_(limits), cursor_byte_(begin) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(whole.data() + begin), end - begin);
    end_ = end;
  }
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;
  ~Builder() { yaml_parser_delete(&parser_); }

  std::optional<json::ParseError> run(std::deque<json::Document>& out);

 private:
  bool fail(std::uint32_t offset, std::string message) {
    error_ = {offset, std::move(message)};
    return false;
  }
  bool fail_in_libyaml();
  std::uint32_t before_trailing_space(std::uint32_t offset) const;
  std::uint32_t offset_of(const yaml_mark_t& mark);
  bool handle(const yaml_event_t& event, std::deque<json::Document>& out);
  bool scalar(const yaml_event_t& event, Node& out);
  bool alias(const yaml_event_t& event);
  bool open(bool is_object, const yaml_char_t* anchor, std::uint32_t offset);
  bool close();
  bool finish_object(Open& object);
  bool apply_merges(Open& object);
  bool add(Node node);
  bool add_key(Open& object, const Node& node);
  bool add_merge(Open& object, const Node& node);
  void remember(const std::string& anchor, const Node& node) {
    if (!anchor.empty()) anchors_[anchor] = node;
  }
  std::uint32_t line_of(std::uint32_t offset) const { return locate(whole_, offset).line; }

  std::string_view whole_;
  std::size_t begin_;
  std::size_t end_ = 0;
  json::ParseLimits limits_;
  yaml_parser_t parser_{};
  json::Document* document_ = nullptr;
  std::vector<Open> open_;
  std::map<std::string, Node, std::less<>> anchors_;
  std::uint64_t aliased_nodes_ = 0;
  std::vector<json::KeyRef> key_scratch_;
  json::ParseError error_;
  // libyaml counts characters: the last translated mark, to go on from.
  std::size_t cursor_char_ = 0;
  std::size_t cursor_byte_;
};

std::uint32_t Builder::offset_of(const yaml_mark_t& mark) {
  if (mark.index < cursor_char_) {
    cursor_char_ = 0;
    cursor_byte_ = begin_;
  }
  while (cursor_char_ < mark.index && cursor_byte_ < end_) {
    ++cursor_byte_;
    while (cursor_byte_ < end_ && (static_cast<unsigned char>(whole_[cursor_byte_]) & 0xC0U) == 0x80U) ++cursor_byte_;
    ++cursor_char_;
  }
  return static_cast<std::uint32_t>(cursor_byte_);
}

/// The end of the last line with text, for what stands behind it: an empty line shows nothing.
std::uint32_t Builder::before_trailing_space(std::uint32_t offset) const {
  std::size_t at = offset;
  if (whole_.substr(0, end_).find_first_not_of(" \t\r\n", at) != std::string_view::npos) return offset;
  while (at > begin_ && (whole_[at - 1] == '\n' || whole_[at - 1] == '\r')) --at;
  return static_cast<std::uint32_t>(at);
}

bool Builder::fail_in_libyaml() {
  if (parser_.error == YAML_MEMORY_ERROR) return fail(0, "out of memory while reading YAML");
  if (parser_.error == YAML_READER_ERROR) {
    const std::size_t at = std::min(begin_ + parser_.problem_offset, end_);
    return fail(static_cast<std::uint32_t>(at),
                parser_.problem_value >= 0 ? fmt::format("{} (0x{:02x})", parser_.problem, parser_.problem_value)
                                           : std::string(parser_.problem));
  }
  std::string message = parser_.problem != nullptr ? parser_.problem : "this is not YAML";
  // What is never closed is best shown where it begins.
  if (parser_.context != nullptr && message == "found unexpected end of stream")
    return fail(offset_of(parser_.context_mark), fmt::format("{} {}", message, parser_.context));
  const std::uint32_t at = before_trailing_space(offset_of(parser_.problem_mark));
  if (parser_.context != nullptr && parser_.context_mark.line != parser_.problem_mark.line) {
    const std::uint32_t context = offset_of(parser_.context_mark);
    message += fmt::format(" {} that begins on line {}", parser_.context, line_of(context));
  } else if (parser_.context != nullptr) {
    message += fmt::format(" {}", parser_.context);
  }
  return fail(at, std::move(message));
}

std::optional<json::ParseError> Builder::run(std::deque<json::Document>& out) {
  while (true) {
    EventOwner owner;
    if (yaml_parser_parse(&parser_, &owner.event) == 0) {
      fail_in_libyaml();
      break;
    }
    if (owner.event.type == YAML_STREAM_END_EVENT) return std::nullopt;
    if (!handle(owner.event, out)) break;
  }
  if (document_ != nullptr) out.pop_back();
  return error_;
}

bool Builder::handle(const yaml_event_t& event, std::deque<json::Document>& out) {
  switch (event.type) {
    case YAML_DOCUMENT_START_EVENT:
      document_ = &out.emplace_back();
      anchors_.clear();
      aliased_nodes_ = 0;
      return true;
    case YAML_DOCUMENT_END_EVENT:
      if (document_->root.is_null()) out.pop_back();
      document_ = nullptr;
      return true;
    case YAML_ALIAS_EVENT:
      return alias(event);
    case YAML_SCALAR_EVENT: {
      Node node;
      if (!scalar(event, node)) return false;
      if (event.data.scalar.anchor != nullptr) remember(reinterpret_cast<const char*>(event.data.scalar.anchor), node);
      return add(node);
    }
    case YAML_SEQUENCE_START_EVENT:
      return open(false, event.data.sequence_start.anchor, offset_of(event.start_mark));
    case YAML_MAPPING_START_EVENT:
      return open(true, event.data.mapping_start.anchor, offset_of(event.start_mark));
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
      return close();
    default:
      return true;
  }
}

bool Builder::scalar(const yaml_event_t& event, Node& out) {
  const auto& scalar = event.data.scalar;
  const std::uint32_t offset = offset_of(event.start_mark);
  const std::string_view value(reinterpret_cast<const char*>(scalar.value), scalar.length);
  // A scalar that stands in the source as it is needs no copy.
  const std::size_t from =
      offset +
      (scalar.style == YAML_SINGLE_QUOTED_SCALAR_STYLE || scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE ? 1U : 0U);
  const std::string_view source = from <= end_ ? whole_.substr(from, std::min(value.size(), end_ - from)) : "";
  const std::string_view text = source == value ? source : document_->arena.copy(value);

  Resolved resolved;
  if (scalar.tag != nullptr)
    resolved = resolve_tagged(reinterpret_cast<const char*>(scalar.tag), text, offset, document_->arena);
  else if (scalar.plain_implicit != 0)
    resolved = resolve_plain(text, offset);
  else
    resolved.value = Value::make_string(text, offset);
  if (resolved.problem != nullptr) return fail(offset, resolved.problem);
  out.value = resolved.value;
  out.is_merge =
      value == "<<" && (scalar.plain_implicit != 0 ||
                        (scalar.tag != nullptr &&
                         std::string_view(reinterpret_cast<const char*>(scalar.tag)) == "tag:yaml.org,2002:merge"));
  return true;
}

bool Builder::alias(const yaml_event_t& event) {
  const std::string_view name = reinterpret_cast<const char*>(event.data.alias.anchor);
  const std::uint32_t offset = offset_of(event.start_mark);
  if (std::ranges::any_of(open_, [&](const Open& each) { return each.anchor == name; }))
    return fail(offset, fmt::format("anchor '{}' contains itself", name));
  const auto found = anchors_.find(name);
  if (found == anchors_.end()) return fail(offset, fmt::format("unknown anchor '{}'", name));
  aliased_nodes_ += found->second.nodes;
  if (aliased_nodes_ > most_aliased_nodes)
    return fail(offset, fmt::format("aliases stand for more than {} values", most_aliased_nodes));
  if (open_.size() + found->second.height > limits_.max_depth)
    return fail(offset, fmt::format("nested deeper than {} levels", limits_.max_depth));
  Node node = found->second;
  node.is_merge = false;
  return add(node);
}

bool Builder::open(bool is_object, const yaml_char_t* anchor, std::uint32_t offset) {
  if (open_.size() >= limits_.max_depth)
    return fail(offset, fmt::format("nested deeper than {} levels", limits_.max_depth));
  if (!open_.empty() && open_.back().is_object && !open_.back().key_waits)
    return fail(offset, "a key must be a scalar, not a list or a mapping");
  Open& opened = open_.emplace_back();
  opened.offset = offset;
  opened.is_object = is_object;
  if (anchor != nullptr) opened.anchor = reinterpret_cast<const char*>(anchor);
  return true;
}

bool Builder::close() {
  Open done = std::move(open_.back());
  open_.pop_back();
  Node node;
  node.nodes = done.nodes;
  node.height = done.height + 1;
  if (done.is_object) {
    if (!finish_object(done)) return false;
    node.value = Value::make_object(document_->arena.copy(std::span<const Member>(done.members)), done.offset);
  } else {
    node.value = Value::make_array(document_->arena.copy(std::span<const Value>(done.items)), done.offset);
  }
  remember(done.anchor, node);
  return add(node);
}

bool Builder::finish_object(Open& object) {
  if (!object.has_merge) {
    const Member* repeated = json::find_duplicate(object.members, key_scratch_);
    if (repeated == nullptr) return true;
    const auto first = std::ranges::find(object.members, repeated->key, &Member::key);
    return fail(repeated->key_offset,
                fmt::format("duplicate key \"{}\"; line {} has it already", repeated->key, line_of(first->key_offset)));
  }
  return apply_merges(object);
}

/// Keys that are written must differ; beyond that the later of two wins, whether merged or written, as in go-yaml v2.
bool Builder::apply_merges(Open& object) {
  std::map<std::string_view, std::size_t> at;
  std::map<std::string_view, std::uint32_t> written;
  std::vector<Member> result;
  for (std::size_t i = 0; i < object.members.size(); ++i) {
    const Member& member = object.members[i];
    if (!object.merged[i]) {
      const auto [first, is_new] = written.emplace(member.key, member.key_offset);
      if (!is_new)
        return fail(member.key_offset,
                    fmt::format("duplicate key \"{}\"; line {} has it already", member.key, line_of(first->second)));
    }
    const auto [place, is_new] = at.emplace(member.key, result.size());
    if (is_new)
      result.push_back(member);
    else
      result[place->second] = member;
  }
  object.members = std::move(result);
  return true;
}

bool Builder::add(Node node) {
  if (open_.empty()) {
    document_->root = as_json(node.value);
    return true;
  }
  Open& parent = open_.back();
  parent.nodes += node.nodes;
  parent.height = std::max(parent.height, node.height);
  if (!parent.is_object) {
    parent.items.push_back(as_json(node.value));
    return true;
  }
  if (!parent.key_waits) return add_key(parent, node);
  parent.key_waits = false;
  if (parent.merge_waits) {
    parent.merge_waits = false;
    return add_merge(parent, node);
  }
  parent.members.back().value = as_json(node.value);
  return true;
}

bool Builder::add_key(Open& object, const Node& node) {
  object.key_waits = true;
  if (node.is_merge) {
    object.merge_waits = true;
    object.has_merge = true;
    return true;
  }
  const auto text = key_text(node.value, document_->arena);
  if (!text) {
    return fail(node.value.offset(),
                node.value.is_null() ? "a key must not be null" : "a key must be a scalar, not a list or a mapping");
  }
  object.members.push_back({*text, node.value.offset(), {}});
  object.merged.push_back(false);
  return true;
}

bool Builder::add_merge(Open& object, const Node& node) {
  constexpr const char* wanted = "the value of a merge key << must be a mapping or a list of mappings";
  const auto merge = [&](const Value& mapping) {
    for (const Member& member : mapping.members()) {
      object.members.push_back(member);
      object.merged.push_back(true);
    }
  };
  if (node.value.is_object()) {
    merge(node.value);
    return true;
  }
  if (!node.value.is_array()) return fail(node.value.offset(), wanted);
  const auto items = node.value.items();
  for (const Value& item : items)
    if (!item.is_object()) return fail(item.offset(), wanted);
  for (std::size_t i = items.size(); i-- > 0;) merge(items[i]);  // the first of the list takes precedence
  return true;
}

}  // namespace

std::optional<json::ParseError> read_with_libyaml(std::string_view whole, std::size_t begin, std::size_t end,
                                                  const json::ParseLimits& limits, std::deque<json::Document>& out) {
  return Builder(whole, begin, end, limits).run(out);
}

}  // namespace stackgate::yaml
