#include <algorithm>
#include <charconv>
#include <stdexcept>

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

std::string flag_of(const Setting& setting) {
  return fmt::format("--{}{}", setting.name, setting.kind == Kind::secret ? "-file" : "");
}

const std::string& Values::text(std::string_view name) const {
  const auto found = std::ranges::find(values_, name, &std::pair<std::string, std::string>::first);
  if (found == values_.end()) throw std::logic_error(fmt::format("no setting is called {}", name));
  return found->second;
}

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
