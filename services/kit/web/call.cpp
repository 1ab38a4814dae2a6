#include "services/kit/web/call.hpp"

#include <exception>

#include <fmt/format.h>

#include "services/kit/log/log.hpp"
#include "services/kit/web/app_state.hpp"
#include "services/kit/web/body_adapters.hpp"
#include "services/kit/web/deferred.hpp"
#include "services/kit/web/errors.hpp"
#include "services/kit/web/forwarded.hpp"

namespace stackgate::web {
namespace call_detail {

// "." and ".." segments, spelt out or escaped: no resource has such a name, and joined to a folder's
// path leaves it.
bool has_dot_segment(std::string_view path) {
  for (;;) {
    const auto slash = path.find('/');
    const std::string_view segment = path.substr(0, slash);
    if (segment == "." || segment == "..") return true;
    if (slash == std::string_view::npos) return false;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace call_detail

Call::Call(AppState& state, const http::Request& request, http::Responder responder, Match match)
    : state_(state),
      responder_(std::move(responder)),
      match_(std::move(match)),
      record_(begin_record(request, match_.route, state.config)),
      body_(request.body) {
  state_.metrics.arrived();
}

CurrentTrace Call::current() const {
  return {record_.trace.trace_id, record_.trace.span_id, record_.trace.state, record_.trace.sampled};
}

std::optional<Failure> Call::decode_parameters() {
  if (std::exchange(decoded_parameters_, true)) return {};
  const auto parameters = match_.parameters.all();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    values_[i] = parameters[i].raw;
    if (parameters[i].raw.contains('%')) {
      decoded_.reserve(parameters.size());  // views point into it
      auto decoded = percent_decode(parameters[i].raw);
      if (!decoded)
        return Failure{400, fmt::format("the {} in the URL has a broken percent escape; write a literal % as %25",
                                        parameters[i].name)};
      values_[i] = decoded_.emplace_back(std::move(*decoded));
    }
    if (call_detail::has_dot_segment(values_[i]))
      return Failure{400, fmt::format("the {} in the URL must not have . or .. as a segment", parameters[i].name)};
  }
  return {};
}

std::string_view Call::parameter(std::string_view name) const {
  const auto parameters = match_.parameters.all();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == name) return values_[i];
  }
  return {};
}

const Query& Call::query() const {
  if (!query_) query_ = Query::parse(request().query);
  return *query_;
}

std::string Call::base_url() const {
  return web::base_url(request(), {.public_url = state_.config.public_url,
                                   .trust_forwarded = state_.config.trust_forwarded,
                                   .tls = state_.config.server.tls != nullptr});
}

bool Call::stopping() const { return state_.config.stopping && state_.config.stopping(); }

Answer Call::answer_of_route() {
  if (match_.route != nullptr) {
    if (auto failure = decode_parameters()) return std::move(*failure);
    return match_.route->handler(*this);
  }
  if (match_.allowed.empty())
    return Failure{404, fmt::format("there is nothing at {}", loggable_target(request().path, {}))};
  if (request().method == "OPTIONS") return http::Response{204, {}, {{"Allow", match_.allowed}}, {}};
  return Failure{.status = 405,
                 .message = fmt::format("{} is not possible here; use one of {}", request().method, match_.allowed),
                 .headers = {{"Allow", match_.allowed}}};
}

template <class Work>
void Call::guarded(const Work& work) noexcept {
  const TraceScope scope(current());
  const auto failed = [this](const char* what) {
    log::error("a request handler failed",
               {{"route", record_.pattern}, {"request_id", record_.request_id}, {"error", what}});
    finish(Failure{500, "something went wrong here; the log has the details under this request's id"});
  };
  try {
    try {
      work();
    } catch (const std::exception& error) {
      failed(error.what());
    } catch (...) {
      failed("not a std::exception");
    }
  } catch (...) {
    return;  // no memory for the answer: the responder answers 500 when it goes
  }
}

void Call::serve() noexcept {
  guarded([this] { finish(answer_of_route()); });
}

std::optional<Placement> Call::place() noexcept {
  std::optional<Placement> placement;
  guarded([&] {
    if (auto failure = decode_parameters()) return finish(std::move(*failure));
    Placement given = match_.route->place(*this);
    share_ = given.share;
    placement = std::move(given);
  });
  return placement;
}

const std::string& Call::share() {
  if (share_.empty()) share_ = client_share(request(), state_.config.trust_forwarded);
  return share_;
}

void Call::refuse(Failure failure) {
  const TraceScope scope(current());
  finish(std::move(failure));
}

void Call::finish(Answer answer) {
  if (is_deferred_) {
    if (const auto deferred = std::exchange(deferred_, nullptr)) deferred->handler_returned(std::move(answer));
    return;
  }
  if (answered_) {
    if (!std::holds_alternative<Streamed>(answer))
      log::error("a handler failed after its answer had begun",
                 {{"route", record_.pattern}, {"request_id", record_.request_id}});
    return;
  }
  responder_(finished(std::move(answer)));
}

http::Response Call::finished(Answer&& answer) {
  http::Response response;
  if (auto* given = std::get_if<http::Response>(&answer)) {
    response = std::move(*given);
  } else {
    Failure failure{500, "the handler gave no answer"};
    if (auto* why = std::get_if<Failure>(&answer))
      failure = std::move(*why);
    else if (gave_up_)
      failure.message = "the answer could not be made; the log has the details under this request's id";
    else
      log::error("a handler gave no answer", {{"route", record_.pattern}, {"request_id", record_.request_id}});
    response = render(failure, match_.dialect,
                      {.request_id = record_.request_id, .documentation = state_.config.documentation_url});
  }
  add_common_headers(response, record_.request_id);
  answered_ = true;
  // Before it leaves: afterwards the request's views are gone.
  recorded({response.status, request().method == "HEAD" ? 0 : response.body.size()});
  return response;
}

void Call::recorded(const Outcome& outcome) { finish_record(record_, outcome, state_.metrics, state_.config); }

std::unique_ptr<http::BodyWriter> Call::start(http::Response head, std::optional<std::uint64_t> length) {
  if (answered_ || is_deferred_) throw std::logic_error("a handler began two answers");
  add_common_headers(head, record_.request_id);
  answered_ = true;
  const int status = head.status;
  const bool head_only = request().method == "HEAD" || status == 204 || status == 304;
  RecordingWriter::Begin begin = [this, length, kept_head = std::move(head)]() mutable {
    kept_ = std::make_shared<KeptRequest>(request());
    auto inner = responder_.start(std::move(kept_head), length);
    record_.request = &kept_->get();
    return inner;
  };
  return std::make_unique<RecordingWriter>(
      std::move(begin), [this] { answered_ = false, gave_up_ = true; }, record_, status, head_only, state_.metrics,
      state_.config);
}

std::expected<std::shared_ptr<Deferred>, Failure> Call::defer() {
  if (answered_ || is_deferred_) throw std::logic_error("a handler began two answers");
  auto place = state_.deferred.take(share());
  if (!place) {
    state_.metrics.refused_deferred();
    return std::unexpected(busy("too many requests of this client, or of all, are waiting for their answers", 5));
  }
  const auto deferred = std::make_shared<Deferred>(shared_from_this(), std::move(*place));
  is_deferred_ = true;
  deferred_ = deferred;
  responder_.observe(deferred);
  return std::shared_ptr<Deferred>(deferred.get(), [deferred](Deferred*) { deferred->drop(); });
}

}  // namespace stackgate::web
