#include "services/kit/http/answers.hpp"

#include <fmt/format.h>

namespace stackgate::http {

Response text_answer(int status, std::string body) {
  Response response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = std::move(body);
  return response;
}

Response not_allowed(std::string_view methods) {
  Response response = plain_answer(405, fmt::format("the methods here are {}", methods));
  response.headers.emplace_back("Allow", methods);
  return response;
}

Response plain_answer(int status, std::string_view text) {
  return text_answer(status, fmt::format("{} {}\n", status, text));
}

}  // namespace stackgate::http
