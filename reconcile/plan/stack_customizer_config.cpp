#include "reconcile/plan/stack_customizer_config.hpp"

#include <fmt/format.h>

#include "reconcile/plan/parts/canonical.hpp"
#include "reconcile/plan/stack_common.hpp"

namespace stackgate::reconcile::customizer {
namespace {

using parts::Field;

void put(json::Writer& out, std::string_view key, const Field& text) {
  pods::member_text(out, key, text.text().value_or(""));
}

void put_number(json::Writer& out, std::string_view key, const Field& number) {
  if (const auto value = number.integer()) out.member(key, *value);
}

void write_owner(json::Writer& out, const Resource& resource) {
  out.key("owner");
  out.object([&] {
    out.member("apiVersion", crds::api_group_version);
    out.member("kind", crds::info(resource.kind).name);
    out.member("name", resource.name);
    out.member("uid", resource.uid);
  });
}

/// A queue has no meaning for a gang, and none is passed on: the gate has said so.
void write_scheduler(json::Writer& out, const Field& spec) {
  const Field scheduler = spec["scheduler"];
  const std::string_view type = scheduler["type"].text().value_or("gang");
  out.key("scheduler");
  out.object([&] {
    out.member("type", type);
    if (type != "queue") return;
    out.member("dialect", scheduler["queueDialect"].text().value_or("runai"));
    put(out, "queue", spec["trainingConfig"]["queueName"]);
  });
}

void write_downloads(const parts::Scope& scope, json::Writer& out, const Field& downloads) {
  out.key("modelDownload");
  out.object([&] {
    pods::member_text(out, "image", stack::image_or_own(scope, downloads["image"], "puller"));
    if (const Field secret = downloads["registryApiSecret"]; secret.present()) {
      out.key("apiKey");
      out.object([&] {
        put(out, "secret", secret["name"]);
        put(out, "key", secret["key"]);
      });
    }
    parts::member_canonical(out, "securityContext", downloads["securityContext"]);
    put_number(out, "ttlSecondsAfterFinished", downloads["ttlSecondsAfterFinished"]);
    put_number(out, "pollIntervalSeconds", downloads["pollIntervalSeconds"]);
  });
}

void write_tracker(json::Writer& out, const Field& tracker) {
  if (tracker.absent()) return;
  out.key("tracker");
  out.object([&] {
    put(out, "secret", tracker["secretName"]);
    put(out, "apiKeyKey", tracker["apiKeyKey"]);
    put(out, "encryptionKeyKey", tracker["encryptionKey"]);
    put(out, "entity", tracker["entity"]);
    put(out, "project", tracker["projectName"]);
  });
}

std::string training_image(const parts::Scope& scope, const Field& image) {
  const auto& images = scope.planning.settings.images;
  const auto own = images.find("trainer");
  return parts::read_image(image, own == images.end() ? std::string_view{} : own->second);
}

void write_training(const parts::Scope& scope, json::Writer& out, const Field& training) {
  out.key("training");
  out.object([&] {
    pods::member_text(out, "image", training_image(scope, training["image"]));
    parts::member_canonical(out, "env", training["env"]);
    parts::member_canonical(out, "networkEnv", training["networkConfig"]);
    put_number(out, "timeoutSeconds", training["timeout"]);
    put_number(out, "ttlSecondsAfterFinished", training["ttlSecondsAfterFinished"]);
    parts::member_canonical(out, "tolerations", training["tolerations"]);
  });
}

void write_claims(const parts::Scope& scope, json::Writer& out, const Field& training) {
  const Field models = training["modelPVC"];
  out.key("modelClaim");
  out.object([&] {
    out.member("name", std::string_view(parts::claim_name(scope, models)));
    put(out, "accessMode", models["volumeAccessMode"]);
    put(out, "subPath", models["subPath"]);
  });
  const Field workspace = training["workspacePVC"];
  out.key("workspace");
  out.object([&] {
    // An empty storage class is a choice, too: none.
    if (const auto storage_class = workspace["storageClass"].text()) out.member("storageClass", *storage_class);
    put(out, "accessMode", workspace["volumeAccessMode"]);
    if (const auto size = workspace["size"].text()) out.member("size", std::string_view(parts::amount_text(*size)));
    put(out, "mountPath", workspace["mountPath"]);
  });
}

}  // namespace

std::string jobs_config(const parts::Scope& scope) {
  const Field& spec = scope.spec;
  std::string text;
  json::Writer out(text);
  out.object([&] {
    write_owner(out, scope.planning.resource);
    write_scheduler(out, spec);
    parts::member_canonical(out, "imagePullSecrets", spec["image"]["pullSecrets"]);
    out.key("datastoreTools");
    out.object([&] {
      pods::member_text(out, "image", stack::image_or_own(scope, spec["datastoreTools"]["image"], "puller"));
    });
    write_downloads(scope, out, spec["modelDownloadJobs"]);
    write_tracker(out, spec["experimentTracker"]);
    write_claims(scope, out, spec["trainingConfig"]);
    write_training(scope, out, spec["trainingConfig"]);
  });
  return text;
}

}  // namespace stackgate::reconcile::customizer
