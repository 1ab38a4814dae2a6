#include "services/datastore/config_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "services/kit/files/file.hpp"

namespace stackgate::datastore {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t largest_config = 1024 * 1024;  // as a Secret

bool is_variable_name(std::string_view name) {
  const auto fits = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && !(name.front() >= '0' && name.front() <= '9') && std::ranges::all_of(name, fits);
}

std::string_view config_trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

/// Nothing for a value that a shell would expand or split.
std::optional<std::string> literal(std::string_view text) {
  const auto quoted = [&](char quote) { return text.size() >= 2 && text.front() == quote && text.back() == quote; };
  if (quoted('\'')) {
    text = text.substr(1, text.size() - 2);
    return text.contains('\'') ? std::nullopt : std::optional(std::string(text));
  }
  const bool in_double = quoted('"');
  if (in_double) text = text.substr(1, text.size() - 2);
  if (text.find_first_of(in_double ? "\"$`\\" : "'\"$`\\ \t;&|<>()") != std::string_view::npos) return std::nullopt;
  return std::string(text);
}

struct Adopter {
  std::vector<std::string> warnings{};

  static void set(const std::string& name, const std::string& value) {
    ::setenv(name.c_str(), value.c_str(), 0);  // NOLINT(concurrency-mt-unsafe): before any thread
  }

  void file(const fs::path& path, bool may_be_value) {
    const auto text = files::read_file(path.string(), largest_config);
    if (!text) {
      warnings.push_back(fmt::format("{}: cannot be read, or is larger than 1 MiB", path.string()));
      return;
    }
    const std::string name = path.filename().string();
    if (may_be_value && is_variable_name(name)) {
      if (!text->contains('\0')) set(name, std::string(config_trim(*text)));
      return;
    }
    const Assignments found = parse_assignments(*text);
    for (const auto& [key, value] : found.values) set(key, value);
    if (!found.skipped.empty())
      warnings.push_back(
          fmt::format("{}: {} lines are no plain assignments and were passed over (the first is line {}); nothing in "
                      "this file is run",
                      path.string(), found.skipped.size(), found.skipped.front()));
  }

  void folder(const fs::path& path) {
    std::error_code error;
    std::vector<fs::path> files;
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
      std::error_code odd;
      // Kubernetes mounts a Secret as links through a folder "..data".
      if (!at->path().filename().string().starts_with('.') && at->is_regular_file(odd)) files.push_back(at->path());
    }
    if (error) warnings.push_back(fmt::format("{}: {}", path.string(), error.message()));
    std::ranges::sort(files);
    for (const fs::path& each : files) file(each, true);
  }
};

}  // namespace

Assignments parse_assignments(std::string_view text) {
  Assignments out;
  unsigned number = 0;
  while (!text.empty()) {
    ++number;
    const auto end = text.find('\n');
    std::string_view line = config_trim(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with("export ")) line = config_trim(line.substr(7));
    const auto equals = line.find('=');
    const std::string_view name = line.substr(0, equals);
    auto value = equals == std::string_view::npos ? std::nullopt : literal(line.substr(equals + 1));
    if (!is_variable_name(name) || !value || value->contains('\0'))
      out.skipped.push_back(number);
    else
      out.values.emplace_back(name, std::move(*value));
  }
  return out;
}

namespace {

/// As the command line reads it later: "--name VALUE" or "--name=VALUE", the last one; then the variable.
std::string flag_or_variable(std::span<const char* const> arguments, std::string_view flag, const char* variable) {
  std::string found;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (word == "--") break;
    if (word == flag && i + 1 < arguments.size())
      found = arguments[++i];
    else if (word.starts_with(flag) && word.substr(flag.size()).starts_with('='))
      found = word.substr(flag.size() + 1);
  }
  if (!found.empty()) return found;
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): before any thread
  return value == nullptr ? "" : value;
}

}  // namespace

std::vector<std::string> adopt_config_files(std::span<const char* const> arguments) {
  Adopter adopter;
  if (const auto script = flag_or_variable(arguments, "--config-script", "STACKGATE_CONFIG_SCRIPT"); !script.empty())
    adopter.file(script, false);
  if (const auto folder = flag_or_variable(arguments, "--inline-config-dir", "STACKGATE_INLINE_CONFIG_DIR");
      !folder.empty())
    adopter.folder(folder);
  return adopter.warnings;
}

}  // namespace stackgate::datastore
