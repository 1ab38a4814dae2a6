// The actions that a Turn asks for: calls of models, checks, detectors, retrieval; what is not built in goes to the
// configuration's own actions. Thread-safe.
//
// No thread is held while a model answers. Whatever fails, fails closed: ActionResult::failed, and a line in the log
// that names action, configuration and cause, but no text of a user and no key.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/dialog/turn.hpp"
#include "services/guardrail/models/client.hpp"

namespace stackgate::guardrail {

struct ActionEnvironment;
using OnActionResult = std::move_only_function<void(ActionResult)>;

/// actions.py, or a server of actions.
class CustomActions {
 public:
  virtual ~CustomActions() = default;
  /// It comes before a built-in action of the same name.
  virtual bool knows(std::string_view action) const = 0;
  /// `then` once, from any thread; `environment` is the run's own.
  virtual void run(ActionRequest request, std::shared_ptr<const ActionEnvironment> environment,
                   OnActionResult then) = 0;
  /// Calls `work` once, on a thread that may block, with the code's filters and output parsers; nullptr: there are none
  /// or they cannot be called now.
  virtual void call(std::move_only_function<void(const CallCode* code)> work) { work(nullptr); }
};

/// Who gets the main model's answer while it comes. Called on the HTTP client's thread: must not block.
class AnswerStream {
 public:
  virtual ~AnswerStream() = default;
  /// Before the first delta; to resume or cancel the call.
  virtual void begins(ModelCallHandle call) = 0;
  /// False: no more until call.resume().
  virtual bool take(const ModelDelta& delta) = 0;
};

/// What all actions of a turn may see.
struct ActionEnvironment {
  ConfigurationPtr configuration;
  std::vector<Message> history{};  // before this turn's message
  /// The conversation as the client sent it, this turn's message included, with what the input rails made of its text:
  /// a JSON array. Empty: `history` and the user's message.
  std::function<std::string(std::string_view user_message)> messages{};
  std::string body{};   // JSON object: the client's other parameters, for the main model's answer
  std::string model{};  // that the request names, for a configuration whose main model has no name
  std::shared_ptr<CustomActions> custom{};
  std::shared_ptr<AnswerStream> stream{};  // of "generate"
  /// The main model failed: what to tell the client. Called before the result.
  std::function<void(const ModelFailure&)> main_model_failed{};
};

struct ActionOptions {
  std::string inference_url{};           // of models without a base_url
  std::string inference_api_key_file{};  // goes nowhere else
};

/// An action under way. Letting go of it changes nothing.
class ActionHandle {
 public:
  struct State;
  explicit ActionHandle(std::shared_ptr<State> state = {}) : state_(std::move(state)) {}
  /// The result is not wanted any more; calls of models end. `then` is not called, but for a call on another thread
  /// right now.
  void cancel();
  /// Its result has been given: cancel() would do nothing.
  bool is_over() const;

 private:
  std::shared_ptr<State> state_;
};

class SearchIndexes;

class Actions {
 public:
  /// `models` must outlive what is run.
  Actions(const ModelClient& models, ActionOptions options);
  ~Actions();

  /// `then` is called once, on any thread, also before this returns; it must not block. Times in its log are the steady
  /// clock's.
  ActionHandle run(ActionRequest request, std::shared_ptr<const ActionEnvironment> environment,
                   OnActionResult then) const;
  /// Names of those that are built in.
  static const std::vector<std::string_view>& names();

 private:
  const ModelClient& models_;
  const ActionOptions options_;
  const std::shared_ptr<SearchIndexes> indexes_;  // of the configurations that live
};

// Of a result's context_updates, beside what the action is about:
//   last_user_intent       by generate_user_intent
//   generated_message      the main model's whole message as JSON text, tool calls included
//   generated_tool_calls   "name(arguments)", a line each, for rails
//   generated_finish_reason, generated_model

}  // namespace stackgate::guardrail
