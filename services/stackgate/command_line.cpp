#include "services/stackgate/command_line.hpp"

#include <algorithm>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "services/kit/base/version.hpp"
#include "services/kit/findings/nearest.hpp"
#include "services/kit/run/startup.hpp"
#include "services/kit/settings/help.hpp"
#include "services/kit/settings/names.hpp"
#include "services/stackgate/command_tables.hpp"

namespace stackgate {

namespace {

using settings::Program;
using settings::Source;
using settings::Values;

/// Why settings that are good one by one are no good together.
using Fault = std::optional<std::string>;

/// The setting as it was given: by its variable's name where its value came from there.
std::string shown(const Program& table, const Values& values, std::string_view name) {
  const auto setting = std::ranges::find(table.settings, name, &settings::Setting::name);
  return values.source(name) == Source::variable ? settings::in_variable(*setting) : settings::flag_of(*setting);
}

bool written(const Values& values, std::string_view name) { return values.source(name) == Source::flag; }

/// Of the command line only: a variable may be meant for all that this shell does.
Fault requires_flag(const Values& values, const std::vector<std::string_view>& names, std::string_view needed) {
  for (const std::string_view name : names)
    if (written(values, name) && !values.flag(needed)) return fmt::format("--{} requires --{}", name, needed);
  return {};
}

validate::References references(const std::string& word) {
  using validate::References;
  return word == "deny" ? References::deny : word == "warn" ? References::warn : References::off;
}

void read_rules(const Values& values, validate::Options& rules) {
  rules.required_references = references(values.text("references"));
  rules.other_references = references(values.text("other-references"));
  rules.gpu_resources = values.list("gpu-resources");
}

unsigned number(const Values& values, std::string_view name) { return static_cast<unsigned>(values.integer(name)); }

void read_images(const Program& table, const Values& values, reconcile::Settings& settings) {
  for (const settings::Setting& each : table.settings)
    if (is_image(each) && values.has(each.name))
      settings.images[std::string(each.name.substr(6))] = values.text(each.name);
}

GateOptions read_serving(const Program& table, const Values& values) {
  GateOptions out;
  std::string program(table.name);  // "stackgate gate"
  std::ranges::replace(program, ' ', '-');
  out.telemetry = telemetry::read_telemetry(values, program, run::host_name());
  out.listen = values.text("listen");
  out.metrics_listen = values.text("metrics-listen");
  out.health_listen = values.text("health-listen");
  out.tls_cert = values.text("tls-cert");
  out.tls_key = values.text("tls-key");
  out.self_managed = values.has("certs");
  out.service_name = values.text("service-name");
  out.service_namespace = values.text("service-namespace");
  out.webhook_config_names = values.list("webhook-config-names");
  out.kubeconfig = values.text("kubeconfig");
  out.context = values.text("context");
  out.namespaces = values.list("namespaces");
  read_rules(values, out.rules);
  out.log_format = values.text("log-format");
  out.log_level = log::parse_level(values.text("log-level")).value_or(log::Level::info);
  out.workers = number(values, "workers");
  out.drain_seconds = number(values, "drain-seconds");
  return out;
}

Fault check_pair(const Program& table, const Values& values) {
  for (const auto& [one, other] : {std::pair{"tls-cert", "tls-key"}, std::pair{"tls-key", "tls-cert"}})
    if (values.has(one) && !values.has(other)) return fmt::format("{} requires --{}", shown(table, values, one), other);
  return {};
}

Fault check_certificates(const Program& table, const Values& values) {
  if (values.has("certs") && values.has("tls-cert"))
    return fmt::format("{}: self-managed excludes --tls-cert and --tls-key", shown(table, values, "certs"));
  if (!values.has("certs") && !values.has("tls-cert"))
    return "--tls-cert FILE and --tls-key FILE (or --certs self-managed) is required";
  return {};
}

using Read = std::expected<Command, std::string>;

Read read_gate(const Program& table, const Values& values) {
  if (auto fault = check_pair(table, values)) return std::unexpected(*fault);
  if (auto fault = check_certificates(table, values)) return std::unexpected(*fault);
  GateOptions out = read_serving(table, values);
  out.no_cluster = values.flag("no-cluster");
  if (out.self_managed && out.no_cluster)
    return std::unexpected(
        fmt::format("{}: self-managed needs the cluster that --no-cluster excludes", shown(table, values, "certs")));
  return out;
}

Read read_operator(const Program& table, const Values& values) {
  OperatorOptions out;
  out.admission = values.flag("admission");
  if (auto fault = check_pair(table, values)) return std::unexpected(*fault);
  if (auto fault = check_certificates(table, values); fault && out.admission) return std::unexpected(*fault);
  out.gate = read_serving(table, values);
  out.settings.gpu_resources = out.gate.rules.gpu_resources;
  out.settings.workflow_task_results = values.flag("workflow-task-results");
  read_images(table, values, out.settings);
  out.reconcile_workers = number(values, "reconcile-workers");
  out.api_calls_per_second = number(values, "api-calls-per-second");
  out.leader_elect = values.flag("leader-elect");
  out.lease_name = values.text("lease-name");
  out.lease_namespace = values.text("lease-namespace");
  out.leader.lease_duration = std::chrono::seconds(values.integer("lease-seconds"));
  out.leader.renew_deadline = std::chrono::seconds(values.integer("renew-seconds"));
  out.leader.retry = std::chrono::seconds(values.integer("retry-seconds"));
  if (const auto fault = kube::LeaderMachine::check(out.leader))
    return std::unexpected(fmt::format("{}: {}", shown(table, values, "lease-seconds"), fault->message));
  return out;
}

constexpr const char* no_paths = "no paths are given: name files, directories, or - for standard input";

Read read_validate(const Program&, const Values& values) {
  static const std::map<std::string, ValidateOutput, std::less<>> outputs{{"text", ValidateOutput::text},
                                                                          {"json", ValidateOutput::json},
                                                                          {"sarif", ValidateOutput::sarif},
                                                                          {"github", ValidateOutput::github}};
  if (values.arguments().empty()) return std::unexpected(no_paths);
  if (auto fault = requires_flag(values, {"kubeconfig", "context"}, "cluster")) return std::unexpected(*fault);
  ValidateOptions out;
  out.paths = values.arguments();
  out.old_path = values.text("old");
  out.output = outputs.at(values.text("output"));
  out.strict = values.flag("strict");
  out.warnings_as_errors = values.flag("warnings-as-errors");
  out.cluster = values.flag("cluster");
  out.kubeconfig = values.text("kubeconfig");
  out.context = values.text("context");
  out.ns = values.text("namespace");
  read_rules(values, out.rules);
  out.jobs = number(values, "jobs");
  return out;
}

Read read_plan(const Program& table, const Values& values) {
  if (values.arguments().empty()) return std::unexpected(no_paths);
  PlanOptions out;
  out.paths = values.arguments();
  out.json = values.text("output") == "json";
  out.ns = values.text("namespace");
  out.kubernetes_minor = number(values, "kubernetes");
  out.rules.gpu_resources = out.settings.gpu_resources = values.list("gpu-resources");
  read_images(table, values, out.settings);
  return out;
}

Read read_rules_list(const Program&, const Values& values) {
  return RulesOptions{.explain = {}, .json = values.text("output") == "json"};
}

Read read_explain(const Program&, const Values& values) {
  if (values.arguments().empty()) return std::unexpected("the rule is missing: ID");
  if (values.arguments().size() > 1)
    return std::unexpected(fmt::format("'{}' was not expected", values.arguments()[1]));
  return RulesOptions{.explain = values.arguments()[0], .json = values.text("output") == "json"};
}

Read read_crds(const Program&, const Values& values) {
  CrdsOptions out;
  out.apply = values.flag("apply");
  if (out.apply && written(values, "output")) return std::unexpected("--output excludes --apply");
  if (auto fault = requires_flag(values, {"dry-run", "timeout", "kubeconfig", "context"}, "apply"))
    return std::unexpected(*fault);
  out.kinds = values.arguments();
  out.json = values.text("output") == "json";
  out.dry_run = values.flag("dry-run");
  out.timeout_seconds = number(values, "timeout");
  out.kubeconfig = values.text("kubeconfig");
  out.context = values.text("context");
  return out;
}

Read read_version(const Program&, const Values&) { return VersionOptions{}; }

struct Entry {
  std::string_view name;
  Program (*table)();
  Read (*read)(const Program&, const Values&);
  bool exports = false;  // has the settings of kit/telemetry
};
constexpr Entry commands[] = {{"operator", operator_table, read_operator, true}, {"gate", gate_table, read_gate, true},
                              {"validate", validate_table, read_validate},       {"plan", plan_table, read_plan},
                              {"rules", rules_table, read_rules_list},           {"crds", crds_table, read_crds},
                              {"version", version_table, read_version}};
constexpr Entry explain{"explain", explain_table, read_explain};

/// `stackgate` itself.
Program root_table(const Console& console) {
  Program out{.name = "stackgate",
              .summary = "nothing reaches the cluster that could not run",
              .examples =
                  "  stackgate validate --help   a command's options, with examples\n"
                  "  stackgate rules             what is checked\n",
              .usage = "[OPTIONS] SUBCOMMAND",
              .terse = true,
              .columns = console.columns};
  for (const Entry& each : commands) out.commands.push_back({each.name, each.table().summary});
  return out;
}

Finished complain(const Console& console, const Program& table, std::string path, std::string problem,
                  std::string fix = {}) {
  console.err << settings::to_text(
      table, {{.path = std::move(path), .value = {}, .problem = std::move(problem), .fix = std::move(fix)}});
  return {2};
}

Command run_entry(const Entry& entry, std::vector<const char*> words, const Console& console) {
  Program table = entry.table();
  table.columns = console.columns;
  settings::Outcome outcome = settings::read(table, words, run::variable, run::small_file, version);
  if (!outcome.to_print.empty()) {
    console.out << outcome.to_print;
    return Finished{0};
  }
  validate::Findings findings = std::move(outcome.findings);
  if (findings.empty() && entry.exports) findings = telemetry::check_telemetry(outcome.values);
  if (!findings.empty()) {
    const validate::Finding& first = findings.front();
    if (first.value == "-f" || first.value == "--filename")
      return complain(console, table, {}, fmt::format("paths stand alone: leave {} out", first.value));
    console.err << settings::to_text(table, findings);
    return Finished{2};
  }
  Read command = entry.read(table, outcome.values);
  if (!command) return complain(console, table, {}, command.error());
  std::vector<settings::Misspelt> ignored = settings::misspelt_variables(table, run::environment());
  if (auto* gate = std::get_if<GateOptions>(&*command))
    gate->misspelt_variables = std::move(ignored);
  else if (auto* op = std::get_if<OperatorOptions>(&*command))
    op->gate.misspelt_variables = std::move(ignored);
  else
    for (const auto& [name, meant] : ignored)
      console.err << fmt::format("stackgate: the variable {} is ignored; did you mean {}?\n", name, meant);
  return std::move(*command);
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv, const Console& console) {
  std::vector<const char*> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && std::string_view(words[0]) == "help") {  // help validate: validate --help
    words.erase(words.begin());
    words.resize(std::min<std::size_t>(words.size(), 1));
    words.push_back("--help");
  }
  const Program root = root_table(console);
  const std::string_view first = words.empty() ? std::string_view() : words[0];
  if (first == "--version") return VersionOptions{};
  if (first == "--help" || first == "-h") {
    console.out << settings::help_text(root);
    return Finished{0};
  }
  if (first.empty()) return complain(console, root, {}, "a command is required");
  const auto entry = std::ranges::find(commands, first, &Entry::name);
  if (entry == std::ranges::end(commands)) {
    std::vector<std::string_view> names;
    for (const Entry& each : commands) names.push_back(each.name);
    const auto near = validate::nearest(first, names);
    const bool is_flag = first.starts_with('-');
    console.err << fmt::format("stackgate: {}{}\n'stackgate --help' lists them.\n",
                               is_flag ? fmt::format("'{}' was not expected before a command", first)
                                       : fmt::format("there is no command '{}'", first),
                               near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near));
    return Finished{2};
  }
  words.erase(words.begin());
  const auto is_explain = [](const char* word) { return std::string_view(word) == explain.name; };
  if (const auto at = std::ranges::find_if(words, is_explain); entry->name == "rules" && at != words.end()) {
    words.erase(at);
    return run_entry(explain, std::move(words), console);
  }
  return run_entry(*entry, std::move(words), console);
}

}  // namespace stackgate
