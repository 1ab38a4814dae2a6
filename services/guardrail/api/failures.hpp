// Refusals beside faults of a body, as kit/web answers them in its openai dialect. Pure.
#pragma once
#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "services/kit/web/answer.hpp"

namespace stackgate::guardrail {

/// 422: neither the request nor the server says which configuration.
web::Failure no_configuration();
/// 422: nobody has it; names the nearest known one.
web::Failure unknown_configuration(std::string_view id, std::span<const std::string_view> known);
/// 400: it does not compile. `error`: its first findings.
web::Failure broken_configuration(std::string_view id, std::string_view error);
/// 422: guardrails.config while the server does not take it.
web::Failure inline_not_allowed();
/// 400: a streaming request of a configuration whose output rails cannot work on a stream; names them.
web::Failure no_streaming(std::string_view id, std::span<const std::string> rails);
/// 500 with a fixed message: the turn failed; the log says why.
web::Failure failed_turn();
/// 503: too many requests wait.
web::Failure overloaded(std::chrono::seconds retry_after);

/// An event that ends a stream: the failure in the openai dialect.
std::string error_event(const web::Failure& failure);

}  // namespace stackgate::guardrail
