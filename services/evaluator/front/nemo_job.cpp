#include "services/evaluator/front/nemo_job.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/crypto/digest.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace nemo_job_detail {

using validate::Findings;

void wrong(Findings& findings, std::string_view path, std::string problem, std::string fix) {
  findings.push_back(
      {.rule = "evaluation-job", .path = std::string(path), .problem = std::move(problem), .fix = std::move(fix)});
}

/// "lm_eval_harness" is "lm-eval-harness" here.
std::string framework_of(std::string_view type) {
  std::string out(type);
  std::ranges::replace(out, '_', '-');
  if (out == "lm-harness") return "lm-eval-harness";
  if (out == "bigcode") return "bigcode-eval-harness";
  if (out == "llm-judge") return "llm-as-judge";
  return out;
}

/// The members that our endpoints have, of {"api_endpoint": {"url", "model_id", "api_key"}}.
void write_endpoint(json::Writer& w, const json::Value& model) {
  const json::Value endpoint = json::value_at(&model, {"api_endpoint"});
  std::string_view url = json::text(&endpoint, {"url"});
  for (const std::string_view end : {"/chat/completions", "/completions"})
    if (url.ends_with(end)) url.remove_suffix(end.size());
  w.member("model_endpoint", url);
  if (const std::string_view id = json::text(&endpoint, {"model_id"}); !id.empty()) w.member("model", id);
  if (const std::string_view key = json::text(&endpoint, {"api_key"}); !key.empty()) w.member("api_key", key);
}

}  // namespace nemo_job_detail

using namespace nemo_job_detail;

std::expected<std::string, Findings> own_body(const json::Value& job) {
  Findings findings;
  const json::Value target = json::value_at(&job, {"target"}), config = json::value_at(&job, {"config"});
  if (!target.is_object())
    wrong(findings, "target", "is none that stands in the body",
          R"(write {"type": "model", "model": {"api_endpoint": {"url"}}})");
  else if (const std::string_view type = json::text(&target, {"type"}); type != "model")
    wrong(findings, "target.type", "is none that jobs of this service have",
          R"(write "model", or POST /v1/evaluations)");
  else if (json::text(&target, {"model", "api_endpoint", "url"}).empty())
    wrong(findings, "target.model.api_endpoint.url", "is missing", "write the model's URL, up to /v1");
  if (!config.is_object() || json::text(&config, {"type"}).empty())
    wrong(findings, "config", "is none that stands in the body", R"(write {"type", "tasks", "params"})");
  if (!findings.empty()) return std::unexpected(std::move(findings));

  const std::string_view format = json::text(&target, {"model", "api_endpoint", "format"});
  std::string_view dataset = json::text(&config, {"dataset", "files_url"});
  for (const json::Member& task : json::members(&config, {"tasks"}))
    if (dataset.empty()) dataset = json::text(&task.value, {"dataset", "files_url"});
  return json::object_text([&](json::Writer& w) {
    const std::string_view name = json::text(&job, {"name"});
    w.member("name", name.empty() ? "job-" + crypto::random_hex(8) : std::string(name));
    if (const std::string_view text = json::text(&job, {"description"}); !text.empty()) w.member("description", text);
    w.member("framework", framework_of(json::text(&config, {"type"})));
    write_endpoint(w, json::value_at(&target, {"model"}));
    if (!json::members(&config, {"tasks"}).empty())
      w.array("tasks", [&] {
        for (const json::Member& task : json::members(&config, {"tasks"})) w.value(task.key);
      });
    if (!dataset.empty()) w.member("dataset", dataset);
    const json::Value params = json::value_at(&config, {"params"});
    for (const auto& [theirs, ours] :
         {std::pair{"limit_samples", "limit"}, std::pair{"num_fewshot", "num_fewshot"}, std::pair{"seed", "seed"}})
      if (const json::Value* found = params.find(theirs)) w.member(ours, *found);
    w.object("params", [&] {
      if (params.is_object()) w.members(params, {"limit_samples", "num_fewshot", "seed"});
      if (!format.empty() && params.find("format") == nullptr)
        w.member("format", format == "openai" || format == "nim" ? "chat" : format);
    });
    if (const json::Value* judge = config.find("judge"))
      w.object("judge", [&] { write_endpoint(w, json::value_at(judge, {"model"})); });
  });
}

}  // namespace stackgate::evaluator
