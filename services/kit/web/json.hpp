// Bodies and answers in JSON, for every service. A body with a schema is read by BodySchema (body_schema.hpp).
#pragma once
#include <concepts>
#include <expected>
#include <string>
#include <utility>

#include "services/kit/base/try.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/web/answer.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::web {

/// Call::json(), and 422 for anything but an object. It lives as long as the call.
inline std::expected<const json::Value*, Failure> read_object(Call& call) {
  auto document = TRY(call.json());
  if (!document->root.is_object())
    return std::unexpected(Failure{.status = 422, .message = "the body must be a JSON object"});
  return &document->root;
}

/// `text` is one JSON value.
inline http::Response json_answer(std::string text, Headers headers = {}, int status = 200) {
  return {.status = status, .headers = std::move(headers), .body = std::move(text)};
}

/// `write` puts one value into the writer.
template <std::invocable<json::Writer&> Write>
http::Response json_answer(Write&& write, Headers headers = {}, int status = 200) {
  http::Response out{.status = status, .headers = std::move(headers)};
  json::Writer writer(out.body);
  std::forward<Write>(write)(writer);
  return out;
}

}  // namespace stackgate::web
