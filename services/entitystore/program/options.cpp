#include "services/entitystore/adapters/names.hpp"
#include "services/entitystore/program/program.hpp"
#include "services/kit/service/common.hpp"
#include "services/kit/service/service.hpp"
#include "services/kit/settings/table.hpp"

namespace stackgate::entitystore {
namespace options_detail {

/// Beside the common ones.
void append_own(std::vector<settings::Setting>& out) {
  using namespace settings::table;
  append(out, "Datastore",
         {required(url("datastore-url", "where adapter files are kept: http://datastore:8000")),
          by_variable("DATASTORE_USERNAME",
                      text("datastore-username", "signs in there; it must be allowed to create repositories")),
          by_variable("DATASTORE_PASSWORD", secret("datastore-password", "its password or token")),
          text("datastore-owner", "owner of the adapters' repositories; for this entitystore alone", "adapters"),
          url("datastore-public-url", "what download_url begins with; --datastore-url without it"),
          duration("datastore-timeout",
                   "how long to wait for its answer to a small call, and for the first byte of a file; a commit gets "
                   "three times as much",
                   "10s", 1, 300)});
  append(out, "Adapters",
         {choice("downloads", {"proxy", "direct"},
                 "proxy: private repositories, read by signed links of this service; direct: public ones, which "
                 "everybody who reaches the datastore can read",
                 "proxy"),
          duration("download-valid", "how long a signed link lives", "1h", 60, 7 * 24 * 3600),
          choice("approval", {"required", "off"}, "required: an upload is pending until PATCH makes it ready", "off"),
          size("max-archive", "the largest upload", "4G", 1024),
          size("max-unpacked", "what an archive may unpack to", "16G", 1024),
          integer("max-entries", "files and folders in an archive", "1000", 2, 100'000),
          integer("max-lora-rank", "the highest rank that the inference servers load", "256", 1, 1'000'000)});
  append(out, "Upkeep",
         {duration("refresh-interval", "how soon changes of other replicas are seen", "250ms"),
          duration("sweep-interval", "between two looks for interrupted uploads and remains of deleted adapters", "30s",
                   1),
          duration("lease", "when an upload counts as abandoned by a replica that says nothing more", "60s", 5, 3600),
          integer("access-log-days", "how long the access log is kept; 0 for ever", "90", 0, 36500)});
}

}  // namespace options_detail

settings::Program program() {
  settings::Program out{
      .name = "stackgate-entitystore",
      .summary = "LoRA adapters, their versions and their records; the files lie in the datastore",
      .commands = {{"serve", "answer requests; the default"},
                   {"migrate", "wait for the database and bring it to this version's schema", false, {"Data", "Log"}},
                   {"fsck",
                    "hold the database against the datastore; prints a line for each fault",
                    false,
                    {"Data", "Log", "datastore-url", "datastore-username", "datastore-password", "datastore-owner",
                     "datastore-timeout"}}},
      .settings = service::common_settings(),
      .examples =
          "  DATASTORE_USERNAME=admin DATASTORE_PASSWORD=… stackgate-entitystore --data-dir /var/lib/entitystore "
          "--datastore-url http://127.0.0.1:8000 --listen 127.0.0.1:8001\n"
          "  curl -F adapter=@adapter.tar.gz -F 'metadata={\"name\":\"bot\",\"base_model\":\"meta/llama\","
          "\"version\":\"1.0.0\"}' http://127.0.0.1:8001/v1/adapters"};
  options_detail::append_own(out.settings);
  return out;
}

validate::Findings check_options(const settings::Values& values) {
  validate::Findings out;
  if (auto wrong = fault_of_name(values.text("datastore-owner")))
    out.push_back({.rule = "setting-name",
                   .path = "--datastore-owner",
                   .value = values.text("datastore-owner"),
                   .problem = std::move(*wrong),
                   .fix = "write, for example, adapters"});
  if (auto missing = service::missing_datastore_credential(values)) out.push_back(std::move(*missing));
  return out;
}

DatastoreOptions datastore_options(const settings::Values& values) {
  return {.url = values.text("datastore-url"),
          .username = values.text("datastore-username"),
          .password = values.text("datastore-password"),
          .private_repositories = values.text("downloads") != "direct",
          .patience = std::chrono::milliseconds(values.integer("datastore-timeout"))};
}

RegistrarOptions registrar_options(const settings::Values& values) {
  RegistrarOptions out{.approval = values.text("approval") == "required", .owner = values.text("datastore-owner")};
  out.inspect.tar.entries = static_cast<std::size_t>(values.integer("max-entries"));
  out.inspect.tar.gunzip.bytes = static_cast<std::uint64_t>(values.integer("max-unpacked"));
  out.lease_seconds = std::max<std::int64_t>(values.integer("lease") / 1000, 1);
  return out;
}

}  // namespace stackgate::entitystore
