#include "services/guardrail/stream/window.hpp"

#include <algorithm>

#include "services/kit/base/utf8.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::size_t longest_token = 16;  // bytes; a character may reach beyond
constexpr std::string_view replacement = "\xEF\xBF\xBD";

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// How many bytes a character has that begins with `lead`; 0: none begins so.
std::size_t expected_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte < 0x80) return 1;
  if (byte < 0xC2 || byte > 0xF4) return 0;
  if (byte < 0xE0) return 2;
  return byte < 0xF0 ? 3 : 4;
}

/// Whether `text`, which is no character, may be the beginning of one.
bool may_go_on(std::string_view text) {
  if (text.empty() || text.size() >= expected_length(text[0])) return false;
  std::string whole(text);
  // The second byte has bounds of its own; one of these fits them if any does.
  for (const char filler : {'\x80', '\xBF', '\x90', '\x8F', '\x9F', '\xA0'}) {
    whole.assign(text);
    while (whole.size() < expected_length(text[0])) whole += whole.size() == 1 ? filler : '\x80';
    if (utf8::sequence_length(whole) != 0) return true;
  }
  return false;
}

}  // namespace

StreamWindow::StreamWindow(const WindowRules& rules)
    : rules_{.chunk_size = std::max(rules.chunk_size, 1U),
             .context_size = rules.context_size,
             .stream_first = rules.stream_first} {}

void StreamWindow::append(std::string_view piece) {
  if (ended_ || blocked_) return;
  std::string joined;
  if (!partial_.empty()) {
    joined = partial_.append(piece);
    piece = joined;
    partial_.clear();
  }
  while (!piece.empty()) {
    std::size_t whole = 0;
    while (const std::size_t length = utf8::sequence_length(piece.substr(whole))) whole += length;
    put(piece.substr(0, whole));
    piece.remove_prefix(whole);
    if (piece.empty()) return;
    if (may_go_on(piece)) {
      partial_ = piece;
      return;
    }
    put(replacement);
    piece.remove_prefix(1);
  }
}

void StreamWindow::put(std::string_view characters) {
  const std::size_t from = pending_.size();
  pending_ += characters;
  count_tokens(from);
  if (rules_.stream_first) leaving_ += characters;
}

void StreamWindow::count_tokens(std::size_t from) {
  for (std::size_t i = from; i < pending_.size(); ++i) {
    const char c = pending_[i];
    const Class is = is_space(c) ? Class::space : is_word(c) ? Class::word : Class::mark;
    const bool inside = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;  // of a character
    const bool goes_on = is == Class::space || (is == Class::word && last_class_ == Class::word);
    if (!inside && (i == 0 || !goes_on || run_ >= longest_token)) {
      starts_.push_back(i);
      run_ = 0;
    }
    ++run_;
    last_class_ = is;
  }
}

void StreamWindow::end() {
  if (ended_ || blocked_) return;
  if (!partial_.empty()) put(replacement);
  partial_.clear();
  ended_ = true;
  // What is left was checked, and nothing follows.
  if (!checking_ && checked_ == pending_.size()) release(pending_.size());
}

// A window ends behind white space where it can: half a word may look harmless, or like something else.
std::size_t StreamWindow::window_end() const {
  if (ended_) return pending_.size();
  constexpr std::size_t farthest = 64;
  std::size_t at = pending_.size();
  const std::size_t least = pending_.size() > farthest ? pending_.size() - farthest : 0;
  while (at > least && !is_space(pending_[at - 1])) --at;
  return at > least && at > checked_ ? at : pending_.size();
}

std::optional<std::string> StreamWindow::next() {
  if (checking_ || blocked_ || pending_.size() == checked_) return std::nullopt;
  // The last token may go on, unless white space ends it.
  const std::size_t whole = starts_.size() - (is_space(pending_.back()) ? 0 : 1);
  const std::size_t wanted = std::size_t{rules_.chunk_size} + rules_.context_size;
  if (!ended_ && (whole < wanted || whole < checked_tokens_ + rules_.chunk_size)) return std::nullopt;
  window_ = window_end();
  checking_ = true;
  return pending_.substr(0, window_);
}

// Where the last context_size tokens before `end` begin, at least the last one: it may go on.
std::size_t StreamWindow::held_back_from(std::size_t end) const {
  if (ended_ && end == pending_.size()) return end;
  const auto behind = std::ranges::lower_bound(starts_, end);
  const auto before = static_cast<std::size_t>(behind - starts_.begin());
  const std::size_t hold = std::max<std::size_t>(rules_.context_size, 1);
  return before <= hold ? 0 : starts_[before - hold];
}

void StreamWindow::release(std::size_t bytes) {
  if (!rules_.stream_first) leaving_.append(pending_, 0, bytes);
  pending_.erase(0, bytes);
  checked_ -= std::min(checked_, bytes);
  while (!starts_.empty() && starts_.front() < bytes) starts_.pop_front();
  for (std::size_t& each : starts_) each -= bytes;
}

void StreamWindow::passed() {
  if (!checking_) return;
  checking_ = false;
  const std::size_t keep_from = held_back_from(window_);
  release(keep_from);
  checked_ = window_ - keep_from;
  checked_tokens_ = static_cast<std::size_t>(std::ranges::lower_bound(starts_, checked_) - starts_.begin());
  if (ended_ && checked_ == pending_.size()) release(pending_.size());
}

void StreamWindow::altered(std::string_view text) {
  if (!checking_) return;
  if (!rules_.stream_first) {
    pending_.replace(0, window_, text);
    window_ = text.size();
    starts_.clear();
    last_class_ = Class::mark;
    run_ = 0;
    count_tokens(0);
  }
  passed();
}

void StreamWindow::blocked() {
  blocked_ = true;
  checking_ = false;
  pending_.clear();
  partial_.clear();
  starts_.clear();
  leaving_.clear();
}

std::string StreamWindow::take() {
  std::string out;
  out.swap(leaving_);
  return out;
}

bool StreamWindow::done() const { return blocked_ || (ended_ && !checking_ && pending_.empty() && leaving_.empty()); }

}  // namespace stackgate::guardrail
