#include "services/entitystore/adapters/names.hpp"
#include "services/entitystore/program/program.hpp"
#include "services/kit/service/service.hpp"

namespace stackgate::entitystore {
namespace options_detail {

using settings::Kind;
using settings::Setting;

std::vector<Setting> own_settings() {
  return {
      {.name = "datastore-url",
       .kind = Kind::url,
       .help = "where adapter files are kept: http://datastore:8000",
       .group = "Datastore",
       .required = true},
      {.name = "datastore-username",
       .help = "signs in there; it must be allowed to create repositories",
       .variable = "DATASTORE_USERNAME",
       .group = "Datastore"},
      {.name = "datastore-password",
       .kind = Kind::secret,
       .help = "its password or token",
       .variable = "DATASTORE_PASSWORD",
       .group = "Datastore"},
      {.name = "datastore-owner",
       .help = "owner of the adapters' repositories; for this entitystore alone",
       .fallback = "adapters",
       .group = "Datastore"},
      {.name = "datastore-public-url",
       .kind = Kind::url,
       .help = "what download_url begins with; --datastore-url without it",
       .group = "Datastore"},
      {.name = "datastore-timeout",
       .kind = Kind::duration,
       .help = "how long to wait for its answer to a small call, and for the first byte of a file; a commit gets three "
               "times as much",
       .fallback = "10s",
       .group = "Datastore",
       .at_least = 1,
       .at_most = 300},
      {.name = "downloads",
       .kind = Kind::choice,
       .help = "proxy: private repositories, read by signed links of this service; direct: public ones, which "
               "everybody who "
               "reaches the datastore can read",
       .fallback = "proxy",
       .group = "Adapters",
       .choices = {"proxy", "direct"}},
      {.name = "download-valid",
       .kind = Kind::duration,
       .help = "how long a signed link lives",
       .fallback = "1h",
       .group = "Adapters",
       .at_least = 60,
       .at_most = 7 * 24 * 3600},
      {.name = "approval",
       .kind = Kind::choice,
       .help = "required: an upload is pending until PATCH makes it ready",
       .fallback = "off",
       .group = "Adapters",
       .choices = {"required", "off"}},
      {.name = "max-archive",
       .kind = Kind::size,
       .help = "the largest upload",
       .fallback = "4G",
       .group = "Adapters",
       .at_least = 1024},
      {.name = "max-unpacked",
       .kind = Kind::size,
       .help = "what an archive may unpack to",
       .fallback = "16G",
       .group = "Adapters",
       .at_least = 1024},
      {.name = "max-entries",
       .kind = Kind::integer,
       .help = "files and folders in an archive",
       .fallback = "1000",
       .group = "Adapters",
       .at_least = 2,
       .at_most = 100'000},
      {.name = "max-lora-rank",
       .kind = Kind::integer,
       .help = "the highest rank that the inference servers load",
       .fallback = "256",
       .group = "Adapters",
       .at_least = 1,
       .at_most = 1'000'000},
      {.name = "refresh-interval",
       .kind = Kind::duration,
       .help = "how soon changes of other replicas are seen",
       .fallback = "250ms",
       .group = "Upkeep"},
      {.name = "sweep-interval",
       .kind = Kind::duration,
       .help = "between two looks for interrupted uploads and remains of deleted adapters",
       .fallback = "30s",
       .group = "Upkeep",
       .at_least = 1},
      {.name = "lease",
       .kind = Kind::duration,
       .help = "when an upload counts as abandoned by a replica that says nothing more",
       .fallback = "60s",
       .group = "Upkeep",
       .at_least = 5,
       .at_most = 3600},
      {.name = "access-log-days",
       .kind = Kind::integer,
       .help = "how long the access log is kept; 0 for ever",
       .fallback = "90",
       .group = "Upkeep",
       .at_most = 36500},
  };
}

}  // namespace options_detail

settings::Program program() {
  settings::Program out{
      .name = "stackgate-entitystore",
      .summary = "LoRA adapters, their versions and their records; the files lie in the datastore",
      .commands = {{"serve", "answer requests; the default"},
                   {"migrate",
                    "wait for the database and bring it to this version's schema",
                    false,
                    {"Data", "Log", "datastore-url"}},
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
  for (settings::Setting& setting : options_detail::own_settings()) out.settings.push_back(std::move(setting));
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
  const bool name = !values.text("datastore-username").empty(), password = !values.text("datastore-password").empty();
  if (name != password)
    out.push_back({.rule = "setting-pair",
                   .path = name ? "--datastore-password-file" : "--datastore-username",
                   .problem = "is missing",
                   .fix = "give DATASTORE_USERNAME and DATASTORE_PASSWORD, or neither"});
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
