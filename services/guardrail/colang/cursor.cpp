#include <algorithm>

#include "services/guardrail/colang/parser.hpp"

namespace stackgate::guardrail::colang {

Cursor::Cursor(std::uint32_t file, const Line& line) : file_(file), line_(&line), end_(line.text.size()) {
  if (line.text.ends_with(':')) --end_;
  while (end_ > 0 && line.text[end_ - 1] == ' ') --end_;
}

void Cursor::spaces() {
  while (at_ < end_ && (line_->text[at_] == ' ' || line_->text[at_] == '\t')) ++at_;
}

std::string_view Cursor::word() const {
  const std::string_view left = rest();
  return left.substr(0, std::min(left.find_first_of(" \t"), left.size()));
}

bool Cursor::take(std::string_view wanted) {
  if (word() != wanted) return false;
  skip(wanted.size());
  return true;
}

bool Cursor::take_sign(std::string_view sign) {
  if (!rest().starts_with(sign)) return false;
  skip(sign.size());
  return true;
}

std::string_view Cursor::take_name() {
  const std::string_view name = name_at(rest(), 0);
  skip(name.size());
  return name;
}

std::string_view Cursor::take_quoted() {
  const std::string_view left = rest();
  if (left.empty() || !begins_quoted(left, 0)) return {};
  const std::size_t end = end_of_quoted(left, 0);
  if (end == std::string_view::npos) return {};
  skip(end);
  return left.substr(0, end);
}

std::string_view Cursor::take_until(std::string_view signs) {
  const std::string_view left = rest();
  std::size_t at = 0;
  int open = 0;
  while (at < left.size()) {
    const char c = left[at];
    if (open == 0 && signs.find(c) != std::string_view::npos) break;
    if (begins_quoted(left, at)) {
      const std::size_t end = end_of_quoted(left, at);
      at = end == std::string_view::npos ? left.size() : end;
      continue;
    }
    if (c == '(' || c == '[' || c == '{') ++open;
    if ((c == ')' || c == ']' || c == '}') && open > 0) --open;
    ++at;
  }
  const std::string_view taken = trim(left.substr(0, at));
  at_ += at;
  spaces();
  return taken;
}

Excerpt Cursor::excerpt(std::size_t length) const {
  return {.file = file_, .line = line_, .begin = at_, .end = at_ + std::min(length, end_ - at_)};
}

void Cursor::skip(std::size_t length) {
  at_ = std::min(at_ + length, end_);
  spaces();
}

std::string plain_name(std::string_view name) {
  std::string out;
  for (const char c : trim(name)) {
    if (c != ' ' && c != '\t')
      out += c;
    else if (out.back() != ' ')
      out += ' ';
  }
  return out;
}

}  // namespace stackgate::guardrail::colang
