// The files of a data set as a suite reads them: values and a function, so that suites do no I/O of their own.
#pragma once
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/findings/finding.hpp"

namespace stackgate::evaluator {

struct DataSource {
  std::vector<std::string> paths{};  // of every file, sorted
  /// The text of one; where only a beginning is wanted, whole lines of it. The error is a sentence. Not thread-safe.
  std::function<std::expected<std::string, std::string>(std::string_view path)> text{};
  bool beginnings = false;  // texts may be: what a file has too few of may be behind what is read
};

/// Of rows that stand in the request: a file "rows.jsonl".
inline constexpr std::string_view inline_file = "rows.jsonl";
DataSource inline_source(std::string rows);

/// One row of a file.
struct DataRow {
  std::string text{};  // a JSON object in one line
  std::uint32_t line = 0;
};

inline constexpr std::size_t most_rows = 1'000'000;
inline constexpr std::size_t largest_row = 4U << 20U;  // bytes

/// The rows of a file of JSON lines (empty lines are none), or of one JSON array of objects; at most `limit`, or all.
/// What is no row is a finding at "<path>:<line>"; the first 20 of them. A file without rows is one, too.
std::vector<DataRow> rows_of(std::string_view path, std::string_view text, std::size_t limit,
                             validate::Findings& findings);

/// A finding about a place in a data set's file.
validate::Finding data_finding(std::string_view path, std::uint32_t line, std::string problem, std::string fix);

}  // namespace stackgate::evaluator
