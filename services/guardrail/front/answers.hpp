// From the results of turns to what clients get.
#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "services/guardrail/api/answer.hpp"
#include "services/guardrail/front/exchange.hpp"
#include "services/kit/web/call.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::guardrail {

enum class Form : std::uint8_t { chat, completion, check, microservice_check };

/// 400 for what is no JSON object.
std::expected<const json::Value*, web::Failure> body_of(web::Call& call);

/// The request's own, or one of those that are served.
std::expected<ConfigurationPtr, web::Failure> configuration_of(const Front& front, const ChatRequest& request);

/// A turn that failed is the main model's failure, or 500.
web::Answer whole_answer(const Exchange& exchange, const TurnResult& result, Form form);
web::Failure failure_of(const Exchange& exchange, const TurnResult& result);

/// Texts of what an answer shows besides the words; they live as long as this.
struct Extras {
  Extras(const Exchange& exchange, const TurnResult& result);
  GuardrailsData guardrails{};
  std::string finish_reason{"stop"}, tool_calls{};
  Usage usage{};
};

}  // namespace stackgate::guardrail
