#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "services/kit/settings/names.hpp"
#include "services/kit/settings/settings.hpp"

namespace stackgate::settings {

std::string variable_of(const Setting& setting) {
  if (!setting.variable.empty()) return std::string(setting.variable);
  std::string out = "STACKGATE_";
  for (const char c : setting.name) out += c == '-' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return out;
}

std::vector<std::string> items_of(std::string_view list) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) out.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

bool is_used(const Setting& setting, const Command* command) {
  if (command == nullptr || command->uses.empty()) return true;
  return std::ranges::any_of(command->uses,
                             [&](std::string_view each) { return each == setting.name || each == setting.group; });
}

std::string flag_of(const Setting& setting) {
  return fmt::format("--{}{}", setting.name, setting.kind == Kind::secret ? "-file" : "");
}

validate::Finding fault(std::string flag, std::string problem, std::string fix, std::string value) {
  return {.rule = "setting",
          .severity = validate::Severity::error,
          .path = std::move(flag),
          .value = std::move(value),
          .problem = std::move(problem),
          .fix = std::move(fix)};
}

std::string in_variable(const Setting& setting) {
  return fmt::format("{} (for {})", variable_of(setting), flag_of(setting));
}

const Values::Value& Values::at(std::string_view name) const {
  const auto found = std::ranges::find(values_, name, &Value::name);
  if (found == values_.end()) throw std::logic_error(fmt::format("no setting is called {}", name));
  return *found;
}

const std::string& Values::text(std::string_view name) const { return at(name).text; }

Source Values::source(std::string_view name) const { return at(name).source; }

std::vector<std::string> Values::list(std::string_view name) const { return items_of(text(name)); }

bool Values::has(std::string_view name) const { return !text(name).empty(); }

bool Values::flag(std::string_view name) const { return text(name) == "true"; }

std::int64_t Values::integer(std::string_view name) const {
  const std::string& value = text(name);
  std::int64_t out = 0;
  if (value.empty()) return out;
  const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), out);
  if (fault != std::errc() || end != value.data() + value.size()) {
    throw std::logic_error(fmt::format("the setting {} is no number", name));
  }
  return out;
}

}  // namespace stackgate::settings
