#include "services/evaluator/suite/joined_rows.hpp"

#include <unordered_map>

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace {

constexpr json::ParseLimits row_limits{.max_depth = 64, .max_bytes = largest_row};

std::string id_of(const json::Value& row, std::string_view member) {
  return json::scalar_text(json::value_at(&row, {member}));
}

}  // namespace

void join_rows(TaskRows& rows, std::uint32_t file, std::string_view path, std::span<const DataRow> other,
               const Join& join, RowFindings& findings) {
  std::unordered_map<std::string, const DataRow*> by_id;
  json::Document own_document, other_document;
  for (const DataRow& each : other)
    if (const auto row = json::parse(each.text, other_document, row_limits)) by_id.emplace(id_of(*row, join.id), &each);
  std::vector<const TaskRow*> alone;  // since the last one that had a partner
  for (TaskRow& each : rows.rows) {
    if (each.file != file) continue;
    const auto row = json::parse(each.text, own_document, row_limits);
    if (!row || row->find(join.member) != nullptr) continue;
    const auto found = by_id.find(id_of(*row, join.id));
    const auto partner = found == by_id.end() ? std::unexpected(json::ParseError{})
                                              : json::parse(found->second->text, other_document, row_limits);
    const json::Value value = partner ? join.value(*partner) : json::Value();
    if (value.is_null()) {
      alone.push_back(&each);
      continue;
    }
    for (const TaskRow* one : alone)
      findings.add(*one, fmt::format("has no partner in {}", path),
                   fmt::format("give it a \"{}\" that a row of that file has", join.id));
    alone.clear();
    each.text = json::object_text([&](json::Writer& w) {
      w.members(*row);
      w.member(join.member, value);
    });
  }
}

}  // namespace stackgate::evaluator
