// A task of NeMo's "custom" configuration, {"type", "params", "dataset", "metrics"}: its templates and metrics as the
// members that requests of this service have. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/kit/findings/finding.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {

/// Where an endpoint of NeMo's is, {"api_endpoint": {"url", "model_id", "api_key"}}, or nothing.
ModelEndpoint nemo_endpoint(const json::Value& model);
/// "model_endpoint", "model" and "api_key" of it.
void write_nemo_endpoint(json::Writer& w, const ModelEndpoint& endpoint);

struct NemoTask {
  Framework framework = Framework::similarity_metrics;
  std::string prompt{}, response{}, reference{}, judge_prompt{};
  bool chat = true;
  std::vector<std::string> metrics{};
  std::vector<RowCheck> checks{};
  std::vector<JudgeScore> scores{};
  std::optional<ModelEndpoint> judge{};
  std::vector<json::Member> settings{};  // max_tokens, temperature, top_p of its template
};

/// `asks`: whether the target has a model, which answers; else answers stand in the rows. What this service cannot do
/// of it is a finding at "<path>.…", with what to write instead.
NemoTask read_nemo_task(std::string_view path, const json::Value& task, bool asks, validate::Findings& findings);

}  // namespace stackgate::evaluator
