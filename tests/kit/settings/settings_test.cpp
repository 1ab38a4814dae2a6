#include "services/kit/settings/settings.hpp"

#include <map>
#include <sstream>

#include <gmock/gmock.h>

namespace stackgate::settings {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Program& program() {
  static const Program it{
      .name = "stackgate-sample",
      .summary = "something to configure",
      .commands = {{"serve", "serves"},
                   {"migrate", "brings the database up to date", false, {"Database", "data-dir"}},
                   {"user", "add NAME", true}},
      .settings =
          {{.name = "listen", .kind = Kind::listen, .help = "where to serve", .fallback = "127.0.0.1:8000"},
           {.name = "data-dir", .kind = Kind::directory, .help = "files"},
           {.name = "public-url", .kind = Kind::url, .help = "as clients see it"},
           {.name = "database-password", .kind = Kind::secret, .help = "of the database", .group = "Database"},
           {.name = "admin", .help = "who may all", .variable = "GIT_ADMIN_USERNAME"},
           {.name = "threads", .kind = Kind::integer, .help = "threads", .fallback = "2", .at_least = 1, .at_most = 64},
           {.name = "drain", .kind = Kind::duration, .help = "time to finish", .fallback = "20s", .at_most = 3600},
           {.name = "quota", .kind = Kind::size, .help = "bytes", .fallback = "10Gi", .at_least = 1024},
           {.name = "log-format", .kind = Kind::choice, .help = "lines", .choices = {"json", "text"}},
           {.name = "serve-direct", .kind = Kind::flag, .help = "presigned URLs", .fallback = "true"},
           {.name = "verbose", .kind = Kind::flag, .help = "more words"}},
      .examples = "  stackgate-sample --data-dir /var/lib/sample",
  };
  return it;
}

struct Given {
  std::vector<const char*> arguments{};
  std::map<std::string, std::string> environment{}, files{};
};

Outcome read_given(const Given& given, const Program& of = program()) {
  const auto look_up = [](const std::map<std::string, std::string>& in, const std::string& name) {
    const auto found = in.find(name);
    return found == in.end() ? std::nullopt : std::optional(found->second);
  };
  return read(
      of, given.arguments, [&](const std::string& name) { return look_up(given.environment, name); },
      [&](const std::string& path) { return look_up(given.files, path); }, "1.2.3");
}

std::string said(const Outcome& outcome) { return to_text(program(), outcome.findings); }

TEST(Settings, have_their_defaults) {
  const Outcome out = read_given({});
  EXPECT_THAT(out.findings, IsEmpty());
  EXPECT_EQ(out.values.command(), "serve");
  EXPECT_EQ(out.values.text("listen"), "127.0.0.1:8000");
  EXPECT_EQ(out.values.integer("threads"), 2);
  EXPECT_EQ(out.values.integer("drain"), 20'000);
  EXPECT_EQ(out.values.integer("quota"), std::int64_t{10} << 30);
  EXPECT_TRUE(out.values.flag("serve-direct"));
  EXPECT_FALSE(out.values.flag("verbose"));
  EXPECT_FALSE(out.values.has("data-dir"));
  EXPECT_EQ(out.values.text("data-dir"), "");
}

TEST(Settings, come_from_flags_then_variables_then_defaults) {
  const Outcome out = read_given({.arguments = {"user", "--listen", ":9000", "--drain=1m30s", "--verbose",
                                                "--serve-direct=off", "--data-dir=/d=e", "extra", "--", "--more"},
                                  .environment = {{"STACKGATE_LISTEN", ":1"},
                                                  {"STACKGATE_THREADS", "7"},
                                                  {"STACKGATE_QUOTA", ""},
                                                  {"GIT_ADMIN_USERNAME", "root"},
                                                  {"STACKGATE_ADMIN", "not asked"}}});
  EXPECT_THAT(out.findings, IsEmpty()) << said(out);
  EXPECT_EQ(out.values.command(), "user");
  EXPECT_THAT(out.values.arguments(), ElementsAre("extra", "--more"));
  EXPECT_EQ(out.values.text("listen"), ":9000");
  EXPECT_EQ(out.values.text("data-dir"), "/d=e");
  EXPECT_EQ(out.values.integer("threads"), 7);
  EXPECT_EQ(out.values.integer("drain"), 90'000);
  EXPECT_EQ(out.values.integer("quota"), std::int64_t{10} << 30);
  EXPECT_EQ(out.values.text("admin"), "root");
  EXPECT_TRUE(out.values.flag("verbose"));
  EXPECT_FALSE(out.values.flag("serve-direct"));
}

TEST(Settings, take_secrets_from_variables_and_files_and_never_from_flags) {
  const std::map<std::string, std::string> files = {{"/s", "hunter2\n"}, {"/empty", "\n"}};
  struct Case {
    Given given;
    const char* value;
    const char* complaint;
  };
  const Case cases[] = {
      {{{}, {{"STACKGATE_DATABASE_PASSWORD", "hunter2"}}, {}}, "hunter2", ""},
      {{{"--database-password-file", "/s"}, {}, files}, "hunter2", ""},
      {{{"--database-password-file=/s"}, {{"STACKGATE_DATABASE_PASSWORD", "other"}}, files}, "hunter2", ""},
      {{{}, {{"STACKGATE_DATABASE_PASSWORD_FILE", "/s"}}, files}, "hunter2", ""},
      {{{"--database-password-file", "/nowhere"}, {}, files}, "", "cannot be read"},
      {{{"--database-password-file", "/empty"}, {}, files}, "", "is empty"},
      {{{}, {{"STACKGATE_DATABASE_PASSWORD_FILE", "/nowhere"}}, files}, "", "from STACKGATE_DATABASE_PASSWORD_FILE"},
      {{{"--database-password", "hunter2"}, {}, files},
       "",
       "set STACKGATE_DATABASE_PASSWORD or give --database-password-file"},
      {{{"--database-password=hunter2"}, {}, files}, "", "is a secret"},
  };
  for (const Case& c : cases) {
    const Outcome out = read_given(c.given);
    EXPECT_EQ(out.values.text("database-password"), c.value);
    EXPECT_EQ(out.findings.size(), *c.complaint == '\0' ? 0U : 1U) << said(out);
    EXPECT_THAT(said(out), HasSubstr(c.complaint));
    EXPECT_THAT(said(out), Not(HasSubstr("hunter2")));
  }
}

TEST(Settings, are_refused_with_the_cure) {
  struct Case {
    std::vector<const char*> arguments;
    const char* complaint;
  };
  const Case cases[] = {
      {{"--listn", ":1"}, "--listn: is not a flag of this program; did you mean --listen?"},
      {{"--database-pasword-file", "/x"}, "did you mean --database-password-file?"},
      {{"--utterly-different=1"}, "run stackgate-sample --help"},
      {{"migrat"}, "command: is not a command of this program (value: \"migrat\"); did you mean migrate?"},
      {{"-l"}, "write flags with two dashes"},
      {{"--listen"}, "--listen: needs a value"},
      {{"--listen", "--verbose"}, "--listen: needs a value"},
      {{"--listen", ":1", "--listen", ":2"}, "is given twice"},
      {{"--listen", "8000"}, "--listen: "},
      {{"--listen", "host:70000"}, "65535"},
      {{"--listen", "http://h:8000"}, "is a URL"},
      {{"--public-url", "ftp://h/"}, "--public-url: "},
      {{"--public-url", "http://u:hunter2@h/"}, "--public-url: "},
      {{"--threads", "many"}, "must be a whole number (value: \"many\")"},
      {{"--threads", "65"}, "must be at most 64"},
      {{"--threads", "0"}, "must be at least 1"},
      {{"--threads", "99999999999999999999"}, "is too large"},
      {{"--drain", "10"}, "--drain: "},
      {{"--drain", "2h"}, "must be at most 3600s"},
      {{"--quota", "10Gib"}, "--quota: "},
      {{"--quota", "500m"}, "whole number of bytes"},
      {{"--quota", "1"}, "must be at least 1024 bytes"},
      {{"--log-format", "jsn"}, "must be one of json, text (value: \"jsn\"); write json"},
      {{"--serve-direct=perhaps"}, "must be true or false"},
  };
  for (const Case& c : cases) {
    const Outcome out = read_given({.arguments = c.arguments});
    EXPECT_EQ(out.findings.size(), 1U) << c.complaint << '\n' << said(out);
    EXPECT_THAT(said(out), HasSubstr(c.complaint));
    EXPECT_THAT(said(out), Not(HasSubstr("hunter2")));
  }
}

TEST(Settings, that_are_switches_take_true_or_false_from_the_next_word_and_never_swallow_another) {
  struct Case {
    std::vector<const char*> arguments;
    bool serve_direct;
    std::vector<std::string> words;
    const char* complaint;
  };
  const Case cases[] = {
      {{"serve", "--serve-direct", "false"}, false, {}, ""},
      {{"--serve-direct", "False", "serve"}, false, {}, ""},
      {{"--serve-direct", "true"}, true, {}, ""},
      {{"serve", "--serve-direct"}, true, {}, ""},
      {{"user", "--serve-direct", "false", "add", "ann"}, false, {"add", "ann"}, ""},
      {{"user", "--verbose", "on", "ann"}, true, {"on", "ann"}, ""},
      {{"user", "add", "false"}, true, {"add", "false"}, ""},
      {{"serve", "--serve-direct", "no"},
       true,
       {},
       "serve: takes no such word (value: \"no\"); for --serve-direct write --serve-direct=no"},
      {{"--serve-direct", "off"}, true, {}, "for --serve-direct write --serve-direct=off"},
      {{"--serve-direct", "off", "serve"}, true, {}, "for --serve-direct write --serve-direct=off"},
  };
  for (const Case& c : cases) {
    const Outcome out = read_given({.arguments = c.arguments});
    EXPECT_EQ(out.findings.size(), *c.complaint == '\0' ? 0U : 1U) << said(out);
    EXPECT_THAT(said(out), HasSubstr(c.complaint));
    EXPECT_EQ(out.values.flag("serve-direct"), c.serve_direct) << said(out);
    EXPECT_EQ(out.values.arguments(), c.words);
  }
}

TEST(Settings, refuse_words_that_the_command_does_not_take) {
  EXPECT_THAT(said(read_given({.arguments = {"serve", "extra"}})),
              HasSubstr("serve: takes no such word (value: \"extra\"); leave it out"));
  EXPECT_THAT(said(read_given({.arguments = {"migrate", "verbose"}})),
              HasSubstr("migrate: takes no such word (value: \"verbose\"); did you mean --verbose?"));
  EXPECT_EQ(read_given({.arguments = {"migrate", "a", "--", "--b"}}).findings.size(), 2U);
  EXPECT_EQ(read_given({.arguments = {"migrat", "a"}}).findings.size(), 1U);  // which words it takes nobody knows
  const Program bare{.name = "bare", .summary = "s", .commands = {}, .settings = {}};
  EXPECT_THAT(to_text(bare, read_given({.arguments = {"extra"}}, bare).findings),
              HasSubstr("bare: takes no such word (value: \"extra\")"));
}

TEST(Settings, show_every_fault_at_once_and_where_it_was_written) {
  const Outcome out =
      read_given({.arguments = {"--threads", "x", "--nonsense"}, .environment = {{"STACKGATE_DRAIN", "soon"}}});
  EXPECT_EQ(out.findings.size(), 3U);
  EXPECT_THAT(said(out), HasSubstr("stackgate-sample: 3 settings are wrong\n"));
  EXPECT_THAT(said(out), HasSubstr("--drain: from STACKGATE_DRAIN: "));
}

TEST(Settings, that_are_needed_are_asked_for) {
  const Program strict{
      .name = "p",
      .summary = "s",
      .commands = {},
      .settings = {{.name = "datastore-url", .kind = Kind::url, .help = "where", .required = true},
                   {.name = "key", .kind = Kind::secret, .help = "which", .variable = "S3_KEY", .required = true}}};
  const Outcome out = read_given({}, strict);
  EXPECT_THAT(to_text(strict, out.findings),
              HasSubstr("--datastore-url: is needed; give --datastore-url or set STACKGATE_DATASTORE_URL"));
  EXPECT_THAT(to_text(strict, out.findings), HasSubstr("set S3_KEY or give --key-file FILE"));
  EXPECT_THAT(
      read_given({.environment = {{"S3_KEY", "k"}, {"STACKGATE_DATASTORE_URL", "http://d:8000"}}}, strict).findings,
      IsEmpty());
}

TEST(Settings, that_are_needed_are_asked_for_by_commands_that_use_them) {
  const Program program{
      .name = "p",
      .summary = "s",
      .commands = {{"serve", "all"},
                   {"migrate", "some", false, {"Data"}},
                   {"fsck", "others", false, {"datastore-url"}}},
      .settings = {{.name = "datastore-url", .kind = Kind::url, .help = "where", .required = true},
                   {.name = "data-dir", .kind = Kind::directory, .help = "which", .group = "Data", .required = true}}};
  const auto faults = [&](std::vector<const char*> arguments) {
    std::vector<std::string> out;
    for (const auto& each : read_given({.arguments = std::move(arguments)}, program).findings) out.push_back(each.path);
    return out;
  };
  EXPECT_THAT(faults({}), ElementsAre("--datastore-url", "--data-dir"));
  EXPECT_THAT(faults({"serve"}), ElementsAre("--datastore-url", "--data-dir"));
  EXPECT_THAT(faults({"migrate"}), ElementsAre("--data-dir"));
  EXPECT_THAT(faults({"migrate", "--data-dir", "d"}), IsEmpty());
  EXPECT_THAT(faults({"fsck"}), ElementsAre("--datastore-url"));
  EXPECT_THAT(faults({"migrate", "--data-dir", "d", "--datastore-url", "ftp:x"}), ElementsAre("--datastore-url"))
      << "what is given is judged all the same";
}

TEST(Settings, answer_a_name_that_was_not_declared_with_an_exception) {
  const Outcome out = read_given({});
  EXPECT_THROW((void)out.values.text("lisn"), std::logic_error);
  EXPECT_THROW((void)out.values.integer("listen"), std::logic_error);
}

TEST(Help, is_printed_in_a_hundred_columns_with_every_setting) {
  for (const char* asked : {"--help", "-h", "help"}) {
    const std::string text = read_given({.arguments = {asked}}).to_print;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
    for (const Setting& setting : program().settings) EXPECT_THAT(text, HasSubstr("--" + std::string(setting.name)));
    EXPECT_THAT(text, HasSubstr("default 127.0.0.1:8000"));
    EXPECT_THAT(text, HasSubstr("$GIT_ADMIN_USERNAME"));
    EXPECT_THAT(text, HasSubstr("\nDatabase:\n"));
    EXPECT_THAT(text, HasSubstr("--data-dir /var/lib/sample"));
    EXPECT_THAT(text, HasSubstr("--serve-direct[=BOOL]"));
    EXPECT_THAT(text, HasSubstr("BOOL is true or false"));
  }
  EXPECT_EQ(read_given({.arguments = {"serve", "--version"}}).to_print, "stackgate-sample 1.2.3\n");
  EXPECT_THAT(read_given({.arguments = {"serve", "--", "--help"}}).to_print, IsEmpty());
}

TEST(Help, of_a_command_shows_what_that_command_uses) {
  for (const std::vector<const char*>& asked : {std::vector{"migrate", "--help"}, std::vector{"help", "migrate"},
                                                std::vector{"--data-dir", "user", "--verbose", "migrate", "-h"}}) {
    const std::string text = read_given({.arguments = asked}).to_print;
    EXPECT_THAT(text, AllOf(HasSubstr("stackgate-sample migrate: brings the database up to date"),
                            HasSubstr("Usage: stackgate-sample migrate [--flag"), HasSubstr("--data-dir DIR"),
                            HasSubstr("--database-password-file"), HasSubstr("stackgate-sample --help lists")));
    for (const char* other : {"--listen", "--quota", "--verbose", "Commands:"})
      EXPECT_THAT(text, Not(HasSubstr(other)));
  }
  EXPECT_THAT(read_given({.arguments = {"user", "--help"}}).to_print,
              AllOf(HasSubstr("Usage: stackgate-sample user WORD ..."), HasSubstr("--listen")))
      << "says nothing of what it uses";
  EXPECT_THAT(read_given({.arguments = {"usr", "--help"}}).to_print, HasSubstr("Commands:"));
  EXPECT_THAT(read_given({.arguments = {"migrate", "--listen=:9000"}}).findings, IsEmpty()) << "accepted all the same";
}

}  // namespace
}  // namespace stackgate::settings
