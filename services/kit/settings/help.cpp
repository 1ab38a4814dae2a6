#include "services/kit/settings/help.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/kit/settings/names.hpp"

namespace stackgate::settings {
namespace help_detail {

constexpr std::size_t left = 28;  // where descriptions begin, if the width allows

std::string row(std::string_view name, std::string_view text) {
  if (name.size() + 4 > left) return fmt::format("  {}\n{:{}}{}\n", name, "", left, text);
  return fmt::format("  {:{}}{}\n", name, left - 2, text);
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));  // UTF-8
}

/// Where the description begins in a line of an option or an example, or how far the line is indented.
std::size_t description_column(std::string_view line) {
  const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("  ", first);
  if (gap == std::string_view::npos) return first;
  return columns_of(line.substr(0, line.find_first_not_of(' ', gap)));
}

void append_wrapped(std::string& out, std::string_view line, std::size_t columns) {
  const std::size_t indent = std::min(description_column(line), columns / 2);
  std::size_t at = 0;  // the column
  for (bool is_first = true; !line.empty(); is_first = false) {
    const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t end = std::min(line.find(' ', blanks), line.size());
    const std::size_t width = columns_of(line.substr(0, end));
    if (!is_first && at + width > columns && at > indent) {
      out.append("\n").append(indent, ' ').append(line.substr(blanks, end - blanks));
      at = indent + width - blanks;
    } else {
      out += line.substr(0, end);
      at += width;
    }
    line.remove_prefix(end);
  }
}

constexpr std::array<std::string_view, 11> placeholders{
    " VALUE", " FILE", "[=BOOL]", " N", " TIME", " SIZE", " URL", " HOST:PORT", " DIR", " VALUE", " VALUE"};  // by Kind
static_assert(placeholders.size() == static_cast<std::size_t>(Kind::list) + 1);

std::string names_shown(const Setting& setting) {
  std::string out = setting.letter == '\0' ? std::string() : fmt::format("-{}, ", setting.letter);
  out += flag_of(setting);
  if (!setting.opposite.empty()) return out + fmt::format(", --{}", setting.opposite);
  return out + placeholder_of(setting);
}

/// A variable is shown that is not called after its setting; where some settings have none, each that there is.
std::string setting_row(const Setting& setting, bool shows_variables) {
  std::vector<std::string> notes;
  if (setting.kind == Kind::choice && setting.placeholder.empty())
    notes.push_back(fmt::format("{}", fmt::join(setting.choices, ", ")));
  if (setting.required) notes.emplace_back("needed");
  if (!setting.fallback.empty() && !(setting.kind == Kind::flag && setting.fallback == "false"))
    notes.push_back(fmt::format("default {}", setting.fallback));
  if (setting.kind == Kind::secret) notes.push_back(fmt::format("or the secret itself in ${}", variable_of(setting)));
  if (setting.kind != Kind::secret && setting.variable != no_variable && (shows_variables || !setting.variable.empty()))
    notes.push_back(fmt::format("${}", variable_of(setting)));
  std::string text(setting.help);
  if (!notes.empty()) text += fmt::format(" ({})", fmt::join(notes, "; "));
  return row(names_shown(setting), text);
}

/// What holds of all settings, as far as it does.
std::string closing_note(const Program& program, const Command* command, bool shows_variables) {
  if (program.settings.empty()) return {};
  const auto uses = [&](Kind kind) {
    return std::ranges::find(program.settings, kind, &Setting::kind) != program.settings.end();
  };
  std::string out = "\n";
  const auto usual = std::ranges::find_if(
      program.settings, [&](const Setting& each) { return each.variable.empty() && is_used(each, command); });
  if (!shows_variables && usual != program.settings.end())
    out += fmt::format(
        "Every setting is also an environment variable: --{} is {}, except where another name is shown above. ",
        usual->name, variable_of(*usual));
  out += "A flag wins over a variable.";
  if (uses(Kind::duration)) out += " TIME is written like 30s, 5m or 1h30m.";
  if (uses(Kind::size)) out += " SIZE is written like 512Mi or 10Gi.";
  if (uses(Kind::flag)) out += " BOOL is true or false, and the flag alone means true: --name=false turns it off.";
  return out + "\n";
}

}  // namespace help_detail

std::string placeholder_of(const Setting& setting) {
  if (!setting.placeholder.empty()) return fmt::format(" {}", setting.placeholder);
  return std::string(help_detail::placeholders[static_cast<std::size_t>(setting.kind)]);
}

std::string wrap(std::string_view text, std::size_t columns) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    help_detail::append_wrapped(out, text.substr(0, end), columns);
    out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string help_text(const Program& program, const Command* command) {
  using namespace help_detail;
  std::string out;
  if (command != nullptr) {
    out = fmt::format("{} {}: {}\n\nUsage: {} {}{} [--flag VALUE ...]\n", program.name, command->name, command->help,
                      program.name, command->name, command->takes_words ? " WORD ..." : "");
  } else {
    const std::string usage = !program.usage.empty()     ? std::string(program.usage)
                              : program.commands.empty() ? "[--flag VALUE ...]"
                                                         : "[COMMAND] [--flag VALUE ...]";
    out = fmt::format("{}: {}\n\nUsage: {} {}\n", program.name, program.summary, program.name, usage);
    if (!program.commands.empty()) out += "\nCommands:\n";
    for (const Command& each : program.commands) {
      const bool usual = !program.terse && &each == &program.commands.front();
      out += row(each.name, fmt::format("{}{}", each.help, usual ? " (what runs when none is named)" : ""));
    }
  }
  const bool shows_variables =
      std::ranges::find(program.settings, no_variable, &Setting::variable) != program.settings.end();
  std::vector<std::string_view> groups;
  for (const Setting& setting : program.settings) {
    if (is_used(setting, command) && std::ranges::find(groups, setting.group) == groups.end())
      groups.push_back(setting.group);
  }
  for (const std::string_view group : groups) {
    out += fmt::format("\n{}:\n", group.empty() ? "Settings" : group);
    for (const Setting& setting : program.settings) {
      if (setting.group == group && is_used(setting, command)) out += setting_row(setting, shows_variables);
    }
  }
  out += "\nOther:\n" + row("--help", "this text") + row("--version", "the version");
  if (command != nullptr && !command->uses.empty())
    out += fmt::format("\n{} --help lists the settings of all commands.\n", program.name);
  out += closing_note(program, command, shows_variables);
  if (!program.examples.empty() && command == nullptr) {
    out += fmt::format("\nExamples:\n{}{}", program.examples, program.examples.ends_with('\n') ? "" : "\n");
  }
  return wrap(out, program.columns);
}

std::string to_text(const Program& program, const validate::Findings& findings) {
  if (program.terse && !findings.empty()) {
    const validate::Finding& first = findings.front();
    return fmt::format("{}: {}{}{}{}{}\n'{} --help' tells more.\n", program.name, first.path,
                       first.path.empty() ? "" : ": ", first.problem, first.fix.empty() ? "" : "; ", first.fix,
                       program.name);
  }
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
