#include "services/evaluator/suite/retrieval/chunks.hpp"

#include <algorithm>

#include "services/kit/base/utf8.hpp"

namespace stackgate::evaluator {
namespace {

constexpr std::string_view blanks = " \t\r\n\f\v";

bool is_blank(char c) { return blanks.contains(c); }

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Bytes of the character at `at`; one for what is no UTF-8.
std::size_t length_at(std::string_view text, std::size_t at) {
  return std::max<std::size_t>(utf8::sequence_length(text.substr(at)), 1);
}

/// The bytes of the first `count` characters.
std::size_t bytes_of(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; count > 0 && at < text.size(); --count) at += length_at(text, at);
  return at;
}

/// Where a sentence ends that has its last character at `at`, with what closes it ('"', ')'); 0: none ends there.
std::size_t sentence_end(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  for (const std::string_view wide : {"。", "！", "？"})
    if (rest.starts_with(wide)) return at + wide.size();
  std::size_t end = at;
  if (rest.starts_with("…"))
    end += std::string_view("…").size();
  else if (rest.starts_with('.') || rest.starts_with('!') || rest.starts_with('?'))
    ++end;
  else if (rest.starts_with("\n\n") || rest.starts_with("\n\r\n"))
    return at + 1;
  else
    return 0;
  while (end < text.size() && std::string_view("\"')]").contains(text[end])) ++end;
  return end == text.size() || is_blank(text[end]) ? end : 0;
}

/// Where to cut `text`, of which a piece may have the first `limit` bytes and must have more than `least`.
std::size_t cut_at(std::string_view text, std::size_t limit, std::size_t least) {
  std::size_t sentence = 0, blank = 0;
  for (std::size_t at = 0; at < limit; at += length_at(text, at)) {
    if (const std::size_t end = sentence_end(text, at); end > least && end <= limit) sentence = end;
    if (is_blank(text[at]) && at > least) blank = at;
  }
  if (limit < text.size() && is_blank(text[limit])) blank = limit;
  return sentence != 0 ? sentence : blank != 0 ? blank : limit;
}

}  // namespace

std::vector<std::string_view> chunks_of(std::string_view text, ChunkSizes sizes) {
  std::vector<std::string_view> out;
  text = trimmed(text);
  if (text.empty()) return out;
  if (sizes.size == 0) return {text};
  const std::size_t overlap = std::min(sizes.overlap, sizes.size - 1);
  std::size_t had = 0;  // bytes that were in the piece before this one
  for (;;) {
    const std::size_t limit = bytes_of(text, sizes.size);
    if (limit == text.size()) break;
    const std::size_t end = cut_at(text, limit, std::max(limit / 2, had));
    out.push_back(trimmed(text.substr(0, end)));
    // Back by the overlap, but always ahead of where this piece began.
    std::size_t begin = end;
    for (std::size_t back = 0; back < overlap && begin > 0; ++back) do
        --begin;
      while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U);
    begin = std::max(begin, length_at(text, 0));
    if (begin < end && !is_blank(text[begin - 1]))
      if (const std::size_t blank = text.find_first_of(blanks, begin); blank < end) begin = blank;
    begin = text.find_first_not_of(blanks, begin);
    const std::size_t fresh = text.find_first_not_of(blanks, end);
    if (begin + bytes_of(text.substr(begin), sizes.size) <= fresh) begin = fresh;  // no room for more than the overlap
    had = fresh - begin;
    text = text.substr(begin);
  }
  out.push_back(text);
  return out;
}

std::vector<std::string_view> sentences_of(std::string_view text, std::size_t most) {
  std::vector<std::string_view> out;
  text = trimmed(text);
  for (std::size_t at = 0; at < text.size() && out.size() + 1 < most;) {
    const std::size_t end = sentence_end(text, at);
    if (end == 0) {
      at += length_at(text, at);
      continue;
    }
    if (const std::string_view one = trimmed(text.substr(0, end)); !one.empty()) out.push_back(one);
    text = trimmed(text.substr(end));
    at = 0;
  }
  if (!text.empty() && most > 0) out.push_back(text);
  return out;
}

}  // namespace stackgate::evaluator
