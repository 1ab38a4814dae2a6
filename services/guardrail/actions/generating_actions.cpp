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

void generate(const JobPtr& job) {
  const auto target = *job->target("main");
  const ActionEnvironment& environment = job->environment();
  ModelRequest request{.task = "general", .body = environment.body};
  const Prompt* const prompt = job->configuration().prompts.find("general", target.engine, target.endpoint.model);
  if (prompt != nullptr && !prompt->built_in && !job->configuration().passthrough) {
    auto rendered = render(*prompt, task_context(*prompt, environment, job->context(), {}));
    if (!rendered) return job->fail("the prompt of general cannot be rendered: too long, or a fault of its template");
    request.messages = std::move(rendered->messages);
    request.max_tokens = rendered->max_tokens;
    request.stop = std::move(rendered->stop);
  } else {
    Conversation conversation = plain_conversation(environment, job->context());
    request.messages = std::move(conversation.before);
    request.messages_json = std::move(conversation.messages);
  }
  auto then = [job](ModelAnswer answer) { take_answer(job, std::move(answer)); };
  if (environment.stream) return job->stream(target, std::move(request), std::move(then));
  job->ask(target, std::move(request), std::move(then));
}

}  // namespace

std::span<const BuiltIn> generating_actions() {
  static constexpr std::array<BuiltIn, 1> actions = {{{"generate", generate}}};
  return actions;
}

}  // namespace stackgate::guardrail
