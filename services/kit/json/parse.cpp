#include "services/kit/json/parse.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/base/utf8.hpp"
#include "services/kit/json/keys.hpp"
#include "services/kit/json/number.hpp"
#include "services/kit/json/scan.hpp"

namespace stackgate::json {

namespace {

constexpr std::uint32_t addressable = (1U << 29U) - 1;  // what Value::offset() can hold

/// What a letter behind a backslash stands for; 0: nothing by itself.
constexpr std::array<char, 256> short_escapes = [] {
  std::array<char, 256> table{};
  for (const auto& [letter, meant] :
       {std::pair{'"', '"'}, {'\\', '\\'}, {'/', '/'}, {'b', '\b'}, {'f', '\f'}, {'n', '\n'}, {'r', '\r'}, {'t', '\t'}})
    table[static_cast<unsigned char>(letter)] = meant;
  return table;
}();

/// An array or object that is open. Its members or items wait on the scratch stacks from `first` on.
struct Frame {
  std::uint32_t first;
  std::uint32_t offset;
  bool is_object;
  bool may_repeat;  // two keys fell on the same bit of `seen`
  std::uint64_t seen;
};

/// Memory that one parse after the other uses; depth costs heap, not stack.
struct Scratch {
  std::vector<Frame> frames;
  std::vector<Value> items;
  std::vector<Member> members;
  std::vector<KeyRef> keys;

  void clear() {
    frames.clear();
    items.clear();
    members.clear();
    keys.clear();
  }
  /// One huge document must not keep its memory for ever.
  void trim() {
    constexpr std::size_t keep = 16384;
    if (frames.capacity() > keep) frames = {};
    if (items.capacity() > keep) items = {};
    if (members.capacity() > keep) members = {};
    if (keys.capacity() > keep) keys = {};
  }
};

class Parser {
 public:
  Parser(std::string_view text, std::uint32_t begin, Arena& arena, Scratch& scratch, std::uint32_t max_depth)
      : begin_(text.data()),
        at_(begin_ + begin),
        end_(begin_ + text.size()),
        arena_(arena),
        scratch_(scratch),
        max_depth_(max_depth) {}

  bool run(Value& root, bool to_end);
  std::uint32_t position() const { return offset(at_); }
  ParseError error;

 private:
  enum class Step : std::uint8_t { failed, value_done, value_next };

  std::uint32_t offset(const char* at) const { return static_cast<std::uint32_t>(at - begin_); }
  bool fail(const char* at, std::string message) {
    error = {offset(at), std::move(message)};
    return false;
  }
  bool fail_unexpected(std::string_view wanted);
  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  bool word(std::string_view name) {
    if (static_cast<std::size_t>(end_ - at_) < name.size() || std::memcmp(at_, name.data(), name.size()) != 0)
      return fail_unexpected("a value");
    at_ += name.size();
    return true;
  }

  Step begin_value(Value& out);
  Step open(char bracket, Value& out);
  bool key();
  bool close_object(const Frame& frame, Value& out);
  void close_array(const Frame& frame, Value& out);
  bool string(std::string_view& out);
  bool string_slow(const char* start, std::string_view& out);
  bool unescape(const char* from, const char* to, std::string_view& out);
  bool unicode_escape(const char*& from, const char* to, char*& put);

  const char* begin_;
  const char* at_;
  const char* end_;
  Arena& arena_;
  Scratch& scratch_;
  std::uint32_t max_depth_;
};

bool Parser::fail_unexpected(std::string_view wanted) {
  if (at_ == end_) return fail(at_, fmt::format("expected {}, but the text ends here", wanted));
  const auto byte = static_cast<unsigned char>(*at_);
  if (byte >= 0x20 && byte < 0x7F) return fail(at_, fmt::format("expected {}, not '{}'", wanted, *at_));
  return fail(at_, fmt::format("expected {}, not byte 0x{:02x}", wanted, byte));
}

bool Parser::run(Value& root, bool to_end) {
  skip_space();
  if (at_ == end_) return fail(at_, "the text is empty");
  Value value;
  while (true) {
    Step step = begin_value(value);
    while (step == Step::value_done) {
      if (scratch_.frames.empty()) {
        if (to_end) skip_space();
        if (to_end && at_ != end_) return fail_unexpected("the end of the text");
        root = value;
        return true;
      }
      // Puts the value into its parent; a comma leads to the next value, a bracket makes the parent the value.
      Frame& frame = scratch_.frames.back();
      if (frame.is_object)
        scratch_.members.back().value = value;
      else
        scratch_.items.push_back(value);
      skip_space();
      const char c = at_ == end_ ? '\0' : *at_;
      if (c == ',') {
        ++at_;
        skip_space();
        if (frame.is_object && !key()) return false;
        step = Step::value_next;
      } else if (c == (frame.is_object ? '}' : ']')) {
        ++at_;
        const Frame done = frame;
        scratch_.frames.pop_back();
        if (!done.is_object)
          close_array(done, value);
        else if (!close_object(done, value))
          return false;
      } else {
        return fail_unexpected(frame.is_object ? "',' or '}'" : "',' or ']'");
      }
    }
    if (step == Step::failed) return false;
  }
}

/// A scalar or an empty container is done at once; otherwise the first inner value is next.
Parser::Step Parser::begin_value(Value& out) {
  const auto done = [](bool good) { return good ? Step::value_done : Step::failed; };
  const std::uint32_t where = offset(at_);
  switch (at_ == end_ ? '\0' : *at_) {
    case '"': {
      std::string_view text;
      if (!string(text)) return Step::failed;
      out = Value::make_string(text, where);
      return Step::value_done;
    }
    case '{':
    case '[':
      return open(*at_, out);
    case 't':
      out = Value::make_boolean(true, where);
      return done(word("true"));
    case 'f':
      out = Value::make_boolean(false, where);
      return done(word("false"));
    case 'n':
      out = Value::make_null(where);
      return done(word("null"));
    case '\xEF':
      if (at_ == begin_) return done(fail(at_, "the text begins with a byte order mark; JSON has none"));
      break;
    default:
      break;
  }
  if (at_ == end_ || (*at_ != '-' && !ascii::is_digit(*at_))) return done(fail_unexpected("a value"));
  const NumberRead number = read_number(at_, end_, where);
  if (number.problem != nullptr) return done(fail(number.end, number.problem));
  at_ = number.end;
  out = number.value;
  return Step::value_done;
}

Parser::Step Parser::open(char bracket, Value& out) {
  const bool is_object = bracket == '{';
  const std::uint32_t where = offset(at_);
  if (scratch_.frames.size() >= max_depth_) {
    fail(at_, fmt::format("nested deeper than {} levels", max_depth_));
    return Step::failed;
  }
  ++at_;
  skip_space();
  if (at_ != end_ && *at_ == (is_object ? '}' : ']')) {
    ++at_;
    out = is_object ? Value::make_object({}, where) : Value::make_array({}, where);
    return Step::value_done;
  }
  const std::size_t first = is_object ? scratch_.members.size() : scratch_.items.size();
  scratch_.frames.push_back({static_cast<std::uint32_t>(first), where, is_object, false, 0});
  if (is_object && !key()) return Step::failed;
  return Step::value_next;
}

/// Reads `"key" :` and leaves the member on the stack, waiting for its value.
bool Parser::key() {
  if (at_ == end_ || *at_ != '"') return fail_unexpected("a key in double quotes");
  const std::uint32_t where = offset(at_);
  std::string_view name;
  if (!string(name)) return false;
  skip_space();
  if (at_ == end_ || *at_ != ':') return fail_unexpected("':' behind the key");
  ++at_;
  skip_space();
  Frame& frame = scratch_.frames.back();
  const std::uint64_t bit = key_bit(name);
  frame.may_repeat = frame.may_repeat || (frame.seen & bit) != 0;
  frame.seen |= bit;
  scratch_.members.push_back({name, where, {}});
  return true;
}

bool Parser::close_object(const Frame& frame, Value& out) {
  const std::span<const Member> members(scratch_.members.begin() + frame.first, scratch_.members.end());
  if (frame.may_repeat) {
    if (const Member* repeated = find_duplicate(members, scratch_.keys))
      return fail(begin_ + repeated->key_offset, fmt::format("duplicate key \"{}\"", repeated->key));
  }
  out = Value::make_object(arena_.copy(members), frame.offset);
  scratch_.members.resize(frame.first);
  return true;
}

void Parser::close_array(const Frame& frame, Value& out) {
  const std::span<const Value> items(scratch_.items.begin() + frame.first, scratch_.items.end());
  out = Value::make_array(arena_.copy(items), frame.offset);
  scratch_.items.resize(frame.first);
}

/// `at_` stands on the opening quote and comes to stand behind the closing one.
bool Parser::string(std::string_view& out) {
  const char* const start = at_ + 1;
  at_ = skip_plain_run(start, end_);
  if (at_ != end_ && *at_ == '"') {
    out = {start, at_};
    ++at_;
    return true;
  }
  return string_slow(start, out);
}

bool Parser::string_slow(const char* start, std::string_view& out) {
  bool escapes = false;
  while (at_ != end_ && *at_ != '"') {
    if (*at_ == '\\') {
      escapes = true;
      at_ += end_ - at_ > 1 ? 2 : 1;
    } else if (static_cast<unsigned char>(*at_) < 0x20) {
      return fail(at_, fmt::format("a control character (0x{:02x}) must be escaped in a string",
                                   static_cast<unsigned char>(*at_)));
    } else {
      const std::size_t length = utf8::sequence_length({at_, end_});
      if (length == 0) return fail(at_, fmt::format("byte 0x{:02x} is not UTF-8", static_cast<unsigned char>(*at_)));
      at_ += length;
    }
    at_ = skip_plain_run(at_, end_);
  }
  if (at_ == end_) return fail(start - 1, "unterminated string");
  out = {start, at_};
  if (escapes && !unescape(start, at_, out)) return false;
  ++at_;
  return true;
}

bool Parser::unescape(const char* from, const char* to, std::string_view& out) {
  char* const text = static_cast<char*>(arena_.allocate(static_cast<std::size_t>(to - from), 1));
  char* put = text;
  while (from != to) {
    const char* const run = static_cast<const char*>(std::memchr(from, '\\', static_cast<std::size_t>(to - from)));
    const auto plain = static_cast<std::size_t>((run == nullptr ? to : run) - from);
    std::memcpy(put, from, plain);
    put += plain;
    if (run == nullptr) break;
    from = run + 1;  // there is a byte here: a backslash never is the last one before the closing quote
    if (const char meant = short_escapes[static_cast<unsigned char>(*from)]; meant != 0) {
      *put++ = meant;
      ++from;
    } else if (*from != 'u') {
      return fail(run, "no such escape in a string");
    } else if (!unicode_escape(from, to, put)) {
      return false;
    }
  }
  out = {text, put};
  return true;
}

/// `from` stands on the 'u'. A pair of surrogates is one character; one alone is no Unicode text.
bool Parser::unicode_escape(const char*& from, const char* to, char*& put) {
  const char* const backslash = from - 1;
  const auto four = [&](const char* digits, std::uint32_t& code) {
    code = 0;
    if (to - digits < 4) return false;
    for (int i = 0; i < 4; ++i) {
      const int nibble = ascii::hex_value(digits[i]);
      if (nibble < 0) return false;
      code = code << 4U | static_cast<std::uint32_t>(nibble);
    }
    return true;
  };
  std::uint32_t code = 0;
  if (!four(from + 1, code)) return fail(backslash, "four hexadecimal digits must follow \\u");
  from += 5;
  if (code >= 0xD800 && code < 0xE000) {
    std::uint32_t low = 0;
    const bool pair = code < 0xDC00 && to - from >= 6 && from[0] == '\\' && from[1] == 'u' && four(from + 2, low) &&
                      low >= 0xDC00 && low < 0xE000;
    if (!pair) return fail(backslash, "half of a surrogate pair is not a character");
    from += 6;
    code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
  }
  put += utf8::encode(code, put);
  return true;
}

}  // namespace

namespace {

/// Returns the offset behind the value; `to_end`: nothing may stand there.
std::expected<std::uint32_t, ParseError> parse_from(std::string_view text, std::uint32_t begin, bool to_end,
                                                    Document& document, const ParseLimits& limits) {
  document.root = {};
  document.arena.reset();
  const std::uint32_t max_bytes = std::min(limits.max_bytes, addressable);
  if (text.size() > max_bytes)
    return std::unexpected(ParseError{max_bytes, fmt::format("the text is longer than {} bytes", max_bytes)});

  thread_local Scratch scratch;
  scratch.clear();
  Parser parser(text, begin, document.arena, scratch, limits.max_depth);
  Value root;
  const bool good = parser.run(root, to_end);
  scratch.trim();
  if (!good) {
    document.arena.reset();
    return std::unexpected(std::move(parser.error));
  }
  document.root = root;
  return parser.position();
}

}  // namespace

std::expected<Value, ParseError> parse(std::string_view text, Document& document, const ParseLimits& limits) {
  (void)TRY(parse_from(text, 0, true, document, limits));
  return document.root;
}

std::expected<std::uint32_t, ParseError> parse_one(std::string_view text, std::uint32_t begin, Document& document,
                                                   const ParseLimits& limits) {
  return parse_from(text, begin, false, document, limits);
}

}  // namespace stackgate::json
