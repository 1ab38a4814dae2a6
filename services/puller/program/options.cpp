#include "services/puller/program/options.hpp"

#include <fmt/format.h>

#include "services/kit/base/base64.hpp"
#include "services/kit/datastore_client/wire.hpp"
#include "services/kit/settings/table.hpp"

namespace stackgate::puller {
namespace options_detail {

constexpr std::string_view public_hub = "https://huggingface.co";

std::vector<settings::Setting> table() {
  using namespace settings;
  using namespace settings::table;
  std::vector<Setting> out;
  append(
      out, "What",
      {by_variable("STACKGATE_PULL_REPOSITORY", text("model", "OWNER/NAME, with @REVISION behind it or not")),
       by_variable("STACKGATE_PULL_REVISION", text("revision", "branch, tag or commit; the default branch without it")),
       by_variable("STACKGATE_PULL_PROFILES",
                   text("profiles", "the model as a JSON list of one: [\"OWNER/NAME@REVISION\"]")),
       {.name = "include",
        .kind = Kind::list,
        .help = "only files of these patterns ('*' is any text, '?' one character)",
        .variable = "STACKGATE_PULL_INCLUDE"},
       {.name = "exclude",
        .kind = Kind::list,
        .help = "no files of these patterns",
        .variable = "STACKGATE_PULL_EXCLUDE"}});
  append(
      out, "From where",
      {by_variable("STACKGATE_PULL_SOURCE",
                   choice("source", {"registry", "datastore", "directory"},
                          "registry: the Hugging Face API with a key, or, without a model, a directory; datastore: "
                          "stackgate-datastore; directory: plain HTTP with a list of checksums",
                          "registry")),
       by_variable("STACKGATE_PULL_KIND", choice("kind", {"model", "dataset"}, "of the repository", "model")),
       by_variable("STACKGATE_PULL_ENDPOINT", url("endpoint", "of that source; https://huggingface.co without it")),
       url("registry-endpoint", "the same as --source registry --endpoint URL"),
       url("datastore-url", "the same as --source datastore --endpoint URL"),
       by_variable("STACKGATE_PULL_DIRECTORY_URL",
                   url("directory-url", "the same as --source directory --endpoint URL")),
       by_variable("STACKGATE_PULL_CHECKSUM_LIST",
                   text("checksum-list", "in a directory, made with sha256sum", "SHA256SUMS")),
       by_variable("REGISTRY_API_KEY", secret("registry-api-key", "sent as a bearer token to a registry or directory")),
       by_variable("DATASTORE_USERNAME", text("datastore-username", "signs in at a datastore")),
       by_variable("DATASTORE_PASSWORD", secret("datastore-password", "its password or token")),
       by_variable("STACKGATE_PULL_CA_FILE", text("ca-file", "certificates of authorities to trust, PEM")),
       by_variable("STACKGATE_PULL_CA_DIR", text("ca-dir", "a folder of such files, a mounted ConfigMap"))});
  append(out, "Refused: profiles of other pullers",
         {by_variable("STACKGATE_PULL_ENGINE", text("engine", "model.engine of an InferenceCache")),
          by_variable("STACKGATE_PULL_TENSOR_PARALLELISM", text("tensor-parallelism", "model.tensorParallelism")),
          by_variable("STACKGATE_PULL_PRECISION", text("precision", "model.precision")),
          by_variable("STACKGATE_PULL_LORA", text("lora", "model.lora"))});
  append(out, "Whither",
         {by_variable("STACKGATE_PULL_TARGET", text("output", "the model's directory: complete, or not there; needed")),
          by_variable("STACKGATE_PULL_PARALLEL", integer("parallel", "files at once", "4", 1, 16)),
          by_variable("STACKGATE_PULL_VERIFY",
                      flag("verify", "hash what is complete already, and fetch again what is broken"))});
  append(out, "Upload",
         {by_variable("STACKGATE_UPLOAD_URL", url("entitystore-url", "of the entitystore; needed")),
          by_variable("STACKGATE_UPLOAD_ARCHIVE", text("archive", "the adapter's tar.gz; needed")),
          by_variable("STACKGATE_UPLOAD_METADATA",
                      text("metadata", "a JSON file: name, base_model, version, and what else is known; needed")),
          by_variable("STACKGATE_UPLOAD_WAIT",
                      duration("storing-limit", "the longest wait until the entitystore has stored it", "10m"))});
  append(out, "Reports",
         {by_variable("STACKGATE_PULL_PROGRESS", text("progress-config-map", "that progress is written to")),
          by_variable("STACKGATE_NAMESPACE", text("namespace", "of that ConfigMap")),
          by_variable(no_variable, text("kubeconfig", "how to reach its API server; the pod's own without it")),
          text("termination-log", "where the last words go, if the file is there", "/dev/termination-log"),
          choice("log-level", {"debug", "info", "warning", "error"}, "the least that is logged", "info"),
          choice("log-format", {"text", "json"}, "text on a terminal, json elsewhere")});
  return out;
}

void refuse_foreign(const settings::Values& values, validate::Findings& findings) {
  for (const char* name : {"engine", "tensor-parallelism", "precision", "lora"})
    if (!values.text(name).empty())
      findings.push_back(settings::fault(
          fmt::format("--{}", name), "chooses a profile, and this puller takes models as they lie",
          "name the model under source.registry.model.profiles, or another modelPuller", values.text(name)));
}

struct Endpoint {
  std::string source, url;
};

/// One of the three flags wins over --source and --endpoint.
Endpoint endpoint_of(const settings::Values& values, validate::Findings& findings) {
  Endpoint out{values.text("source"), values.text("endpoint")};
  int given = 0;
  for (const auto& [flag, source] :
       {std::pair{"registry-endpoint", "registry"}, {"datastore-url", "datastore"}, {"directory-url", "directory"}}) {
    if (values.text(flag).empty()) continue;
    out = {source, values.text(flag)};
    ++given;
  }
  if (given > 1)
    findings.push_back(settings::fault("--registry-endpoint", "stands beside another source", "keep one of the three"));
  while (out.url.ends_with('/')) out.url.pop_back();
  return out;
}

std::string authorization_of(const settings::Values& values, std::string_view source) {
  const std::string &key = values.text("registry-api-key"), &user = values.text("datastore-username");
  if (source != "datastore") return key.empty() ? "" : "Bearer " + key;
  return user.empty() ? "" : "Basic " + base64::encode(user + ":" + values.text("datastore-password"));
}

void demand(const settings::Values& values, std::string_view name, std::string_view cure,
            validate::Findings& findings) {
  if (values.text(name).empty())
    findings.push_back(settings::fault(fmt::format("--{}", name), "is missing", std::string(cure)));
}

std::string model_of(const settings::Values& values, validate::Findings& findings) {
  const auto profile = read_profiles(values.text("profiles"));
  if (!profile) {
    findings.push_back(settings::fault("--profiles", profile.error().message, profile.error().cure));
    return {};
  }
  if (!profile->empty() && values.has("model"))
    findings.push_back(settings::fault("--model", "stands beside --profiles", "keep one of the two"));
  return values.has("model") ? values.text("model") : *profile;
}

}  // namespace options_detail

settings::Program program() {
  return {
      .name = "stackgate-puller",
      .summary = "downloads a model into a directory: complete and checked, or not there; uploads an adapter",
      .commands = {{.name = "pull",
                    .help = "download a model",
                    .uses = {"What", "From where", "Refused: profiles of other pullers", "Whither", "Reports"}},
                   {.name = "upload",
                    .help = "send an adapter to the entitystore, until it is stored there",
                    .uses = {"Upload", "ca-file", "ca-dir", "termination-log", "log-level", "log-format"}}},
      .settings = options_detail::table(),
      .examples =
          "  REGISTRY_API_KEY=hf_… stackgate-puller --model meta-llama/Llama-3.2-1B --output /models/llama\n"
          "  stackgate-puller --datastore-url http://datastore:8000 --model ada/tiny@v1 --output tiny\n"
          "  stackgate-puller --directory-url https://files.example.com/llama --output llama\n"
          "  stackgate-puller upload --entitystore-url http://entitystore:8000 --archive a.tar.gz --metadata m.json\n"
          "Exit codes: 0 it is there; 1 network, try again; 2 settings; 3 refused (401, 403, 407);\n"
          "  4 no space; 5 not found; 6 checksum; 7 the output cannot be written; 8 an answer that cannot be\n"
          "  right; 143 stopped. Proxies: http_proxy, https_proxy, no_proxy."};
}

Asked asked_of(const settings::Values& values) {
  using namespace options_detail;
  Asked out;
  demand(values, "output", "name the directory that the model goes to", out.findings);
  refuse_foreign(values, out.findings);
  const Endpoint endpoint = endpoint_of(values, out.findings);
  const std::string name = model_of(values, out.findings);
  SourceSettings& source = out.pull.source;
  source.base = endpoint.url;
  source.checksum_list = values.text("checksum-list");
  source.is_dataset = values.text("kind") == "dataset";
  const bool directory = endpoint.source == "directory" || (endpoint.source == "registry" && name.empty());
  if (directory && !name.empty())
    out.findings.push_back(
        settings::fault("--model", "means nothing to a directory", "take it out, or name another source", name));
  if (directory && endpoint.url.empty())
    out.findings.push_back(
        settings::fault("--model", "is missing", "name OWNER/NAME, or the --endpoint of a directory"));
  if (auto fault = fault_of_path(source.checksum_list))
    out.findings.push_back(
        settings::fault("--checksum-list", *fault, "write for example SHA256SUMS", source.checksum_list));
  if (endpoint.source == "datastore") {
    if (endpoint.url.empty())
      out.findings.push_back(
          settings::fault("--datastore-url", "is missing", "write for example http://datastore:8000"));
    if (name.empty()) out.findings.push_back(settings::fault("--model", "is missing", "name OWNER/NAME"));
    source.base = datastore_client::wire::base_of(endpoint.url);
  }
  if (!directory && !name.empty()) {
    const auto model = read_model(name);
    if (!model)
      out.findings.push_back(settings::fault("--model", model.error().message, model.error().cure, name));
    else
      source.model = *model;
    if (values.has("revision")) source.model.revision = values.text("revision");
    if (source.base.empty()) source.base = public_hub;
  }
  out.pull.access.authorization = authorization_of(values, endpoint.source);
  out.pull.patterns = {.include = values.list("include"), .exclude = values.list("exclude"), .everything = directory};
  out.pull.output = values.text("output");
  out.pull.parallel = static_cast<unsigned>(values.integer("parallel"));
  out.pull.verify = values.flag("verify");
  return out;
}

AskedUpload asked_upload_of(const settings::Values& values) {
  using namespace options_detail;
  AskedUpload out;
  demand(values, "entitystore-url", "write for example http://entitystore:8000", out.findings);
  demand(values, "archive", "name the tar.gz that the training has left", out.findings);
  demand(values, "metadata", "name a JSON file with name, base_model and version", out.findings);
  out.upload.url = values.text("entitystore-url");
  while (out.upload.url.ends_with('/')) out.upload.url.pop_back();
  out.upload.archive = values.text("archive");
  out.upload.metadata = values.text("metadata");
  out.upload.storing = std::chrono::seconds(values.integer("storing-limit") / 1000);
  return out;
}

}  // namespace stackgate::puller
