#include "services/guardrail/api/failures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/kit/findings/nearest.hpp"
#include "services/kit/web/body_schema.hpp"
#include "services/kit/web/errors.hpp"
#include "services/kit/web/sse.hpp"

namespace stackgate::guardrail {
namespace {

web::Failure unprocessable(std::string_view path, std::string problem, std::string fix) {
  return web::unprocessable({{.rule = "guardrails-value",
                              .path = std::string(path),
                              .value = {},
                              .problem = std::move(problem),
                              .fix = std::move(fix)}});
}

}  // namespace

web::Failure no_configuration() {
  return unprocessable("config_id", "is missing, and the server has no default configuration",
                       "name one that GET /v1/rails/configs lists");
}

web::Failure unknown_configuration(std::string_view id, std::span<const std::string_view> known) {
  const std::string_view near = validate::nearest(id, known);
  return unprocessable(
      "config_id", fmt::format("there is no configuration \"{}\"", id),
      near.empty() ? std::string("GET /v1/rails/configs lists them") : fmt::format("did you mean \"{}\"?", near));
}

web::Failure broken_configuration(std::string_view id, std::string_view error) {
  return {.status = 400,
          .message = fmt::format("The configuration \"{}\" cannot be loaded: {}", id, error),
          .code = "configuration_invalid"};
}

web::Failure inline_not_allowed() {
  return unprocessable("guardrails.config", "is not taken by this server", "name a configuration by \"config_id\"");
}

web::Failure no_streaming(std::string_view id, std::span<const std::string> rails) {
  return {.status = 400,
          .message = fmt::format(
              "The configuration \"{}\" cannot answer a stream: these output rails judge whole answers: {}. "
              "Send \"stream\": false, or set rails.output.streaming.enabled: false, so that a "
              "stream begins when its answer has passed.",
              id, fmt::join(rails, ", ")),
          .code = "streaming_not_supported"};
}

web::Failure failed_turn() { return {.status = 500, .message = "Internal server error."}; }

web::Failure overloaded(std::chrono::seconds retry_after) {
  return web::busy("too many requests wait", static_cast<int>(retry_after.count()));
}

std::string error_event(const web::Failure& failure) {
  return web::format_event({.data = web::render(failure, web::Dialect::openai).body});
}

}  // namespace stackgate::guardrail
