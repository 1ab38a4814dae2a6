// What a trainer reports of its customization.
#include "services/customizer/front/authorize.hpp"
#include "services/customizer/front/front.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/deferred.hpp"
#include "services/kit/web/errors.hpp"

namespace stackgate::customizer {
namespace report_detail {

constexpr int pause_seconds = 1;

web::Answer answer_of(RunMetrics& metrics, sql::Expected<Records::Reported> reported) {
  if (!reported) return ServiceError(reported.error());
  if (!reported->known) {
    metrics.reported("unknown");
    // Which of the two it is, is nobody's business without the token.
    return web::Failure{.status = 401,
                        .message = "there is no such customization, or its token is another one",
                        .headers = {{"WWW-Authenticate", "Bearer"}}};
  }
  metrics.reported(reported->problem.empty() ? "counted" : "refused");
  if (!reported->problem.empty()) return web::Failure{.status = 422, .message = std::move(reported->problem)};
  return http::Response{.status = 204};
}

}  // namespace report_detail

web::Answer take_report(const Front& front, web::Call& call) {
  using namespace report_detail;
  const std::string id(call.parameter("id"));
  const std::string_view body = TRY(call.body());
  Runner& runner = front.runner;
  const std::string token(bearer_token(call.request()));
  if (!front.limit->allows(id, token)) {
    runner.metrics().reported("limited");
    return web::Failure{.status = 429, .message = "too many reports", .headers = {{"Retry-After", "1"}}};
  }
  const std::shared_ptr<web::Deferred> later = TRY(call.defer());
  const bool is_end = body.contains(R"("event":"done")");
  const bool waits = front.reports.add({.id = id, .token = token, .body = std::string(body)},
                                       [&runner, later, is_end](sql::Expected<Records::Reported> reported) {
                                         const bool is_stored = reported && reported->known;
                                         later->answer(answer_of(runner.metrics(), std::move(reported)));
                                         if (is_stored && is_end) runner.wake();
                                       });
  if (!waits) return web::busy("too many reports wait here", pause_seconds);
  return web::Later{};
}

}  // namespace stackgate::customizer
