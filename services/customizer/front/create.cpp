// POST: read, looked at, stored, on its way.
#include <fmt/format.h>

#include "services/customizer/api/show.hpp"
#include "services/customizer/front/front.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/web/body_schema.hpp"
#include "services/kit/web/errors.hpp"
#include "services/kit/web/json.hpp"
#include "services/kit/web/query_values.hpp"
#include "services/kit/web/trace_context.hpp"

namespace stackgate::customizer {
namespace create_detail {

constexpr int retry_seconds = 5;
constexpr std::size_t longest_key = 255, name_bytes = 6;

web::Failure taken(std::string_view name) {
  return {.status = 409,
          .message = fmt::format("there is a customization \"{0}\" already; choose another name, or DELETE "
                                 "/v1/customizations/{0} once it has ended",
                                 name)};
}

struct Key {
  std::string key{}, digest{};
};
/// Idempotency-Key, and of what came with it.
std::expected<Key, web::Failure> key_of(web::Call& call, std::string_view kind) {
  const std::string_view given = call.request().header("Idempotency-Key");
  if (given.empty()) return Key{};
  if (given.size() > longest_key)
    return std::unexpected(
        web::Failure{.status = 400, .message = fmt::format("Idempotency-Key is longer than {} bytes", longest_key)});
  const std::string_view body = TRY(call.body());
  return Key{std::string(given), crypto::to_hex(crypto::sha256(fmt::format("{}\n{}", kind, body)))};
}

/// Who records it; the header wandb-api-key brings a key of its own.
std::expected<std::vector<NewCustomization::Tracker>, web::Failure> trackers_of(const Front& front, web::Call& call,
                                                                                const std::string& name) {
  std::vector<NewCustomization::Tracker> out;
  if (front.options.has_mlflow) out.push_back({"mlflow", ""});
  const WandbOptions& wandb = front.options.wandb;
  const std::string_view api_key = call.request().header("wandb-api-key");
  if (api_key.empty()) {
    if (!wandb.api_key.empty()) out.push_back({"wandb", ""});
    return out;
  }
  if (wandb.encryption_key.empty())
    return std::unexpected(
        web::Failure{.status = 422,
                     .message = "wandb-api-key cannot be kept: the service has no --tracker-encryption-key; leave the "
                                "header out, or ask who runs it for one"});
  if (api_key.size() > longest_key)
    return std::unexpected(
        web::Failure{.status = 400, .message = fmt::format("wandb-api-key is longer than {} bytes", longest_key)});
  out.push_back({"wandb", seal_api_key(wandb, api_key, name)});
  return out;
}

std::expected<void, web::Failure> look(const Front& front, CustomizationRequest& request,
                                       validate::Findings& findings) {
  const auto until = std::chrono::steady_clock::now() + front.options.validation_limit;
  const Datasets datasets = front.options.datasets([until] { return std::chrono::steady_clock::now() > until; });
  auto found = look_at_dataset(*datasets, request.dataset);
  if (!found) {
    if (found.error().away)
      return std::unexpected(
          web::busy(fmt::format("the dataset cannot be looked at: {}", found.error().message), retry_seconds));
    found = validate::Findings{{.rule = "customization-dataset",
                                .path = "dataset",
                                .problem = std::move(found.error().message),
                                .fix = "name one that the datastore has, such as \"ada/questions\""}};
  }
  for (validate::Finding& each : *found) findings.push_back(std::move(each));
  for (validate::Finding& each : front.runner.executor().check(request)) findings.push_back(std::move(each));
  return {};
}

std::expected<web::Answer, web::Failure> known_key(const Front& front, const Created& created) {
  if (created.kind == Created::Kind::key_taken)
    return std::unexpected(web::Failure{
        .status = 422, .message = "this Idempotency-Key was used before, with another body; take a new one"});
  auto stored = front.records().find(created.id);
  if (!stored) return std::unexpected(web::to_failure(stored.error()));
  if (!*stored) return std::unexpected(web::Failure{.status = 409, .message = "it was deleted in the meantime"});
  auto record = record_of(front, (*stored)->job);
  if (!record) return std::unexpected(web::to_failure(record.error()));
  return web::json_answer(std::move(*record), {{"Location", fmt::format("/v1/customizations/{}", (*stored)->job.name)}},
                          201);
}

web::Answer create(const Front& front, web::Call& call, bool is_nemo) {
  const json::Document* body = TRY(call.json());
  const bool dry_run = TRY(web::read_flag(call.query(), "dry_run"));
  const Key key = TRY(key_of(call, is_nemo ? "job" : "customization"));
  if (!key.key.empty() && !dry_run)
    if (const auto known = TRY(front.records().find_key(key.key, key.digest))) return TRY(known_key(front, *known));
  const std::string other_name = is_nemo ? "job-" + crypto::random_hex(name_bytes) : "";
  const auto read_with = [&](const Catalogue& catalogue) {
    return is_nemo ? read_nemo_request(body->root, catalogue, other_name) : read_request(body->root, catalogue);
  };
  const auto catalogue = front.catalogue.now();
  RequestRead read = read_with(*catalogue);
  // A model may have come a moment ago.
  if (validate::has_errors(read.findings))
    if (const auto fresh = front.catalogue.fresh(); fresh != catalogue) read = read_with(*fresh);
  CustomizationRequest& request = read.request;
  if (validate::has_errors(read.findings)) return web::unprocessable(std::move(read.findings));
  if (TRY(front.records().find(request.name))) {
    // Perhaps by the same key, a moment ago.
    if (!key.key.empty() && !dry_run)
      if (const auto known = TRY(front.records().find_key(key.key, key.digest))) return TRY(known_key(front, *known));
    return taken(request.name);
  }
  TRY(look(front, request, read.findings));
  if (validate::has_errors(read.findings)) return web::unprocessable(std::move(read.findings));
  const std::string text = to_json(request), warnings = warnings_json(read.findings);
  auto trackers = TRY(trackers_of(front, call, request.name));
  if (dry_run)
    return web::json_answer(customization_json({.name = request.name, .request = text, .warnings = warnings}, 0));
  const Created created = TRY(front.records().create({.name = request.name,
                                                      .model = request.target.name,
                                                      .request = text,
                                                      .warnings = warnings,
                                                      .key = key.key,
                                                      .digest = key.digest,
                                                      .traceparent = web::to_traceparent(call.trace()),
                                                      .trackers = std::move(trackers)}));
  if (created.kind == Created::Kind::name_taken) return taken(request.name);
  if (created.kind == Created::Kind::made) {
    log::info("customization", {{"customization", request.name}, {"event", "created"}, {"id", created.id}});
    front.runner.wake();
  }
  return TRY(known_key(front, created));
}

}  // namespace create_detail

web::Answer create_customization(const Front& front, web::Call& call) {
  return create_detail::create(front, call, false);
}
web::Answer create_job(const Front& front, web::Call& call) { return create_detail::create(front, call, true); }

}  // namespace stackgate::customizer
