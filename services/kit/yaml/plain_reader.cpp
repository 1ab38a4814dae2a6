#include "services/kit/yaml/plain_reader.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "services/kit/json/keys.hpp"
#include "services/kit/yaml/resolve.hpp"

namespace stackgate::yaml {

namespace {

using json::Member;
using json::Value;

constexpr std::uint32_t deepest = 64;      // recursion; libyaml reads what nests deeper
constexpr std::size_t longest_key = 1000;  // YAML allows 1024 characters on one line

/// Bytes that a plain key or flow scalar may consist of here; YAML allows more.
constexpr auto make_word_table() {
  struct Table {
    bool is_word[256] = {};
  } table;
  for (int c = 0; c < 256; ++c) {
    table.is_word[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                       c == '.' || c == '/' || c == '-';
  }
  return table;
}
constexpr auto word_table = make_word_table();
constexpr bool is_word(char c) { return word_table.is_word[static_cast<unsigned char>(c)]; }

struct Scratch {
  std::vector<Value> items;
  std::vector<Member> members;
  std::vector<json::KeyRef> keys;
};

class PlainReader {
 public:
  PlainReader(std::string_view whole, std::size_t begin, std::size_t end, std::uint32_t max_depth, json::Arena& arena,
              Scratch& scratch)
      : base_(whole.data()),
        at_(base_ + begin),
        end_(base_ + end),
        line_(at_),
        max_depth_(std::min(max_depth, deepest)),
        arena_(arena),
        scratch_(scratch) {}

  bool run(Value& root);

 private:
  std::uint32_t offset(const char* at) const { return static_cast<std::uint32_t>(at - base_); }
  bool at_line_end() const { return at_ == end_ || *at_ == '\n'; }
  bool followed_by_space(const char* at) const { return at + 1 == end_ || at[1] == ' ' || at[1] == '\n'; }
  std::size_t column() const { return static_cast<std::size_t>(at_ - line_); }
  void skip_spaces() {
    while (at_ != end_ && *at_ == ' ') ++at_;
  }
  /// Behind a value: nothing but spaces and a comment may follow on the line. Comes to stand on the next content.
  bool finish_line();
  /// To the first byte of the next line with content; column() is then its indentation. False at the end.
  bool next_content();
  bool has_content() const { return at_ != end_; }

  bool block(std::size_t parent_indent, Value& out);
  bool mapping(std::size_t indent, Value& out);
  bool sequence(std::size_t indent, bool ends_at_key, Value& out);
  bool member_value(std::size_t indent, Value& out);
  bool item_value(std::size_t indent, Value& out);
  bool inline_value(std::size_t indent, Value& out);
  bool key(std::string_view& text, const char*& behind) const;
  bool plain(Value& out);
  bool quoted(std::string_view& out);
  bool unescape(const char* from, const char* to, std::string_view& out);
  bool block_scalar(std::size_t indent, Value& out);
  std::size_t block_indent(std::size_t parent);
  bool flow(Value& out);
  bool flow_value(Value& out);
  bool flow_key(std::string_view& text);
  bool take_object(std::size_t first, std::uint32_t where, bool may_repeat, Value& out);
  void take_array(std::size_t first, std::uint32_t where, Value& out);

  struct Deeper {
    explicit Deeper(PlainReader& reader) : reader_(reader) { ++reader_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    ~Deeper() { --reader_.depth_; }
    explicit operator bool() const { return reader_.depth_ <= reader_.max_depth_; }
    PlainReader& reader_;
  };

  const char* base_;
  const char* at_;
  const char* end_;
  const char* line_;  // where the line of `at_` begins
  std::uint32_t depth_ = 0;
  std::uint32_t max_depth_;
  json::Arena& arena_;
  Scratch& scratch_;
};

bool PlainReader::next_content() {
  // `at_` is at the end of a line, or at the beginning of the document.
  while (true) {
    skip_spaces();
    if (at_ == end_) return false;
    if (*at_ == '#') {
      const void* newline = std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
      at_ = newline == nullptr ? end_ : static_cast<const char*>(newline);
      if (at_ == end_) return false;
    }
    if (*at_ != '\n') return true;
    ++at_;
    line_ = at_;
  }
}

bool PlainReader::finish_line() {
  const char* const behind = at_;
  skip_spaces();
  if (at_line_end() || (*at_ == '#' && at_ != behind)) {
    next_content();
    return true;
  }
  return false;
}

bool PlainReader::run(Value& root) {
  if (!next_content()) {
    root = {};
    return true;
  }
  if (column() != 0) return false;
  Value value;
  if (!block(0, value) || has_content()) return false;
  root = value;
  return true;
}

/// A block collection that begins at `at_`.
bool PlainReader::block(std::size_t indent, Value& out) {
  if (*at_ == '-' && followed_by_space(at_)) return sequence(indent, false, out);
  return mapping(indent, out);
}

/// Looks for `key:`; `behind` is then where the value may begin. Does not move.
bool PlainReader::key(std::string_view& text, const char*& behind) const {
  const char* at = at_;
  if (at == end_) return false;
  if (*at == '"' || *at == '\'') {
    const char quote = *at++;
    const char* const start = at;
    while (at != end_ && *at != quote && *at != '\n' && *at != '\\') ++at;
    if (at == end_ || *at != quote) return false;
    text = {start, at};
    ++at;
  } else {
    while (at != end_ && is_word(*at)) ++at;
    text = {at_, at};
    if (text.empty() || text[0] == '-') return false;
    // A key such as `yes` or `1` is no string: libyaml's half knows what becomes of it.
    if (at == end_ || *at != ':') return false;
    const Resolved resolved = resolve_plain(text, 0);
    if (!resolved.value.is_string() || resolved.problem != nullptr) return false;
  }
  if (at == end_ || *at != ':' || !followed_by_space(at) || text.size() > longest_key) return false;
  behind = at + 1;
  return true;
}

bool PlainReader::mapping(std::size_t indent, Value& out) {
  const Deeper deeper(*this);
  if (!deeper) return false;
  const std::uint32_t where = offset(at_);
  const std::size_t first = scratch_.members.size();
  std::uint64_t seen = 0;
  bool may_repeat = false;
  while (true) {
    std::string_view name;
    const char* behind = nullptr;
    if (!key(name, behind)) return false;
    const std::uint64_t bit = json::key_bit(name);
    may_repeat = may_repeat || (seen & bit) != 0;
    seen |= bit;
    const std::uint32_t key_offset = offset(at_);
    at_ = behind;
    Value value;
    if (!member_value(indent, value)) return false;
    scratch_.members.push_back({name, key_offset, value});
    if (!has_content() || column() < indent) break;
    if (column() > indent) return false;
  }
  return take_object(first, where, may_repeat, out);
}

/// `at_` stands behind the colon.
bool PlainReader::member_value(std::size_t indent, Value& out) {
  const std::uint32_t empty_at = offset(at_);
  skip_spaces();
  if (!at_line_end() && *at_ != '#') return inline_value(indent, out);
  next_content();
  if (has_content() && column() > indent) return block(column(), out);
  if (has_content() && column() == indent && *at_ == '-' && followed_by_space(at_)) return sequence(indent, true, out);
  out = Value::make_null(empty_at);
  return true;
}

/// `ends_at_key`: the list stands at the column of the mapping it belongs to, whose next key ends it.
bool PlainReader::sequence(std::size_t indent, bool ends_at_key, Value& out) {
  const Deeper deeper(*this);
  if (!deeper) return false;
  const std::uint32_t where = offset(at_);
  const std::size_t first = scratch_.items.size();
  while (true) {
    ++at_;
    Value item;
    if (!item_value(indent, item)) return false;
    scratch_.items.push_back(item);
    if (!has_content() || column() < indent) break;
    if (column() > indent) return false;
    if (*at_ != '-' || !followed_by_space(at_)) {
      if (!ends_at_key) return false;
      break;
    }
  }
  take_array(first, where, out);
  return true;
}

/// `at_` stands behind the dash.
bool PlainReader::item_value(std::size_t indent, Value& out) {
  const std::uint32_t empty_at = offset(at_);
  skip_spaces();
  if (at_line_end() || *at_ == '#') {
    next_content();
    if (has_content() && column() > indent) return block(column(), out);
    out = Value::make_null(empty_at);
    return true;
  }
  if (*at_ == '-' && followed_by_space(at_)) return sequence(column(), false, out);
  std::string_view name;
  const char* behind = nullptr;
  if (key(name, behind)) return mapping(column(), out);
  return inline_value(indent, out);
}

/// A value on the line of its key or dash, and the end of that line. What follows deeper would continue it.
bool PlainReader::inline_value(std::size_t indent, Value& out) {
  switch (*at_) {
    case '|':
    case '>':
      return block_scalar(indent, out);
    case '"':
    case '\'': {
      const std::uint32_t where = offset(at_);
      std::string_view text;
      if (!quoted(text)) return false;
      out = Value::make_string(text, where);
      break;
    }
    case '[':
    case '{':
      if (!flow(out)) return false;
      break;
    default:
      if (!plain(out)) return false;
  }
  return finish_line() && (!has_content() || column() <= indent);
}

bool PlainReader::plain(Value& out) {
  const char* const start = at_;
  const char first = *at_;
  if (first == '-'
          ? followed_by_space(at_)
          : !is_word(first) && std::strchr("$(+~=</;\\", first) == nullptr && static_cast<unsigned char>(first) < 0x80)
    return false;
  const char* last = at_;  // behind the last byte that is no space
  while (!at_line_end()) {
    const char c = *at_;
    if (c == '#' && at_[-1] == ' ') break;
    if (c == ':' && followed_by_space(at_)) return false;
    ++at_;
    if (c != ' ') last = at_;
  }
  at_ = last;
  const Resolved resolved = resolve_plain({start, last}, offset(start));
  if (resolved.problem != nullptr) return false;
  out = as_json(resolved.value);
  return true;
}

/// `at_` stands on the quote and comes to stand behind the closing one, on the same line.
bool PlainReader::quoted(std::string_view& out) {
  const char quote = *at_++;
  const char* const start = at_;
  bool changed = false;
  while (true) {
    while (at_ != end_ && *at_ != quote && *at_ != '\n' && *at_ != '\\') ++at_;
    if (at_line_end()) return false;
    if (*at_ == '\\') {
      if (quote == '\'') {
        ++at_;
        continue;
      }
      changed = true;
      at_ += end_ - at_ > 1 ? 2 : 1;
      continue;
    }
    if (quote == '\'' && at_ + 1 != end_ && at_[1] == '\'') {
      changed = true;
      at_ += 2;
      continue;
    }
    break;
  }
  const char* const stop = at_++;
  if (!changed) {
    out = {start, stop};
    return true;
  }
  return unescape(start, stop, out);
}

/// The escapes that stand in manifests; the others are libyaml's. A doubled single quote is one.
bool PlainReader::unescape(const char* from, const char* to, std::string_view& out) {
  const bool is_double = from[-1] == '"';
  char* const text = static_cast<char*>(arena_.allocate(static_cast<std::size_t>(to - from), 1));
  char* put = text;
  while (from != to) {
    if (*from == (is_double ? '\\' : '\'')) {
      ++from;
      switch (*from) {
        case '"':
        case '\\':
        case '\'':
          *put++ = *from;
          if (is_double && *from == '\'') return false;
          break;
        case 'n':
          *put++ = '\n';
          break;
        case 't':
          *put++ = '\t';
          break;
        default:
          return false;
      }
      ++from;
    } else {
      *put++ = *from++;
    }
  }
  out = {text, put};
  return true;
}

/// The indentation of a block scalar's text: that of its first line that is not blank, or 0 when there is none that
/// is deeper than `parent`, or when a blank line before it is longer. Does not move.
std::size_t PlainReader::block_indent(std::size_t parent) {
  const char* at = at_;
  std::size_t longest_blank = 0;
  while (at != end_) {
    const char* const start = at;
    while (at != end_ && *at == ' ') ++at;
    const auto spaces = static_cast<std::size_t>(at - start);
    if (at == end_) return 0;
    if (*at != '\n') return spaces > parent && spaces >= longest_blank ? spaces : 0;
    longest_blank = std::max(longest_blank, spaces);
    ++at;
  }
  return 0;
}

bool PlainReader::block_scalar(std::size_t indent, Value& out) {
  const std::uint32_t where = offset(at_);
  const bool literal = *at_++ == '|';
  char chomping = ' ';
  if (at_ != end_ && (*at_ == '-' || *at_ == '+')) chomping = *at_++;
  const char* const behind = at_;
  skip_spaces();
  if (at_ != end_ && *at_ == '#' && at_ != behind)
    while (!at_line_end()) ++at_;
  if (at_ == end_ || *at_ != '\n') return false;
  ++at_;
  line_ = at_;
  const std::size_t text_indent = block_indent(indent);
  if (text_indent == 0) return false;

  // Spaces and breaks only ever shrink, so the source is as long as the text can be.
  const char* scan = at_;
  const char* stop = at_;
  while (scan != end_) {  // the scalar ends before the first line with text that is not deep enough
    const char* const start = scan;
    while (scan != end_ && *scan == ' ' && static_cast<std::size_t>(scan - start) < text_indent) ++scan;
    const bool deep = static_cast<std::size_t>(scan - start) == text_indent;
    if (!deep && scan != end_ && *scan != '\n') break;
    const void* newline = scan == end_ ? nullptr : std::memchr(scan, '\n', static_cast<std::size_t>(end_ - scan));
    scan = newline == nullptr ? end_ : static_cast<const char*>(newline) + 1;
    stop = scan;
  }
  char* const text = static_cast<char*>(arena_.allocate(static_cast<std::size_t>(stop - at_), 1));
  char* put = text;
  bool pending_break = false;           // behind the last line
  std::size_t pending_blank_lines = 0;  // behind that
  bool line_was_indented = false;
  const char* line = at_;
  while (line != stop) {
    const char* at = line;
    while (at != stop && *at == ' ' && static_cast<std::size_t>(at - line) < text_indent) ++at;
    const void* newline = at == stop ? nullptr : std::memchr(at, '\n', static_cast<std::size_t>(stop - at));
    const char* const line_end = newline == nullptr ? stop : static_cast<const char*>(newline);
    if (at == line_end) {
      if (newline != nullptr) ++pending_blank_lines;
    } else {
      const bool is_indented = *at == ' ';
      if (pending_break && !literal && !line_was_indented && !is_indented) {
        if (pending_blank_lines == 0) *put++ = ' ';
      } else if (pending_break) {
        *put++ = '\n';
      }
      put = std::fill_n(put, pending_blank_lines, '\n');
      pending_blank_lines = 0;
      line_was_indented = is_indented;
      put = std::copy(at, line_end, put);
      pending_break = newline != nullptr;
    }
    line = newline == nullptr ? stop : line_end + 1;
  }
  if (chomping != '-' && pending_break) *put++ = '\n';
  if (chomping == '+') put = std::fill_n(put, pending_blank_lines, '\n');
  out = Value::make_string({text, put}, where);
  at_ = stop;
  line_ = stop;
  next_content();
  return !has_content() || column() <= indent;
}

bool PlainReader::flow(Value& out) {
  const Deeper deeper(*this);
  if (!deeper) return false;
  const bool is_object = *at_ == '{';
  const char closing = is_object ? '}' : ']';
  const std::uint32_t where = offset(at_);
  const std::size_t first = is_object ? scratch_.members.size() : scratch_.items.size();
  std::uint64_t seen = 0;
  bool may_repeat = false;
  ++at_;
  skip_spaces();
  if (!at_line_end() && *at_ == closing) {
    ++at_;
    out = is_object ? Value::make_object({}, where) : Value::make_array({}, where);
    return true;
  }
  while (true) {
    std::string_view name;
    const std::uint32_t key_offset = offset(at_);
    Value value;
    if (is_object) {
      if (!flow_key(name)) return false;
      const std::uint64_t bit = json::key_bit(name);
      may_repeat = may_repeat || (seen & bit) != 0;
      seen |= bit;
    }
    if (!flow_value(value)) return false;
    if (is_object)
      scratch_.members.push_back({name, key_offset, value});
    else
      scratch_.items.push_back(value);
    skip_spaces();
    if (at_line_end()) return false;
    if (*at_ == closing) break;
    if (*at_ != ',') return false;
    ++at_;
    skip_spaces();
  }
  ++at_;
  if (is_object) return take_object(first, where, may_repeat, out);
  take_array(first, where, out);
  return true;
}

bool PlainReader::flow_key(std::string_view& text) {
  const char* behind = nullptr;
  if (!key(text, behind)) return false;
  at_ = behind;
  skip_spaces();
  return !at_line_end();
}

bool PlainReader::flow_value(Value& out) {
  if (at_line_end()) return false;
  if (*at_ == '[' || *at_ == '{') return flow(out);
  const char* const start = at_;
  if (*at_ == '"' || *at_ == '\'') {
    std::string_view text;
    if (!quoted(text)) return false;
    out = Value::make_string(text, offset(start));
  } else {
    while (at_ != end_ && is_word(*at_)) ++at_;
    if (at_ == start || (*start == '-' && at_ - start == 1)) return false;
    const Resolved resolved = resolve_plain({start, at_}, offset(start));
    if (resolved.problem != nullptr) return false;
    out = as_json(resolved.value);
  }
  skip_spaces();
  return !at_line_end() && (*at_ == ',' || *at_ == ']' || *at_ == '}');
}

bool PlainReader::take_object(std::size_t first, std::uint32_t where, bool may_repeat, Value& out) {
  const std::span<const Member> members = std::span(scratch_.members).subspan(first);
  if (may_repeat && json::find_duplicate(members, scratch_.keys) != nullptr) return false;
  out = Value::make_object(arena_.copy(members), where);
  scratch_.members.resize(first);
  return true;
}

void PlainReader::take_array(std::size_t first, std::uint32_t where, Value& out) {
  out = Value::make_array(arena_.copy(std::span<const Value>(scratch_.items).subspan(first)), where);
  scratch_.items.resize(first);
}

}  // namespace

bool read_plain(std::string_view whole, std::size_t begin, std::size_t end, std::uint32_t max_depth,
                json::Document& document) {
  document.root = {};
  document.arena.reset();
  thread_local Scratch scratch;
  scratch.items.clear();
  scratch.members.clear();
  if (PlainReader(whole, begin, end, max_depth, document.arena, scratch).run(document.root)) return true;
  document.root = {};
  document.arena.reset();
  return false;
}

}  // namespace stackgate::yaml
