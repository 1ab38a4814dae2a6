// Finding filters, tests and functions, and the nearest name to one that is not there.
#include <algorithm>
#include <array>

#include "services/kit/base/concat.hpp"
#include "services/kit/jinja/builtins.hpp"
#include "services/kit/jinja/template.hpp"

namespace stackgate::jinja {
namespace {

using Table = std::span<const NamedBuiltin>;

std::array<Table, 5> filter_tables() {
  return {text_filters(), number_filters(), sequence_filters(), mapping_filters(), choosing_filters()};
}

Builtin find_named(Table table, std::string_view name) {
  const auto at = std::ranges::find(table, name, &NamedBuiltin::name);
  return at == table.end() ? nullptr : at->call;
}

// How many letters to add, drop, change or swap; at most `most` + 1.
std::size_t distance(std::string_view a, std::string_view b, std::size_t most) {
  if (a.size() > b.size() + most || b.size() > a.size() + most) return most + 1;
  std::vector<std::size_t> row(b.size() + 1);
  std::vector<std::size_t> above;
  std::vector<std::size_t> above_that;
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    above_that = std::move(above);
    above = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], above_that[j - 2] + 1);
    }
  }
  return row[b.size()];
}

void add_names(std::vector<std::string_view>& out, Table table) {
  for (const NamedBuiltin& each : table) out.push_back(each.name);
}

bool needs_clock(std::string_view name) { return name == "strftime_now"; }

}  // namespace

std::string suggest(std::string_view name, const std::vector<std::string_view>& known) {
  std::string_view best;
  std::size_t best_distance = 3;
  if (name.size() > 40) return {};
  for (const std::string_view each : known) {
    const std::size_t found = distance(name, each, 2);
    if (found < best_distance && found < each.size()) best = each, best_distance = found;
  }
  return best.empty() ? std::string() : concat({"; did you mean \"", best, "\"?"});
}

Callee find_filter(std::string_view name, const Environment& environment) {
  if (environment.late_filters.contains(name)) return {.late = true};
  if (const auto at = environment.filters.find(name); at != environment.filters.end())
    return {.registered = &at->second};
  for (const Table table : filter_tables())
    if (const Builtin found = find_named(table, name)) return {.builtin = found};
  return {.late = environment.unknown_filters_are_late};
}

Callee find_test(std::string_view name) { return {.builtin = find_named(all_tests(), name)}; }

Callee find_function(std::string_view name, const Environment& environment) {
  if (const auto at = environment.functions.find(name); at != environment.functions.end())
    return {.registered = &at->second};
  if (needs_clock(name) && !environment.clock) return {};
  return {.builtin = find_named(functions(), name)};
}

std::string suggest_filter(std::string_view name, const Environment& environment) {
  std::vector<std::string_view> known;
  known.assign(environment.late_filters.begin(), environment.late_filters.end());
  for (const auto& [each, function] : environment.filters) known.emplace_back(each);
  for (const Table table : filter_tables()) add_names(known, table);
  return suggest(name, known);
}

std::string suggest_test(std::string_view name) {
  std::vector<std::string_view> known;
  add_names(known, all_tests());
  return suggest(name, known);
}

std::string suggest_function(std::string_view name, const Environment& environment) {
  if (needs_clock(name)) return ": no clock was given";
  std::vector<std::string_view> known;
  known.reserve(environment.functions.size());
  for (const auto& [each, function] : environment.functions) known.emplace_back(each);
  add_names(known, functions());
  return suggest(name, known);
}

}  // namespace stackgate::jinja
