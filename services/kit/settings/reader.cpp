#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/kit/findings/nearest.hpp"
#include "services/kit/grammar/characters.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/settings/help.hpp"
#include "services/kit/settings/names.hpp"
#include "services/kit/settings/settings.hpp"
#include "services/kit/settings/value.hpp"

namespace stackgate::settings {

namespace reader_detail {

std::string quoted(std::string_view text) {
  std::string out;
  json::append_quoted(out, text);
  return out;
}

/// In any case of letters.
bool is_truth(std::string_view word) {
  const std::string lower = validate::grammar::to_lower(word);
  return lower == "true" || lower == "false";
}

}  // namespace reader_detail

/// One pass over the arguments, then one over the settings; faults are collected, never thrown.
struct Reader {
  const Program& program;
  const Environment& environment;
  const ReadFile& read_file;
  Outcome out{};
  std::map<std::string, std::string, std::less<>> flags{};  // as given: "database-password-file" → a path
  const Command* command = nullptr;                         // what was named, or the first; none for an unknown name

  void complain(std::string flag, std::string value, std::string problem, std::string fix) {
    out.findings.push_back(fault(std::move(flag), std::move(problem), std::move(fix), std::move(value)));
  }

  const Setting* find_flag(std::string_view name) const {
    const auto found = std::ranges::find_if(program.settings, [&](const Setting& s) {
      return std::string_view(flag_of(s)).substr(2) == name || (!s.opposite.empty() && s.opposite == name);
    });
    return found == program.settings.end() ? nullptr : &*found;
  }

  /// Of a terse program; `word` as it was written.
  void refuse_unexpected(std::string_view word) {
    std::vector<std::string> names;
    for (const Setting& setting : program.settings) {
      names.push_back(flag_of(setting));
      if (!setting.opposite.empty()) names.push_back(fmt::format("--{}", setting.opposite));
    }
    const std::vector<std::string_view> known(names.begin(), names.end());
    const auto near = word.starts_with('-') ? validate::nearest(word.substr(0, word.find('=')), known) : "";
    complain({}, std::string(word), fmt::format("'{}' was not expected", word),
             near.empty() ? "" : fmt::format("did you mean '{}'?", near));
  }

  void refuse_without_value(const Setting& setting) {
    if (program.terse)
      return complain(flag_of(setting), {}, fmt::format("its value is missing:{}", placeholder_of(setting)), {});
    complain(flag_of(setting), {}, "needs a value", fmt::format("write {} VALUE", flag_of(setting)));
  }

  /// A list's parts are gathered, anything else is given once; a switch may be repeated.
  void keep(const Setting& setting, std::string value) {
    const auto [kept, is_new] = flags.try_emplace(flag_of(setting).substr(2), value);
    if (is_new || (setting.kind == Kind::flag && kept->second == value)) return;
    if (setting.kind == Kind::list)
      kept->second.append(",").append(value);
    else
      complain(flag_of(setting), {}, "is given twice", "keep one of them");
  }

  /// `text` as behind the two dashes.
  void refuse_unknown(std::string_view text) {
    if (program.terse) return refuse_unexpected(fmt::format("--{}", text));
    const std::string_view name = text.substr(0, text.find('='));
    const auto secret = std::ranges::find_if(
        program.settings, [&](const Setting& s) { return s.kind == Kind::secret && s.name == name; });
    if (secret != program.settings.end()) {
      complain(fmt::format("--{}", name), {}, "is a secret, which other users would see in the list of processes",
               fmt::format("set {} or give {}", variable_of(*secret), flag_of(*secret)));
      return;
    }
    std::vector<std::string> names;
    names.reserve(program.settings.size());
    for (const Setting& setting : program.settings) names.push_back(flag_of(setting).substr(2));
    const std::vector<std::string_view> known(names.begin(), names.end());
    const auto near = validate::nearest(name, known);
    complain(fmt::format("--{}", name), {}, "is not a flag of this program",
             near.empty() ? fmt::format("run {} --help for all of them", program.name)
                          : fmt::format("did you mean --{}?", near));
  }

  /// `text` begins behind the two dashes. Whether the next argument was taken as its value.
  bool take_flag(std::string_view text, std::optional<std::string_view> next) {
    const auto equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const Setting* setting = find_flag(name);
    bool took = false;
    std::string value;
    if (equals != std::string_view::npos) {
      value = text.substr(equals + 1);
    } else if (setting != nullptr && setting->kind == Kind::flag) {
      took = next && reader_detail::is_truth(*next);
      value = took ? *next : "true";
    } else if (next && !next->starts_with("--")) {
      value = *next;
      took = true;
    } else if (setting != nullptr) {
      refuse_without_value(*setting);
      return false;
    }
    if (setting == nullptr) {
      refuse_unknown(text);
      // What follows belongs to it rather than being a command.
      return took;
    }
    if (name == setting->opposite)
      if (const auto good = check_value(*setting, value)) value = *good == "true" ? "false" : "true";
    keep(*setting, std::move(value));
    return took;
  }

  /// "-o json", "-ojson" or "-o=json". Whether the next argument was taken as its value.
  bool take_letter(std::string_view argument, std::optional<std::string_view> next) {
    const auto setting = std::ranges::find(program.settings, argument[1], &Setting::letter);
    if (setting == program.settings.end()) {
      if (program.terse)
        refuse_unexpected(argument);
      else
        complain(std::string(argument), {}, "is not a flag of this program", "write flags with two dashes");
      return false;
    }
    const bool together = argument.size() > 2;
    if (!together && !next)
      refuse_without_value(*setting);
    else
      keep(*setting, std::string(together ? argument.substr(argument[2] == '=' ? 3 : 2) : *next));
    return !together && next;
  }

  /// `switched` is the flag of Kind::flag right before the word, if there is one: "--verbose off".
  void take_word(std::string_view word, std::string_view switched) {
    const auto meant_for_flag = [&] { return fmt::format("for {} write {}={}", switched, switched, word); };
    if (!out.values.command_.empty() || program.commands.empty()) {
      if (command != nullptr ? command->takes_words : program.takes_words) {
        out.values.arguments_.emplace_back(word);
      } else if (program.terse) {
        refuse_unexpected(word);
      } else if (command != nullptr || program.commands.empty()) {
        const std::string_view name = command != nullptr ? command->name : program.name;
        complain(std::string(name), reader_detail::quoted(word), "takes no such word",
                 !switched.empty()            ? meant_for_flag()
                 : find_flag(word) != nullptr ? fmt::format("did you mean --{}?", word)
                                              : "leave it out, or write the flag that it belongs to before it");
      }
      return;
    }
    out.values.command_ = word;
    const auto found = std::ranges::find(program.commands, word, &Command::name);
    if (found != program.commands.end()) {
      command = &*found;
      return;
    }
    std::vector<std::string_view> known;
    known.reserve(program.commands.size());
    for (const Command& each : program.commands) known.push_back(each.name);
    const auto near = validate::nearest(word, known);
    complain("command", reader_detail::quoted(word), "is not a command of this program",
             !switched.empty() ? meant_for_flag()
             : near.empty()    ? fmt::format("run {} --help for all of them", program.name)
                               : fmt::format("did you mean {}?", near));
  }

  /// The command of "fsck --help", "--data-dir x fsck --help" and "help fsck"; null without one.
  const Command* command_asked_about(std::span<const char* const> arguments) const {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string_view word = arguments[i];
      if (word == "help" && i == 0) continue;
      if (!word.starts_with('-')) {
        const auto found = std::ranges::find(program.commands, word, &Command::name);
        return found == program.commands.end() ? nullptr : &*found;
      }
      const Setting* setting = word.starts_with("--") ? find_flag(word.substr(2)) : nullptr;
      if (setting != nullptr && setting->kind != Kind::flag) ++i;  // its value
    }
    return nullptr;
  }

  void take(std::span<const char* const> arguments) {
    bool words_only = false;
    std::string_view switched;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string_view argument = arguments[i];
      const std::string_view before = std::exchange(switched, {});
      const auto next = i + 1 < arguments.size() ? std::optional<std::string_view>(arguments[i + 1]) : std::nullopt;
      if (words_only || argument == "-" || !argument.starts_with('-')) {
        take_word(argument, before);
      } else if (argument == "--") {
        words_only = true;
      } else if (argument.starts_with("--")) {
        const Setting* setting = find_flag(argument.substr(2));
        if (take_flag(argument.substr(2), next))
          ++i;
        else if (setting != nullptr && setting->kind == Kind::flag)
          switched = argument;
      } else if (take_letter(argument, next)) {
        ++i;
      }
    }
    if (out.values.command_.empty() && !program.commands.empty()) out.values.command_ = program.commands.front().name;
  }

  std::optional<std::string> variable(const std::string& name) const {
    if (name == no_variable) return std::nullopt;
    auto value = environment(name);
    return value && value->empty() ? std::nullopt : value;
  }

  std::optional<std::string> secret_from(const Setting& setting, const std::string& source, const std::string& path) {
    auto text = read_file(path);
    if (!text) {
      complain(flag_of(setting), reader_detail::quoted(path), fmt::format("{}the file cannot be read", source),
               "name a file that this user may read");
      return std::nullopt;
    }
    while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();  // as editors and echo leave them
    if (text->empty()) {
      complain(flag_of(setting), reader_detail::quoted(path), fmt::format("{}the file is empty", source),
               "write the secret into it");
      return std::nullopt;
    }
    return text;
  }

  /// A flag wins over a variable, and that over the default.
  std::optional<std::string> given(const Setting& setting, Source& source) {
    const std::string name = variable_of(setting);
    const auto flag = flags.find(std::string_view(flag_of(setting)).substr(2));
    source = flag != flags.end() ? Source::flag : Source::variable;
    if (setting.kind == Kind::secret) {
      if (flag != flags.end()) return secret_from(setting, {}, flag->second);
      if (auto value = variable(name)) return value;
      if (const auto path = variable(name + "_FILE")) {
        return secret_from(setting, fmt::format("from {}_FILE: ", name), *path);
      }
      return std::nullopt;
    }
    if (flag != flags.end()) return flag->second;
    return variable(name);
  }

  /// A sentence that quotes the value, where the kind has one.
  static validate::grammar::Problem tersely(const Setting& setting, const std::string& text,
                                            const validate::grammar::Problem& why) {
    if (setting.kind == Kind::choice)
      return {fmt::format("'{}' is none of {}", text, fmt::join(setting.choices, ", ")), {}};
    if (setting.kind == Kind::integer)
      return {fmt::format("'{}' is no number between {} and {}", text, setting.at_least, setting.at_most), {}};
    if (setting.kind == Kind::flag) return {fmt::format("write true or false, not '{}'", text), {}};
    return why;
  }

  void refuse_value(const Setting& setting, Source source, const std::string& text,
                    const validate::grammar::Problem& why) {
    // A URL may hold a password, however it is broken otherwise.
    const bool quiet = setting.kind == Kind::secret || text.contains('@') || text.size() > 200;
    const bool named = source == Source::variable && setting.kind != Kind::secret;
    if (program.terse) {
      const validate::grammar::Problem terse = tersely(setting, text, why);
      return complain(named ? in_variable(setting) : flag_of(setting), {}, terse.problem, terse.fix);
    }
    complain(flag_of(setting), quiet ? std::string() : reader_detail::quoted(text),
             (named ? fmt::format("from {}: ", variable_of(setting)) : "") + why.problem, why.fix);
  }

  void settle(const Setting& setting) {
    const std::size_t faults = out.findings.size();
    Source source{};
    std::optional<std::string> text = given(setting, source);
    if (!text) source = Source::fallback;
    if (!text && faults == out.findings.size() && !setting.fallback.empty()) text = setting.fallback;
    std::string kept;
    const bool judges_empty =
        setting.check || (program.terse && (setting.kind == Kind::choice || setting.kind == Kind::flag ||
                                            setting.kind == Kind::integer));
    if (text && (!text->empty() || judges_empty)) {
      if (auto good = check_value(setting, *text))
        kept = *std::move(good);
      else
        refuse_value(setting, source, *text, good.error());
    } else if (setting.required && is_used(setting, command) && faults == out.findings.size()) {
      complain(flag_of(setting), {}, "is needed",
               setting.kind == Kind::secret
                   ? fmt::format("set {} or give {} FILE", variable_of(setting), flag_of(setting))
                   : fmt::format("give {} or set {}", flag_of(setting), variable_of(setting)));
    }
    out.values.values_.push_back({std::string(setting.name), std::move(kept), source});
  }
};

Outcome read(const Program& program, std::span<const char* const> arguments, const Environment& environment,
             const ReadFile& read_file, std::string_view version) {
  Reader reader{program, environment, read_file};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--") break;
    if (argument == "--help" || argument == "-h" || (argument == "help" && i == 0 && !program.takes_words)) {
      reader.out.to_print = help_text(program, reader.command_asked_about(arguments));
      return reader.out;
    }
    if (argument == "--version" || argument == "-V") {
      reader.out.to_print = fmt::format("{} {}\n", program.name, version);
      return reader.out;
    }
  }
  reader.take(arguments);
  for (const Setting& setting : program.settings) reader.settle(setting);
  return std::move(reader.out);
}

}  // namespace stackgate::settings
