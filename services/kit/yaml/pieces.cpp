#include "services/kit/yaml/pieces.hpp"

#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "services/kit/json/utf8.hpp"

namespace stackgate::yaml {

namespace {

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

/// NEL, LS and PS break lines in YAML 1.1; C1 controls, the byte order mark and non-characters are not printable.
bool is_simple_sequence(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  if (bytes.size() == 2) return byte(0) != 0xC2 || byte(1) >= 0xA0;
  if (bytes.size() == 3) {
    if (byte(0) == 0xE2 && byte(1) == 0x80) return byte(2) != 0xA8 && byte(2) != 0xA9;
    if (byte(0) == 0xEF && byte(1) == 0xBB) return byte(2) != 0xBF;
    if (byte(0) == 0xEF && byte(1) == 0xBF) return byte(2) < 0xBE;
  }
  return true;
}

}  // namespace

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

bool is_simple_text(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
#if defined(__SSE2__)
    while (text.size() - at >= 16) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
      // Signed: bytes from 0x80 on are below a space, too.
      const __m128i low = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
      const __m128i newline = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'));
      const __m128i del = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7F));
      if (_mm_movemask_epi8(_mm_or_si128(_mm_andnot_si128(newline, low), del)) != 0) break;
      at += 16;
    }
    if (at == text.size()) return true;
#endif
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
      if ((byte < 0x20 && byte != '\n') || byte == 0x7F) return false;
      ++at;
      continue;
    }
    const std::size_t length = json::utf8::sequence_length(text.substr(at));
    if (length == 0 || !is_simple_sequence(text.substr(at, length))) return false;
    at += length;
  }
  return true;
}

}  // namespace stackgate::yaml
