// Answers of checks, and lists of configurations. Source: services.md section 5.1. Pure: JSON texts.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/api/answer.hpp"
#include "services/guardrail/configuration/configuration.hpp"

namespace stackgate::guardrail {

struct CheckAnswer {
  const TurnResult& turn;
  std::string_view content;  // what was checked, as the rails left it; of a blocked one the refusal
  GuardrailsData guardrails{};
};

/// /v1/checks: {"status": "passed" | "modified" | "blocked", "content", "rail"}, and `guardrails` beside it. A turn
/// that failed is blocked.
std::string check_answer(const CheckAnswer& answer);
/// /v1/guardrail/checks: {"status": "success" | "blocked", "rails_status", "messages", "guardrails_data"}.
std::string microservice_check_answer(const CheckAnswer& answer);

struct ListedConfiguration {
  std::string_view id;
  const Configuration* configuration = nullptr;  // that answers; nullptr: none
  std::string_view error{};                      // of its files as they are now; "": they are right
};

/// /v1/configs and /v1/rails/configs: a bare list. `valid`: the files are right; `served`: it answers, maybe as it was
/// before they were wrong.
std::string configurations_list(std::span<const ListedConfiguration> configurations);

}  // namespace stackgate::guardrail
