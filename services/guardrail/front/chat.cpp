// POST /v1/chat/completions and /v1/guardrail/completions.
#include <utility>

#include "services/guardrail/api/failures.hpp"
#include "services/guardrail/front/answers.hpp"
#include "services/guardrail/front/streaming.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/deferred.hpp"

namespace stackgate::guardrail {
namespace {

using Read = std::expected<ChatRequest, validate::Findings> (*)(const json::Value&);

/// A turn that failed is not remembered.
void answer_whole(const std::shared_ptr<Exchange>& exchange, const std::shared_ptr<web::Deferred>& client,
                  const TurnResult& result, Form form) {
  web::Answer answer = whole_answer(*exchange, result, form);
  if (result.outcome == Outcome::failed) return client->answer(std::move(answer));
  exchange->remember(result, result.text,
                     [client, answer = std::move(answer)](std::expected<void, web::Failure> kept) mutable {
                       if (!kept) return client->answer(std::move(kept.error()));
                       client->answer(std::move(answer));
                     });
}

web::Answer answer_chat(const FrontPtr& front, web::Call& call, Read read, Form form) {
  auto request = read(*TRY(body_of(call)));
  call.forget_json();
  if (!request) return refuse(std::move(request.error()));
  auto configuration = TRY(configuration_of(*front, *request));
  if (request->stream)
    if (auto refused = refuse_stream(*configuration, *request)) return std::move(*refused);
  TurnParts parts = turn_parts(request->messages);
  const bool streams = request->stream;
  auto client = TRY(call.defer());
  const auto exchange =
      std::make_shared<Exchange>(front, std::move(configuration), std::move(*request), std::move(parts));
  client->on_closed([weak = std::weak_ptr(exchange)] {
    if (const auto there = weak.lock()) there->cancel();
  });
  exchange->open_thread([exchange, client, streams, form](std::expected<void, web::Failure> opened) {
    if (!opened) return client->answer(std::move(opened.error()));
    if (streams) return stream_answer(exchange, client);
    exchange->run({},
                  [exchange, client, form](const TurnResult& result) { answer_whole(exchange, client, result, form); });
  });
  return web::Later{};
}

}  // namespace

web::Answer chat(const FrontPtr& front, web::Call& call) { return answer_chat(front, call, read_chat, Form::chat); }

web::Answer complete(const FrontPtr& front, web::Call& call) {
  return answer_chat(front, call, read_completion, Form::completion);
}

}  // namespace stackgate::guardrail
