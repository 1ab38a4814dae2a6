// Texts cut into pieces that a search can find, and into sentences. Pure. Sizes are characters (code points).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace stackgate::evaluator {

struct ChunkSizes {
  std::uint32_t size = 0;     // at most; 0: the text is one piece
  std::uint32_t overlap = 0;  // of a piece with the one before it, at most; less than size
};

/// Views into `text`, which is UTF-8, without white space around them; none of a blank text. A piece ends behind a
/// sentence where one ends in its second half, else at white space there, else where its size ends. The next one begins
/// at white space where the overlap has some. Together they hold all that is not blank.
std::vector<std::string_view> chunks_of(std::string_view text, ChunkSizes sizes);

/// At most `most`; the last one holds the rest. A sentence ends at '.', '!', '?', '…' or their CJK kin with white space
/// behind it (CJK: without), and at an empty line. Abbreviations are not known.
std::vector<std::string_view> sentences_of(std::string_view text, std::size_t most);

}  // namespace stackgate::evaluator
