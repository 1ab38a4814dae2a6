#include "services/datastore/options.hpp"

#include <vector>

#include "services/datastore/accounts/accounts.hpp"
#include "services/kit/service/database.hpp"
#include "services/kit/service/service.hpp"
#include "services/kit/settings/table.hpp"

namespace stackgate::datastore {
namespace {

/// Beside the common ones.
void append_own(std::vector<settings::Setting>& out) {
  using namespace settings::table;
  append(out, "Accounts",
         {by_variable("GIT_ADMIN_USERNAME",
                      text("git-admin-username",
                           "the administrator's name; \"admin\" with a generated password when neither is given")),
          by_variable("GIT_ADMIN_PASSWORD", secret("git-admin-password", "the administrator's password")),
          flag("anonymous-read", "public repositories are read without signing in", "true")});
  append(
      out, "Large files",
      {secret("lfs-jwt-secret",
              "signs the tokens of large-file transfers; 16 bytes or more, 32 random ones at best; the same in every "
              "replica"),
       size("lfs-threshold", "files beyond it are stored as large files", "1M", 1024),
       size("lfs-parts-from",
            "Hugging Face clients upload files from there on in parts; 0: 256 MiB straight to S3, 5 GiB through here",
            "0"),
       size("lfs-max-file", "the largest file that is taken; 0 for no limit", "0"),
       size("lfs-repository-quota", "large files of one repository together; 0 for no limit", "0"),
       size("lfs-total-quota", "all large files together; 0 for no limit", "0")});
  append(out, "S3",
         {text("s3-endpoint", "host:port of an S3 service; the data directory without it"),
          text("s3-bucket", "its bucket"), text("s3-region", "its region", "us-east-1"),
          flag("s3-ssl", "speak TLS with it", "true"),
          flag("s3-serve-direct", "clients move large files straight to and from S3", "true"),
          text("s3-public-endpoint", "what clients call S3, when it is not the endpoint"),
          flag("s3-path-style", "http://host/bucket/key rather than http://bucket.host/key", "true"),
          text("s3-ca-file", "certificates to trust, PEM; the system's without it"),
          by_variable("S3_ACCESS_KEY", text("s3-access-key", "the access key's id")),
          by_variable("S3_SECRET_KEY", secret("s3-secret-key", "the access key's secret"))});
  append(out, "Git",
         {size("push-limit", "the largest pack that a push may bring; 0 for no limit", "0"),
          integer("git-processes", "clones and pushes at the same time", "8", 1, 256),
          duration("upkeep-interval", "between two rounds of packing, sweeping and measuring; 0s for never", "1h")});
  append(out, "Deployment",
         {text("config-script", "a file of NAME=VALUE assignments, read as variables that are not set otherwise"),
          text("inline-config-dir", "a directory of such files, or one file per variable; weaker than the script"),
          text("init-dir", "init runs its *.sh files with /bin/sh, in the order of their names")});
  append(out, "fsck",
         {flag("repair", "fsck also mends what can be mended safely"),
          flag("hash", "fsck reads every large file", "true")});
}

std::vector<settings::Command> own_commands() {
  using Uses = std::vector<std::string_view>;
  const auto with = [](Uses all, const Uses& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const Uses database{"Data", "config-script", "inline-config-dir", "Log"};
  const Uses accounts = with(database, {"git-admin-username", "git-admin-password"});
  const Uses store = with(database, {"s3-endpoint", "s3-bucket", "s3-region", "s3-ssl", "s3-path-style", "s3-ca-file",
                                     "s3-access-key", "s3-secret-key"});
  return {{"serve", "answer requests; the default"},
          {"init", "make the data directory, generate missing secrets, migrate, run the scripts of --init-dir", false,
           with(store, {"git-admin-username", "git-admin-password", "lfs-jwt-secret", "init-dir"})},
          {"migrate", "bring the database to this version's schema", false, database},
          {"fsck", "hold database, repositories and large files against each other; prints JSON", false,
           with(store, {"fsck"})},
          {"gc", "sweep what belongs to nothing, pack repositories, drop large files without a link", false, store},
          {"user", "list | add NAME [admin] | password NAME | on NAME | off NAME | remove NAME", true, accounts},
          {"token", "list USER | add USER NAME [read|write] [DAYS] | remove USER NAME", true, accounts}};
}

/// Of what objects::faults_of() says: "access key: is missing …".
std::string_view setting_of(std::string_view fault) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {{"public endpoint", "--s3-public-endpoint"},
                                                                     {"bucket", "--s3-bucket"},
                                                                     {"region", "--s3-region"},
                                                                     {"access key", "S3_ACCESS_KEY"},
                                                                     {"secret key", "S3_SECRET_KEY"}};
  for (const auto& [member, setting] : names)
    if (fault.starts_with(std::string(member) + ": ")) return setting;
  return "--s3-endpoint";
}

}  // namespace

settings::Program program() {
  settings::Program out{.name = "stackgate-datastore",
                        .summary = "Git, large files and the Hugging Face API over one store of repositories",
                        .commands = own_commands(),
                        .settings = service::common_settings(),
                        .examples =
                            "  stackgate-datastore --data-dir /var/lib/datastore\n"
                            "  stackgate-datastore user add ann < password.txt\n"
                            "  stackgate-datastore fsck --repair | jq .faults\n"};
  append_own(out.settings);
  return out;
}

Options read_options(const settings::Values& values) {
  const auto bytes = [&](std::string_view name) { return static_cast<std::uint64_t>(values.integer(name)); };
  Options out{.data_dir = values.text("data-dir"),
              .embedded = service::database_url(program(), values).starts_with("sqlite:"),
              .admin_name = values.text("git-admin-username"),
              .admin_password = values.text("git-admin-password"),
              .jwt_key = values.text("lfs-jwt-secret"),
              .serve_direct = values.flag("s3-serve-direct"),
              .anonymous_read = values.flag("anonymous-read"),
              .lfs_threshold = bytes("lfs-threshold"),
              .lfs_parts_from = bytes("lfs-parts-from"),
              .lfs_file = bytes("lfs-max-file"),
              .lfs_repository = bytes("lfs-repository-quota"),
              .lfs_total = bytes("lfs-total-quota"),
              .push_bytes = bytes("push-limit"),
              .git_processes = static_cast<unsigned>(values.integer("git-processes")),
              .upkeep = std::chrono::seconds(values.integer("upkeep-interval") / 1000),
              .init_dir = values.text("init-dir"),
              .repair = values.flag("repair"),
              .hash = values.flag("hash")};
  while (out.data_dir.size() > 1 && out.data_dir.ends_with('/')) out.data_dir.pop_back();
  out.store.directory = out.data_dir + "/objects";
  if (!values.has("s3-endpoint")) return out;
  out.store.s3 = {.endpoint = values.text("s3-endpoint"),
                  .public_endpoint = values.text("s3-public-endpoint"),
                  .bucket = values.text("s3-bucket"),
                  .region = values.text("s3-region"),
                  .access_key = values.text("s3-access-key"),
                  .secret_key = values.text("s3-secret-key"),
                  .ca_file = values.text("s3-ca-file"),
                  .ssl = values.flag("s3-ssl"),
                  .path_style = values.flag("s3-path-style")};
  return out;
}

validate::Findings check_options(const settings::Values& values) {
  validate::Findings out;
  const auto complain = [&](std::string_view path, std::string problem, std::string fix) {
    out.push_back(settings::fault(std::string(path), std::move(problem), std::move(fix)));
  };
  const Options options = read_options(values);
  if (options.data_dir.empty()) complain("--data-dir", "is empty", "name a directory for repositories and files");
  if (options.admin_name.empty() != options.admin_password.empty())
    complain(options.admin_name.empty() ? "--git-admin-username" : "--git-admin-password-file",
             "is missing beside the other", "give GIT_ADMIN_USERNAME and GIT_ADMIN_PASSWORD, or neither");
  if (!options.admin_name.empty())
    if (const auto fault = fault_of_account_name(options.admin_name))
      complain("--git-admin-username", *fault, "write a name like git-admin");
  if (!options.jwt_key.empty() && options.jwt_key.size() < 16)
    complain("--lfs-jwt-secret-file", "the secret has fewer than 16 bytes", "write 32 random ones");
  if (!options.store.s3.endpoint.empty())
    for (std::string& fault : objects::faults_of(options.store))
      complain(setting_of(fault), fault.substr(fault.find(": ") + 2), "correct it, or leave --s3-endpoint out");
  return out;
}

}  // namespace stackgate::datastore
