#include "services/stackgate/command_line.hpp"

#include <cstdlib>

#include <gmock/gmock.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/yaml/parse.hpp"
#include "tests/cli/run_command.hpp"

namespace stackgate {
namespace {

using test::run;
using testing::ElementsAre;
using testing::HasSubstr;

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

struct WrongUse {
  std::vector<std::string> words;
  std::string says;
};

TEST(CommandLine, wrong_use_ends_with_2_and_says_what_to_write) {
  for (const WrongUse& each : std::vector<WrongUse>{
           {{}, "required"},
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
           {{"validate"}, "paths"},
           {{"validate", "--output", "xml", "x"}, "'xml' is none of github, json, sarif, text"},
           {{"validate", "--kubeconfg", "x", "y"}, "--kubeconfg"},
           {{"crds", "isvx"}, "did you mean 'isvc'"},
           {{"rules", "explain", "schema-requird"}, "did you mean 'schema-required'"},
           {{"rules", "explain"}, "rule"},
       }) {
    const auto ran = run(each.words);
    EXPECT_EQ(ran.status, 2) << testing::PrintToString(each.words);
    EXPECT_THAT(ran.err, HasSubstr(each.says));
    EXPECT_EQ(ran.out, "");
  }
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
