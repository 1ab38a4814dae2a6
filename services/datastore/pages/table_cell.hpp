// Cells as both readers make them. Pure.
#pragma once
#include <algorithm>

#include "services/datastore/pages/table_preview.hpp"

namespace stackgate::datastore::pages {

/// Cut between two characters, if they are UTF-8.
inline Cell text_cell(std::string_view text, const TableLimits& limits) {
  Cell out{.kind = Cell::Kind::text};
  std::size_t keep = std::min(text.size(), limits.cell_bytes);
  out.cut = keep < text.size();
  for (int i = 0; i < 3 && out.cut && keep > 0 && (static_cast<unsigned char>(text[keep]) & 0xc0U) == 0x80; ++i) --keep;
  out.text = text.substr(0, keep);
  return out;
}

}  // namespace stackgate::datastore::pages
