#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/datastore/pages/table_preview.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/number.hpp"

namespace stackgate::datastore::pages {
namespace csv_detail {

char separator_of(std::string_view text) {
  constexpr std::array<char, 4> candidates = {',', ';', '\t', '|'};
  std::array<std::size_t, 4> counts{};
  bool quoted = false;
  for (const char c : text.substr(0, 64 * 1024)) {
    if (c == '"') quoted = !quoted;
    if (c == '\n' && !quoted) break;
    for (std::size_t i = 0; i < candidates.size(); ++i) counts[i] += !quoted && c == candidates[i] ? 1 : 0;
  }
  return candidates[static_cast<std::size_t>(std::ranges::max_element(counts) - counts.begin())];
}

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && (text[0] == '-' || text[0] == '.' || ascii::is_digit(text[0])) && to_number<double>(text);
}

/// Takes one record after the other off a text.
class Reader {
 public:
  Reader(std::string_view text, bool whole, char separator) : text_(text), whole_(whole), separator_(separator) {}

  /// False at the end, and for a record that goes on where the text ends.
  bool next(std::vector<std::string>& fields) {
    fields.clear();
    begun_at_ = line_;
    if (at_ == text_.size()) return false;
    for (;;) {
      std::string field;
      if (!take_field(field)) return false;
      fields.push_back(std::move(field));
      if (at_ == text_.size()) return whole_;
      const char c = text_[at_++];
      if (c == separator_) continue;
      if (c == '\r' && at_ < text_.size() && text_[at_] == '\n') ++at_;
      ++line_;
      return true;
    }
  }
  std::size_t line() const { return begun_at_; }
  bool open_quote() const { return open_quote_; }

 private:
  bool ends_field(char c) const { return c == separator_ || c == '\n' || c == '\r'; }

  bool take_field(std::string& out) {
    if (at_ < text_.size() && text_[at_] == '"') {
      ++at_;
      for (;; ++at_) {
        if (at_ == text_.size()) {
          open_quote_ = true;
          return false;
        }
        if (text_[at_] == '\n') ++line_;
        if (text_[at_] != '"') {
          out += text_[at_];
          continue;
        }
        if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
          out += text_[at_++];
          continue;
        }
        ++at_;
        break;
      }
    }
    while (at_ < text_.size() && !ends_field(text_[at_])) out += text_[at_++];
    return true;
  }

  std::string_view text_;
  const bool whole_;
  const char separator_;
  std::size_t at_ = 0, line_ = 1, begun_at_ = 1;
  bool open_quote_ = false;
};

}  // namespace csv_detail

Table read_csv(std::string_view text, bool whole, const TableLimits& limits) {
  Table out;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  csv_detail::Reader reader(text, whole, csv_detail::separator_of(text));
  std::vector<std::string> fields;
  std::size_t width = 0;
  while (reader.next(fields)) {
    if (fields.size() == 1 && fields[0].empty()) continue;
    if (width == 0) {
      width = fields.size();
      out.more_columns = width > limits.columns;
      for (std::size_t i = 0; i < std::min(width, limits.columns); ++i)
        out.columns.push_back(text_cell(fields[i], {.cell_bytes = 80}).text);
      continue;
    }
    if (out.rows.size() == limits.rows) {
      out.more_rows = true;
      break;
    }
    if (fields.size() != width && out.problems.size() < limits.problems)
      out.problems.push_back(
          fmt::format("line {}: {} fields, the first row has {}", reader.line(), fields.size(), width));
    std::vector<Cell> row;
    for (std::size_t i = 0; i < std::min(fields.size(), out.columns.size()); ++i) {
      Cell cell = text_cell(fields[i], limits);
      if (fields[i].empty()) cell.kind = Cell::Kind::none;
      if (csv_detail::is_number(fields[i])) cell.kind = Cell::Kind::number;
      row.push_back(std::move(cell));
    }
    out.rows.push_back(std::move(row));
  }
  if (whole && reader.open_quote())
    out.problems.push_back(fmt::format("line {}: a quoted field has no end", reader.line()));
  out.more_rows = out.more_rows || !whole;
  return out;
}

}  // namespace stackgate::datastore::pages
