#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "services/guardrail/front/configurations.hpp"
#include "services/guardrail/front/custom_actions.hpp"
#include "services/guardrail/front/front.hpp"
#include "services/guardrail/managed/managed.hpp"
#include "services/guardrail/pages/pages.hpp"
#include "services/guardrail/program/program.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/run/startup.hpp"
#include "services/kit/service/database.hpp"

namespace stackgate::guardrail {
namespace serve_detail {

constexpr std::size_t owner_digits = 16;
/// What the client of models calls the file of --inference-api-key, which the settings have read.
constexpr std::string_view own_key = "--inference-api-key";

std::shared_ptr<const ModelClient> open_models(const settings::Values& values, metrics::Registry& metrics) {
  ModelClientOptions options{.deadline = std::chrono::milliseconds(values.integer("inference-timeout")),
                             .calls = static_cast<std::uint32_t>(values.integer("max-model-calls")),
                             .waiting = static_cast<std::uint32_t>(values.integer("max-queue")),
                             .ca_file = values.text("inference-ca-file")};
  options.variable = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): nothing sets variables
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  options.file = [key = values.text("inference-api-key")](const std::string& path) -> std::optional<std::string> {
    return path == own_key ? key : run::small_file(path);
  };
  return std::make_shared<const ModelClient>(std::move(options), metrics);
}

}  // namespace serve_detail

PythonOptions python_options(const settings::Values& values) {
  return {.python = values.text("python"),
          .timeout = std::chrono::milliseconds(values.integer("action-timeout")),
          .memory = static_cast<std::uint64_t>(values.integer("action-memory")),
          .network = values.flag("action-network")};
}

std::expected<service::Parts, Error> build(const settings::Values& values, metrics::Registry& metrics) {
  using namespace serve_detail;
  const auto store = std::make_shared<Store>(
      StoreOptions{
          .folder = values.text("config-store"),
          .look = std::chrono::milliseconds(values.integer("reload-interval")),
          .trial = [options = python_options(values)](const Configuration& each) { return try_python(each, options); }},
      metrics);
  const std::string& url = values.text("inference-url");
  const std::string& key = values.text("inference-api-key");
  if (!key.empty() && url.starts_with("http://"))
    log::warning("the key of the inference endpoint goes over plain http", {{"url", endpoint_origin(url)}});
  const std::string key_file(key.empty() ? std::string_view() : own_key);

  auto front = std::make_shared<Front>();
  front->models = open_models(values, metrics);
  front->actions = std::make_shared<const Actions>(
      *front->models, ActionOptions{.inference_url = url, .inference_api_key_file = key_file});
  front->custom = [custom = std::make_shared<CustomActionsOf>(front->models, front->actions, python_options(values))](
                      const ConfigurationPtr& configuration) { return (*custom)(configuration); };
  front->configurations = served_configurations(store, values.text("default-config-id"), values.flag("inline-configs"));
  front->endpoint = {.base_url = url, .api_key_file = key_file};
  const auto database = TRY(service::open_database(program(), values));
  if (auto migrated = sql::migrate(*database, conversation_migrations()); !migrated)
    return std::unexpected(Error{migrated.error().message});
  front->threads = std::make_shared<Threads>(
      database, crypto::random_hex(owner_digits),
      ConversationOptions{.lease = std::chrono::seconds(values.integer("thread-lease") / 1'000),
                          .expiry = std::chrono::seconds(values.integer("thread-expiry") / 1'000)});
  front->metrics = std::make_shared<GuardrailMetrics>(metrics);

  service::Parts parts{.routes = routes(front),
                       .about = {{"configurations", std::to_string(store->snapshot()->configurations().size())},
                                 {"inference", endpoint_origin(url)}}};
  for (web::Route& each : page_routes({.folder = values.text("config-store"), .chat = !values.flag("disable-chat-ui")}))
    parts.routes.push_back(std::move(each));
  if (values.flag("managed-configs")) {
    const auto managed = std::make_shared<ManagedConfigurations>(
        database, store, std::chrono::milliseconds(values.integer("reload-interval")));
    if (auto read = managed->refresh(); !read) return std::unexpected(Error{read.error().message});
    for (web::Route& each : managed_routes(managed)) parts.routes.push_back(std::move(each));
  }
  parts.checks.push_back({"configurations",
                          [store](std::chrono::milliseconds) -> std::expected<void, Error> {
                            std::string why = store->snapshot()->problems();
                            if (!why.empty()) return std::unexpected(Error{std::move(why)});
                            return {};
                          },
                          true});
  parts.checks.push_back(service::database_check(database));
  parts.on_stop = [threads = front->threads] { threads->settle(); };
  parts.keep = front;
  return parts;
}

}  // namespace stackgate::guardrail
