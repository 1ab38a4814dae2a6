#include "services/kit/http_client/client.hpp"

#include <algorithm>
#include <future>
#include <iterator>

#include <fmt/format.h>

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/inbox.hpp"
#include "services/kit/http_client/checks.hpp"
#include "services/kit/http_client/flight.hpp"
#include "services/kit/http_client/url.hpp"

namespace stackgate::http_client {
namespace client_detail {

using std::chrono::milliseconds;

milliseconds least(milliseconds limit, std::optional<milliseconds> left) {
  if (!left) return limit;
  const milliseconds rest = std::max(*left, milliseconds(1));
  return limit.count() > 0 ? std::min(limit, rest) : rest;
}

}  // namespace client_detail

struct Client::Impl {
  using Clock = std::chrono::steady_clock;
  const Options options;
  const std::shared_ptr<Engine> engine;
  std::shared_ptr<const Connecting> connecting;

  explicit Impl(Options given)
      : options(std::move(given)),
        engine(options.engine ? options.engine : Engine::shared(options.public_addresses_only)) {
    Connecting out{
        .proxy = options.proxy, .http2 = options.http2, .public_addresses_only = options.public_addresses_only};
    out.tls.ca = {.text = options.ca_text, .file = options.ca_file};
    out.tls.skip_verification = options.skip_verification;
    out.tls.certificate = options.certificate;
    out.tls.key = options.key;
    connecting = std::make_shared<const Connecting>(std::move(out));
  }

  /// What goes with a call that has `own`.
  Headers headers(Headers own, Headers extra) const {
    Headers out;
    out.reserve(own.size() + extra.size() + 1);
    bool has_agent = false;
    for (const auto& [name, value] : own) has_agent |= ascii::equal_ignoring_case(name, "user-agent");
    if (!has_agent) out.emplace_back("User-Agent", options.user_agent);
    std::ranges::move(extra, std::back_inserter(out));
    std::ranges::move(own, std::back_inserter(out));
    return out;
  }

  /// Without headers.
  ExchangeRequest request(const Request& call) const {
    ExchangeRequest out;
    out.method = call.method;
    out.url = call.url;
    out.body = call.body;
    out.deadlines = {.connect = options.connect,
                     .head = call.head.count() > 0 ? call.head : options.head,
                     .pause = options.pause,
                     .whole = call.whole.count() > 0 ? call.whole : options.whole};
    out.connecting = connecting;
    return out;
  }

  /// What keeps a call from being made, if anything.
  std::optional<Error> fault(const Request& call, bool blocks, bool streams) const {
    std::optional<std::string> why = fault_of(call);
    if (engine == nullptr) why = "libcurl cannot be initialised";
    if (blocks && engine != nullptr && engine->on_own_thread())
      why = "a blocking call on the client's own thread would never end";
    if (streams && call.read_body) why = "an answer that is read as it comes takes a body that is held";
    if (!why) return std::nullopt;
    return Error{fmt::format("{} {}: {}", call.method, without_secrets(call.url), *why)};
  }

  std::expected<Response, Error> follow(const Request& first, Headers extra) const;
};

std::expected<Response, Error> Client::Impl::follow(const Request& first, Headers extra) const {
  ExchangeRequest request = this->request(first);
  const Headers headers = this->headers(first.headers, std::move(extra));
  request.more_headers = headers;
  const Deadlines limits = request.deadlines;
  std::optional<Clock::time_point> until, head_until;
  if (limits.whole.count() > 0) until = Clock::now() + limits.whole;
  if (limits.head.count() > 0) head_until = Clock::now() + limits.head;
  std::optional<Request> changed;  // by a redirect
  for (unsigned followed = 0;; ++followed) {
    const Request& call = changed ? *changed : first;
    const Persistence persistence{.call = call, .url = request.url, .retries = options.retries, .until = until};
    auto reply = with_retries(persistence, [&] {
      request.deadlines.whole = client_detail::least(limits.whole, persistence.left());
      request.deadlines.head =
          client_detail::least(limits.head, Persistence{.call = call, .url = request.url, .until = head_until}.left());
      return attempt(*engine, call, request);
    });
    if (!reply || followed >= options.redirects) return reply;
    const int status = reply->status;
    const auto location = reply->header("location");
    if (!location || (status != 301 && status != 302 && status != 303 && status != 307 && status != 308)) return reply;
    auto target = same_origin(request.url, std::string(*location));
    if (!target) return reply;
    const bool becomes_get = (status == 303 && call.method != "HEAD") || (status < 303 && call.method == "POST");
    if (becomes_get) {
      Request plain = call;
      plain.method = request.method = "GET";
      plain.body.clear();
      request.body = {};
      plain.read_body = nullptr;
      changed = std::move(plain);
    } else if (call.read_body && !(call.rewind && call.rewind())) {
      return reply;
    }
    request.url = std::move(*target);
  }
}

Client::Client(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Client::~Client() = default;

std::expected<Response, Error> Client::call(const Request& call) const {
  if (auto fault = impl_->fault(call, true, false)) return std::unexpected(std::move(*fault));
  if (!passes_trace_on(call, impl_->options)) return impl_->follow(call, {});
  TracedCall traced(call);
  auto reply = impl_->follow(call, traced.take_headers());
  traced.ended(reply ? reply->status : 0, reply ? std::string_view() : std::string_view(reply.error().message));
  return reply;
}

Opening Client::open(Request call, OnAnswer then) const {
  if (auto fault = impl_->fault(call, false, true)) {
    if (impl_->engine == nullptr)
      then(std::unexpected(NoAnswer{std::move(*fault), true}));
    else
      impl_->engine->run([then = std::move(then), why = NoAnswer{std::move(*fault), true}]() mutable {
        then(std::unexpected(std::move(why)));
      });
    return Opening(nullptr);
  }
  std::optional<TracedCall> traced;
  if (passes_trace_on(call, impl_->options)) traced.emplace(call);
  ExchangeRequest request = impl_->request(call);
  request.pieces = call.pieces;
  Headers headers = impl_->headers(std::move(call.headers), traced ? traced->take_headers() : Headers());
  auto flight = std::make_shared<Flight>(impl_->engine, std::move(call), std::move(headers), std::move(request),
                                         impl_->options.retries, std::move(traced), std::move(then));
  flight->start();
  return Opening(std::move(flight));
}

std::expected<Answer, Error> Client::open(const Request& call) const {
  if (auto fault = impl_->fault(call, true, true)) return std::unexpected(std::move(*fault));
  const WakeBatch::Blocking blocking;
  std::promise<std::expected<Answer, Error>> opened;
  auto answer = opened.get_future();
  (void)open(call, [&opened](std::expected<Answer, Error> given) { opened.set_value(std::move(given)); });
  return answer.get();
}

}  // namespace stackgate::http_client
