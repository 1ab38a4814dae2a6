#include "services/guardrail/colang/lines.hpp"

#include <algorithm>

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/utf8.hpp"

namespace stackgate::guardrail::colang {
namespace {

constexpr std::size_t most_joined = 500;  // lines of the file in one
constexpr std::size_t longest_line = 1U << 16U;
constexpr std::size_t longest_apostrophe = 4096;  // bytes looked at for the end of a text in '…'
constexpr std::string_view no_break_space = "\xC2\xA0";
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// The beginning of a comment, or the text's end; and how many parentheses are open there.
struct Extent {
  std::size_t end = 0;
  int open = 0;
};
Extent measure(std::string_view text) {
  Extent out{.end = text.size()};
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (begins_quoted(text, at)) {
      const std::size_t end = end_of_quoted(text, at);
      if (end == std::string_view::npos) return out;  // the parser reports it
      at = end - 1;
    } else if (text[at] == '#') {
      out.end = at;
      return out;
    } else if (text[at] == '(' || text[at] == '[' || text[at] == '{') {
      ++out.open;
    } else if (text[at] == ')' || text[at] == ']' || text[at] == '}') {
      --out.open;
    }
  }
  return out;
}

class Reader {
 public:
  Reader(std::uint32_t file, const Source& source, Report& report) : file_(file), text_(source.text), report_(report) {}

  std::vector<Line> read() {
    if (!utf8::is_valid(text_)) {
      std::size_t at = 0;
      while (const std::size_t length = utf8::sequence_length(text_.substr(at))) at += length;
      report_.error(rule::syntax, place(at), "the file is no UTF-8 text", "save it as UTF-8");
      return {};
    }
    if (text_.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
    while (at_ < text_.size()) line();
    return std::move(lines_);
  }

 private:
  Place place(std::size_t offset) const { return report_.place(file_, offset); }

  // One line of the file; `begin` is where its text begins behind the white space.
  struct Raw {
    std::uint32_t indent = 0;
    std::size_t begin = 0;
    std::string_view text;
  };
  Raw next() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    Raw raw{.begin = at_};
    bool tabs = false;
    bool spaces = false;
    for (; raw.begin < end; ++raw.begin) {
      if (text_[raw.begin] == ' ') {
        ++raw.indent;
        spaces = true;
      } else if (text_[raw.begin] == '\t') {
        raw.indent += 4;
        tabs = true;
      } else if (text_.substr(raw.begin).starts_with(no_break_space)) {
        report_.error(rule::indentation, place(raw.begin), "the line is indented with a no-break space",
                      "indent with spaces");
        ++raw.indent;
        ++raw.begin;
      } else {
        break;
      }
    }
    raw.text = trim(text_.substr(raw.begin, end - raw.begin));
    if (!raw.text.empty()) indented_with(tabs, spaces, at_);
    at_ = std::min(end + 1, text_.size());
    return raw;
  }

  void indented_with(bool tabs, bool spaces, std::size_t at) {
    tabs_ = tabs_ || tabs;
    spaces_ = spaces_ || spaces;
    if (!tabs_ || !spaces_ || reported_tabs_) return;
    reported_tabs_ = true;
    report_.error(rule::indentation, place(at), "tabs and spaces are mixed in the indentation of this file",
                  "indent with spaces only, two for each level");
  }

  void line() {
    const Raw raw = next();
    if (raw.text.empty()) return;
    if (raw.text.front() == '#') {
      if (!comment_.empty()) comment_ += '\n';
      comment_ += trim(raw.text.substr(1));
      return;
    }
    if (raw.text.starts_with("\"\"\"")) return docstring(raw);
    joined(raw);
  }

  void docstring(const Raw& raw) {
    Line line{.indent = raw.indent, .parts = {{0, static_cast<std::uint32_t>(raw.begin)}}, .is_docstring = true};
    const std::size_t begin = raw.begin + 3;
    std::size_t end = text_.find("\"\"\"", begin);
    if (end == std::string_view::npos) {
      report_.error(rule::syntax, place(raw.begin), "the text in \"\"\" has no end", "write \"\"\" behind it");
      end = text_.size();
    }
    std::string_view rest = text_.substr(begin, end - begin);
    while (!rest.empty()) {
      const std::size_t cut = std::min(rest.find('\n'), rest.size());
      const std::string_view part = trim(rest.substr(0, cut));
      if (!line.text.empty()) line.text += '\n';
      line.text += part;
      rest.remove_prefix(std::min(cut + 1, rest.size()));
    }
    line.text = trim(line.text);
    const std::size_t after = text_.find('\n', end);
    at_ = after == std::string_view::npos ? text_.size() : after + 1;
    lines_.push_back(std::move(line));
    comment_.clear();
  }

  void joined(Raw raw) {
    Line line{.indent = raw.indent, .comment = std::move(comment_)};
    comment_.clear();
    int open = 0;
    for (std::size_t count = 1;; ++count) {
      const Extent extent = measure(raw.text);
      std::string_view text = trim(raw.text.substr(0, extent.end));
      open += extent.open;
      const bool escaped = text.ends_with('\\');
      if (escaped) text = trim(text.substr(0, text.size() - 1));
      if (!line.text.empty() && !text.empty()) line.text += ' ';
      line.parts.push_back({static_cast<std::uint32_t>(line.text.size()), static_cast<std::uint32_t>(raw.begin)});
      line.text += text;
      const bool goes_on = open > 0 || escaped || text.ends_with(" or");
      if (!goes_on || at_ >= text_.size() || count >= most_joined || starts_anew(raw.indent)) break;
      raw = next();
    }
    if (line.text.size() > longest_line) {
      report_.error(rule::limit, place(line.parts.front().offset), "the line has more than 65536 bytes", "divide it");
      return;
    }
    if (!line.text.empty()) lines_.push_back(std::move(line));
  }

  // A parenthesis that was never closed does not swallow the file.
  bool starts_anew(std::uint32_t) const {
    const std::string_view rest = text_.substr(at_);
    return rest.starts_with("define ") || rest.starts_with("flow ");
  }

  std::uint32_t file_;
  std::string_view text_;
  Report& report_;
  std::size_t at_ = 0;
  std::string comment_;
  std::vector<Line> lines_;
  bool tabs_ = false, spaces_ = false, reported_tabs_ = false;
};

}  // namespace

std::size_t Line::offset(std::size_t at) const {
  const auto next = std::ranges::upper_bound(parts, static_cast<std::uint32_t>(at), {}, &Part::at);
  const Part& part = next == parts.begin() ? parts.front() : *(next - 1);
  return part.offset + (at - part.at);
}

std::vector<Line> lines_of(std::uint32_t file, const Source& source, Report& report) {
  return Reader(file, source, report).read();
}

std::size_t end_of_quoted(std::string_view text, std::size_t at) {
  const char mark = text[at];
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == mark)
      return i + 1;
  }
  return std::string_view::npos;
}

bool begins_quoted(std::string_view text, std::size_t at) {
  if (text[at] == '"') return true;
  if (text[at] != '\'') return false;
  if (at > 0 && (text[at - 1] == '\\' || ascii::is_alphanumeric(text[at - 1]) ||
                 static_cast<unsigned char>(text[at - 1]) >= 0x80))
    return false;
  return end_of_quoted(text.substr(0, at + longest_apostrophe), at) != std::string_view::npos;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view white = " \t\r\n\f\v";
  const std::size_t begin = text.find_first_not_of(white);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(white) - begin + 1);
}

}  // namespace stackgate::guardrail::colang
