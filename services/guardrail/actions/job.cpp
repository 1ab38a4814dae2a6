#include "services/guardrail/actions/job.hpp"

#include <chrono>

#include <fmt/format.h>

#include "services/guardrail/actions/conversation.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::guardrail {
namespace {

Moment now() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace

void ActionHandle::cancel() {
  if (!state_) return;
  std::vector<ModelCallHandle> calls;
  {
    const std::scoped_lock lock(state_->mutex);
    state_->cancelled = true;
    std::swap(calls, state_->calls);
  }
  for (ModelCallHandle& call : calls) call.cancel();
}

bool ActionHandle::is_over() const {
  if (!state_) return true;
  const std::scoped_lock lock(state_->mutex);
  return state_->over;
}

Job::Job(const ModelClient& models, const ActionOptions& options, std::shared_ptr<SearchIndexes> indexes,
         ActionRequest request, std::shared_ptr<const ActionEnvironment> environment, OnActionResult then)
    : models_(models),
      options_(options),
      indexes_(std::move(indexes)),
      request_(std::move(request)),
      environment_(std::move(environment)),
      then_(std::move(then)) {}

jinja::Value Job::find(std::string_view name) const {
  if (const auto found = request_.parameters.find(name); found != request_.parameters.end()) return found->second;
  const jinja::Value* const found = context().find(name);
  return found == nullptr ? jinja::Value() : *found;
}

std::optional<Job::Target> Job::target(std::string_view type, bool falls_back) const {
  const Model* model = configuration().find_model(type);
  if (model == nullptr && !falls_back) return std::nullopt;
  if (model == nullptr) model = configuration().find_model("main");
  Target out;
  if (model != nullptr) {
    out.engine = model->engine;
    out.endpoint = {.type = model->type,
                    .base_url = model->base_url,
                    .api_key_env = model->api_key_env,
                    .model = model->model,
                    .parameters = model->parameters,
                    .completion = model->completion};
  }
  if (out.endpoint.base_url.empty()) {
    out.endpoint.base_url = options_.inference_url;
    if (out.endpoint.api_key_env.empty()) out.endpoint.api_key_file = options_.inference_api_key_file;
  }
  if (out.endpoint.model.empty() && out.endpoint.type == "main") out.endpoint.model = environment_->model;
  return out;
}

void Job::keep(ModelCallHandle call) {
  {
    const std::scoped_lock lock(handle_->mutex);
    if (!handle_->cancelled) return handle_->calls.push_back(std::move(call));
  }
  call.cancel();
}

OnModelAnswer Job::logged(const Target& target, const ModelRequest& request,
                          std::move_only_function<void(ModelAnswer)> then) {
  ModelCall call{.task = request.task,
                 .model = target.endpoint.model,
                 .prompt = shown_prompt(request),
                 .completion = {},
                 .began = now()};
  const bool main_model = request.task.starts_with("gener");
  return [self = shared_from_this(), call = std::move(call), then = std::move(then),
          main_model](ModelResult<ModelAnswer> answer) mutable {
    call.ended = now();
    if (answer) {
      call.completion = answer->text;
      if (!answer->model.empty()) call.model = answer->model;
      call.prompt_tokens = answer->usage.prompt;
      call.completion_tokens = answer->usage.completion;
    }
    {
      const std::scoped_lock lock(self->mutex_);
      self->calls_.push_back(std::move(call));
    }
    if (!answer) return self->fail(answer.error(), main_model);
    then(std::move(*answer));
  };
}

void Job::ask(const Target& target, ModelRequest request, std::move_only_function<void(ModelAnswer)> then) {
  auto function = logged(target, request, std::move(then));
  keep(models_.ask(target.endpoint, std::move(request), std::move(function)));
}

void Job::stream(const Target& target, ModelRequest request, std::move_only_function<void(ModelAnswer)> then) {
  auto function = logged(target, request, std::move(then));
  const auto stream = environment_->stream;
  const ModelCallHandle call = models_.stream(
      target.endpoint, std::move(request),
      {.delta = [stream](const ModelDelta& delta) { return stream->take(delta); }, .end = std::move(function)});
  stream->begins(call);
  keep(call);
}

void Job::embed(const Target& target, std::vector<std::string> texts,
                std::move_only_function<void(std::vector<std::vector<float>>)> then) {
  keep(models_.embed(target.endpoint, std::move(texts),
                     [self = shared_from_this(), then = std::move(then)](auto vectors) mutable {
                       if (!vectors) return self->fail(vectors.error(), false);
                       then(std::move(*vectors));
                     }));
}

void Job::post(const std::string& url, const std::string& key_variable, std::string json,
               std::move_only_function<void(std::string)> then) {
  keep(models_.post(url, key_variable, std::move(json), request_.action,
                    [self = shared_from_this(), then = std::move(then)](ModelResult<std::string> body) mutable {
                      if (!body) return self->fail(body.error(), false);
                      then(std::move(*body));
                    }));
}

void Job::ask_task(Task task, OnParsed then) {
  auto whom = target(task.type, task.falls_back);
  if (!whom) return fail(fmt::format("the configuration has no model of type {}", task.type));
  const Prompt* const prompt = configuration().prompts.find(task.name, whom->engine, whom->endpoint.model);
  if (prompt == nullptr) return fail(fmt::format("there is no prompt for {}", task.name));
  jinja::Value values = task_context(*prompt, *environment_, context(), task.values);
  render_prompt(*prompt, std::move(values),
                [self = shared_from_this(), prompt, whom = std::move(*whom), name = std::move(task.name),
                 temperature = task.temperature, then = std::move(then)](Rendered rendered) mutable {
                  ModelRequest request{.task = name.substr(0, name.find(' ')),
                                       .messages = std::move(rendered.messages),
                                       .temperature = temperature,
                                       .max_tokens = rendered.max_tokens,
                                       .stop = std::move(rendered.stop)};
                  self->ask(whom, std::move(request),
                            [self, prompt, name = std::move(name), then = std::move(then)](ModelAnswer answer) mutable {
                              self->parse_answer(*prompt, std::move(name), std::move(answer.text), std::move(then));
                            });
                });
}

void Job::with_code(std::string_view what, std::move_only_function<void(const CallCode& code)> work) {
  if (!environment_->custom)
    return fail(fmt::format("{} wants the configuration's Python code, which is not run", what));
  environment_->custom->call(
      [self = shared_from_this(), what = std::string(what), work = std::move(work)](const CallCode* code) mutable {
        if (code == nullptr)
          return self->fail(what + " wants the configuration's Python code, which has no time for it");
        work(*code);
      });
}

void Job::take_rendered(const Prompt& prompt, std::expected<Rendered, RenderFault> rendered, std::string_view why,
                        std::move_only_function<void(Rendered)> then) {
  if (rendered) return then(std::move(*rendered));
  fail(rendered.error().too_long
           ? fmt::format("the prompt of {} is longer than its max_length of {}", prompt.task, prompt.max_length)
           : fmt::format("the prompt of {} cannot be rendered{}{}", prompt.task, why.empty() ? "" : ": ", why));
}

void Job::render_prompt(const Prompt& prompt, jinja::Value values, std::move_only_function<void(Rendered)> then) {
  if (prompt.code_filters().empty()) return take_rendered(prompt, render(prompt, values), {}, std::move(then));
  with_code(fmt::format("the prompt of {}", prompt.task),
            [self = shared_from_this(), &prompt, values = std::move(values),
             then = std::move(then)](const CallCode& code) mutable {
              std::string why;  // faults of templates may hold texts of users, those of code do not
              const auto noting = [&](CodeFunction kind, std::string_view name, const jinja::Arguments& arguments) {
                auto made = code(kind, name, arguments);
                if (!made) why = made.error();
                return made;
              };
              auto rendered = render(prompt, values, noting);
              self->take_rendered(prompt, std::move(rendered), why, std::move(then));
            });
}

void Job::parse_answer(const Prompt& prompt, std::string task, std::string answer, OnParsed then) {
  if (!prompt.parsed_by_code) return then(parse_output(prompt.output_parser, task, answer));
  with_code(fmt::format("the output parser of {}", prompt.task),
            [self = shared_from_this(), &prompt, task = std::move(task), answer = std::move(answer),
             then = std::move(then)](const CallCode& code) mutable {
              const auto made = code(CodeFunction::parser, prompt.output_parser, {{jinja::Value(answer)}, {}});
              if (!made) return self->fail(made.error());
              auto parsed = parsed_by_code(task, *made);
              if (!parsed)
                return self->fail(fmt::format("the output parser {}: {}", prompt.output_parser, parsed.error()));
              then(std::move(*parsed));
            });
}

void Job::answer(jinja::Value value, Variables updates, std::vector<Event> events) {
  end({.id = request_.id,
       .value = std::move(value),
       .context_updates = std::move(updates),
       .events = std::move(events)});
}

void Job::fail(const ModelFailure& failure, bool main_model) {
  if (main_model && environment_->main_model_failed) environment_->main_model_failed(failure);
  fail(failure.cause);
}

void Job::fail(std::string cause) {
  {
    const std::scoped_lock lock(mutex_);
    if (!then_) return;  // one of several that were asked side by side failed before
  }
  log::warning("an action failed", {{"action", request_.action},
                                    {"configuration", configuration().id},
                                    {"rail", request_.rail_name},
                                    {"cause", cause}});
  end({.id = request_.id, .failed = true, .error = std::move(cause)});
}

/// What else was asked is not wanted any more.
void Job::end(ActionResult result) {
  OnActionResult then;
  {
    const std::scoped_lock lock(mutex_);
    std::swap(then, then_);
    result.model_calls = std::exchange(calls_, {});
  }
  std::vector<ModelCallHandle> calls;
  bool wanted = false;
  {
    const std::scoped_lock lock(handle_->mutex);
    std::swap(calls, handle_->calls);
    wanted = !handle_->cancelled;
    handle_->over = true;
  }
  for (ModelCallHandle& call : calls) call.cancel();
  if (then && wanted) then(std::move(result));
}

}  // namespace stackgate::guardrail
