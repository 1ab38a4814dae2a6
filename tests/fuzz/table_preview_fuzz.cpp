// Rows of JSON Lines and CSV, names of any bytes, addresses: bounded, and nothing that could become markup.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "services/datastore/pages/links.hpp"
#include "services/datastore/pages/table_preview.hpp"
#include "services/kit/html/html.hpp"

namespace pages = stackgate::datastore::pages;

namespace {

constexpr pages::TableLimits limits{.rows = 7, .columns = 5, .cell_bytes = 40, .problems = 3};

void check_table(const pages::Table& table) {
  if (table.rows.size() > limits.rows || table.columns.size() > limits.columns) std::abort();
  if (table.problems.size() > limits.problems + 1) std::abort();
  for (const auto& row : table.rows) {
    if (row.size() > table.columns.size()) std::abort();
    for (const pages::Cell& cell : row)
      if (cell.text.size() > limits.cell_bytes) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool whole : {true, false}) {
    check_table(pages::read_json_lines(text, whole, limits));
    check_table(pages::read_csv(text, whole, limits));
  }
  if (pages::visible(text).find_first_of(std::string_view("<>\"'\0\r\x1b", 7)) != std::string::npos) std::abort();
  const std::string back = pages::safe_return_path(text);
  if (!back.starts_with('/') || back.starts_with("//") || back.starts_with("/\\")) std::abort();
  pages::Target target;
  if (pages::resolve_target("a/b.md", text, target) && ("/" + target.path + "/").contains("/../")) std::abort();
  return 0;
}
