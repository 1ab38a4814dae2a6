// Rows of data files, from their first bytes: JSON Lines and CSV (RFC 4180, and what people make of it). Pure; bounded
// in rows, columns and bytes of a cell, whatever the text is.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::datastore::pages {

struct Cell {
  enum class Kind : std::uint8_t { text, number, none };  // none: null, or nothing there
  Kind kind = Kind::none;
  std::string text{};
  bool cut = false;  // there is more of it
};

struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;  // each at most as long as `columns`
  bool more_rows = false, more_columns = false;
  std::vector<std::string> problems;  // "line 3: …"; such rows are left out
};

struct TableLimits {
  std::size_t rows = 50, columns = 40, cell_bytes = 600, problems = 5;
};

/// `whole`: the text is all of the file; otherwise its last line may be a part and is left out.
Table read_json_lines(std::string_view text, bool whole, const TableLimits& limits = {});
/// The separator (comma, semicolon, tab, bar) is the one that the first line has most of. The first row names columns.
Table read_csv(std::string_view text, bool whole, const TableLimits& limits = {});

/// A cell as both readers make it: cut between two characters, if they are UTF-8.
inline Cell text_cell(std::string_view text, const TableLimits& limits) {
  Cell out{.kind = Cell::Kind::text};
  std::size_t keep = std::min(text.size(), limits.cell_bytes);
  out.cut = keep < text.size();
  for (int i = 0; i < 3 && out.cut && keep > 0 && (static_cast<unsigned char>(text[keep]) & 0xc0U) == 0x80; ++i) --keep;
  out.text = text.substr(0, keep);
  return out;
}

}  // namespace stackgate::datastore::pages
