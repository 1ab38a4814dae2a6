#include "services/customizer/setup/setup.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "services/kit/findings/json_report.hpp"
#include "services/kit/findings/nearest.hpp"
#include "services/kit/grammar/names.hpp"
#include "services/kit/grammar/path_names.hpp"
#include "services/kit/grammar/quantity.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::customizer {
namespace setup_detail {

namespace grammar = validate::grammar;
using validate::JsonPlace;
using validate::JsonReport;
using Names = std::span<const std::string_view>;

constexpr std::string_view file = "config.json";
constexpr std::uint32_t most_seconds = 10U * 365 * 86'400;
constexpr json::ParseLimits limits{.max_depth = 32, .max_bytes = 1U << 20U};

struct Part {
  std::string_view name;  // "" is the top
  std::vector<std::string_view> members;
};

/// The table in CONTRACT.md.
const std::vector<Part>& parts() {
  static const std::vector<Part> table = {
      {"",
       {"owner", "scheduler", "imagePullSecrets", "datastoreTools", "modelDownload", "tracker", "modelClaim",
        "workspace", "training"}},
      {"owner", {"apiVersion", "kind", "name", "uid"}},
      {"scheduler", {"type", "dialect", "queue"}},
      {"datastoreTools", {"image", "env"}},
      {"modelDownload", {"image", "apiKey", "securityContext", "ttlSecondsAfterFinished", "pollIntervalSeconds"}},
      {"modelDownload.apiKey", {"secret", "key"}},
      {"tracker", {"secret", "apiKeyKey", "encryptionKeyKey", "entity", "project"}},
      {"modelClaim", {"name", "accessMode", "subPath"}},
      {"workspace", {"storageClass", "accessMode", "size", "mountPath"}},
      {"training", {"image", "env", "networkEnv", "timeoutSeconds", "ttlSecondsAfterFinished", "tolerations"}},
  };
  return table;
}

constexpr std::array<std::string_view, 3> scheduler_types = {"gang", "queue", "plain"};
constexpr std::array<std::string_view, 3> dialects = {"runai", "kai", "kueue"};
constexpr std::array<std::string_view, 4> access_modes = {"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany",
                                                          "ReadWriteOncePod"};

class Reader {
 public:
  Reader(const json::Value& root, JsonReport& report, JobSetup& out) : top_{{}, root}, report_(report), out_(out) {}

  void read() {
    for (const Part& part : parts()) report_unknown(part);
    const JsonPlace owner = object("owner", true), scheduler = object("scheduler", true);
    out_.owner = {needed(owner, "apiVersion"), needed(owner, "kind"), needed(owner, "name"), needed(owner, "uid")};
    out_.scheduler = read_scheduler(scheduler);
    out_.queue = report_.text(scheduler, "queue");
    // Without one nobody would ever start the jobs.
    if (report_.text(scheduler, "type") == "queue" && out_.queue.empty()) report_.missing(scheduler, "queue");
    out_.pull_secrets = texts(top_, "imagePullSecrets");
    const JsonPlace tools = object("datastoreTools", true);
    out_.tools_image = needed(tools, "image");
    out_.tools_env = variables(tools, "env");
    read_downloads(object("modelDownload", true));
    if (JsonReport::present(top_, "tracker") != nullptr) read_tracker(object("tracker", true));
    read_claims();
    read_training(object("training", true));
  }

 private:
  /// An empty object where there is none.
  JsonPlace object(std::string_view key, bool is_needed) { return object(top_, key, is_needed); }
  JsonPlace object(const JsonPlace& of, std::string_view key, bool is_needed) {
    static const json::Value nothing = json::Value::make_object({}, 0);
    const json::Value* found = JsonReport::present(of, key);
    if (found == nullptr) {
      if (is_needed) report_.missing(of, key);
      return of.member(key, nothing);
    }
    if (found->is_object()) return of.member(key, *found);
    report_.wrong_type(of.member(key, *found), "an object");
    return of.member(key, nothing);
  }

  void report_unknown(const Part& part) {
    const json::Value* at = &top_.value;
    for (std::string_view rest = part.name; !rest.empty() && at != nullptr;) {
      at = at->find(rest.substr(0, rest.find('.')));
      rest.remove_prefix(
          std::min(rest.size(), rest.find('.') == std::string_view::npos ? rest.size() : rest.find('.') + 1));
    }
    if (at == nullptr) return;
    const JsonPlace place{std::string(part.name), *at};
    for (const json::Member& each : at->members()) {
      if (std::ranges::find(part.members, each.key) != part.members.end()) continue;
      const std::string_view meant = validate::nearest(each.key, part.members);
      // A newer operator may write what this version does not know: no reason to stop.
      report_.wrong("setup-unknown", place.member(each.key, each.value), "is not known",
                    meant.empty() ? "take it out, or run the customizer of the operator's version"
                                  : fmt::format("did you mean \"{}\"?", meant),
                    validate::Severity::warning);
    }
  }

  /// A text that is not empty. What is missing because its object is, is reported with that.
  std::string needed(const JsonPlace& of, std::string_view key) {
    const json::Value* found = JsonReport::present(of, key);
    if (found == nullptr) {
      if (!of.value.members().empty()) report_.missing(of, key);
      return {};
    }
    std::string text = report_.text(of, key);
    if (found->is_string() && text.empty()) report_.wrong_type(of.member(key, *found), "a text that is not empty");
    return text;
  }

  std::string one_of(const JsonPlace& of, std::string_view key, std::string_view what, Names names,
                     std::string_view fallback) {
    std::string text = report_.text(of, key, fallback);
    const json::Value* found = JsonReport::present(of, key);
    if (found != nullptr && found->is_string() && std::ranges::find(names, std::string_view(text)) == names.end())
      report_.not_served(of.member(key, *found), what, text, names);
    return text;
  }

  std::vector<std::string> texts(const JsonPlace& of, std::string_view key) {
    std::vector<std::string> out;
    const json::Value* found = JsonReport::present(of, key);
    if (found == nullptr) return out;
    if (!found->is_array()) report_.wrong_type(of.member(key, *found), "a list of texts");
    for (std::size_t i = 0; i < found->items().size(); ++i) {
      const json::Value& item = found->items()[i];
      if (!item.is_string()) report_.wrong_type(of.item(key, i, item), "a text");
      out.emplace_back(item.string());
    }
    return out;
  }

  std::vector<pods::EnvVar> variables(const JsonPlace& of, std::string_view key) {
    std::vector<pods::EnvVar> out;
    const json::Value* found = JsonReport::present(of, key);
    if (found == nullptr) return out;
    if (!found->is_array()) report_.wrong_type(of.member(key, *found), "a list of variables");
    for (std::size_t i = 0; i < found->items().size(); ++i) {
      const json::Value& item = found->items()[i];
      const std::string_view name = json::text(&item, {"name"});
      if (const auto fault = grammar::check_env_name(name))
        report_.wrong("setup-value", of.item(key, i, item), name.empty() ? "has no name" : fault->problem,
                      "write {\"name\", \"value\"} or {\"name\", \"valueFrom\"}");
      out.push_back({std::string(name), json::to_json(item)});
    }
    return out;
  }

  std::optional<std::uint32_t> seconds(const JsonPlace& of, std::string_view key) {
    if (JsonReport::present(of, key) == nullptr) return std::nullopt;
    return report_.needed_number(of, key, 0, most_seconds);
  }

  std::string tree(const JsonPlace& of, std::string_view key, json::Type type, std::string_view wanted) {
    const json::Value* found = JsonReport::present(of, key);
    if (found == nullptr) return {};
    if (found->type() == type) return json::to_json(*found);
    report_.wrong_type(of.member(key, *found), wanted);
    return {};
  }

  Scheduler read_scheduler(const JsonPlace& of) {
    const std::string type = one_of(of, "type", "scheduler", scheduler_types, "gang");
    const std::string dialect = one_of(of, "dialect", "dialect", dialects, "runai");
    if (type == "plain") return Scheduler::plain;
    if (type != "queue") return Scheduler::volcano;
    return dialect == "kai" ? Scheduler::kai : dialect == "kueue" ? Scheduler::kueue : Scheduler::runai;
  }

  void read_downloads(const JsonPlace& of) {
    ModelDownload& out = out_.model_download;
    out.image = needed(of, "image");
    if (JsonReport::present(of, "apiKey") != nullptr) {
      const JsonPlace key = object(of, "apiKey", true);
      out.api_key = {needed(key, "secret"), needed(key, "key")};
    }
    out.security_context = tree(of, "securityContext", json::Type::object, "an object");
    out.ttl_seconds = seconds(of, "ttlSecondsAfterFinished");
    out.poll_seconds = seconds(of, "pollIntervalSeconds");
  }

  void read_tracker(const JsonPlace& of) {
    out_.tracker = TrackerSetup{.secret = needed(of, "secret"),
                                .api_key_key = report_.text(of, "apiKeyKey"),
                                .encryption_key_key = report_.text(of, "encryptionKeyKey"),
                                .entity = report_.text(of, "entity"),
                                .project = report_.text(of, "project")};
  }

  void read_claims() {
    const JsonPlace models = object("modelClaim", true), workspace = object("workspace", true);
    out_.model_claim = {.name = needed(models, "name"),
                        .access_mode = one_of(models, "accessMode", "access mode", access_modes, ""),
                        .sub_path = report_.text(models, "subPath")};
    WorkspaceSetup& out = out_.workspace;
    if (JsonReport::present(workspace, "storageClass") != nullptr)
      out.storage_class = report_.text(workspace, "storageClass");
    out.access_mode = one_of(workspace, "accessMode", "access mode", access_modes, out.access_mode);
    out.size = report_.text(workspace, "size", out.size);
    if (const auto amount = grammar::parse_quantity(out.size); !amount || amount->sign() <= 0)
      report_.wrong("setup-value", workspace.member("size", *workspace.value.find("size")),
                    amount ? "must be above 0" : amount.error().problem, "write an amount such as 10Gi");
    out.mount_path = report_.text(workspace, "mountPath", out.mount_path);
    if (const auto fault = grammar::check_mount_path(out.mount_path))
      report_.wrong("setup-value", workspace.member("mountPath", *workspace.value.find("mountPath")), fault->problem,
                    fault->fix);
  }

  void read_training(const JsonPlace& of) {
    TrainingSetup& out = out_.training;
    out.image = needed(of, "image");
    out.env = variables(of, "env");
    out.network_env = variables(of, "networkEnv");
    out.timeout_seconds = seconds(of, "timeoutSeconds");
    out.ttl_seconds = seconds(of, "ttlSecondsAfterFinished");
    out.tolerations = tree(of, "tolerations", json::Type::array, "a list");
  }

  const JsonPlace top_;
  JsonReport& report_;
  JobSetup& out_;
};

}  // namespace setup_detail

SetupRead read_setup(std::string_view json) {
  using namespace setup_detail;
  SetupRead read;
  JsonReport report(read.findings, file, {"setup-type", "setup-missing", "setup-not-served"});
  json::Document document;
  if (const auto root = report.parse("setup-json", json, document, limits)) Reader(*root, report, read.setup).read();
  return read;
}

std::vector<std::string> setup_members() {
  std::vector<std::string> out;
  for (const setup_detail::Part& part : setup_detail::parts())
    for (const std::string_view each : part.members)
      out.push_back(part.name.empty() ? std::string(each) : fmt::format("{}.{}", part.name, each));
  std::ranges::sort(out);
  return out;
}

}  // namespace stackgate::customizer
