#include "services/evaluator/suite/data_source.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"

namespace stackgate::evaluator {
namespace {

constexpr std::size_t most_findings = 20;
constexpr json::ParseLimits limits{.max_depth = 64, .max_bytes = largest_row};

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

/// "": it is a row.
std::string fault_of(std::string_view text, json::Document& document) {
  if (text.size() > largest_row) return fmt::format("is longer than {} MiB", largest_row >> 20U);
  const auto root = json::parse(text, document, limits);
  if (!root) return fmt::format("is no JSON: {} at byte {}", root.error().message, root.error().offset + 1);
  if (!root->is_object()) return fmt::format("is no object but {}", json::to_string(root->type()));
  return {};
}

class RowReader {
 public:
  RowReader(std::string_view path, std::size_t limit, validate::Findings& findings)
      : path_(path), limit_(std::min(limit, most_rows)), findings_(findings) {}

  std::vector<DataRow> read(std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && text[first] == '[')
      read_array(text);
    else
      read_lines(text);
    if (rows_.empty() && faults_ == 0) wrong(0, "has no rows", "write one JSON object in each line");
    return std::move(rows_);
  }

 private:
  void wrong(std::uint32_t line, std::string problem, std::string fix) {
    if (faults_++ < most_findings) findings_.push_back(data_finding(path_, line, std::move(problem), std::move(fix)));
  }
  void add(std::string_view text, std::uint32_t line) {
    if (std::string fault = fault_of(text, document_); !fault.empty())
      wrong(line, std::move(fault), R"(write one JSON object in each line, such as {"question": "…"})");
    else
      rows_.push_back({std::string(text), line});
  }
  void read_lines(std::string_view text) {
    for (std::uint32_t line = 1; !text.empty() && rows_.size() < limit_; ++line) {
      const std::size_t end = text.find('\n');
      const std::string_view one = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (!is_blank(one)) add(one, line);
    }
  }
  void read_array(std::string_view text) {
    json::Document whole;
    const auto root = json::parse(text, whole, {.max_depth = 64});
    if (!root) {
      const auto at = std::min<std::size_t>(root.error().offset, text.size());
      wrong(static_cast<std::uint32_t>(std::ranges::count(text.substr(0, at), '\n') + 1),
            fmt::format("is no JSON: {}", root.error().message), "write a JSON array of objects, or one object a line");
      return;
    }
    std::uint32_t line = 1;
    std::size_t counted = 0;
    for (const json::Value& each : root->items()) {
      if (rows_.size() >= limit_) return;
      line += static_cast<std::uint32_t>(std::ranges::count(text.substr(counted, each.offset() - counted), '\n'));
      counted = each.offset();
      const auto end = json::parse_one(text, each.offset(), document_, {.max_depth = 64});
      if (end) add_element(text.substr(each.offset(), *end - each.offset()), line);
    }
  }
  /// Line ends between members are white space there, and a row is one line.
  void add_element(std::string_view text, std::uint32_t line) {
    std::string one(text);
    std::ranges::replace_if(one, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    add(one, line);
  }

  std::string_view path_;
  const std::size_t limit_;
  validate::Findings& findings_;
  json::Document document_;
  std::vector<DataRow> rows_;
  std::size_t faults_ = 0;
};

}  // namespace

validate::Finding data_finding(std::string_view path, std::uint32_t line, std::string problem, std::string fix) {
  return {.rule = "evaluation-data",
          .path = line == 0 ? std::string(path) : fmt::format("{}:{}", path, line),
          .problem = std::move(problem),
          .fix = std::move(fix)};
}

DataSource inline_source(std::string rows) {
  return {.paths = {std::string(inline_file)},
          .text = [rows = std::move(rows)](std::string_view path) -> std::expected<std::string, std::string> {
            if (path == inline_file) return rows;
            return std::unexpected("there are rows alone, and no files");
          }};
}

std::vector<DataRow> rows_of(std::string_view path, std::string_view text, std::size_t limit,
                             validate::Findings& findings) {
  return RowReader(path, limit, findings).read(text);
}

}  // namespace stackgate::evaluator
