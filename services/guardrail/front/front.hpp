// The routes: a request becomes a turn, its actions are executed, its result an answer or a stream.
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/actions/actions.hpp"
#include "services/guardrail/api/check_answer.hpp"
#include "services/guardrail/api/request.hpp"
#include "services/guardrail/front/metrics.hpp"
#include "services/guardrail/front/threads.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::guardrail {

/// What answers requests, and what is listed. Thread-safe functions that do not block.
struct Configurations {
  /// Of a request's ids; none: the default one.
  std::function<std::expected<ConfigurationPtr, web::Failure>(const std::vector<std::string>& ids)> choose;
  /// Of a configuration in the request.
  std::function<std::expected<ConfigurationPtr, web::Failure>(const std::vector<File>& files)> compile;
  /// The bodies of GET /v1/configs.
  std::function<std::string()> list;
  /// Whether a turn of a few KB is computed in far less than a millisecond, whichever configuration answers.
  std::function<bool()> are_quick;
};

struct FrontOptions {
  std::chrono::milliseconds ping{15'000};  // between two signs of life of a silent stream
};

/// What the handlers share; they only read it.
struct Front {
  Configurations configurations;
  std::shared_ptr<const ModelClient> models;
  std::shared_ptr<const Actions> actions;
  /// Of one configuration: actions.py, or its server of actions; empty: it has none.
  std::function<std::shared_ptr<CustomActions>(const ConfigurationPtr&)> custom;
  ModelEndpoint endpoint{};            // of GET /v1/models
  std::shared_ptr<Threads> threads{};  // empty: no conversations are kept
  std::shared_ptr<GuardrailMetrics> metrics;
  FrontOptions options{};
};
using FrontPtr = std::shared_ptr<const Front>;

/// All but health, metrics and what manages configurations.
std::vector<web::Route> routes(const FrontPtr& front);

// One handler for each route; they wait for nothing.
web::Answer chat(const FrontPtr& front, web::Call& call);
web::Answer complete(const FrontPtr& front, web::Call& call);
web::Answer check(const FrontPtr& front, web::Call& call);
web::Answer microservice_check(const FrontPtr& front, web::Call& call);
web::Answer list_configurations(const FrontPtr& front, web::Call& call);
web::Answer list_models(const FrontPtr& front, web::Call& call);
web::Answer remove_thread(const FrontPtr& front, web::Call& call);

}  // namespace stackgate::guardrail
