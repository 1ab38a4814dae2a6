#include "services/stackgate/command_tables.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "services/kit/grammar/image.hpp"
#include "services/kit/grammar/names.hpp"
#include "services/kit/settings/table.hpp"
#include "services/kit/telemetry/options.hpp"

namespace stackgate {

using settings::no_variable;
using settings::Program;
using settings::Setting;
using namespace settings::table;

namespace {

using Check = std::function<std::string(const std::string&)>;
using Table = std::vector<Setting>;

/// HOST:PORT as in "127.0.0.1:9443", ":8080" or "[::1]:0"; listening itself finds the rest.
std::string check_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return fmt::format("write HOST:PORT, not '{}'", text);
  const std::string port = text.substr(colon + 1);
  const bool digits = !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
  if (digits && std::stoul(port) <= 65535) return {};
  return fmt::format("'{}' is no port; write HOST:PORT with a port up to 65535", port);
}

std::string check_namespace(const std::string& text) {
  const auto problem = validate::grammar::check_dns_label(text);
  return problem ? fmt::format("'{}' {}; {}", text, problem->problem, problem->fix) : std::string();
}

std::string check_image(const std::string& text) {
  const auto image = validate::grammar::parse_image(text);
  return image ? std::string() : fmt::format("'{}' {}; {}", text, image.error().problem, image.error().fix);
}

/// The variable is STACKGATE_<NAME>, unless there is none.
Setting word(std::string_view name, std::string_view placeholder, std::string_view help, Check check = {},
             std::string_view fallback = {}) {
  return {.name = name, .help = help, .fallback = fallback, .placeholder = placeholder, .check = std::move(check)};
}

Setting address(std::string_view name, std::string_view help, std::string_view fallback) {
  return word(name, "HOST:PORT", help, check_address, fallback);
}

Setting list(std::string_view name, std::string_view help, Check check = {}, std::string_view fallback = {}) {
  Setting out = word(name, "NAME,…", help, std::move(check), fallback);
  out.kind = settings::Kind::list;
  return out;
}

Setting without_variable(Setting setting) { return by_variable(no_variable, std::move(setting)); }

Setting with_opposite(std::string_view opposite, Setting setting) {
  setting.opposite = opposite;
  return setting;
}

Setting with_letter(char letter, Setting setting) {
  setting.letter = letter;
  return setting;
}

Setting output(std::vector<std::string_view> words, std::string_view help, std::string_view fallback) {
  return with_letter('o', choice("output", std::move(words), help, fallback));
}

Setting document_namespace(std::string_view fallback) {
  return with_letter('n', without_variable(word("namespace", "NAME", "namespace of documents that name none",
                                                check_namespace, fallback)));
}

Table cluster_settings() {
  return {word("kubeconfig", "FILE", "kubeconfig file; else as kubectl and pods find theirs"),
          word("context", "NAME", "context of the kubeconfig")};
}

Setting gpu_setting() {
  return list("gpu-resources", "extended resources that are GPUs, beside any that ends in /gpu");
}

Table rule_settings() {
  return {choice("references", {"deny", "off", "warn"}, "references that must exist before the resource does", "deny"),
          choice("other-references", {"deny", "off", "warn"}, "all other references", "warn"), gpu_setting()};
}

Table image_settings() {
  static constexpr std::array<std::string_view, 7> names{"image-datastore", "image-entitystore", "image-customizer",
                                                         "image-evaluator", "image-guardrail",   "image-puller",
                                                         "image-trainer"};
  static const auto helps = [] {
    std::array<std::string, names.size()> out;
    for (std::size_t i = 0; i < names.size(); ++i)
      out[i] = fmt::format("image of the {} where a resource names none", names[i].substr(6));
    return out;
  }();
  Table out;
  for (std::size_t i = 0; i < names.size(); ++i) out.push_back(word(names[i], "IMAGE", helps[i], check_image));
  return out;
}

/// What serves admission reviews: of `gate` and of `operator`.
Table serving_settings() {
  Table out;
  append(out, "Serving",
         {address("listen", "where admission reviews are answered, over TLS", "127.0.0.1:9443"),
          address("metrics-listen", "where /metrics is", "127.0.0.1:8080"),
          address("health-listen", "where /healthz and /readyz are", "127.0.0.1:8081"),
          integer("workers", "threads that answer requests; else one per core, at most 4", {}, 1, 256),
          integer("drain-seconds", "how long to go on serving after SIGTERM, unready", "5", 0, 3600)});
  append(
      out, "Certificates",
      {word("tls-cert", "FILE", "certificate chain, PEM; read again when it changes"),
       word("tls-key", "FILE", "its private key, PEM"),
       choice("certs", {"self-managed"}, "a CA and certificates of our own, kept in a Secret"),
       word("service-name", "NAME", "Service in front of the gate, for self-managed certificates", {},
            "stackgate-gate"),
       word("service-namespace", "NAME", "its namespace, and that of the Secret", check_namespace, "stackgate-system"),
       list("webhook-config-names",
            "webhook configurations whose caBundle is kept right, for self-managed certificates", {},
            "stackgate-gate")});
  append(out, "Cluster", cluster_settings());
  append(out, "Cluster", {list("namespaces", "namespaces to watch; else all", check_namespace)});
  append(out, "Rules", rule_settings());
  append(out, "Log",
         {choice("log-format", {"json", "text"}, "how lines are written; else text on a terminal, json elsewhere"),
          choice("log-level", {"debug", "error", "info", "warning"}, "least level that is logged", "info")});
  append(out, "", telemetry::telemetry_settings());
  return out;
}

/// `name` with the command: "stackgate validate".
Program table(std::string_view name, std::string_view summary, std::string_view usage, Table settings,
              std::string_view examples) {
  return {.name = name,
          .summary = summary,
          .settings = std::move(settings),
          .examples = examples,
          .usage = usage,
          .terse = true,
          .columns = 80};
}

}  // namespace

Program gate_table() {
  Table all = serving_settings();
  append(all, "Cluster", {flag("no-cluster", "ask no API server: reference rules are off", "false")});
  return table("stackgate gate", "Serve the admission webhook", "[OPTIONS]", std::move(all),
               "  stackgate gate --tls-cert tls.crt --tls-key tls.key --no-cluster\n"
               "  stackgate gate --listen 0.0.0.0:9443 --certs self-managed\n");
}

Program operator_table() {
  Table all = serving_settings();
  append(
      all, "Reconciling",
      {with_opposite("no-admission", flag("admission", "serve the admission webhook", "true")),
       integer("reconcile-workers", "resources that are worked on at a time", "8", 1, 64),
       integer("api-calls-per-second", "most calls to the API server, beside watches; 0: no limit", "1000", 0, 100'000),
       flag("workflow-task-results",
            "let an evaluator's workflow pods write workflowtaskresults (Argo Workflows 3.4 and later)", "false")});
  append(all, "Leader election",
         {with_opposite("no-leader-elect", flag("leader-elect", "reconcile only while holding the Lease", "true")),
          word("lease-name", "NAME", "the Lease that replicas compete for", {}, "stackgate-operator"),
          word("lease-namespace", "NAME", "its namespace; else --service-namespace", check_namespace),
          integer("lease-seconds", "a silent leader is replaced after that long", "15", 1, 3600),
          integer("renew-seconds", "a leader that cannot renew gives up after that long", "10", 1, 3600),
          integer("retry-seconds", "time between renewals", "2", 1, 3600)});
  append(all, "Images", image_settings());
  return table("stackgate operator", "Reconcile the resources, and serve the admission webhook", "[OPTIONS]",
               std::move(all),
               "  stackgate operator --certs self-managed\n"
               "  stackgate operator --no-admission --kubeconfig ~/.kube/config\n\n"
               "--no-leader-elect is for an operator that is alone in its cluster: two that reconcile at a time undo "
               "each other's work.\n");
}

Program validate_table() {
  Table all;
  append(
      all, "Options",
      {without_variable(word("old", "PATH",
                             "the resources as they are stored: rules about updates hold, too, and what is no longer "
                             "among the new ones counts as deleted")),
       output({"github", "json", "sarif", "text"}, "how findings are written", "text"),
       without_variable(
           flag("strict", "complain about documents of other kinds instead of passing them over", "false")),
       without_variable(flag("warnings-as-errors", "exit with 1 for warnings, too", "false")), document_namespace({}),
       with_letter('j', without_variable(integer("jobs", "threads", "1", 1, 256)))});
  append(all, "Rules", rule_settings());
  append(all, "Cluster",
         {without_variable(flag("cluster", "ask the API server about what the resources refer to", "false"))});
  append(all, "Cluster", cluster_settings());
  Program out =
      table("stackgate validate", "Check manifests before they are applied", "[OPTIONS] PATH...", std::move(all),
            "  stackgate validate manifests/                  every .yaml, .yml, .json below\n"
            "  kustomize build . | stackgate validate -       a stream\n"
            "  stackgate validate --old stored.yaml new.yaml  would this update be accepted?\n"
            "  stackgate validate --cluster manifests/        are secrets and volumes there?\n"
            "  stackgate validate --output sarif . > stackgate.sarif\n\n"
            "PATH is a file, a directory, or - for standard input.\n"
            "Exit status: 0 no errors, 1 errors, 2 something could not be read, there was nothing to check, "
            "or the cluster could not be asked.\n");
  out.takes_words = true;
  return out;
}

Program plan_table() {
  Table all;
  append(all, "Options",
         {without_variable(output({"json", "yaml"}, "how it is written", "yaml")), document_namespace("default"),
          without_variable(integer("kubernetes", "minor version of the Kubernetes 1 to plan for", "28", 16, 999)),
          gpu_setting()});
  append(all, "Images", image_settings());
  Program out = table("stackgate plan", "Show what would be created for resources", "[OPTIONS] PATH...", std::move(all),
                      "  stackgate plan llm.yaml\n"
                      "  stackgate plan --output json stack/ | kubectl diff -f -\n\n"
                      "PATH is a file, a directory, or - for standard input. Caches count as ready, and optional APIs "
                      "(Gateway API, Prometheus Operator, LeaderWorkerSet) as installed.\n"
                      "Exit status: 0 all could be planned, 1 a resource is refused, 2 something could not be read.\n");
  out.takes_words = true;
  return out;
}

Program rules_table() {
  return table("stackgate rules", "List the rules, or explain one", "[explain ID] [OPTIONS]",
               {without_variable(output({"json", "text"}, "how they are written", "text"))},
               "  stackgate rules\n  stackgate rules explain schema-required\n");
}

Program explain_table() {
  Program out = table("stackgate rules explain", "Why a rule exists, with a bad and a good example", "[OPTIONS] ID",
                      {without_variable(output({"json", "text"}, "how it is written", "text"))},
                      "  stackgate rules explain schema-required\n\n"
                      "ID is the rule's, as findings show it, or a part of it.\n");
  out.takes_words = true;
  return out;
}

Program crds_table() {
  Table all;
  append(all, "Options",
         {without_variable(output({"json", "yaml"}, "how they are written", "yaml")),
          without_variable(
              flag("apply", "put them into the cluster, wait until they are served, and report what changed", "false")),
          without_variable(flag("dry-run", "with --apply: only report what would change", "false")),
          without_variable(integer("timeout", "how long to wait for each, in seconds", "60", 1, 3600))});
  append(all, "Cluster", cluster_settings());
  Program out = table("stackgate crds", "Print the CustomResourceDefinitions, or apply them", "[OPTIONS] [KIND...]",
                      std::move(all),
                      "  stackgate crds isvc icache\n"
                      "  stackgate crds | kubectl apply --server-side -f -\n"
                      "  stackgate crds --apply --dry-run      what would an upgrade change?\n"
                      "  stackgate crds --apply\n\n"
                      "KIND is a kind, plural or short name; without it all are meant.\n"
                      "Exit status with --apply: 0 all are there and served, 1 refused or failed (run it again).\n");
  out.takes_words = true;
  return out;
}

Program version_table() { return table("stackgate version", "Print the version", "[OPTIONS]", {}, ""); }

bool is_image(const Setting& setting) { return setting.name.starts_with("image-"); }

}  // namespace stackgate
