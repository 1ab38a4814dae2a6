#include "services/guardrail/front/answers.hpp"

#include <algorithm>
#include <utility>

#include "services/guardrail/api/failures.hpp"
#include "services/guardrail/api/hiding.hpp"
#include "services/guardrail/api/log.hpp"
#include "services/guardrail/api/state.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::guardrail {
namespace {

std::string text_of(const TurnResult& result, std::string_view variable) {
  return std::string(result.variables.bytes(variable));
}

/// The member `tool_calls` of the main model's message.
std::string tool_calls_of(const TurnResult& result) {
  const std::string message = text_of(result, "generated_message");
  if (message.empty()) return {};
  json::Document document;
  const auto root = json::parse(message, document, {.max_depth = 128});
  const json::Value* calls = root ? root->find("tool_calls") : nullptr;
  return calls != nullptr && !calls->items().empty() ? json::to_json(*calls) : std::string();
}

web::Answer checked(const Exchange& exchange, const TurnResult& result, Form form) {
  const Extras extras(exchange, result);
  const bool passed = result.outcome == Outcome::passed || result.outcome == Outcome::modified;
  const bool only_input = !exchange.parts().bot_message;
  const CheckAnswer answer{.turn = result,
                           .content = passed && only_input ? result.user_message : result.text,
                           .guardrails = extras.guardrails};
  return web::json_answer(form == Form::check ? check_answer(answer) : microservice_check_answer(answer));
}

}  // namespace

std::expected<const json::Value*, web::Failure> body_of(web::Call& call) {
  const json::Document* document = TRY(call.json());
  if (!document->root.is_object()) return std::unexpected(web::Failure{400, "the body must be a JSON object"});
  return &document->root;
}

std::expected<ConfigurationPtr, web::Failure> configuration_of(const Front& front, const ChatRequest& request) {
  if (!request.inline_files.empty()) return front.configurations.compile(request.inline_files);
  return front.configurations.choose(request.config_ids);
}

Extras::Extras(const Exchange& exchange, const TurnResult& result) {
  const ChatRequest& request = exchange.request();
  guardrails = {.config_ids = request.config_ids, .outcome = result.outcome, .rail = result.rail};
  if (request.has_state) guardrails.state = to_json(Hiding(result).state());
  if (request.options.llm_output && !result.hides_answer) guardrails.llm_output = text_of(result, "generated_message");
  guardrails.output_data = output_data_json(result, request.options);
  guardrails.log = log_json(result, request.options.log, exchange.times());
  if (result.outcome != Outcome::blocked && !result.exception) {
    tool_calls = tool_calls_of(result);
    if (std::string reason = text_of(result, "generated_finish_reason"); !reason.empty())
      finish_reason = std::move(reason);
  } else {
    finish_reason = "content_filter";
  }
  for (const ActivatedRail& rail : result.rails)
    if (rail.type == RailType::generation)
      for (const ExecutedAction& action : rail.actions)
        for (const ModelCall& call : action.model_calls) {
          usage.prompt_tokens += call.prompt_tokens;
          usage.completion_tokens += call.completion_tokens;
        }
}

web::Failure failure_of(const Exchange& exchange, const TurnResult&) {
  return exchange.main_failure().value_or(failed_turn());
}

web::Answer whole_answer(const Exchange& exchange, const TurnResult& result, Form form) {
  if (form == Form::check || form == Form::microservice_check) return checked(exchange, result, form);
  if (result.outcome == Outcome::failed) return failure_of(exchange, result);
  const Extras extras(exchange, result);
  const ChatRequest& request = exchange.request();
  const ChatAnswer answer{.head = exchange.head(),
                          .text = result.text,
                          .exception = result.exception ? &*result.exception : nullptr,
                          .tool_calls = extras.tool_calls,
                          .finish_reason = extras.finish_reason,
                          .usage = extras.usage,
                          .guardrails = extras.guardrails,
                          .older_form = request.older_form,
                          .return_choice = request.return_choice};
  return web::json_answer(form == Form::completion ? completion_answer(answer) : chat_answer(answer));
}

}  // namespace stackgate::guardrail
