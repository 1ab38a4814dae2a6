#include "services/kit/http/message.hpp"

#include "services/kit/http/answers.hpp"
#include "services/kit/http/text.hpp"

namespace stackgate::http {

std::string_view Request::header(std::string_view name) const {
  for (const Header& header : headers) {
    if (equal_ignoring_case(header.name, name)) return header.value;
  }
  return {};
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
