#include "services/kit/yaml/parse.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "services/kit/yaml/libyaml_reader.hpp"

namespace stackgate::yaml {

namespace {

struct Piece {
  std::size_t content = 0;     // behind the `---` line, when the piece begins with one
  std::size_t end = 0;         // before the next `---` line, or the end of the text
  bool marker_is_bare = true;  // nothing but a comment stands behind the `---`
  bool only_whole = false;     // a directive or `...` may bind what follows: the rest cannot be cut
};

/// Three times `mark`, and then a space or the end of the line.
bool is_marker(std::string_view line, char mark) {
  if (line.size() < 3 || line[0] != mark || line[1] != mark || line[2] != mark) return false;
  return line.size() == 3 || line[3] == ' ' || line[3] == '\n' || line[3] == '\r' || line[3] == '\t';
}

std::size_t line_end(std::string_view text, std::size_t at) {
  const void* newline = std::memchr(text.data() + at, '\n', text.size() - at);
  return newline == nullptr ? text.size()
                            : static_cast<std::size_t>(static_cast<const char*>(newline) - text.data()) + 1;
}

bool is_bare(std::string_view behind) {
  const std::size_t first = behind.find_first_not_of(" \t\r");
  if (first == std::string_view::npos || behind[first] == '\n') return true;
  return behind[first] == '#' && first > 0;
}

/// The document that begins at `at`, the beginning of a line.
Piece next_piece(std::string_view text, std::size_t at) {
  Piece piece;
  piece.content = at;
  if (is_marker(text.substr(at), '-')) {
    const std::size_t end = line_end(text, at);
    piece.marker_is_bare = is_bare(text.substr(at + 3, end - at - 3));
    piece.content = end;
  }
  piece.end = piece.content;
  while (piece.end < text.size()) {
    const char first = text[piece.end];
    if (first == '-' && is_marker(text.substr(piece.end), '-')) break;
    if (first == '%' || (first == '.' && is_marker(text.substr(piece.end), '.'))) piece.only_whole = true;
    piece.end = line_end(text, piece.end);
  }
  return piece;
}

constexpr std::uint32_t addressable = (1U << 29U) - 1;  // what json::Value::offset() can hold

/// `{"` or `[{` and the like: what json::parse should try first. Flow collections of YAML alone look different.
bool looks_like_json(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const std::size_t first = text.find_first_not_of(space);
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return false;
  const std::size_t second = text.find_first_not_of(space, first + 1);
  if (second == std::string_view::npos) return true;
  return text[second] == '"' || (text[first] == '{' ? text[second] == '}' : text[second] == '{' || text[second] == ']');
}

/// Before the first document behind `at` that begins with a byte order mark, which libyaml takes at the beginning of a
/// stream only; or the end.
std::size_t before_marked_document(std::string_view text, std::size_t at) {
  for (std::size_t mark = text.find(byte_order_mark, at); mark != std::string_view::npos;
       mark = text.find(byte_order_mark, mark + 1)) {
    if (mark < at + 4 || text[mark - 1] != '\n') continue;
    const std::size_t start = text.rfind('\n', mark - 2) + 1;  // 0 when there is none
    if (start <= at) continue;
    const Piece piece = next_piece(text.substr(0, mark), start);
    if (piece.content == mark && piece.marker_is_bare) return start;
  }
  return text.size();
}

}  // namespace

Reader::Reader(std::string_view text, const json::ParseLimits& limits, Cut cut)
    : text_(text), limits_(limits), cut_(cut) {
  const std::uint32_t most = std::min(limits.max_bytes, addressable);
  if (text.size() > most) {
    error_ = {most, fmt::format("the text is longer than {} bytes", most)};
    at_ = text.size();
    return;
  }
  if (text.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
}

bool Reader::next(json::Document& document) {
  while (true) {
    if (!ready_.empty()) {
      document = std::move(ready_.front());
      ready_.pop_front();
      return true;
    }
    if (at_ >= text_.size()) break;
    in_json_ = in_json_ && looks_like_json(text_.substr(at_));
    if (in_json_) {
      if (next_json(document)) return true;
      continue;
    }
    const Piece piece = next_piece(text_, at_);
    if (piece.marker_is_bare && text_.substr(piece.content).starts_with(byte_order_mark)) {
      at_ = piece.content + byte_order_mark.size();  // of a file that was appended to another
      continue;
    }
    read_to(cut_ == Cut::nowhere || piece.only_whole ? before_marked_document(text_, at_) : piece.end);
  }
  document.root = {};
  document.arena.reset();
  return false;
}

/// What libyaml reads up to `end` waits in ready_.
void Reader::read_to(std::size_t end) {
  auto error = read_with_libyaml(text_, at_, end, limits_, ready_);
  at_ = error ? text_.size() : end;
  if (error && error_.message.empty()) error_ = std::move(*error);
}

/// One document of a text that is JSON, or several in a row as `kubectl get -o json` and jq write them. When it is not
/// JSON, YAML may still read it; when YAML cannot either, the fault is in the JSON, as kubectl would see it.
bool Reader::next_json(json::Document& document) {
  auto end = json::parse_one(text_, static_cast<std::uint32_t>(at_), document, limits_);
  json::ParseError problem;
  if (end) {
    const std::size_t next = std::min(text_.find_first_not_of(" \t\r\n", *end), text_.size());
    const std::string_view rest = text_.substr(next);
    const bool at_line_start = next > 0 && text_[next - 1] == '\n';
    if (rest.empty() || rest[0] == '{' || rest[0] == '[' || (at_line_start && rest.starts_with("---"))) {
      at_ = next;
      return true;
    }
    problem = {static_cast<std::uint32_t>(next), "expected the end of the text or another document"};
  } else {
    problem = std::move(end.error());
  }
  read_to(before_marked_document(text_, at_));
  // Of a duplicate key libyaml's half tells both places.
  if (failed() && !problem.message.starts_with("duplicate key")) error_ = std::move(problem);
  return false;
}

Stream parse(std::string_view text, const json::ParseLimits& limits) {
  Stream stream;
  Reader reader(text, limits);
  json::Document document;
  while (reader.next(document)) stream.documents.push_back(std::exchange(document, {}));
  stream.failed = reader.failed();
  stream.error = reader.error();
  return stream;
}

}  // namespace stackgate::yaml
