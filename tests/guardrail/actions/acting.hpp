// Actions of a configuration, run against an OpenAI endpoint on the loopback.
#pragma once
#include <memory>
#include <string>
#include <utility>

#include "services/guardrail/actions/actions.hpp"
#include "tests/guardrail/models/upstream_double.hpp"

namespace stackgate::guardrail::test {

inline jinja::Value text_value(std::string_view text) { return jinja::Value(text); }

struct Acting {
  explicit Acting(UpstreamDouble::Script script) : upstream(std::move(script)) {
    configuration->id = "c";
    configuration->instructions = "Be kind.";
    configuration->models = {{.type = "main", .engine = "openai", .model = "m"}};
  }

  ActionResult run(std::string action, Variables context = {}, Variables parameters = {}) {
    environment->configuration = configuration;
    Waiter<ActionResult> waiter;
    (void)actions.run({.id = 7,
                       .action = std::move(action),
                       .parameters = std::move(parameters),
                       .context = std::make_shared<const Variables>(std::move(context))},
                      environment, waiter.function());
    return waiter.get();
  }

  UpstreamDouble upstream;
  metrics::Registry registry;
  ModelClient models{{.variable = [](const std::string& name) -> std::optional<std::string> {
                        return name == "SAFETY_KEY" ? std::optional<std::string>("sk-safety") : std::nullopt;
                      },
                      .file = [](const std::string&) { return std::optional<std::string>("sk-server"); }},
                     registry};
  Actions actions{models, {.inference_url = upstream.base_url(), .inference_api_key_file = "/key"}};
  std::shared_ptr<Configuration> configuration = std::make_shared<Configuration>();
  std::shared_ptr<ActionEnvironment> environment = std::make_shared<ActionEnvironment>();
};

inline bool is(const ActionResult& result, bool wanted) {
  const bool* found = result.value.boolean();
  return !result.failed && found != nullptr && *found == wanted;
}
/// A member of a value that is a dict; undefined without one.
inline jinja::Value member(const ActionResult& result, std::string_view name) {
  const auto* dict = result.value.dict();
  const jinja::Value* found = dict == nullptr ? nullptr : (*dict)->find(name);
  return found == nullptr ? jinja::Value() : *found;
}

}  // namespace stackgate::guardrail::test
