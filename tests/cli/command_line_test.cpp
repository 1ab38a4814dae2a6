#include "services/stackgate/command_line.hpp"

#include <cstdlib>

#include <gmock/gmock.h>

#include "services/kit/findings/terminal_text.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/settings/help.hpp"
#include "services/kit/settings/names.hpp"
#include "services/kit/settings/variables.hpp"
#include "services/kit/yaml/parse.hpp"
#include "services/stackgate/command_tables.hpp"
#include "tests/cli/run_command.hpp"

namespace stackgate {
namespace {

using test::run;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

template <class Options>
Options parsed(const std::vector<std::string>& words) {
  std::ostringstream out;
  std::istringstream in;
  const Command command = test::parse(words, {out, out, in, false});
  const auto* options = std::get_if<Options>(&command);
  if (options == nullptr) ADD_FAILURE() << out.str();
  return options == nullptr ? Options{} : *options;
}

TEST(CommandLine, gate_has_the_flags_that_scripts_rely_on) {
  const auto gate = parsed<GateOptions>({"gate",
                                         "--listen",
                                         "0.0.0.0:1",
                                         "--tls-cert",
                                         "c",
                                         "--tls-key",
                                         "k",
                                         "--metrics-listen",
                                         ":2",
                                         "--health-listen",
                                         "[::1]:3",
                                         "--kubeconfig",
                                         "f",
                                         "--context",
                                         "x",
                                         "--namespaces",
                                         "a,b",
                                         "--gpu-resources",
                                         "example.com/card",
                                         "--references",
                                         "warn",
                                         "--other-references",
                                         "off",
                                         "--log-format",
                                         "json",
                                         "--log-level",
                                         "debug",
                                         "--workers",
                                         "3",
                                         "--drain-seconds",
                                         "7"});
  EXPECT_EQ(gate.listen, "0.0.0.0:1");
  EXPECT_EQ(gate.metrics_listen, ":2");
  EXPECT_EQ(gate.health_listen, "[::1]:3");
  EXPECT_EQ(gate.tls_cert, "c");
  EXPECT_EQ(gate.tls_key, "k");
  EXPECT_FALSE(gate.self_managed);
  EXPECT_EQ(gate.kubeconfig, "f");
  EXPECT_EQ(gate.context, "x");
  EXPECT_THAT(gate.namespaces, ElementsAre("a", "b"));
  EXPECT_THAT(gate.rules.gpu_resources, ElementsAre("example.com/card"));
  EXPECT_EQ(gate.rules.required_references, validate::References::warn);
  EXPECT_EQ(gate.rules.other_references, validate::References::off);
  EXPECT_EQ(gate.log_format, "json");
  EXPECT_EQ(gate.log_level, log::Level::debug);
  EXPECT_EQ(gate.workers, 3U);
  EXPECT_EQ(gate.drain_seconds, 7U);
}

TEST(CommandLine, gate_can_manage_its_own_certificates) {
  const auto gate = parsed<GateOptions>({"gate", "--certs", "self-managed", "--service-name", "s",
                                         "--service-namespace", "n", "--webhook-config-names", "a,b"});
  EXPECT_TRUE(gate.self_managed);
  EXPECT_EQ(gate.service_name, "s");
  EXPECT_EQ(gate.service_namespace, "n");
  EXPECT_THAT(gate.webhook_config_names, ElementsAre("a", "b"));
}

TEST(CommandLine, environment_variables_fill_in_and_flags_win) {
  setenv("STACKGATE_LISTEN", "127.0.0.1:7", 1);
  setenv("STACKGATE_REFERENCES", "off", 1);
  setenv("STACKGATE_NO_CLUSTER", "true", 1);
  const auto gate = parsed<GateOptions>({"gate", "--tls-cert", "c", "--tls-key", "k", "--references", "warn"});
  unsetenv("STACKGATE_LISTEN");
  unsetenv("STACKGATE_REFERENCES");
  unsetenv("STACKGATE_NO_CLUSTER");
  EXPECT_EQ(gate.listen, "127.0.0.1:7");
  EXPECT_TRUE(gate.no_cluster);
  EXPECT_EQ(gate.rules.required_references, validate::References::warn);
}

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST(CommandLine, a_wrong_value_of_a_variable_is_complained_of_by_the_variables_name) {
  const struct {
    const char *name, *value;
    std::vector<std::string> words;
    std::string says;
  } table[] = {
      {"STACKGATE_OUTPUT", "xml", {"validate", "x"}, "STACKGATE_OUTPUT (for --output): 'xml' is none of"},
      {"STACKGATE_LISTEN", "x", {"gate"}, "STACKGATE_LISTEN (for --listen): write HOST:PORT"},
      {"STACKGATE_WORKERS", "0", {"gate"}, "STACKGATE_WORKERS (for --workers): '0' is no number"},
      {"STACKGATE_NO_CLUSTER", "maybe", {"gate"}, "STACKGATE_NO_CLUSTER (for --no-cluster): write true or false"},
      {"STACKGATE_TLS_CERT", "c", {"gate"}, "STACKGATE_TLS_CERT (for --tls-cert) requires --tls-key"},
      // The word on the command line wins, and is to blame.
      {"STACKGATE_OUTPUT", "json", {"validate", "--output", "xml", "x"}, "validate: --output: 'xml' is none of"},
      {"STACKGATE_OUTPUT", "json", {"validate", "-oxml", "x"}, "validate: --output: 'xml' is none of"},
      {"STACKGATE_OUTPUT", "json", {"validate", "--output=xml", "x"}, "validate: --output: 'xml' is none of"},
  };
  for (const auto& row : table) {
    const Variable variable(row.name, row.value);
    const auto ran = run(row.words);
    EXPECT_EQ(ran.status, 2) << row.says;
    EXPECT_THAT(ran.err, HasSubstr(row.says));
  }
}

TEST(CommandLine, variables_of_other_commands_do_not_get_into_the_way) {
  const Variable output("STACKGATE_OUTPUT", "xml");
  const Variable workers("STACKGATE_WORKERS", "many");
  const Variable context("STACKGATE_CONTEXT", "prod");
  EXPECT_EQ(run({"rules"}).status, 0);
  EXPECT_EQ(run({"crds", "isvc"}).status, 0);
  EXPECT_EQ(parsed<ValidateOptions>({"validate", "--output", "json", "x"}).context, "prod");
}

TEST(CommandLine, a_misspelt_variable_is_told_by_the_commands_that_would_read_it) {
  const Variable output("STACKGATE_OUPTUT", "json");
  const Variable level("STACKGATE_LOG_LEVLE", "debug");
  const Variable listen("STACKGATE_DATABASE_URL", "sqlite:x");  // a service's
  EXPECT_THAT(run({"validate", "/nowhere/at-all"}).err,
              StartsWith("stackgate: the variable STACKGATE_OUPTUT is ignored; did you mean STACKGATE_OUTPUT?\n"));
  EXPECT_EQ(run({"rules"}).err, "");
  // For the log.
  const auto told = ElementsAre(testing::FieldsAre("STACKGATE_LOG_LEVLE", "STACKGATE_LOG_LEVEL"));
  EXPECT_THAT(parsed<GateOptions>({"gate", "--certs", "self-managed"}).misspelt_variables, told);
  EXPECT_THAT(parsed<OperatorOptions>({"operator", "--certs", "self-managed"}).gate.misspelt_variables, told);
}

TEST(CommandLine, gate_and_operator_export_to_the_collector_that_the_environment_names) {
  EXPECT_FALSE(parsed<GateOptions>({"gate", "--certs", "self-managed"}).telemetry.any());
  const Variable endpoint("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318");
  const Variable logs("OTEL_LOGS_EXPORTER", "none");
  const auto gate = parsed<GateOptions>({"gate", "--certs", "self-managed"}).telemetry;
  EXPECT_EQ(gate.traces.url, "http://collector:4318/v1/traces");
  EXPECT_EQ(gate.metrics.url, "http://collector:4318/v1/metrics");
  EXPECT_EQ(gate.logs.exporter, telemetry::Exporter::none);
  const auto op = parsed<OperatorOptions>({"operator", "--certs", "self-managed"}).gate.telemetry;
  EXPECT_THAT(
      op.resource,
      testing::Contains(testing::AllOf(
          testing::Field(&telemetry::Attribute::key, "service.name"),
          testing::Field(&telemetry::Attribute::value, testing::VariantWith<std::string>("stackgate-operator")))));
  const Variable sampler("OTEL_TRACES_SAMPLER", "traceidratio");
  const Variable ratio("OTEL_TRACES_SAMPLER_ARG", "7");
  const auto refused = run({"gate", "--certs", "self-managed"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--otel-traces-sampler-arg"));
  EXPECT_EQ(run({"rules"}).status, 0);
}

TEST(CommandTables, name_variables_that_the_family_knows) {
  std::size_t seen = 0;
  for (const auto table :
       {gate_table, operator_table, validate_table, plan_table, rules_table, explain_table, crds_table}) {
    for (const settings::Setting& each : table().settings) {
      if (!each.variable.empty() || is_image(each)) continue;
      ++seen;
      EXPECT_TRUE(settings::is_of_family(settings::variable_of(each))) << each.name << " is not in variables.cpp";
    }
  }
  EXPECT_GT(seen, 50U);
}

TEST(CommandLine, help_is_given_whatever_else_is_wrong) {
  const Variable output("STACKGATE_OUTPUT", "xml");
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"validate", "--help"}, {"validate", "--jobs", "0", "-h"}, {"help", "validate"}}) {
    const auto ran = run(words);
    EXPECT_EQ(ran.status, 0) << testing::PrintToString(words);
    EXPECT_THAT(ran.out, HasSubstr("Usage: stackgate validate"));
    EXPECT_EQ(ran.err, "");
  }
  EXPECT_THAT(run({"help"}).out, HasSubstr("Usage: stackgate [OPTIONS] SUBCOMMAND"));
}

struct WrongUse {
  std::vector<std::string> words;
  std::string says;
};

TEST(CommandLine, wrong_use_ends_with_2_and_says_what_to_write) {
  for (const WrongUse& each : std::vector<WrongUse>{
           {{}, "a command is required\n'stackgate --help' tells more."},
           {{"nonsense"}, "nonsense"},
           {{"gate"}, "--tls-cert FILE and --tls-key FILE (or --certs self-managed)"},
           {{"gate", "--tls-cert", "c"}, "--tls-key"},
           {{"gate", "--certs", "selfmanaged"}, "'selfmanaged' is none of self-managed"},
           {{"gate", "--certs", "self-managed", "--no-cluster"}, "--no-cluster"},
           {{"gate", "--certs", "self-managed", "--tls-cert", "c", "--tls-key", "k"}, "excludes"},
           {{"gate", "--tls-cert", "c", "--tls-key", "k", "--listen", "9443"}, "HOST:PORT"},
           {{"gate", "--tls-cert", "c", "--tls-key", "k", "--listen", "a:70000"}, "70000"},
           {{"gate", "--tls-cert", "c", "--tls-key", "k", "--workers", "0"}, "between 1 and 256"},
           {{"gate", "--tls-cert", "c", "--tls-key", "k", "--references", "maybe"}, "'maybe' is none of"},
           {{"validate"}, "no paths are given: name files, directories, or - for standard input"},
           {{"validate", "-f", "x"}, "paths stand alone: leave -f out"},
           {{"validate", "x", "--jobs"}, "--jobs: its value is missing: N"},
           {{"validate", "--output", "xml", "x"}, "'xml' is none of github, json, sarif, text"},
           {{"validate", "--kubeconfg", "x", "y"}, "'--kubeconfg' was not expected; did you mean '--kubeconfig'?"},
           {{"operator", "--kubconfig", "x"}, "'--kubconfig' was not expected; did you mean '--kubeconfig'?"},
           {{"operator", "--kubconfig=x"}, "'--kubconfig=x' was not expected; did you mean '--kubeconfig'?"},
           {{"crds", "isvc", "--kubconfig", "x", "--aply"}, "crds: '--kubconfig' was not expected; did you mean"},
           {{"operator", "x", "y"}, "'x' was not expected\n"},
           {{"operator", "--namespaces", "a,Foo Bar"}, "--namespaces: 'Foo Bar' must"},
           {{"gate", "--service-namespace", "a.b"}, "--service-namespace: 'a.b' must"},
           {{"operator", "--lease-namespace", "-a"}, "--lease-namespace: '-a' must"},
           {{"operator", "--image-datastore", "foo bar"}, "--image-datastore: 'foo bar' must"},
           {{"plan", "--image-puller", "a:b:c/d", "x"}, "--image-puller: 'a:b:c/d' "},
           {{"validate", "--context", "x", "y"}, "--context requires --cluster"},
           {{"validate", "--kubeconfig=x", "y"}, "--kubeconfig requires --cluster"},
           {{"crds", "--kubeconfig", "x"}, "--kubeconfig requires --apply"},
           {{"validat", "x"}, "there is no command 'validat'; did you mean 'validate'?"},
           {{"crds", "isvx"}, "did you mean 'isvc'"},
           {{"crds", "nothing"}, "There are InferenceService (isvc) InferenceCache (icache)"},
           {{"rules", "explain", "schema-requird"}, "did you mean 'schema-required'"},
           {{"rules", "explain"}, "rule"},
       }) {
    const auto ran = run(each.words);
    EXPECT_EQ(ran.status, 2) << testing::PrintToString(each.words);
    EXPECT_THAT(ran.err, HasSubstr(each.says));
    EXPECT_EQ(ran.out, "");
  }
}

TEST(CommandLine, help_fits_eighty_columns) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{"--help"},
                                                                                     {"gate", "--help"},
                                                                                     {"operator", "--help"},
                                                                                     {"validate", "--help"},
                                                                                     {"plan", "--help"},
                                                                                     {"rules", "--help"},
                                                                                     {"rules", "explain", "--help"},
                                                                                     {"crds", "--help"},
                                                                                     {"version", "--help"}}) {
    std::istringstream help(run(words).out);
    for (std::string line; std::getline(help, line);) EXPECT_LE(validate::terminal_width(line), 80U) << line;
  }
}

TEST(CommandLine, long_lines_of_help_go_on_under_their_description) {
  EXPECT_EQ(
      settings::wrap("  --option A   one two three\n  --other B   one two threeandmore\n\nfour five six", 22),
      "  --option A   one two\n           three\n  --other B   one two\n           threeandmore\n\nfour five six\n");
  EXPECT_EQ(settings::wrap("onewordonly\n  two words\n", 5), "onewordonly\n  two\n  words\n");
}

TEST(CommandLine, help_has_examples) {
  for (const char* command : {"gate", "validate", "rules", "crds"}) {
    const auto ran = run({command, "--help"});
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, HasSubstr(std::string("Example"))) << command;
    EXPECT_THAT(ran.out, HasSubstr(std::string("  stackgate ") + command));
  }
}

TEST(Crds, prints_all_or_those_that_are_named) {
  const auto all = run({"crds"});
  EXPECT_EQ(all.status, 0);
  const auto two = run({"crds", "isvc", "StackGuardrail", "stackguardrails.stackgate.dev", "--output", "json"});
  EXPECT_THAT(two.out, HasSubstr("\"inferenceservices.stackgate.dev\""));
  json::Document document;
  const auto list = json::parse(two.out, document);
  ASSERT_TRUE(list.has_value());
  EXPECT_EQ(list->find("items")->items().size(), 2U);
  const yaml::Stream stream = yaml::parse(all.out);
  EXPECT_FALSE(stream.failed);
  EXPECT_EQ(stream.documents.size(), crds::kinds.size());
}

TEST(Rules, pages_fit_eighty_columns_but_for_their_examples) {
  std::istringstream page(run({"rules", "explain", "amount-unlikely"}).out);
  for (std::string line; std::getline(page, line) && line != "Bad:";) EXPECT_LE(line.size(), 80U) << line;
}

TEST(Rules, a_part_of_an_id_names_those_that_have_it) {
  EXPECT_THAT(run({"rules", "explain", "adapter"}).err, HasSubstr("\n  adapter-limits\n  adapter-refresh-interval\n"));
}

TEST(Rules, lists_and_explains_every_rule) {
  const auto list = run({"rules", "--output", "json"});
  json::Document document;
  const auto rules = json::parse(list.out, document);
  ASSERT_TRUE(rules.has_value());
  ASSERT_GT(rules->items().size(), 50U);
  const auto text = run({"rules"});
  for (const json::Value& rule : rules->items()) {
    const std::string id(rule.find("id")->string());
    EXPECT_THAT(text.out, HasSubstr("  " + id + " "));
    const auto page = run({"rules", "explain", id});
    EXPECT_EQ(page.status, 0);
    EXPECT_THAT(page.out, testing::StartsWith(id + " ("));
    EXPECT_THAT(page.out, HasSubstr(std::string(rule.find("title")->string())));
  }
}

}  // namespace
}  // namespace stackgate
