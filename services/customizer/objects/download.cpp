#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/customizer/objects/parts.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::customizer {
namespace download_detail {

using namespace objects;

constexpr int model_backoff_limit = 3;  // a pod that goes on finds what the one before has fetched
constexpr std::string_view registry_key = "REGISTRY_API_KEY";

/// The user's securityContext with what Pod Security's level restricted wants beside it.
std::string restricted(const std::string& context) {
  json::Document document;
  const auto root = json::parse(context, document);
  return json::object_text([&](json::Writer& w) {
    if (root) w.members(*root);
    if (!root || root->find("runAsNonRoot") == nullptr) w.member("runAsNonRoot", true);
    if (!root || root->find("seccompProfile") == nullptr)
      w.object("seccompProfile", [&] { w.member("type", "RuntimeDefault"); });
  });
}

void put(pods::Container& container, std::string_view name, std::string_view text) {
  if (!text.empty()) container.env.push_back(pods::env_text(name, text));
}

PlannedObject dataset_job(const TrainingJob& job, const JobSetup& setup, const Addresses& addresses,
                          std::uint32_t attempt) {
  pods::Container container{.name = "dataset", .image = setup.tools_image};
  std::vector<std::string> files = job.training_files;
  files.insert(files.end(), job.validation_files.begin(), job.validation_files.end());
  put(container, "STACKGATE_PULL_SOURCE", "datastore");
  put(container, "STACKGATE_PULL_KIND", "dataset");
  put(container, "STACKGATE_PULL_ENDPOINT", addresses.datastore_url);
  put(container, "STACKGATE_PULL_REPOSITORY", job.dataset_repository);
  put(container, "STACKGATE_PULL_REVISION", job.dataset_commit);
  put(container, "STACKGATE_PULL_INCLUDE", fmt::format("{}", fmt::join(files, ",")));
  put(container, "STACKGATE_PULL_TARGET", workspace_paths(setup).dataset);
  put_trace(job, container);
  append(container.env, setup.tools_env);
  container.resources = resources_json(small_requests(), {});
  const pods::TextMap labels = labels_of(job.id, short_name(Stage::download), attempt);
  pods::Pod pod = pod_of(setup, std::move(container), labels);
  mount_workspace(setup, job.id, pod, pod.containers.front());
  return object(types::jobs, "Job", setup, job_name(job.id, Stage::download, attempt), labels,
                [&](json::Writer& w) { write_job_spec(w, {.ttl_seconds = setup.model_download.ttl_seconds}, pod); });
}

/// Credentials of the datastore for models of the datastore, the registry's key for all others.
void put_source(pods::Container& container, const ModelUri& uri, const JobSetup& setup, const Addresses& addresses) {
  using Kind = ModelUri::Kind;
  const SecretKey& key = setup.model_download.api_key;
  if (uri.kind == Kind::datastore) {
    put(container, "STACKGATE_PULL_SOURCE", "datastore");
    put(container, "STACKGATE_PULL_ENDPOINT", addresses.datastore_url);
  } else {
    put(container, "STACKGATE_PULL_SOURCE", uri.kind == Kind::directory ? "directory" : "registry");
    if (uri.kind == Kind::directory) put(container, "STACKGATE_PULL_ENDPOINT", uri.text);
  }
  put(container, "STACKGATE_PULL_REPOSITORY", uri.repository);
  put(container, "STACKGATE_PULL_REVISION", uri.revision);
  // As the operator names models to pullers of other makes.
  if (uri.kind == Kind::foreign) {
    std::string profiles;
    json::Writer writer(profiles);
    writer.array([&] { writer.value(uri.text); });
    put(container, "STACKGATE_PULL_PROFILES", profiles);
  }
  if (uri.kind == Kind::datastore)
    append(container.env, setup.tools_env);
  else if (!key.secret.empty())
    container.env.push_back(pods::env_from_secret(registry_key, key.secret, key.key));
}

PlannedObject model_job(const TrainingJob& job, const JobSetup& setup, const Addresses& addresses) {
  const ModelDownload& how = setup.model_download;
  const std::string name = model_job_name(job.target, setup.model_claim.name);
  pods::Container container{.name = "model", .image = how.image};
  put_source(container, job.target.uri, setup, addresses);
  put(container, "STACKGATE_PULL_TARGET", fmt::format("{}/{}", models_path, job.target.path));
  container.resources = resources_json(small_requests(), {});
  container.mounts.push_back({"models", std::string(models_path), setup.model_claim.sub_path});
  pods::TextMap labels = labels_of({}, short_name(Stage::download));
  labels.emplace(model_label, name);
  pods::Pod pod = pod_of(setup, std::move(container), labels);
  if (!how.security_context.empty()) pod.security_context = restricted(how.security_context);
  pod.volumes.push_back(pods::claim_volume("models", setup.model_claim.name));
  PlannedObject out = object(types::jobs, "Job", setup, name, labels, [&](json::Writer& w) {
    write_job_spec(w, {.backoff_limit = model_backoff_limit, .ttl_seconds = how.ttl_seconds}, pod);
  });
  out.shared = true;
  return out;
}

}  // namespace download_detail

std::vector<PlannedObject> download_objects(const TrainingJob& job, const JobSetup& setup, const Addresses& addresses,
                                            std::uint32_t attempt) {
  using namespace download_detail;
  std::vector<PlannedObject> out;
  // First: where the dataset's Job is, the model's was made, too.
  if (job.target.uri.kind != ModelUri::Kind::none) out.push_back(model_job(job, setup, addresses));
  out.push_back(dataset_job(job, setup, addresses, attempt));
  return out;
}

}  // namespace stackgate::customizer
