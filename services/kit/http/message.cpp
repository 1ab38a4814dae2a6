#include "services/kit/http/message.hpp"

#include <fmt/format.h>

#include "services/kit/http/text.hpp"

namespace stackgate::http {

std::string_view Request::header(std::string_view name) const {
  for (const Header& header : headers) {
    if (equal_ignoring_case(header.name, name)) return header.value;
  }
  return {};
}

Response text_answer(int status, std::string body) {
  return {.status = status, .content_type = "text/plain; charset=utf-8", .body = std::move(body)};
}

Response plain_answer(int status, std::string_view text) {
  return text_answer(status, fmt::format("{} {}\n", status, text));
}

Response not_allowed(std::string_view methods) {
  Response response = plain_answer(405, fmt::format("the methods here are {}", methods));
  response.headers.emplace_back("Allow", methods);
  return response;
}

// What was held so far is dropped, and so answered with 500.
Responder& Responder::operator=(Responder&& other) noexcept {
  Responder dropped(std::move(other));
  std::swap(sink_, dropped.sink_);
  return *this;
}

Responder::~Responder() {
  if (!sink_) return;
  sink_->send(plain_answer(500, "the request was dropped by its handler without an answer"));
}

void Responder::operator()(Response&& response) {
  if (const auto sink = std::move(sink_)) {
    sink_ = nullptr;
    sink->send(std::move(response));
  }
}

std::unique_ptr<BodyWriter> Responder::start(Response&& head, std::optional<std::uint64_t> length) {
  const auto sink = std::move(sink_);
  sink_ = nullptr;
  return sink->start(std::move(head), length);
}

std::unique_ptr<AsyncBodyWriter> Responder::stream(Response&& head, std::optional<std::uint64_t> length) {
  const auto sink = std::move(sink_);
  sink_ = nullptr;
  return sink->stream(std::move(head), length);
}

void Responder::observe(std::shared_ptr<AnswerWatcher> watcher) { sink_->observe(std::move(watcher)); }

}  // namespace stackgate::http
