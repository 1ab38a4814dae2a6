#include "services/model/tokenizer/added_tokens.hpp"

#include <algorithm>
#include <utility>

#include "services/model/tokenizer/unicode.hpp"

namespace stackgate::tokenizer {
namespace {

bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
  return (begin == 0 || !is_word(character_before(text, begin).code)) &&
         (end == text.size() || !is_word(character_at(text, end).code));
}

}  // namespace

AddedTokenFinder::AddedTokenFinder(std::vector<Entry> entries) : entries_(std::move(entries)) {
  std::erase_if(entries_, [](const Entry& entry) { return entry.text.empty(); });
  std::ranges::stable_sort(entries_, {}, &Entry::text);
  for (const Entry& entry : entries_) first_[static_cast<unsigned char>(entry.text[0])] = true;
}

/// Narrows the sorted texts byte by byte to those that the text at this place begins with.
const AddedTokenFinder::Entry* AddedTokenFinder::longest_at(std::string_view text, std::size_t at) const {
  auto low = entries_.begin(), high = entries_.end();
  const Entry* best = nullptr;
  for (std::size_t depth = 0; low != high; ++depth) {
    if (low->text.size() == depth) {
      best = &*low;
      while (low != high && low->text.size() == depth) ++low;
    }
    if (at + depth >= text.size()) break;
    const auto wanted = static_cast<unsigned char>(text[at + depth]);
    const auto byte = [depth](const Entry& entry) { return static_cast<unsigned char>(entry.text[depth]); };
    low = std::partition_point(low, high, [&](const Entry& entry) { return byte(entry) < wanted; });
    high = std::partition_point(low, high, [&](const Entry& entry) { return byte(entry) == wanted; });
  }
  return best;
}

std::optional<AddedTokenFinder::Hit> AddedTokenFinder::next(std::string_view text, std::size_t from) const {
  if (entries_.empty()) return std::nullopt;
  for (std::size_t at = from; at < text.size();) {
    if (!first_[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    const Entry* found = longest_at(text, at);
    if (found == nullptr) {
      ++at;
      continue;
    }
    std::size_t begin = at, end = at + found->text.size();
    at = end;
    if (found->token.single_word && !stands_alone(text, begin, end)) continue;
    if (found->token.lstrip) {
      while (begin > from && is_white_space(character_before(text, begin).code))
        begin -= character_before(text, begin).length;
    }
    if (found->token.rstrip) {
      while (end < text.size() && is_white_space(character_at(text, end).code)) end += character_at(text, end).length;
    }
    return Hit{&found->token, begin, end};
  }
  return std::nullopt;
}

}  // namespace stackgate::tokenizer
