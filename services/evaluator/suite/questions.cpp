#include "services/evaluator/suite/questions.hpp"

#include <algorithm>

namespace stackgate::evaluator {
namespace {

Question settings_of(const EvaluationRequest& request) {
  return {.max_tokens = request.requests.max_tokens,
          .temperature = request.requests.temperature.value_or(0),
          .top_p = request.requests.top_p,
          .seed = request.seed};
}

}  // namespace

Asked ask_model(const EvaluationRequest& request, std::string prompt) {
  if (request.requests.chat) return ask_model(request, std::vector<ChatMessage>{{"user", std::move(prompt)}});
  Asked out{.question = settings_of(request)};
  out.question.prompt = std::move(prompt);
  return out;
}

Asked ask_model(const EvaluationRequest& request, std::vector<ChatMessage> messages) {
  Asked out{.question = settings_of(request)};
  out.question.messages = std::move(messages);
  return out;
}

Asked ask_judge(const EvaluationRequest& request, std::string prompt, std::string system) {
  Asked out{.whom = Whom::judge};
  out.question.max_tokens = std::max(judge_tokens, request.requests.max_tokens);
  out.question.temperature = 0;
  out.question.seed = request.seed;
  if (!system.empty()) out.question.messages.push_back({"system", std::move(system)});
  out.question.messages.push_back({"user", std::move(prompt)});
  return out;
}

}  // namespace stackgate::evaluator
