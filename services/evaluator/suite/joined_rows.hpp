// Rows of one file completed with those of another that have the same id: BFCL's possible answers, MT-Bench's
// references. Pure.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "services/evaluator/suite/task_rows.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::evaluator {

struct Join {
  std::string_view id{};      // the member that both have: a text or a whole number
  std::string_view member{};  // what rows get; those that have one keep theirs
  /// Its value out of a row of the other file; null: there is none. The value may live as long as the row.
  std::function<json::Value(const json::Value& row)> value{};
};

/// Gives the rows of `file` (of rows.files) what those of `other` have. A row without a partner is a finding only where
/// a later one has one: of files of which just a beginning was read, the rest is not known.
void join_rows(TaskRows& rows, std::uint32_t file, std::string_view path, std::span<const DataRow> other,
               const Join& join, RowFindings& findings);

}  // namespace stackgate::evaluator
