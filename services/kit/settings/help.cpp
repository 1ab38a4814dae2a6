#include "services/kit/settings/help.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/kit/settings/names.hpp"

namespace stackgate::settings {
namespace help_detail {

constexpr std::size_t width = 100, left = 34;

/// `text` in lines behind the left column; words are never cut.
std::string in_right_column(std::string_view text) {
  std::string out;
  std::size_t column = left;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (column > left && column + 1 + word.size() > width) {
      out += fmt::format("\n{:{}}", "", left);
      column = left;
    }
    if (column > left) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    begin = end + 1;
  }
  return out + "\n";
}

std::string row(std::string_view name, std::string_view text) {
  if (name.size() + 3 > left) return fmt::format("  {}\n{:{}}{}", name, "", left, in_right_column(text));
  return fmt::format("  {:{}}{}", name, left - 2, in_right_column(text));
}

std::string_view placeholder(Kind kind) {
  switch (kind) {
    case Kind::flag:
      return "[=BOOL]";
    case Kind::integer:
      return " N";
    case Kind::duration:
      return " TIME";
    case Kind::size:
      return " SIZE";
    case Kind::url:
      return " URL";
    case Kind::listen:
      return " HOST:PORT";
    case Kind::directory:
      return " DIR";
    case Kind::secret:
      return " FILE";
    case Kind::text:
    case Kind::choice:
      break;
  }
  return " VALUE";
}

std::string setting_row(const Setting& setting) {
  std::vector<std::string> notes;
  if (setting.kind == Kind::choice) notes.push_back(fmt::format("{}", fmt::join(setting.choices, "|")));
  if (setting.required) notes.emplace_back("needed");
  if (!setting.fallback.empty() && !(setting.kind == Kind::flag && setting.fallback == "false")) {
    notes.push_back(fmt::format("default {}", setting.fallback));
  }
  if (setting.kind == Kind::secret) notes.push_back(fmt::format("or the secret itself in ${}", variable_of(setting)));
  if (setting.kind != Kind::secret && !setting.variable.empty()) notes.push_back(fmt::format("${}", setting.variable));
  std::string text(setting.help);
  if (!notes.empty()) text += fmt::format(" ({})", fmt::join(notes, "; "));
  return row(fmt::format("{}{}", flag_of(setting), placeholder(setting.kind)), text);
}

bool is_shown(const Setting& setting, const Command* command) {
  if (command == nullptr || command->uses.empty()) return true;
  return std::ranges::any_of(command->uses,
                             [&](std::string_view each) { return each == setting.name || each == setting.group; });
}

}  // namespace help_detail

std::string help_text(const Program& program, const Command* command) {
  using namespace help_detail;
  std::string out;
  if (command != nullptr) {
    out = fmt::format("{} {}: {}\n\nUsage: {} {}{} [--flag VALUE ...]\n", program.name, command->name, command->help,
                      program.name, command->name, command->takes_words ? " WORD ..." : "");
  } else {
    out = fmt::format("{}: {}\n\nUsage: {}{} [--flag VALUE ...]\n", program.name, program.summary, program.name,
                      program.commands.empty() ? "" : " [COMMAND]");
    if (!program.commands.empty()) out += "\nCommands:\n";
    for (const Command& each : program.commands) {
      const bool usual = &each == &program.commands.front();
      out += row(each.name, fmt::format("{}{}", each.help, usual ? " (what runs when none is named)" : ""));
    }
  }
  std::vector<std::string_view> groups;
  for (const Setting& setting : program.settings) {
    if (is_shown(setting, command) && std::ranges::find(groups, setting.group) == groups.end())
      groups.push_back(setting.group);
  }
  for (const std::string_view group : groups) {
    out += fmt::format("\n{}:\n", group.empty() ? "Settings" : group);
    for (const Setting& setting : program.settings) {
      if (setting.group == group && is_shown(setting, command)) out += setting_row(setting);
    }
  }
  out += "\nOther:\n" + row("--help", "this text") + row("--version", "the version");
  if (command != nullptr && !command->uses.empty())
    out += fmt::format("\n{} --help lists the settings of all commands.\n", program.name);
  out +=
      "\nEvery setting is also an environment variable: --data-dir is STACKGATE_DATA_DIR, except where\n"
      "another name is shown above. A flag wins. TIME is written like 30s, 5m or 1h30m; SIZE like\n"
      "512Mi or 10Gi; BOOL is true or false, and the flag alone means true: --name=false turns it off.\n";
  if (!program.examples.empty() && command == nullptr) {
    out += fmt::format("\nExamples:\n{}{}", program.examples, program.examples.ends_with('\n') ? "" : "\n");
  }
  return out;
}

std::string to_text(const Program& program, const validate::Findings& findings) {
  const std::size_t count = findings.size();
  std::string out = fmt::format("{}: {} {} wrong\n", program.name, count, count == 1 ? "setting is" : "settings are");
  for (const validate::Finding& finding : findings) {
    out += fmt::format("  {}: {}", finding.path, finding.problem);
    if (!finding.value.empty()) out += fmt::format(" (value: {})", finding.value);
    if (!finding.fix.empty()) out += fmt::format("; {}", finding.fix);
    out += '\n';
  }
  return out + fmt::format("{} --help lists all settings\n", program.name);
}

}  // namespace stackgate::settings
