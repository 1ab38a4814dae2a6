// Configurations that are created, changed and deleted through the API, kept in the database, compiled before they are
// taken, and served at once; those of other replicas are looked for. Thread-safe; calls block for the database.
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/guardrail/api/managed_config.hpp"
#include "services/guardrail/memory/kept_configurations.hpp"
#include "services/guardrail/store/store.hpp"
#include "services/kit/run/periodic.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::guardrail {

class ManagedConfigurations {
 public:
  struct Known {
    ManagedConfig config;
    std::int64_t version = 0;
  };
  using ByName = std::map<std::pair<std::string, std::string>, Known>;  // namespace, name
  template <class T>
  using Result = std::expected<T, web::Failure>;

  /// `look`: how often the database is asked for what others have changed; 0: only by the calls below.
  ManagedConfigurations(std::shared_ptr<sql::Database> database, std::shared_ptr<Store> store,
                        std::chrono::milliseconds look, KeptLimits limits = {});

  /// Serves what the database has now. For the start; the calls below do it themselves.
  sql::Expected<void> refresh();

  Result<std::shared_ptr<const ByName>> all();
  Result<ManagedConfig> get(std::string_view name_space, std::string_view name);
  Result<ManagedConfig> create(ManagedConfig config);
  /// `change`: from what there is to what is to be; may be called again when somebody else was faster.
  using Change = std::function<std::expected<ManagedConfig, validate::Findings>(const ManagedConfig&)>;
  Result<ManagedConfig> change(std::string_view name_space, std::string_view name, const Change& change);
  Result<ManagedConfig> remove(std::string_view name_space, std::string_view name);

 private:
  Result<Known> find(std::string_view name_space, std::string_view name);
  std::expected<void, web::Failure> check(const ManagedConfig& config) const;
  std::expected<void, web::Failure> done(const sql::Expected<Kept>& result, const ManagedConfig& config);
  web::Failure full() const;

  const std::shared_ptr<sql::Database> database_;
  const std::shared_ptr<Store> store_;
  KeptConfigurations kept_;
  std::mutex refreshing_;  // one at a time
  std::optional<std::int64_t> revision_{};
  mutable std::mutex mutex_;  // of known_
  std::shared_ptr<const ByName> known_;
  std::optional<run::Periodic> watch_;  // last: it uses the others
};

/// /v1/guardrail/configs[/{namespace}/{name}].
std::vector<web::Route> managed_routes(const std::shared_ptr<ManagedConfigurations>& managed);

}  // namespace stackgate::guardrail
