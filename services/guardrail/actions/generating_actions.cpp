// The main model's plain answer.
#include <array>

#include "services/guardrail/actions/conversation.hpp"
#include "services/guardrail/actions/job.hpp"

namespace stackgate::guardrail {
namespace {

void take_answer(const JobPtr& job, ModelAnswer answer) {
  Variables updates;
  updates.emplace("generated_message", jinja::Value(answer.message));
  updates.emplace("generated_finish_reason", jinja::Value(answer.finish_reason));
  updates.emplace("generated_model", jinja::Value(answer.model));
  if (answer.has_tool_calls) updates.emplace("generated_tool_calls", jinja::Value(tool_calls_text(answer.message)));
  job->answer(jinja::Value(std::move(answer.text)), std::move(updates));
}

/// The configuration's own; without one the conversation itself is asked.
const Prompt* general_prompt(const Configuration& configuration, const Job::Target& target) {
  if (configuration.passthrough) return nullptr;
  const Prompt* const found = configuration.prompts.find("general", target.engine, target.endpoint.model);
  return found == nullptr || found->built_in ? nullptr : found;
}

void ask(const JobPtr& job, const Job::Target& target, ModelRequest request, const Prompt* prompt) {
  if (job->environment().stream)
    return job->stream(target, std::move(request), [job](ModelAnswer answer) { take_answer(job, std::move(answer)); });
  job->ask(target, std::move(request), [job, prompt](ModelAnswer answer) mutable {
    if (prompt == nullptr || prompt->output_parser.empty()) return take_answer(job, std::move(answer));
    std::string text = answer.text;
    job->parse_answer(*prompt, "general", std::move(text), [job, answer = std::move(answer)](Parsed parsed) mutable {
      answer.text = std::move(parsed.text);
      take_answer(job, std::move(answer));
    });
  });
}

void generate(const JobPtr& job) {
  const auto target = *job->target("main");
  const ActionEnvironment& environment = job->environment();
  const Prompt* const prompt = general_prompt(job->configuration(), target);
  if (prompt != nullptr) {
    return job->render_prompt(*prompt, task_context(*prompt, environment, job->context(), {}),
                              [job, target, prompt](Rendered rendered) mutable {
                                ModelRequest request{.task = "general",
                                                     .messages = std::move(rendered.messages),
                                                     .body = job->environment().body,
                                                     .max_tokens = rendered.max_tokens,
                                                     .stop = std::move(rendered.stop)};
                                ask(job, target, std::move(request), prompt);
                              });
  }
  Conversation conversation = plain_conversation(environment, job->context());
  ask(job, target,
      {.task = "general",
       .messages = std::move(conversation.before),
       .messages_json = std::move(conversation.messages),
       .body = environment.body},
      nullptr);
}

}  // namespace

std::span<const BuiltIn> generating_actions() {
  static constexpr std::array<BuiltIn, 1> actions = {{{"generate", generate}}};
  return actions;
}

}  // namespace stackgate::guardrail
