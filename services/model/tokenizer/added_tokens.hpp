// Finds added tokens in a text: at each position the longest one, the leftmost first.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/model/tokenizer/description.hpp"

namespace stackgate::tokenizer {

/// Const after construction, safe to share between threads. A search takes at most the longest token's length of steps
/// at each byte of the text, and one where no token begins with that byte.
class AddedTokenFinder {
 public:
  struct Entry {
    std::string text;  // as it stands in the text that is searched
    AddedToken token;
  };
  struct Hit {
    const AddedToken* token = nullptr;
    std::size_t begin = 0, end = 0;  // with the white space that it swallows
  };

  AddedTokenFinder() = default;
  explicit AddedTokenFinder(std::vector<Entry> entries);

  bool empty() const { return entries_.empty(); }
  /// The first hit that begins at or behind `from`; `from` is where the last hit ended, or 0.
  std::optional<Hit> next(std::string_view text, std::size_t from) const;

 private:
  const Entry* longest_at(std::string_view text, std::size_t at) const;

  std::vector<Entry> entries_;  // sorted by text
  std::array<bool, 256> first_{};
};

}  // namespace stackgate::tokenizer
