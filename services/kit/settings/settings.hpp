// A service's configuration: declared once, read from flags, environment and secret files, checked all at once.
//
// Every setting is a flag "--name VALUE" and an environment variable STACKGATE_NAME (or the name it declares); the flag
// wins. A secret is never a flag: its value comes from a variable or from the file that "--name-file" names. An empty
// variable counts as not set. A flag of Kind::flag is on when it stands alone; "--name=false" and "--name false" turn
// it off. Only the words true and false are taken from the next argument: the rest ("on", "0") may be a command's
// words.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "validators/finding.hpp"

namespace stackgate::settings {

enum class Kind : std::uint8_t { text, secret, flag, integer, duration, size, url, listen, directory, choice };

struct Setting {
  std::string_view name;  // "database-url"
  Kind kind = Kind::text;
  std::string_view help;        // one line for --help
  std::string_view fallback{};  // the default, as it would be written
  std::string_view variable{};  // when it is not STACKGATE_<NAME>: "GIT_ADMIN_USERNAME"
  std::string_view group{};     // heading in --help
  std::vector<std::string_view> choices{};
  std::int64_t at_least = 0, at_most = INT64_MAX;  // integers; seconds of durations; bytes of sizes
  bool required = false;
};

/// A command of the service: "serve" (the default), "migrate", "init", "fsck" …
struct Command {
  std::string_view name;
  std::string_view help;
  bool takes_words = false;  // reads Values::arguments() and answers for them; otherwise surplus words are findings
  /// What "COMMAND --help" shows: names of settings and of groups; everything when it is empty. Others are accepted all
  /// the same, because pods give all containers one environment.
  std::vector<std::string_view> uses{};
};

struct Program {
  std::string_view name;     // "stackgate-datastore"
  std::string_view summary;  // first line of --help
  std::vector<Command> commands;
  std::vector<Setting> settings;
  std::string_view examples{};  // end of --help
};

class Values {
 public:
  const std::string& command() const { return command_; }
  const std::vector<std::string>& arguments() const { return arguments_; }  // after the command
  bool has(std::string_view name) const;
  /// std::logic_error for a name that was not declared.
  const std::string& text(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;  // also durations (ms) and sizes (bytes)

 private:
  friend struct Reader;
  std::string command_;
  std::vector<std::string> arguments_;
  std::vector<std::pair<std::string, std::string>> values_;
};

using Environment = std::function<std::optional<std::string>(const std::string&)>;
using ReadFile = std::function<std::optional<std::string>(const std::string&)>;

struct Outcome {
  Values values;
  validate::Findings findings;  // paths are flags: "--database-url"; secrets' values never stand in them
  std::string to_print;         // --help, --version: print it and exit 0
};

/// Pure but for the two functions. Unknown flags are findings with a suggestion.
Outcome read(const Program& program, std::span<const char* const> arguments, const Environment& environment,
             const ReadFile& read_file, std::string_view version);

/// "stackgate-datastore: 2 settings are wrong" and one line each, for stderr.
std::string to_text(const Program& program, const validate::Findings& findings);

}  // namespace stackgate::settings
