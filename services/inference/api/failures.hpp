// Refusals as kit/web answers them in its openai dialect. Pure.
#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "services/kit/web/answer.hpp"

namespace stackgate::inference {

/// 400 with every fault in one message; `param` is the first one's member. OpenAI's clients know no 422.
web::Failure bad_request(validate::Findings findings);

/// 404: "The model `x` does not exist." `param`: "model" or "peft_name".
web::Failure no_such_model(std::string_view name, std::string_view param);

enum class AdapterState : std::uint8_t { unknown, served, failing };

struct ServedNames {
  std::span<const std::string> base;  // the model's own names
  std::function<AdapterState(std::string_view)> adapter;
};

/// Which adapter answers a request of these two names; "" for the base model. 404 for a name that nobody has, 400 when
/// both name another adapter, 503 for an adapter that cannot be loaded: never the base model in its place.
std::expected<std::string, web::Failure> adapter_for(std::string_view model, std::string_view peft_name,
                                                     const ServedNames& served);

/// After a stream has begun: the event that ends it, in the openai dialect.
std::string error_event(const web::Failure& failure);

}  // namespace stackgate::inference
