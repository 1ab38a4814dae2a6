// One action under way: what it may read, the models it asks, its one answer.
#pragma once
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/guardrail/actions/actions.hpp"

namespace stackgate::guardrail {

class SearchIndexes;

struct ActionHandle::State {
  std::mutex mutex;
  std::vector<ModelCallHandle> calls;  // that may be under way
  bool cancelled = false, over = false;
};

/// Held by what it waits for. Its steps follow each other, but for answers of models that were asked side by side.
class Job : public std::enable_shared_from_this<Job> {
 public:
  Job(const ModelClient& models, const ActionOptions& options, std::shared_ptr<SearchIndexes> indexes,
      ActionRequest request, std::shared_ptr<const ActionEnvironment> environment, OnActionResult then);

  const ActionRequest& request() const { return request_; }
  const ActionEnvironment& environment() const { return *environment_; }
  const Configuration& configuration() const { return *environment_->configuration; }
  const std::shared_ptr<ActionHandle::State>& handle() const { return handle_; }
  SearchIndexes& indexes() const { return *indexes_; }

  const SharedVariables& context() const { return request_.context; }
  /// A parameter, or else the variable of that name; undefined when there is neither.
  jinja::Value find(std::string_view name) const;
  std::string text(std::string_view name) const { return std::string(find(name).bytes()); }

  /// Whom a task asks: the model of type `type`, or where there is none and `falls_back`, the main model, or the
  /// server's own endpoint. Nothing: no such model.
  struct Target {
    ModelEndpoint endpoint;
    std::string engine;
  };
  std::optional<Target> target(std::string_view type, bool falls_back = true) const;

  /// The prompt of `task`, rendered with `values` besides the variables, asked, and its answer read. When it cannot be,
  /// the job fails and `then` is not called; the same of a model that gives no answer.
  struct Task {
    std::string name;  // of the prompt, "$model=…" included
    std::string type;  // of the model
    bool falls_back = true;
    Variables values{};
    std::optional<double> temperature{};
  };
  using OnParsed = std::move_only_function<void(Parsed answer)>;
  void ask_task(Task task, OnParsed then);
  /// A prompt's text, made here or where the configuration's code runs. When it cannot be, the job fails.
  void render_prompt(const Prompt& prompt, jinja::Value values, std::move_only_function<void(Rendered)> then);
  /// What an answer to `prompt` means, in the same way. `task`: its name, "$model=…" included.
  void parse_answer(const Prompt& prompt, std::string task, std::string answer, OnParsed then);
  /// One call; it becomes part of the log. A failure ends the job.
  void ask(const Target& target, ModelRequest request, std::move_only_function<void(ModelAnswer)> then);
  /// The same as a stream for the environment's AnswerStream.
  void stream(const Target& target, ModelRequest request, std::move_only_function<void(ModelAnswer)> then);
  void embed(const Target& target, std::vector<std::string> texts,
             std::move_only_function<void(std::vector<std::vector<float>>)> then);
  /// To a detector's server; `key_variable`: of its key, or empty.
  void post(const std::string& url, const std::string& key_variable, std::string json,
            std::move_only_function<void(std::string)> then);

  void answer(jinja::Value value, Variables updates = {}, std::vector<Event> events = {});
  /// `cause` holds no text of a user.
  void fail(std::string cause);

 private:
  void take_rendered(const Prompt& prompt, std::expected<Rendered, RenderFault> rendered, std::string_view why,
                     std::move_only_function<void(Rendered)> then);
  /// Where the configuration's code runs; fails the job where it cannot.
  void with_code(std::string_view what, std::move_only_function<void(const CallCode& code)> work);
  OnModelAnswer logged(const Target& target, const ModelRequest& request,
                       std::move_only_function<void(ModelAnswer)> then);
  void keep(ModelCallHandle call);
  void end(ActionResult result);
  void fail(const ModelFailure& failure, bool main_model);

  const ModelClient& models_;
  const ActionOptions& options_;
  const std::shared_ptr<SearchIndexes> indexes_;
  const ActionRequest request_;
  const std::shared_ptr<const ActionEnvironment> environment_;
  const std::shared_ptr<ActionHandle::State> handle_ = std::make_shared<ActionHandle::State>();
  std::mutex mutex_;  // of what follows
  OnActionResult then_;
  std::vector<ModelCall> calls_;
};
using JobPtr = std::shared_ptr<Job>;

struct BuiltIn {
  std::string_view name;
  void (*run)(const JobPtr& job);
};
// By subject, each in the file of its name.
std::span<const BuiltIn> generating_actions();
std::span<const BuiltIn> dialog_actions();
std::span<const BuiltIn> checking_actions();
std::span<const BuiltIn> detecting_actions();

}  // namespace stackgate::guardrail
