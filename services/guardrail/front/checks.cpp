// POST /v1/checks and /v1/guardrail/checks: what the rails say, without an answer of the main model.
#include <utility>

#include "services/guardrail/api/fields.hpp"
#include "services/guardrail/front/answers.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/deferred.hpp"

namespace stackgate::guardrail {
namespace {

web::Answer answer_check(const FrontPtr& front, web::Call& call, Form form) {
  const json::Value* body = TRY(body_of(call));
  auto read = read_check(*body);
  if (!read) return refuse(std::move(read.error()));
  auto configuration = TRY(configuration_of(*front, read->chat));
  auto client = TRY(call.defer());
  const auto exchange =
      std::make_shared<Exchange>(front, std::move(configuration), std::move(read->chat), std::move(read->turn));
  client->on_closed([weak = std::weak_ptr(exchange)] {
    if (const auto there = weak.lock()) there->cancel();
  });
  exchange->run({}, [exchange, client, form](const TurnResult& result) {
    client->answer(whole_answer(*exchange, result, form));
  });
  return web::Later{};
}

}  // namespace

web::Answer check(const FrontPtr& front, web::Call& call) { return answer_check(front, call, Form::check); }

web::Answer microservice_check(const FrontPtr& front, web::Call& call) {
  return answer_check(front, call, Form::microservice_check);
}

}  // namespace stackgate::guardrail
