#include "services/guardrail/managed/managed.hpp"

#include <fmt/format.h>

#include "services/kit/base/time.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/sql/service_error.hpp"
#include "services/kit/web/body_schema.hpp"

namespace stackgate::guardrail {
namespace {

constexpr int most_tries = 5;

std::string now() { return to_rfc3339(std::chrono::system_clock::now(), 6); }

web::Failure unavailable(const sql::SqlError& error) { return web::to_failure(sql::to_service_error(error)); }

web::Failure missing(std::string_view name_space, std::string_view name) {
  return {.status = 404, .message = fmt::format("There is no configuration {} in namespace {}.", name, name_space)};
}

KeptConfiguration kept(const ManagedConfig& config, std::int64_t version) {
  return {.name_space = config.name_space,
          .name = config.name,
          .id = configuration_id(config),
          .text = managed_config_json(config),
          .version = version};
}

std::expected<ManagedConfig, std::string> read_kept(const KeptConfiguration& each) {
  json::Document document;
  const auto root = json::parse(each.text, document);
  if (!root) return std::unexpected(root.error().message);
  auto config = stored_managed_config(*root);
  if (!config) return std::unexpected(error_lines(config.error()));
  return *std::move(config);
}

}  // namespace

ManagedConfigurations::ManagedConfigurations(std::shared_ptr<sql::Database> database, std::shared_ptr<Store> store,
                                             std::chrono::milliseconds look, KeptLimits limits)
    : database_(std::move(database)),
      store_(std::move(store)),
      kept_(*database_, limits),
      known_(std::make_shared<const ByName>()) {
  if (look.count() > 0)
    watch_.emplace(look, [this, look](const std::stop_token&) {
      if (const auto read = refresh(); !read)
        log::warning("kept configurations cannot be read; those that are known answer",
                     {{"why", read.error().message}});
      return look;
    });
}

sql::Expected<void> ManagedConfigurations::refresh() {
  const std::scoped_lock lock(refreshing_);
  if (TRY(kept_.revision()) == revision_) return {};
  const auto all = TRY(kept_.all());
  auto known = std::make_shared<ByName>();
  Store::Managed served;
  for (const KeptConfiguration& each : all.configurations) {
    auto config = read_kept(each);
    if (!config) {
      log::error("a kept configuration cannot be read", {{"configuration", each.id}, {"why", config.error()}});
      continue;
    }
    served.emplace(each.id, files_of(*config));
    known->emplace(std::pair(each.name_space, each.name), Known{*std::move(config), each.version});
  }
  store_->set_managed(std::move(served));
  {
    const std::scoped_lock known_lock(mutex_);
    known_ = std::move(known);
  }
  revision_ = all.revision;
  return {};
}

ManagedConfigurations::Result<std::shared_ptr<const ManagedConfigurations::ByName>> ManagedConfigurations::all() {
  if (auto read = refresh(); !read) return std::unexpected(unavailable(read.error()));
  const std::scoped_lock lock(mutex_);
  return known_;
}

ManagedConfigurations::Result<ManagedConfigurations::Known> ManagedConfigurations::find(std::string_view name_space,
                                                                                        std::string_view name) {
  const auto known = TRY(all());
  const auto found = known->find(std::pair(std::string(name_space), std::string(name)));
  if (found == known->end()) return std::unexpected(missing(name_space, name));
  return found->second;
}

ManagedConfigurations::Result<ManagedConfig> ManagedConfigurations::get(std::string_view name_space,
                                                                        std::string_view name) {
  return TRY(find(name_space, name)).config;
}

/// What would not be served is not kept.
std::expected<void, web::Failure> ManagedConfigurations::check(const ManagedConfig& config) const {
  if (!config.files_url.empty())
    return std::unexpected(web::unprocessable({{.rule = "guardrails-value",
                                                .path = "files_url",
                                                .value = {},
                                                .problem = "is not fetched by this server",
                                                .fix = "send the configuration itself as \"data\""}}));
  ReadConfiguration read = read_configuration(configuration_id(config), files_of(config));
  if (read.configuration == nullptr) return std::unexpected(web::unprocessable(std::move(read.findings)));
  return {};
}

web::Failure ManagedConfigurations::full() const {
  return {.status = 507,
          .message = fmt::format("There is room for {} configurations and {} MiB; delete some that are not used.",
                                 kept_.limits().count, kept_.limits().bytes >> 20U)};
}

/// Afterwards it is served.
std::expected<void, web::Failure> ManagedConfigurations::done(const sql::Expected<Kept>& result,
                                                              const ManagedConfig& config) {
  if (!result) return std::unexpected(unavailable(result.error()));
  if (*result == Kept::full) return std::unexpected(full());
  if (*result == Kept::missing) return std::unexpected(missing(config.name_space, config.name));
  if (*result == Kept::exists)
    return std::unexpected(
        web::Failure{.status = 409,
                     .message = fmt::format("There is a configuration {} already; change it, or choose another name.",
                                            configuration_id(config))});
  if (auto read = refresh(); !read) return std::unexpected(unavailable(read.error()));
  return {};
}

ManagedConfigurations::Result<ManagedConfig> ManagedConfigurations::create(ManagedConfig config) {
  const std::string id = configuration_id(config);
  const auto snapshot = store_->snapshot();
  if (const auto found = snapshot->configurations().find(id);
      found != snapshot->configurations().end() && !found->second.managed)
    return std::unexpected(
        web::Failure{.status = 409,
                     .message = fmt::format("{} is a configuration of the server's folder; choose another name.", id)});
  TRY(check(config));
  config.created_at = config.updated_at = now();
  TRY(done(kept_.add(kept(config, 0)), config));
  return config;
}

ManagedConfigurations::Result<ManagedConfig> ManagedConfigurations::change(std::string_view name_space,
                                                                           std::string_view name,
                                                                           const Change& change) {
  for (int i = 0; i < most_tries; ++i) {
    const Known old = TRY(find(name_space, name));
    auto made = change(old.config);
    if (!made) return std::unexpected(web::unprocessable(std::move(made.error())));
    TRY(check(*made));
    made->updated_at = now();
    const auto result = kept_.replace(kept(*made, old.version));
    if (result && *result == Kept::missing) continue;  // somebody else was faster
    TRY(done(result, *made));
    return *std::move(made);
  }
  return std::unexpected(
      web::Failure{.status = 409, .message = "The configuration is being changed by others; try again."});
}

ManagedConfigurations::Result<ManagedConfig> ManagedConfigurations::remove(std::string_view name_space,
                                                                           std::string_view name) {
  const Known old = TRY(find(name_space, name));
  TRY(done(kept_.remove(name_space, name), old.config));
  return old.config;
}

}  // namespace stackgate::guardrail
