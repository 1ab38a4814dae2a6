// POST /v1/completions.
#pragma once
#include <expected>
#include <vector>

#include "services/inference/api/generation.hpp"
#include "services/inference/api/prompt.hpp"

namespace stackgate::inference {

struct CompletionRequest {
  Generation generation;
  std::vector<Prompt> prompts;  // choices: prompt index · n + choice
  bool echo = false;
};

/// All faults at once; the path of each is the parameter's name.
std::expected<CompletionRequest, validate::Findings> read_completion(const json::Value& body, const ApiLimits& limits);

}  // namespace stackgate::inference
