// An InferenceCache: a claim, and a Job that fills it. The Job is made once and never changed (its template cannot be);
// who wants it run again with other settings deletes it.
#include <fmt/format.h>

#include "reconcile/plan/parts/outcome.hpp"
#include "reconcile/plan/parts/workload.hpp"
#include "reconcile/status/cache.hpp"
#include "validators/children.hpp"
#include "validators/rule_ids.hpp"

namespace stackgate::reconcile {
namespace inference_cache {

using validate::Field;

constexpr int backoff_limit = 5;
constexpr std::string_view volume = "model-cache", path = "/model-store";
constexpr std::string_view ca_volume = "ca", ca_path = "/etc/stackgate/ca";
constexpr std::string_view registry_key = "REGISTRY_API_KEY";
/// Of the files when no groupID is set: a fresh volume belongs to root, and the download does not run as root.
constexpr std::int64_t nonroot_group = 65532;

void put_registry(pods::Container& container, const Field& registry) {
  container.env.push_back(pods::env_value("STACKGATE_PULL_SOURCE", "registry"));
  parts::put_text(container, "STACKGATE_PULL_ENDPOINT", registry["endpoint"]);
  if (const auto secret = registry["authSecret"].text(); secret && !secret->empty())
    container.env.push_back(pods::env_from_secret(registry_key, *secret, registry_key));
  const Field model = registry["model"];
  if (model["profiles"].size() > 0)
    container.env.push_back(pods::env_text("STACKGATE_PULL_PROFILES", json::to_json(*model["profiles"].value())));
  parts::put_text(container, "STACKGATE_PULL_ENGINE", model["engine"]);
  parts::put_text(container, "STACKGATE_PULL_TENSOR_PARALLELISM", model["tensorParallelism"]);
  parts::put_text(container, "STACKGATE_PULL_PRECISION", model["precision"]);
  if (const auto lora = model["lora"].flag())
    container.env.push_back(pods::env_value("STACKGATE_PULL_LORA", *lora ? "true" : "false"));
}

void put_datastore(pods::Container& container, const Field& datastore) {
  container.env.push_back(pods::env_value("STACKGATE_PULL_SOURCE", "datastore"));
  parts::put_text(container, "STACKGATE_PULL_ENDPOINT", datastore["endpoint"]);
  parts::put_text(container, "STACKGATE_PULL_REPOSITORY", datastore["repository"]);
  parts::put_text(container, "STACKGATE_PULL_REVISION", datastore["revision"]);
  const auto secret = datastore["authSecret"].text();
  if (!secret || secret->empty()) return;
  for (const std::string_view key : {"DATASTORE_USERNAME", "DATASTORE_PASSWORD"})
    container.env.push_back(pods::env_from_secret(key, *secret, key));
}

/// In both cases of letters: some programs read only the one, some only the other.
void put_proxy(parts::Workload& workload, const Field& proxy) {
  pods::Container& container = workload.main;
  const auto both = [&](std::string_view upper, std::string_view lower, const Field& field) {
    parts::put_text(container, upper, field);
    parts::put_text(container, lower, field);
  };
  both("HTTP_PROXY", "http_proxy", proxy["httpProxy"]);
  both("HTTPS_PROXY", "https_proxy", proxy["httpsProxy"]);
  both("NO_PROXY", "no_proxy", proxy["noProxy"]);
  const auto authorities = proxy["caConfigMap"].text();
  if (!authorities || authorities->empty()) return;
  parts::mount(workload, pods::config_map_volume(ca_volume, *authorities), ca_path);
  container.env.push_back(pods::env_value("STACKGATE_PULL_CA_DIR", ca_path));
  container.env.push_back(pods::env_value("SSL_CERT_DIR", "/etc/ssl/certs:/etc/stackgate/ca"));
}

parts::Workload read_download(const parts::Scope& scope, std::string_view puller) {
  const Field& spec = scope.spec;
  const Field registry = spec["source"]["registry"];
  parts::Workload out;
  out.main.name = "puller";
  out.main.image = registry["modelPuller"].text().value_or(parts::own_image(scope, "puller"));
  out.main.resources = parts::read_resources(spec["resources"]);
  // Pullers of any make write beside their code; our own has a read-only root.
  out.main.read_only_root = !registry["modelPuller"].present();
  if (const auto secret = registry["pullSecret"].text(); secret && !secret->empty())
    out.pod.pull_secrets.emplace_back(*secret);
  out.pod.service_account = puller;
  out.token = true;
  out.runs_once = true;
  out.run_as_user = spec["userID"].integer();
  out.run_as_group = spec["groupID"].integer();
  out.fs_group = out.run_as_group.value_or(nonroot_group);
  parts::mount_claim(scope, out, spec["storage"]["pvc"], volume, path);

  if (spec["source"]["datastore"].present())
    put_datastore(out.main, spec["source"]["datastore"]);
  else
    put_registry(out.main, registry);
  out.main.env.push_back(pods::env_value("STACKGATE_PULL_TARGET", path));
  out.main.env.push_back(pods::env_value("STACKGATE_PULL_PROGRESS", puller));
  out.main.env.push_back(pods::env_from_field("STACKGATE_NAMESPACE", "metadata.namespace"));
  put_proxy(out, spec["proxy"]);
  return out;
}

/// Who downloads, and the ConfigMap in which it reports: the one object that it may read and change.
void add_reporting(const parts::Scope& scope, const std::string& puller) {
  parts::add_child(scope, ChildType::service_account, puller, {}, [](json::Writer&) {});
  parts::add_rights(scope, puller, puller,
                    {{.groups = {""}, .resources = {"configmaps"}, .verbs = {"get", "patch"}, .names = {puller}}});
  parts::add_child(scope, ChildType::config_map, puller, {}, [](json::Writer&) {});
}

void add_job(const parts::Scope& scope, const parts::Workload& download) {
  parts::add_child(scope, ChildType::job, scope.name, {.keep = true}, [&](json::Writer& out) {
    out.object("spec", [&] {
      out.member("backoffLimit", backoff_limit);
      out.key("template");
      pods::write_template(out, parts::pod_of(scope, download));
    });
  });
}

/// Whether the rules have found that the claim which the cache does not make itself is not there.
bool is_reported_missing(const Observed& observed) {
  for (const validate::Finding& finding : observed.findings)
    if (finding.rule == validate::rule::claim_missing.id && finding.path.starts_with("spec.storage.pvc")) return true;
  return false;
}

std::vector<Problem> blockers_of(const parts::Scope& scope, const parts::Workload& download) {
  std::vector<Problem> out = parts::taken_names(scope);
  // Unlike those of other kinds this claim goes with its resource: somebody else's must not.
  for (const DesiredChild& child : scope.planning.plan.children) {
    if (child.type != ChildType::persistent_volume_claim) continue;
    const LiveChild* live = scope.planning.observed.find(child.type, child.name);
    if (live == nullptr || live->owned) continue;
    out.push_back(name_taken("PersistentVolumeClaim", child.name));
    if (parts::ownership(scope, *live) == Ownership::orphan)
      out.back().message = fmt::format(
          "the claim {} has no owner any more, and is not taken back, since it would be deleted with this cache; to "
          "use "
          "it as it is, make the cache anew with storage.pvc.create: false and that name; to download again, delete it",
          child.name);
  }
  if (download.main.image.empty())
    out.push_back(
        {"NoImage", "the operator was started without a puller image; name one in source.registry.modelPuller", true});
  return out;
}

}  // namespace inference_cache

void plan_inference_cache(const Planning& planning) {
  using namespace inference_cache;
  const parts::Scope scope(planning);
  const Field pvc = scope.spec["storage"]["pvc"];
  const std::string puller = validate::puller_name(scope.name), claim = parts::claim_name(scope, pvc);
  const parts::Workload download = read_download(scope, puller);
  add_reporting(scope, puller);
  parts::add_claim(scope, pvc, true);

  const LiveChild* live_claim = planning.observed.find(ChildType::persistent_volume_claim, claim);
  const bool made = pvc["create"].flag().value_or(false);
  CacheView view{.name = scope.name,
                 .job = parts::own_live(scope, ChildType::job, scope.name),
                 .claim_name = claim,
                 .claim = live_claim == nullptr ? nullptr : live_claim->object,
                 // Of a claim that somebody else makes nothing may be known here.
                 .claim_missing = live_claim == nullptr && (made || is_reported_missing(planning.observed)),
                 .claim_is_made = made,
                 .pods = planning.observed.pods,
                 .report = parts::own_live(scope, ChildType::config_map, puller),
                 .stored = planning.resource.status,
                 .tries = backoff_limit + 1};
  if (needs_job(view) && !download.main.image.empty()) add_job(scope, download);
  const std::vector<Problem> blockers = blockers_of(scope, download);
  view.blockers = blockers;
  planning.plan.status = cache_status(view);
}

}  // namespace stackgate::reconcile
