#include "services/inference/api/failures.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/web/body_schema.hpp"
#include "services/kit/web/errors.hpp"
#include "services/kit/web/sse.hpp"

namespace stackgate::inference {

web::Failure bad_request(validate::Findings findings) {
  web::Failure out = web::unprocessable(std::move(findings));
  out.status = 400;
  return out;
}

web::Failure no_such_model(std::string_view name, std::string_view param) {
  return {.status = 404,
          .message = fmt::format("The model `{}` does not exist.", name),
          .findings = {{.rule = "model-unknown",
                        .path = std::string(param),
                        .value = {},
                        .problem = "is neither the base model nor an adapter",
                        .fix = "GET /v1/models lists the names"}},
          .type = "NotFoundError"};
}

std::expected<std::string, web::Failure> adapter_for(std::string_view model, std::string_view peft_name,
                                                     const ServedNames& served) {
  const auto is_base = [&served](std::string_view name) {
    return std::ranges::find(served.base, name) != served.base.end();
  };
  const auto unknown = [&](std::string_view name) {
    return !is_base(name) && served.adapter(name) == AdapterState::unknown;
  };
  if (unknown(model)) return std::unexpected(no_such_model(model, "model"));
  if (!peft_name.empty() && unknown(peft_name)) return std::unexpected(no_such_model(peft_name, "peft_name"));
  if (!peft_name.empty() && !is_base(model) && peft_name != model)
    return std::unexpected(bad_request({{.rule = "parameter-value",
                                         .path = "peft_name",
                                         .value = {},
                                         .problem = fmt::format("names another adapter than \"model\", {}", model),
                                         .fix = "name the base model there, or leave out one of them"}}));
  const std::string_view name = peft_name.empty() ? model : peft_name;
  if (is_base(name)) return std::string();
  if (served.adapter(name) == AdapterState::failing)
    return std::unexpected(web::Failure{
        .status = 503,
        .message = fmt::format("The adapter `{}` cannot be loaded at present; GET /v1/adapters tells why.", name)});
  return std::string(name);
}

std::string error_event(const web::Failure& failure) {
  return web::format_event({.data = web::render(failure, web::Dialect::openai).body});
}

}  // namespace stackgate::inference
