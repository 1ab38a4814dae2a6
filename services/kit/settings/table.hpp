// Settings as rows of a table, a call for each:
//   append(table, "Serving", {listen("listen", "where to serve", "127.0.0.1:8000"),
//                             integer("threads", "for connections", "0", 0, 64)});
// Pure.
#pragma once
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "services/kit/settings/settings.hpp"

namespace stackgate::settings::table {

struct Row {
  Kind kind;
  /// `fallback`: the default, as it would be written. The bounds: see Setting.
  Setting operator()(std::string_view name, std::string_view help, std::string_view fallback = {},
                     std::int64_t at_least = 0, std::int64_t at_most = INT64_MAX) const {
    return {.name = name, .kind = kind, .help = help, .fallback = fallback, .at_least = at_least, .at_most = at_most};
  }
};
inline constexpr Row text{Kind::text}, secret{Kind::secret}, flag{Kind::flag}, integer{Kind::integer},
    duration{Kind::duration}, size{Kind::size}, url{Kind::url}, listen{Kind::listen}, directory{Kind::directory};

inline Setting choice(std::string_view name, std::vector<std::string_view> words, std::string_view help,
                      std::string_view fallback = {}) {
  return {.name = name, .kind = Kind::choice, .help = help, .fallback = fallback, .choices = std::move(words)};
}

/// Its variable is not called after it; or it has none (no_variable).
inline Setting by_variable(std::string_view variable, Setting setting) {
  setting.variable = variable;
  return setting;
}

inline Setting required(Setting setting) {
  setting.required = true;
  return setting;
}

}  // namespace stackgate::settings::table

namespace stackgate::settings {

/// `group` is for those that have none.
inline void append(std::vector<Setting>& table, std::string_view group, std::vector<Setting> more) {
  for (Setting& setting : more) {
    if (setting.group.empty()) setting.group = group;
    table.push_back(std::move(setting));
  }
}

}  // namespace stackgate::settings
