#include "services/stackgate/command_line.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/stackgate/option_checks.hpp"
#include "services/stackgate/usage.hpp"

namespace stackgate {

namespace {

using validate::References;

const std::map<std::string, References> reference_words{
    {"deny", References::deny}, {"warn", References::warn}, {"off", References::off}};
const std::map<std::string, ValidateOutput> output_words{{"text", ValidateOutput::text},
                                                         {"json", ValidateOutput::json},
                                                         {"sarif", ValidateOutput::sarif},
                                                         {"github", ValidateOutput::github}};
const std::map<std::string, log::Level> level_words{{"debug", log::Level::debug},
                                                    {"info", log::Level::info},
                                                    {"warning", log::Level::warning},
                                                    {"error", log::Level::error}};

/// Words become values; a wrong word is refused with the list of right ones.
template <class T>
CLI::Option* word_option(CLI::App& app, const std::string& name, T& value, const std::map<std::string, T>& words,
                         const std::string& help) {
  std::vector<std::string> list;
  list.reserve(words.size());
  for (const auto& [word, meaning] : words) list.push_back(word);
  return app
      .add_option_function<std::string>(
          name, [&value, &words](const std::string& word) { value = words.at(word); }, help)
      ->check(one_of(list))
      ->type_name(fmt::format("{}", fmt::join(list, "|")));
}

void json_option(CLI::App& app, bool& json, const std::string& other, const std::string& help) {
  app.add_option_function<std::string>(
         "--output,-o", [&json](const std::string& word) { json = word == "json"; }, help)
      ->check(one_of({other, "json"}))
      ->type_name(other + "|json");
}

void add_gpu_option(CLI::App& app, validate::Options& rules) {
  app.add_option("--gpu-resources", rules.gpu_resources,
                 "extended resources that are GPUs, beside any that ends in /gpu")
      ->delimiter(',')
      ->type_name("NAME,…")
      ->envname("STACKGATE_GPU_RESOURCES");
}

void add_rule_options(CLI::App& app, validate::Options& rules) {
  word_option(app, "--references", rules.required_references, reference_words,
              "references that must exist before the resource does (default: deny)")
      ->envname("STACKGATE_REFERENCES");
  word_option(app, "--other-references", rules.other_references, reference_words,
              "all other references (default: warn)")
      ->envname("STACKGATE_OTHER_REFERENCES");
  add_gpu_option(app, rules);
}

void add_cluster_options(CLI::App& app, std::string& kubeconfig, std::string& context) {
  app.add_option("--kubeconfig", kubeconfig, "kubeconfig file (default: as kubectl and pods find theirs)")
      ->type_name("FILE")
      ->envname("STACKGATE_KUBECONFIG");
  app.add_option("--context", context, "context of the kubeconfig")->type_name("NAME")->envname("STACKGATE_CONTEXT");
}

/// What serves admission reviews: of `gate` and of `operator`.
void add_serving_options(CLI::App* app, GateOptions& gate) {
  const auto address = [&](const char* name, std::string& value, const char* env, const char* help) {
    app->add_option(name, value, help)
        ->check(host_and_port())
        ->type_name("HOST:PORT")
        ->envname(env)
        ->capture_default_str();
  };
  address("--listen", gate.listen, "STACKGATE_LISTEN", "where admission reviews are answered, over TLS");
  address("--metrics-listen", gate.metrics_listen, "STACKGATE_METRICS_LISTEN", "where /metrics is");
  address("--health-listen", gate.health_listen, "STACKGATE_HEALTH_LISTEN", "where /healthz and /readyz are");

  CLI::Option* certificate =
      app->add_option("--tls-cert", gate.tls_cert, "certificate chain, PEM; read again when it changes")
          ->type_name("FILE")
          ->envname("STACKGATE_TLS_CERT");
  CLI::Option* key = app->add_option("--tls-key", gate.tls_key, "its private key, PEM")
                         ->type_name("FILE")
                         ->envname("STACKGATE_TLS_KEY");
  certificate->needs(key);
  key->needs(certificate);
  app->add_option_function<std::string>(
         "--certs", [&gate](const std::string&) { gate.self_managed = true; },
         "self-managed: a CA and certificates of our own, kept in a Secret")
      ->check(one_of({"self-managed"}))
      ->type_name("self-managed")
      ->envname("STACKGATE_CERTS");
  app->add_option("--service-name", gate.service_name, "Service in front of the gate, for self-managed certificates")
      ->envname("STACKGATE_SERVICE_NAME")
      ->capture_default_str();
  app->add_option("--service-namespace", gate.service_namespace, "its namespace, and that of the Secret")
      ->check(namespace_name())
      ->envname("STACKGATE_SERVICE_NAMESPACE")
      ->capture_default_str();
  app->add_option("--webhook-config-names", gate.webhook_config_names,
                  "webhook configurations whose caBundle is kept right, for self-managed certificates")
      ->delimiter(',')
      ->type_name("NAME,…")
      ->envname("STACKGATE_WEBHOOK_CONFIG_NAMES")
      ->capture_default_str();

  add_cluster_options(*app, gate.kubeconfig, gate.context);
  app->add_option("--namespaces", gate.namespaces, "namespaces to watch (default: all)")
      ->delimiter(',')
      ->check(namespace_name())
      ->type_name("NAME,…")
      ->envname("STACKGATE_NAMESPACES");
  add_rule_options(*app, gate.rules);

  app->add_option("--log-format", gate.log_format, "json or text (default: text on a terminal)")
      ->check(one_of({"json", "text"}))
      ->type_name("json|text")
      ->envname("STACKGATE_LOG_FORMAT");
  word_option(*app, "--log-level", gate.log_level, level_words, "least level that is logged (default: info)")
      ->envname("STACKGATE_LOG_LEVEL");
  app->add_option("--workers", gate.workers, "threads that answer requests (default: one per core, at most 4)")
      ->check(number_between(1, 256))
      ->type_name("N")
      ->envname("STACKGATE_WORKERS");
  app->add_option("--drain-seconds", gate.drain_seconds, "how long to go on serving after SIGTERM, unready")
      ->check(number_between(0, 3600))
      ->type_name("N")
      ->envname("STACKGATE_DRAIN_SECONDS")
      ->capture_default_str();
}

CLI::App* add_gate(CLI::App& root, GateOptions& gate) {
  CLI::App* app = root.add_subcommand("gate", "Serve the admission webhook");
  app->footer(help::gate);
  add_serving_options(app, gate);
  app->add_flag("--no-cluster", gate.no_cluster, "ask no API server: reference rules are off")
      ->envname("STACKGATE_NO_CLUSTER");
  return app;
}

void add_election_options(CLI::App* app, OperatorOptions& options) {
  app->add_flag("--leader-elect,!--no-leader-elect", options.leader_elect,
                "reconcile only while holding the Lease (default: on)")
      ->envname("STACKGATE_LEADER_ELECT");
  app->add_option("--lease-name", options.lease_name, "the Lease that replicas compete for")
      ->envname("STACKGATE_LEASE_NAME")
      ->capture_default_str();
  app->add_option("--lease-namespace", options.lease_namespace, "its namespace (default: --service-namespace)")
      ->check(namespace_name())
      ->envname("STACKGATE_LEASE_NAMESPACE");
  const auto seconds = [&](const char* name, const char* env, const char* help, auto& value) {
    app->add_option_function<unsigned>(
           name, [&value](unsigned n) { value = std::chrono::seconds(n); }, help)
        ->check(number_between(1, 3600))
        ->type_name("N")
        ->envname(env);
  };
  seconds("--lease-seconds", "STACKGATE_LEASE_SECONDS", "a silent leader is replaced after that long (default: 15)",
          options.leader.lease_duration);
  seconds("--renew-seconds", "STACKGATE_RENEW_SECONDS",
          "a leader that cannot renew gives up after that long (default: 10)", options.leader.renew_deadline);
  seconds("--retry-seconds", "STACKGATE_RETRY_SECONDS", "time between renewals (default: 2)", options.leader.retry);
}

void add_image_options(CLI::App& app, reconcile::Settings& settings) {
  for (const char* service :
       {"datastore", "entitystore", "customizer", "evaluator", "guardrail", "puller", "trainer"}) {
    std::string env = fmt::format("STACKGATE_IMAGE_{}", service);
    std::ranges::transform(env, env.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    app.add_option_function<std::string>(
           fmt::format("--image-{}", service),
           [&settings, service](const std::string& image) { settings.images[service] = image; },
           fmt::format("image of the {} where a resource names none", service))
        ->check(image_reference())
        ->type_name("IMAGE")
        ->envname(env);
  }
}

CLI::App* add_operator(CLI::App& root, OperatorOptions& options) {
  CLI::App* app = root.add_subcommand("operator", "Reconcile the resources, and serve the admission webhook");
  app->footer(help::operate);
  add_serving_options(app, options.gate);
  app->add_flag("--admission,!--no-admission", options.admission, "serve the admission webhook (default: on)")
      ->envname("STACKGATE_ADMISSION");
  app->add_option("--reconcile-workers", options.reconcile_workers, "resources that are worked on at a time")
      ->check(number_between(1, 64))
      ->type_name("N")
      ->envname("STACKGATE_RECONCILE_WORKERS")
      ->capture_default_str();
  app->add_option("--api-calls-per-second", options.api_calls_per_second,
                  "most calls to the API server, beside watches; 0: no limit")
      ->check(number_between(0, 100'000))
      ->type_name("N")
      ->envname("STACKGATE_API_CALLS_PER_SECOND")
      ->capture_default_str();
  add_election_options(app, options);
  app->add_flag("--workflow-task-results", options.settings.workflow_task_results,
                "let an evaluator's workflow pods write workflowtaskresults (Argo Workflows 3.4 and later)")
      ->envname("STACKGATE_WORKFLOW_TASK_RESULTS");
  add_image_options(*app, options.settings);
  return app;
}

CLI::App* add_plan(CLI::App& root, PlanOptions& options) {
  CLI::App* app = root.add_subcommand("plan", "Show what would be created for resources");
  app->footer(help::plan);
  app->add_option("paths", options.paths, "files, directories, or - for standard input")->required()->type_name("PATH");
  json_option(*app, options.json, "yaml", "how it is written");
  app->add_option("--namespace,-n", options.ns, "namespace of documents that name none")
      ->check(namespace_name())
      ->type_name("NAME")
      ->capture_default_str();
  app->add_option("--kubernetes", options.kubernetes_minor, "minor version of the Kubernetes 1 to plan for")
      ->check(number_between(16, 999))
      ->type_name("N")
      ->capture_default_str();
  add_gpu_option(*app, options.rules);
  add_image_options(*app, options.settings);
  return app;
}

CLI::App* add_validate(CLI::App& root, ValidateOptions& options) {
  CLI::App* app = root.add_subcommand("validate", "Check manifests before they are applied");
  app->footer(help::validate);
  app->add_option("paths", options.paths, "files, directories, or - for standard input")->required()->type_name("PATH");
  app->add_option("--old", options.old_path,
                  "the resources as they are stored: rules about updates hold, too, and what is no longer among the "
                  "new ones counts as deleted")
      ->type_name("PATH");
  word_option(*app, "--output,-o", options.output, output_words, "how findings are written (default: text)")
      ->envname("STACKGATE_OUTPUT");
  app->add_flag("--strict", options.strict, "complain about documents of other kinds instead of passing them over");
  app->add_flag("--warnings-as-errors", options.warnings_as_errors, "exit with 1 for warnings, too");
  app->add_flag("--cluster", options.cluster, "ask the API server about what the resources refer to");
  add_cluster_options(*app, options.kubeconfig, options.context);
  app->add_option("--namespace,-n", options.ns, "namespace of documents that name none")
      ->check(namespace_name())
      ->type_name("NAME");
  add_rule_options(*app, options.rules);
  app->add_option("--jobs,-j", options.jobs, "threads")
      ->check(number_between(1, 256))
      ->type_name("N")
      ->capture_default_str();
  return app;
}

void check_certificates(const GateOptions& gate) {
  if (gate.self_managed && !gate.tls_cert.empty())
    throw CLI::ValidationError("--certs", "self-managed excludes --tls-cert and --tls-key");
  if (!gate.self_managed && gate.tls_cert.empty())
    throw CLI::RequiredError("--tls-cert FILE and --tls-key FILE (or --certs self-managed)");
}

std::vector<OptionSource> sources_of(const CLI::App& app) {
  std::vector<OptionSource> out;
  for (const CLI::Option* option : app.get_options()) {
    OptionSource source{{}, option->get_envname()};
    for (const std::string& name : option->get_lnames()) source.flags.push_back("--" + name);
    for (const std::string& name : option->get_snames()) source.flags.push_back("-" + name);
    if (!source.flags.empty()) out.push_back(std::move(source));
  }
  return out;
}

/// Of the command line only: a variable may be meant for all that this shell does.
void refuse_cluster_options(std::span<const OptionSource> sources, Words words, const std::string& needed) {
  for (const OptionSource& source : sources)
    for (const std::string option : {"--kubeconfig", "--context"})
      if (source.flags.front() == option && is_written(words, source.flags)) throw CLI::RequiresError(option, needed);
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv, const Console& console) {
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    const std::array as_option{argv[0], argc > 2 ? argv[2] : "--help", "--help"};
    return parse_command_line(static_cast<int>(as_option.size()), as_option.data(), console);
  }
  CLI::App root("Stackgate: nothing reaches the cluster that could not run.", "stackgate");
  root.require_subcommand(1);
  root.footer(help::root);
  root.get_formatter()->column_width(34);
  root.add_flag_callback("--version", [] { throw CLI::CallForVersion(); }, "Print the version")->trigger_on_parse();

  GateOptions gate;
  OperatorOptions op;
  ValidateOptions checks;
  PlanOptions plan;
  RulesOptions rules;
  CrdsOptions crds;
  CLI::App* const operator_command = add_operator(root, op);
  CLI::App* const gate_command = add_gate(root, gate);
  CLI::App* const validate_command = add_validate(root, checks);
  CLI::App* const plan_command = add_plan(root, plan);

  CLI::App* const rules_command = root.add_subcommand("rules", "List the rules, or explain one");
  json_option(*rules_command, rules.json, "text", "how they are written");
  rules_command->footer(help::rules);
  CLI::App* const explain =
      rules_command->add_subcommand("explain", "Why a rule exists, with a bad and a good example");
  explain->add_option("rule", rules.explain, "the rule's id, as findings show it")->required()->type_name("ID");
  explain->footer(help::explain);
  json_option(*explain, rules.json, "text", "how they are written");

  CLI::App* const crds_command = root.add_subcommand("crds", "Print the CustomResourceDefinitions, or apply them");
  crds_command->add_option("kinds", crds.kinds, "kinds, plurals or short names (default: all)")->type_name("KIND");
  json_option(*crds_command, crds.json, "yaml", "how they are written");
  CLI::Option* const apply_flag = crds_command->add_flag(
      "--apply", crds.apply, "put them into the cluster, wait until they are served, and say what changed");
  crds_command->get_option("--output")->excludes(apply_flag);
  crds_command->add_flag("--dry-run", crds.dry_run, "only say what would change")->needs(apply_flag);
  crds_command->add_option("--timeout", crds.timeout_seconds, "how long to wait for each, in seconds")
      ->check(number_between(1, 3600))
      ->type_name("N")
      ->capture_default_str()
      ->needs(apply_flag);
  add_cluster_options(*crds_command, crds.kubeconfig, crds.context);
  crds_command->footer(help::crds);

  CLI::App* const version_command = root.add_subcommand("version", "Print the version");
  CLI::App* chosen = nullptr;
  std::vector<std::string> names;
  for (CLI::App* each : root.get_subcommands({}))
    if (names.push_back(each->get_name()); argc > 1 && names.back() == argv[1]) chosen = each;
  if (argc > 1 && argv[1][0] != '-' && chosen == nullptr) {
    // CLI11 says of a wrong word only that a subcommand is required.
    console.err << "stackgate: there is no command '" << argv[1] << "'" << did_you_mean(argv[1], names)
                << "\n'stackgate --help' lists them.\n";
    return Finished{2};
  }
  const std::vector<OptionSource> sources = chosen == nullptr ? std::vector<OptionSource>{} : sources_of(*chosen);
  // What is set for another command must not get into the way of this one.
  for (CLI::App* each : root.get_subcommands({}))
    if (each != chosen)
      for (CLI::Option* option : each->get_options()) option->envname("");
  const Words words(argv, static_cast<std::size_t>(argc));
  try {
    root.parse(argc, argv);
    gate.misspelt_variables = op.gate.misspelt_variables = misspelt_variables(sources);
    if (chosen != gate_command && chosen != operator_command) console.err << to_text(gate.misspelt_variables);
    if (gate_command->parsed()) {
      check_certificates(gate);
      if (gate.self_managed && gate.no_cluster)
        throw CLI::ValidationError("--certs", "self-managed needs the cluster that --no-cluster excludes");
      return gate;
    }
    if (operator_command->parsed()) {
      if (op.admission) check_certificates(op.gate);
      if (const auto fault = kube::LeaderMachine::check(op.leader))
        throw CLI::ValidationError("--lease-seconds", fault->message);
      op.settings.gpu_resources = op.gate.rules.gpu_resources;
      return op;
    }
    if (validate_command->parsed()) {
      if (!checks.cluster) refuse_cluster_options(sources, words, "--cluster");
      return checks;
    }
    if (plan_command->parsed()) {
      plan.settings.gpu_resources = plan.rules.gpu_resources;
      return plan;
    }
    if (rules_command->parsed()) return rules;
    if (crds_command->parsed()) {
      if (!crds.apply) refuse_cluster_options(sources, words, "--apply");
      return crds;
    }
    if (version_command->parsed()) return VersionOptions{};
  } catch (const CLI::CallForVersion&) {
    return VersionOptions{};
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0 || asks_for_help(words)) {
      console.out << wrap_help(root.help());
      return Finished{0};
    }
    const std::string of = chosen == nullptr ? "" : " " + chosen->get_name();
    console.err << "stackgate" << of << ": " << complaint(error.what(), words, sources) << "\n'stackgate" << of
                << " --help' tells more.\n";
  }
  return Finished{2};
}

}  // namespace stackgate
