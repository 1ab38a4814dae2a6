// A service's configuration: declared once, read from flags, environment and secret files, checked all at once.
//
// Every setting is a flag "--name VALUE" and an environment variable STACKGATE_NAME (or the name it declares); the flag
// wins. A secret is never a flag: its value comes from a variable or from the file that "--name-file" names. An empty
// variable counts as not set. A flag of Kind::flag is on when it stands alone; "--name=false" and "--name false" turn
// it off. Only the words true and false are taken from the next argument: the rest ("on", "0") may be a command's
// words.
//
// Two ways to word what is wrong: a service names all faults of its settings at once, a tool that people type
// (Program:: terse) the first, as shells' tools do.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/findings/finding.hpp"

namespace stackgate::settings {

/// A list is one value or several with commas between them; its flag may be repeated, and empty items are left out.
enum class Kind : std::uint8_t { text, secret, flag, integer, duration, size, url, listen, directory, choice, list };

inline constexpr std::string_view no_variable = "-";

struct Setting {
  std::string_view name;  // "database-url"
  Kind kind = Kind::text;
  std::string_view help;        // one line for --help
  std::string_view fallback{};  // the default, as it would be written
  std::string_view variable{};  // when it is not STACKGATE_<NAME>: "GIT_ADMIN_USERNAME", or no_variable
  std::string_view group{};     // heading in --help
  std::vector<std::string_view> choices{};
  std::int64_t at_least = 0, at_most = INT64_MAX;  // integers; seconds of durations; bytes of sizes
  bool required = false;                           // by commands that use it
  char letter = '\0';                              // "-o" beside "--output"; not of flags
  std::string_view opposite{};                     // of a flag: "no-leader-elect" turns it off
  std::string_view placeholder{};                  // in --help: "HOST:PORT" instead of the kind's own
  /// What is wrong with a value (of a list: with an item), as the end of "--name: …"; asked before the kind's own
  /// rules, of an empty value, too.
  std::function<std::string(const std::string&)> check{};
};

/// A command of the service: "serve" (the default), "migrate", "init", "fsck" …
struct Command {
  std::string_view name;
  std::string_view help;
  bool takes_words = false;  // reads Values::arguments() and answers for them; otherwise surplus words are findings
  /// What "COMMAND --help" shows, and what it may lack where it is required: names of settings and of groups;
  /// everything when it is empty. Others are accepted all the same, because pods give all containers one environment.
  std::vector<std::string_view> uses{};
};

struct Program {
  std::string_view name;     // "stackgate-datastore"
  std::string_view summary;  // first line of --help
  std::vector<Command> commands;
  std::vector<Setting> settings;
  std::string_view examples{};  // end of --help
  std::string_view usage{};     // what follows the name in "Usage: …"; made from the rest where it is empty
  bool takes_words = false;     // without commands: as Command::takes_words
  bool terse = false;           // see above
  std::size_t columns = 100;    // of --help
};

enum class Source : std::uint8_t { fallback, variable, flag };

class Values {
 public:
  const std::string& command() const { return command_; }
  const std::vector<std::string>& arguments() const { return arguments_; }  // after the command
  bool has(std::string_view name) const;
  /// std::logic_error for a name that was not declared.
  const std::string& text(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;  // also durations (ms) and sizes (bytes)
  std::vector<std::string> list(std::string_view name) const;
  Source source(std::string_view name) const;

 private:
  friend struct Reader;
  std::string command_;
  std::vector<std::string> arguments_;
  struct Value {
    std::string name, text;
    Source source;
  };
  const Value& at(std::string_view name) const;
  std::vector<Value> values_;
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

/// What is wrong with the setting that `flag` names ("--database-url").
validate::Finding fault(std::string flag, std::string problem, std::string fix, std::string value = {});

/// "stackgate-datastore: 2 settings are wrong" and one line each, for stderr; of a terse program "stackgate validate:
/// '--stict' was not expected; did you mean '--strict'?" and where to read more.
std::string to_text(const Program& program, const validate::Findings& findings);

}  // namespace stackgate::settings
