#include "services/kit/web/live_call.hpp"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "services/kit/log/log.hpp"
#include "services/kit/web/base_url.hpp"
#include "services/kit/web/errors.hpp"
#include "services/kit/web/passing.hpp"

namespace stackgate::web {
namespace live_call_detail {

// "." and ".." segments, spelt out or escaped: nobody's resource has such a name, and whoever joins them to a folder's
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

}  // namespace live_call_detail

LiveCall::LiveCall(Site& site, const http::Request& request, http::Responder responder, Match match)
    : site_(site),
      responder_(std::move(responder)),
      match_(std::move(match)),
      arrival_(begin_arrival(request, match_.route, site.config)),
      body_(request.body) {
  site_.meters.arrived();
}

CurrentTrace LiveCall::current() const {
  return {arrival_.trace.trace_id, arrival_.trace.span_id, arrival_.trace.state, arrival_.trace.sampled};
}

std::optional<Failure> LiveCall::decode_parameters() {
  const auto parameters = match_.parameters.all();
  decoded_.reserve(parameters.size());  // views point into it
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    values_[i] = parameters[i].raw;
    if (parameters[i].raw.contains('%')) {
      auto decoded = percent_decode(parameters[i].raw);
      if (!decoded)
        return Failure{400, fmt::format("the path's {} has a broken escape: write % as %25", parameters[i].name)};
      values_[i] = decoded_.emplace_back(std::move(*decoded));
    }
    if (live_call_detail::has_dot_segment(values_[i]))
      return Failure{400, fmt::format("the path's {} must not have . or .. as a segment", parameters[i].name)};
  }
  return {};
}

std::string_view LiveCall::parameter(std::string_view name) const {
  const auto parameters = match_.parameters.all();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == name) return values_[i];
  }
  return {};
}

const Query& LiveCall::query() const {
  if (!query_) query_ = Query::parse(request().query);
  return *query_;
}

std::string LiveCall::base_url() const {
  return web::base_url(request(), {.public_url = site_.config.public_url,
                                   .trust_forwarded = site_.config.trust_forwarded,
                                   .tls = site_.config.server.tls != nullptr});
}

bool LiveCall::stopping() const { return site_.config.stopping && site_.config.stopping(); }

Answer LiveCall::answer_of_route() {
  if (match_.route != nullptr) {
    if (auto failure = decode_parameters()) return std::move(*failure);
    return match_.route->handler(*this);
  }
  if (match_.allowed.empty())
    return Failure{404, fmt::format("there is nothing at {}", loggable_target(request().path, {}))};
  if (request().method == "OPTIONS") return http::Response{204, {}, {{"Allow", match_.allowed}}, {}};
  return Failure{405,
                 fmt::format("{} is not possible here; use one of {}", request().method, match_.allowed),
                 {},
                 {},
                 {{"Allow", match_.allowed}}};
}

void LiveCall::serve() noexcept {
  const TraceScope scope(current());
  const auto failed = [this](const char* what) {
    log::error("a request handler failed",
               {{"route", arrival_.pattern}, {"request_id", arrival_.request_id}, {"error", what}});
    finish(Failure{500, "something went wrong here; the log has the details under this request's id"});
  };
  try {
    try {
      finish(answer_of_route());
    } catch (const std::exception& error) {
      failed(error.what());
    } catch (...) {
      failed("not a std::exception");
    }
  } catch (...) {
    return;  // no memory for the answer: the responder says 500 when it goes
  }
}

void LiveCall::refuse(Failure failure) {
  const TraceScope scope(current());
  finish(std::move(failure));
}

void LiveCall::finish(Answer answer) {
  if (answered_) {
    if (!std::holds_alternative<Streamed>(answer))
      log::error("a handler failed after its answer had begun",
                 {{"route", arrival_.pattern}, {"request_id", arrival_.request_id}});
    return;
  }
  if (auto* response = std::get_if<http::Response>(&answer)) return send(std::move(*response));
  Failure failure{500, "the handler gave no answer"};
  if (auto* given = std::get_if<Failure>(&answer))
    failure = std::move(*given);
  else if (gave_up_)
    failure.message = "the answer could not be made; the log has the details under this request's id";
  else
    log::error("a handler gave no answer", {{"route", arrival_.pattern}, {"request_id", arrival_.request_id}});
  send(render(failure, match_.dialect,
              {.request_id = arrival_.request_id, .documentation = site_.config.documentation_url}));
}

void LiveCall::send(http::Response response) {
  add_common_headers(response, arrival_.request_id);
  answered_ = true;
  // Before it leaves: afterwards the request's views are gone.
  record(arrival_, {response.status, request().method == "HEAD" ? 0 : response.body.size()}, site_.meters,
         site_.config);
  responder_(std::move(response));
}

std::unique_ptr<http::BodyWriter> LiveCall::start(http::Response head, std::optional<std::uint64_t> length) {
  if (answered_) throw std::logic_error("a handler began two answers");
  add_common_headers(head, arrival_.request_id);
  answered_ = true;
  const int status = head.status;
  const bool head_only = request().method == "HEAD" || status == 204 || status == 304;
  RecordingWriter::Begin begin = [this, length, kept_head = std::move(head)]() mutable {
    kept_ = std::make_shared<KeptRequest>(request());
    auto inner = responder_.start(std::move(kept_head), length);
    arrival_.request = &kept_->get();
    return inner;
  };
  return std::make_unique<RecordingWriter>(
      std::move(begin), [this] { answered_ = false, gave_up_ = true; }, arrival_, status, head_only, site_.meters,
      site_.config);
}

}  // namespace stackgate::web
