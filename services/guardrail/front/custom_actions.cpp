#include "services/guardrail/front/custom_actions.hpp"

#include <algorithm>
#include <future>
#include <utility>

#include "services/guardrail/actions/conversation.hpp"
#include "services/kit/jinja/from_value.hpp"
#include "services/kit/jinja/to_json.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::guardrail {
namespace {

/// One message of a user, and what the code wants to be asked with.
std::shared_ptr<ActionEnvironment> question(const ConfigurationPtr& plain, const WorkerAsks& asks) {
  auto out = std::make_shared<ActionEnvironment>();
  out->configuration = plain;
  out->history.push_back({"user", asks.prompt});
  json::Writer body(out->body);
  body.object([&] {
    if (asks.temperature >= 0) body.member("temperature", asks.temperature);
    if (asks.max_tokens > 0) body.member("max_tokens", asks.max_tokens);
    if (!asks.stop.empty()) {
      body.key("stop");
      body.array([&] {
        for (const std::string& each : asks.stop) body.value(each);
      });
    }
  });
  return out;
}

class PythonCode final : public CustomActions {
 public:
  PythonCode(const ConfigurationPtr& configuration, std::shared_ptr<const Actions> actions,
             const PythonOptions& options)
      : names_(configuration->python_actions),
        any_name_(configuration->any_python_action),
        python_(configuration->python_files, configuration->id, options,
                [actions = std::move(actions), plain = without_instructions(*configuration)](const WorkerAsks& asks) {
                  return ask(*actions, plain, asks);
                }) {}

  bool knows(std::string_view action) const override {
    if (std::ranges::find(names_, action, &PythonAction::name) != names_.end()) return true;
    return any_name_ && std::ranges::find(Actions::names(), action) == Actions::names().end();
  }
  void run(ActionRequest request, std::shared_ptr<const ActionEnvironment> environment, OnActionResult then) override {
    if (environment) request.events = history_events(*environment, request.context);
    python_.run(std::move(request), std::move(then));
  }
  void call(std::move_only_function<void(const CallCode* code)> work) override { python_.call(std::move(work)); }

 private:
  static ConfigurationPtr without_instructions(const Configuration& configuration) {
    auto out = std::make_shared<Configuration>(configuration);
    out->passthrough = true;
    return out;
  }
  /// Blocks the thread of the process that asks.
  static std::expected<std::string, std::string> ask(const Actions& actions, const ConfigurationPtr& plain,
                                                     const WorkerAsks& asks) {
    const auto promise = std::make_shared<std::promise<ActionResult>>();
    auto answer = promise->get_future();
    actions.run({.action = "generate"}, question(plain, asks),
                [promise](ActionResult result) { promise->set_value(std::move(result)); });
    const ActionResult result = answer.get();
    if (result.failed) return std::unexpected("the model gave no answer");
    return std::string(result.value.bytes());
  }

  const std::vector<PythonAction> names_;
  const bool any_name_;
  PythonActions python_;
};

/// Source: the action server of NeMo Guardrails, POST /v1/actions/run.
class ActionServer final : public CustomActions {
 public:
  ActionServer(std::shared_ptr<const ModelClient> models, const std::string& url)
      : models_(std::move(models)), url_(url + (url.ends_with('/') ? "" : "/") + "v1/actions/run") {}

  bool knows(std::string_view action) const override {
    return std::ranges::find(Actions::names(), action) == Actions::names().end();
  }
  void run(ActionRequest request, std::shared_ptr<const ActionEnvironment>, OnActionResult then) override {
    std::string body;
    json::Writer w(body);
    w.object([&] {
      w.member("action_name", request.action);
      w.key("action_parameters");
      w.object([&] {
        for (const auto& [name, value] : request.parameters) {
          w.key(name);
          jinja::write_json(w, value);
        }
      });
    });
    models_->post(url_, "", std::move(body), "action",
                  [id = request.id, then = std::move(then)](auto answer) mutable { then(result_of(id, answer)); });
  }

 private:
  static ActionResult result_of(std::uint64_t id, const ModelResult<std::string>& answer) {
    ActionResult out{.id = id, .failed = true};
    json::Document document;
    const auto root = answer ? json::parse(*answer, document, {.max_depth = 100}) : std::unexpected(json::ParseError{});
    if (!answer)
      out.error = "the server of actions gave no answer: " + answer.error().cause;
    else if (!root || json::text(&*root, {"status"}) != "success")
      out.error = "the server of actions reports a failure";
    else if (const json::Value* value = root->find("result")) {
      auto read = jinja::from_json(*value);
      out.failed = !read;
      if (read)
        out.value = std::move(*read);
      else
        out.error = "the result of the server of actions is nested too deep";
    } else {
      out.failed = false;
      out.value = jinja::None{};
    }
    return out;
  }

  const std::shared_ptr<const ModelClient> models_;
  const std::string url_;
};

}  // namespace

CustomActionsOf::CustomActionsOf(std::shared_ptr<const ModelClient> models, std::shared_ptr<const Actions> actions,
                                 PythonOptions options)
    : models_(std::move(models)), actions_(std::move(actions)), options_(std::move(options)) {}

std::shared_ptr<CustomActions> CustomActionsOf::make(const ConfigurationPtr& configuration) const {
  if (!configuration->actions_server_url.empty())
    return std::make_shared<ActionServer>(models_, configuration->actions_server_url);
  if (configuration->python_files.empty() || options_.python.empty()) return {};
  return std::make_shared<PythonCode>(configuration, actions_, options_);
}

std::shared_ptr<CustomActions> CustomActionsOf::operator()(const ConfigurationPtr& configuration) {
  std::vector<std::shared_ptr<CustomActions>> gone;
  const std::scoped_lock lock(mutex_);
  for (auto each = kept_.begin(); each != kept_.end();) {
    if (!each->second.configuration.expired()) {
      ++each;
      continue;
    }
    if (each->second.actions) gone.push_back(std::move(each->second.actions));
    each = kept_.erase(each);
  }
  if (!gone.empty()) ends_processes_ = std::jthread([ended = std::move(gone)] {});
  auto found = kept_.find(configuration.get());
  if (found == kept_.end()) found = kept_.emplace(configuration.get(), Kept{configuration, make(configuration)}).first;
  return found->second.actions;
}

}  // namespace stackgate::guardrail
