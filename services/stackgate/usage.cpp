#include "services/stackgate/usage.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

#include "services/stackgate/validate/terminal_width.hpp"
#include "validators/schema/check.hpp"

namespace stackgate {

namespace {

/// Where the description begins in a line of an option or an example, or how far the line is indented.
std::size_t description_column(std::string_view line) {
  const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("  ", first);
  return gap == std::string_view::npos ? first : line.find_first_not_of(' ', gap);
}

void append_wrapped(std::string& out, std::string_view line, std::size_t columns) {
  const std::size_t indent = std::min(description_column(line), columns / 2);
  std::size_t at = 0;  // the column
  for (bool is_first = true; !line.empty(); is_first = false) {
    const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t end = std::min(line.find(' ', blanks), line.size());
    const std::size_t width = terminal_width(line.substr(0, end));
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

bool is_part_of_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }

/// With the variable's name where a value came from one.
std::string name_variables(std::string complaint, Words words, std::span<const OptionSource> options) {
  for (const OptionSource& option : options) {
    const char* const value = option.variable.empty() ? nullptr : std::getenv(option.variable.c_str());
    if (value == nullptr || *value == '\0' || is_written(words, option.flags)) continue;
    for (const std::string& flag : option.flags) {
      for (std::size_t at = complaint.find(flag); at != std::string::npos; at = complaint.find(flag, at)) {
        const std::size_t end = at + flag.size();
        const bool is_whole = (at == 0 || !is_part_of_word(complaint[at - 1])) &&
                              (end == complaint.size() || !is_part_of_word(complaint[end]));
        const std::string named = is_whole ? fmt::format("{} (for {})", option.variable, flag) : flag;
        complaint.replace(at, flag.size(), named);
        at += named.size();
      }
    }
  }
  return complaint;
}

/// Of several words, in whatever order, the one that was written first; options before the values that they drag along.
std::string_view first_unexpected(std::string_view together, Words words) {
  const std::string all = fmt::format(" {} ", together);
  const auto is_among = [&](std::string_view word) { return all.contains(fmt::format(" {} ", word)); };
  for (const bool options : {true, false})
    for (const std::string_view word : words)
      if (word.starts_with('-') == options && is_among(word)) return word;
  return together;
}

}  // namespace

bool is_written(Words words, std::span<const std::string> flags) {
  for (const std::string_view word : words) {
    if (word == "--") return false;
    for (const std::string_view flag : flags) {
      const bool is_long = flag.starts_with("--");
      if (word == flag || (word.starts_with(flag) && (!is_long || word[flag.size()] == '='))) return true;
    }
  }
  return false;
}

bool asks_for_help(Words words) {
  return std::ranges::any_of(words, [](std::string_view word) { return word == "--help" || word == "-h"; });
}

std::string wrap_help(std::string_view help, std::size_t columns) {
  std::string out;
  while (!help.empty()) {
    const std::size_t end = std::min(help.find('\n'), help.size());
    append_wrapped(out, help.substr(0, end), columns);
    out += '\n';
    help.remove_prefix(std::min(end + 1, help.size()));
  }
  return out;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::string_view near = validate::schema::nearest(word, names);
  return near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near);
}

std::vector<settings::Misspelt> misspelt_variables(std::span<const OptionSource> options) {
  std::vector<std::string> own;
  for (const OptionSource& option : options)
    if (!option.variable.empty()) own.push_back(option.variable);
  std::vector<std::string_view> all;
  for (char** each = ::environ; each != nullptr && *each != nullptr; ++each) all.emplace_back(*each);
  return settings::misspelt_variables(own, all);
}

std::string to_text(std::span<const settings::Misspelt> variables) {
  std::string out;
  for (const auto& [name, meant] : variables)
    out += fmt::format("stackgate: the variable {} is ignored; did you mean {}?\n", name, meant);
  return out;
}

std::string complaint(std::string_view fault, Words words, std::span<const OptionSource> options) {
  constexpr std::string_view unexpected = "The following argument was not expected: ";
  constexpr std::string_view several_unexpected = "The following arguments were not expected: ";
  constexpr std::string_view unconverted = "Could not convert: ";  // "--flag = value"
  if (fault == "A subcommand is required") return "a command is required";
  const bool is_unexpected = fault.starts_with(unexpected);
  if (is_unexpected || fault.starts_with(several_unexpected)) {
    const std::string_view word = is_unexpected ? fault.substr(unexpected.size())
                                                : first_unexpected(fault.substr(several_unexpected.size()), words);
    if (word == "-f" || word == "--filename") return fmt::format("paths stand alone: leave {} out", word);
    std::vector<std::string> flags;
    for (const OptionSource& each : options) flags.insert(flags.end(), each.flags.begin(), each.flags.end());
    return fmt::format("'{}' was not expected{}", word, did_you_mean(word.substr(0, word.find('=')), flags));
  }
  if (fault == "paths is required") return "no paths are given: name files, directories, or - for standard input";
  constexpr std::string_view one_missing = ": 1 required ";  // "--flag: 1 required VALUE missing"
  if (const std::size_t at = fault.find(one_missing); at != std::string_view::npos && fault.ends_with(" missing")) {
    const std::string_view value = fault.substr(at + one_missing.size());
    return fmt::format("{}: its value is missing: {}", fault.substr(0, at),
                       value.substr(0, value.size() - std::string_view(" missing").size()));
  }
  if (const std::size_t equals = fault.find(" = "); fault.starts_with(unconverted) && equals != std::string_view::npos)
    return name_variables(
        fmt::format("{}: write true or false, not '{}'", fault.substr(unconverted.size(), equals - unconverted.size()),
                    fault.substr(equals + 3)),
        words, options);
  return name_variables(std::string(fault), words, options);
}

}  // namespace stackgate
