// Cuts a stream at its `---` lines without reading it: one at column 0 is a document marker wherever it stands.
#pragma once
#include <cstddef>
#include <string_view>

namespace stackgate::yaml {

struct Piece {
  std::size_t content = 0;     // behind the `---` line, when the piece begins with one
  std::size_t end = 0;         // before the next `---` line, or the end of the text
  bool marker_is_bare = true;  // nothing but a comment stands behind the `---`
  bool only_whole = false;     // a directive or `...` may bind what follows: the rest cannot be cut
};

/// The document that begins at `at`, the beginning of a line.
Piece next_piece(std::string_view text, std::size_t at);

/// Only line feeds, printable ASCII, and UTF-8 that libyaml takes for printable and not for a line break.
bool is_simple_text(std::string_view text);

}  // namespace stackgate::yaml
