#include "webhook/gate.hpp"

#include <chrono>
#include <exception>
#include <optional>

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/web/media_type.hpp"
#include "webhook/denial.hpp"

namespace stackgate::webhook {
namespace {

/// One document per thread: its memory is used again for each review.
json::Document& thread_document() {
  thread_local json::Document document;
  // A rare huge object must not stay in memory for ever.
  if (document.arena.bytes_used() > (std::size_t{1} << 20U)) document = json::Document{};
  return document;
}

std::optional<Stage> stage_of(std::string_view path) {
  if (path == "/validate") return Stage::validate;
  if (path == "/early") return Stage::early;
  return std::nullopt;
}

http::Response ok(const Answer& answer) {
  http::Response response;
  response.body.reserve(answer.allowed ? 256 : 4096);
  write_review(response.body, answer);
  return response;
}

}  // namespace

void Gate::refuse(http::Responder& respond, int status, Refusal why, std::string_view uid, std::string_view detail) {
  metrics_.refused(why, uid, detail);
  respond(
      http::text_answer(status, uid.empty() ? fmt::format("{}\n", detail) : fmt::format("{} (uid {})\n", detail, uid)));
}

void Gate::handle(const http::Request& request, http::Responder respond) {
  const auto stage = stage_of(request.path);
  if (!stage)
    return refuse(
        respond, 404, Refusal::not_found, {},
        fmt::format("no such path: {}; this is an admission webhook, it serves POST /validate and POST /early",
                    request.path));
  if (request.method != "POST")
    return refuse(respond, 405, Refusal::method, {}, fmt::format("{} is not served here, only POST", request.method));
  const std::string_view type = request.header("content-type");
  if (!web::is_media_type(type, "application/json"))
    return refuse(respond, 415, Refusal::media_type, {},
                  fmt::format("content type \"{}\" is not served here, only application/json", type));
  answer(*stage, request.body, false, std::move(respond));
}

void Gate::answer(Stage stage, std::string_view body, bool asking, http::Responder respond) {
  json::Document& document = thread_document();
  const auto root = json::parse(body, document);
  if (!root)
    return refuse(respond, 400, Refusal::not_json, salvage_uid(body),
                  fmt::format("the body is no JSON: {} at byte {}", root.error().message, root.error().offset));
  const auto review = read_review(*root);
  if (!review) return refuse(respond, 400, Refusal::not_a_review, review.error().uid, review.error().message);

  try {
    const auto begin = std::chrono::steady_clock::now();
    const std::unique_ptr<cluster::QuickLookup> memory = asking || lookups_ == nullptr ? nullptr : lookups_->quick();
    const std::unique_ptr<validate::Lookup> server = asking ? lookups_->asking() : nullptr;
    const Verdict verdict = admit(stage, *review, asking ? server.get() : memory.get(), options_);
    // Memory may lag behind the cluster: nothing is held against a resource on its word alone.
    if (memory != nullptr && (memory->wants_asking() || rests_on_lookup(verdict.findings)))
      return answer_on_pool(stage, body, std::move(respond));
    http::Response response = ok(verdict.answer);
    metrics_.reviewed(stage, *review, verdict, asking, std::chrono::steady_clock::now() - begin);
    respond(std::move(response));
  } catch (const std::exception& error) {
    refuse(respond, 500, Refusal::internal, review->uid, fmt::format("internal error: {}", error.what()));
  }
}

void Gate::answer_on_pool(Stage stage, std::string_view body, http::Responder respond) {
  // The body's bytes stay with the connection until the answer is given, so the view may cross threads.
  const auto held = std::make_shared<http::Responder>(std::move(respond));
  // A full pool means that the API server is slow to answer us. 500 lets the failure policy decide, which is better
  // than a queue that outlives the API server's own time-out.
  if (!pool_->submit([this, stage, body, held] { answer(stage, body, true, std::move(*held)); }))
    refuse(*held, 500, Refusal::too_busy, salvage_uid(body), "too many reviews wait for the API server");
}

}  // namespace stackgate::webhook
