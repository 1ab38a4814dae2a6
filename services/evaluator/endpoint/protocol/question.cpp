#include "services/evaluator/endpoint/protocol/question.hpp"

#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {

std::string_view path_of(const Question& question) { return question.is_chat() ? "/chat/completions" : "/completions"; }

std::string write_question(const Question& question, std::string_view model) {
  return json::object_text([&](json::Writer& w) {
    w.member("model", model);
    if (question.is_chat())
      w.array("messages", [&] {
        for (const ChatMessage& each : question.messages)
          w.object([&] {
            w.member("role", each.role);
            w.member("content", each.content);
            if (!each.tool_calls.empty()) {
              w.key("tool_calls");
              w.raw(each.tool_calls);
            }
            if (!each.tool_call_id.empty()) w.member("tool_call_id", each.tool_call_id);
          });
      });
    else
      w.member("prompt", question.prompt);
    if (question.likelihood) {
      // One token, as lm-evaluation-harness asks for: none at all is refused by some servers.
      w.member("max_tokens", 1);
      w.member("temperature", 0);
      w.member("echo", true);
      w.member("logprobs", 1);
    } else {
      w.member("max_tokens", question.max_tokens);
      if (question.temperature) w.member("temperature", *question.temperature);
      if (question.top_p) w.member("top_p", *question.top_p);
      if (!question.stop.empty())
        w.array("stop", [&] {
          for (const std::string& each : question.stop) w.value(each);
        });
    }
    if (question.seed) w.member("seed", *question.seed);
    if (!question.tools.empty()) {
      w.key("tools");
      w.raw(question.tools);
    }
  });
}

Question likelihood_probe() {
  return {.prompt = "The capital of France is Paris.", .likelihood = true, .context_characters = 21};
}

}  // namespace stackgate::evaluator
