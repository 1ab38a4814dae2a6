// POST /v1/evaluations: read, looked at, stored, queued.
#include <fmt/format.h>

#include "services/evaluator/front/front.hpp"
#include "services/evaluator/front/nemo_job.hpp"
#include "services/evaluator/front/show.hpp"
#include "services/evaluator/front/validate.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/web/body_schema.hpp"
#include "services/kit/web/json.hpp"
#include "services/kit/web/query_values.hpp"
#include "services/kit/web/trace_context.hpp"

namespace stackgate::evaluator {
namespace create_detail {

web::Failure taken(std::string_view name) {
  return {.status = 409,
          .message = fmt::format("there is an evaluation \"{0}\" already; choose another name, or DELETE "
                                 "/v1/evaluations/{0} once it has ended",
                                 name)};
}

/// What an earlier answer showed in a key's place.
void check_masks(const EvaluationRequest& request, validate::Findings& findings) {
  const auto check = [&](const ModelEndpoint& endpoint, std::string_view path) {
    if (endpoint.api_key == masked_key)
      findings.push_back({.rule = "evaluation-value",
                          .path = std::string(path),
                          .problem = "is what answers show in a key's place",
                          .fix = "write the key itself"});
  };
  check(request.target, "api_key");
  if (request.judge) check(*request.judge, "judge.api_key");
  if (request.embeddings) check(*request.embeddings, "embeddings.api_key");
}

std::string secrets_of(const EvaluationRequest& request) {
  return json::object_text([&](json::Writer& w) {
    w.member("model", request.target.api_key);
    if (request.judge) w.member("judge", request.judge->api_key);
    if (request.embeddings) w.member("embeddings", request.embeddings->api_key);
  });
}

web::Answer create(const Front& front, web::Call& call, const json::Value& body) {
  const bool dry_run = TRY(web::read_flag(call.query(), "dry_run"));
  validate::Findings warnings, findings;
  auto request = read_evaluation(body, warnings);
  if (!request) return web::unprocessable(std::move(request.error()));
  check_masks(*request, findings);
  if (!findings.empty()) return web::unprocessable(std::move(findings));
  if (TRY(front.records().find(request->name))) return taken(request->name);
  if (dry_run || front.options.validation) TRY(validate_evaluation(front, *request, warnings));
  const std::string adapter = adapter_of(front, *request, warnings);
  const std::string text = to_json(*request), shown_warnings = warnings_json(warnings);
  if (dry_run)
    return web::json_answer(
        evaluation_json({.name = request->name, .request = text, .warnings = shown_warnings, .adapter = adapter}));
  const auto id = TRY(front.records().create({.name = request->name,
                                              .framework = std::string(to_string(request->framework)),
                                              .request = text,
                                              .warnings = shown_warnings,
                                              .secrets = secrets_of(*request),
                                              .adapter = adapter,
                                              .traceparent = web::to_traceparent(call.trace())}));
  if (!id) return taken(request->name);
  (void)front.runner.submit(*id);  // it is stored: what fails here the sweep makes up for
  const auto stored = TRY(front.records().find_by_id(*id));
  if (!stored) return web::Failure{409, "it was deleted at once"};
  log::info("evaluation", {{"evaluation", request->name}, {"event", "created"}, {"id", *id}});
  return web::json_answer(evaluation_json(*stored), {{"Location", fmt::format("/v1/evaluations/{}", request->name)}},
                          201);
}

}  // namespace create_detail

web::Answer create_evaluation(const Front& front, web::Call& call) {
  const json::Document* body = TRY(call.json());
  return create_detail::create(front, call, body->root);
}

web::Answer create_job(const Front& front, web::Call& call) {
  const json::Document* body = TRY(call.json());
  if (body->root.find("target") == nullptr && body->root.find("config") == nullptr)
    return create_detail::create(front, call, body->root);
  auto own = own_body(body->root);
  if (!own) return web::unprocessable(std::move(own.error()));
  json::Document document;
  const auto root = json::parse(*own, document);
  if (!root) return web::Failure{400, "the body cannot be read"};
  return create_detail::create(front, call, *root);
}

}  // namespace stackgate::evaluator
