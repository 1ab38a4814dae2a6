#include <map>

#include <fmt/format.h>

#include "services/datastore/pages/table_preview.hpp"
#include "services/kit/json/document.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::datastore::pages {
namespace json_lines_detail {

/// The text of a value as it stands in its line; a string without quotes and escapes.
Cell cell_of(const json::Value& value, std::string_view source, std::size_t end, const TableLimits& limits) {
  if (value.is_null()) return {};
  if (value.is_string()) return text_cell(value.string(), limits);
  std::string_view text = source.substr(value.offset(), end - value.offset());
  // What follows up to the next member: white space and one comma or bracket.
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  if (text.ends_with(',') || (!value.is_object() && !value.is_array() && (text.ends_with('}') || text.ends_with(']'))))
    text.remove_suffix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  Cell out = text_cell(text, limits);
  if (value.is_number()) out.kind = Cell::Kind::number;
  return out;
}

class Builder {
 public:
  Builder(Table& table, const TableLimits& limits) : table_(table), limits_(limits) {}

  void add(const json::Value& root, std::string_view line) {
    std::vector<Cell> row;
    if (root.is_object()) {
      const auto members = root.members();
      for (std::size_t i = 0; i < members.size(); ++i) {
        const std::size_t end = i + 1 < members.size() ? members[i + 1].key_offset : line.rfind('}');
        put(row, members[i].key, cell_of(members[i].value, line, end, limits_));
      }
    } else if (root.is_array()) {
      const auto items = root.items();
      for (std::size_t i = 0; i < items.size(); ++i) {
        const std::size_t end = i + 1 < items.size() ? items[i + 1].offset() : line.rfind(']');
        put(row, std::to_string(i + 1), cell_of(items[i], line, end, limits_));
      }
    } else {
      put(row, "value", cell_of(root, line, line.size(), limits_));
    }
    table_.rows.push_back(std::move(row));
  }

 private:
  void put(std::vector<Cell>& row, std::string_view column, Cell cell) {
    auto known = places_.find(column);
    if (known == places_.end()) {
      if (table_.columns.size() == limits_.columns) {
        table_.more_columns = true;
        return;
      }
      table_.columns.push_back(text_cell(column, {.cell_bytes = 80}).text);
      known = places_.emplace(std::string(column), table_.columns.size() - 1).first;
    }
    if (row.size() <= known->second) row.resize(known->second + 1);
    row[known->second] = std::move(cell);
  }

  Table& table_;
  const TableLimits& limits_;
  std::map<std::string, std::size_t, std::less<>> places_;
};

}  // namespace json_lines_detail

Table read_json_lines(std::string_view text, bool whole, const TableLimits& limits) {
  Table out;
  json_lines_detail::Builder builder(out, limits);
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos && !whole) {
      out.more_rows = true;
      break;
    }
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (out.rows.size() == limits.rows || out.problems.size() == limits.problems) {
      out.more_rows = true;
      break;
    }
    json::Document document;
    const auto root = json::parse(line, document, {.max_depth = 64});
    if (root)
      builder.add(*root, line);
    else
      out.problems.push_back(fmt::format("line {}: {}", number, root.error().message));
  }
  if (!whole) out.more_rows = true;
  return out;
}

}  // namespace stackgate::datastore::pages
