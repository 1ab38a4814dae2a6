// What models and judges are asked, with the settings of an evaluation. Pure.
#pragma once
#include <string>
#include <vector>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/suite/task.hpp"

namespace stackgate::evaluator {

/// As a prompt or, where the evaluation says so, as a chat. Temperature 0 where it does not say another, so that the
/// same model gives the same scores; its seed goes along.
Asked ask_model(const EvaluationRequest& request, std::string prompt);
Asked ask_model(const EvaluationRequest& request, std::vector<ChatMessage> messages);

/// A chat at temperature 0, with room for the judge's reasons.
inline constexpr std::uint32_t judge_tokens = 2048;
Asked ask_judge(const EvaluationRequest& request, std::string prompt, std::string system = {});

}  // namespace stackgate::evaluator
