#include "services/kit/kube/transport.hpp"

#include <algorithm>
#include <future>
#include <utility>

#include "services/kit/base/try.hpp"
#include "services/kit/http_client/retry.hpp"
#include "services/kit/kube/credentials.hpp"

namespace stackgate::kube {
namespace transport_detail {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds gather{2};
constexpr std::chrono::seconds longest_retry_after{3600};
// With HTTP/1.1 (a proxy between) each watch holds a connection of its own, so this leaves room for requests.
constexpr long most_connections = 64;

bool is_loopback(std::string_view server) {
  for (const std::string_view host : {"://127.", "://localhost", "://[::1]"})
    if (server.find(host) != std::string_view::npos) return true;
  return false;
}

Failure failure_of(http_client::Failure failure) {
  switch (failure) {
    case http_client::Failure::unreachable:
    case http_client::Failure::unusable:
      return Failure::unreachable;
    case http_client::Failure::timed_out:
      return Failure::timed_out;
    case http_client::Failure::interrupted:
      return Failure::interrupted;
    case http_client::Failure::cancelled:
    case http_client::Failure::stopped:
      break;
  }
  return Failure::cancelled;
}

}  // namespace transport_detail

using namespace transport_detail;

struct Transport::Impl {
  const Config config;
  const Observer observer;
  Credentials credentials{config};

  // Used on the engine's thread only.
  std::shared_ptr<const Credential> connecting_with;
  std::shared_ptr<const http_client::Connecting> connecting;

  http_client::Engine* engine = nullptr;
  std::shared_ptr<http_client::Engine> owner;  // ends first: receivers use the others

  Impl(Config c, Observer o) : config(std::move(c)), observer(std::move(o)) {}

  std::shared_ptr<const http_client::Connecting> connecting_by(const std::shared_ptr<const Credential>& credential) {
    if (connecting_with == credential && connecting) return connecting;
    http_client::Connecting out{.http2 = true};
    out.tls = {.ca = config.ca,
               .certificate = config.client_certificate,
               .key = config.client_key,
               .skip_verification = config.insecure_skip_tls_verify,
               .server_name = config.tls_server_name};
    if (!credential->client_certificate_pem.empty()) {
      out.tls.certificate = {.text = credential->client_certificate_pem, .file = {}};
      out.tls.key = {.text = credential->client_key_pem, .file = {}};
    }
    if (!config.proxy_url.empty())
      out.proxy = config.proxy_url;
    else if (is_loopback(config.server))
      out.proxy.emplace();
    connecting_with = credential;
    return connecting = std::make_shared<const http_client::Connecting>(std::move(out));
  }

  class Reading;
};

/// Completes a request with the credentials in force, and passes its answer on in this module's terms.
class Transport::Impl::Reading final : public http_client::Receiver {
 public:
  Reading(Impl& impl, Request request, std::shared_ptr<kube::Receiver> receiver)
      : impl_(impl), request_(std::move(request)), receiver_(std::move(receiver)) {}

  std::optional<http_client::ExchangeError> begin(http_client::ExchangeRequest& out) override {
    auto credential = impl_.credentials.current();
    if (!credential) {
      has_credential_ = false;
      return http_client::ExchangeError{http_client::Failure::unusable, credential.error().message};
    }
    credential_ = std::move(*credential);
    out.method = request_.method;
    out.url = impl_.config.server + request_.path;
    out.headers = {{"Accept", request_.accept}, {"User-Agent", impl_.config.user_agent}};
    if (!credential_->authorization.empty()) out.headers.emplace_back("Authorization", credential_->authorization);
    if (!request_.body.empty()) out.headers.emplace_back("Content-Type", request_.content_type);
    out.body = request_.body;
    out.connecting = impl_.connecting_by(credential_);
    return std::nullopt;
  }

  void head(http_client::Head& head) override {
    head_.status = head.status;
    if (const auto wait = head.header("retry-after"))
      head_.retry_after = std::min(
          http_client::parse_retry_after(*wait, std::chrono::system_clock::now()).value_or(std::chrono::seconds(0)),
          longest_retry_after);
    observe(Failure::none);
    receiver_->head(head_);
  }

  http_client::Taken data(const http_client::Head& /*head*/, std::string_view bytes) override {
    return receiver_->data(head_, bytes) ? http_client::Taken::all : http_client::Taken::stop;
  }

  void done(const http_client::Head& /*head*/, const http_client::ExchangeError* error) override {
    if (error == nullptr) {
      if (head_.status == 401) impl_.credentials.reject(credential_);
      return receiver_->done(head_, nullptr);
    }
    const TransportError failed{has_credential_ ? failure_of(error->failure) : Failure::credentials, error->message};
    if (has_credential_) observe(failed.failure);
    receiver_->done(head_, &failed);
  }

 private:
  void observe(Failure failure) {
    if (!impl_.observer || std::exchange(observed_, true)) return;
    const RequestInfo info = request_info(request_.method, request_.path, request_.content_type);
    impl_.observer({info.verb, info.resource, info.subresource, failure == Failure::none ? head_.status : 0, failure,
                    std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun_)});
  }

  Impl& impl_;
  const Request request_;
  const std::shared_ptr<kube::Receiver> receiver_;
  const Clock::time_point begun_ = Clock::now();
  std::shared_ptr<const Credential> credential_;
  bool has_credential_ = true;
  bool observed_ = false;
  HttpHead head_;
};

std::expected<std::unique_ptr<Transport>, Error> Transport::start(Config config, Observer observer) {
  auto engine = TRY(http_client::Engine::start({.connections_per_host = most_connections, .gather = gather}));
  auto impl = std::make_unique<Impl>(std::move(config), std::move(observer));
  impl->engine = engine.get();
  impl->owner = std::move(engine);
  return std::unique_ptr<Transport>(new Transport(std::move(impl)));
}

Transport::Transport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Transport::~Transport() = default;

const Config& Transport::config() const { return impl_->config; }

ExchangeId Transport::send(Request request, std::shared_ptr<Receiver> receiver) {
  http_client::ExchangeRequest out;
  out.deadlines = {.connect = request.connect_timeout, .head = {}, .pause = {}, .whole = request.timeout};
  out.endless = request.endless;
  out.fresh_connection = request.fresh_connection;
  return impl_->engine->send(std::move(out),
                             std::make_shared<Impl::Reading>(*impl_, std::move(request), std::move(receiver)));
}

void Transport::cancel(ExchangeId id) { impl_->engine->cancel(id); }

void Transport::run(std::function<void()> task) { impl_->engine->run(std::move(task)); }

void Transport::run_after(std::chrono::milliseconds delay, std::function<void()> task) {
  impl_->engine->run_after(delay, std::move(task));
}

bool Transport::on_own_thread() const { return impl_->engine->on_own_thread(); }

void Transport::run_and_wait(const std::function<void()>& task) {
  if (on_own_thread()) return task();
  auto ran = std::make_shared<std::promise<void>>();
  auto done = ran->get_future();
  run([task, ran] {
    task();
    ran->set_value();
  });
  done.wait();
}

Transport::Stats Transport::stats() const { return impl_->engine->stats(); }

}  // namespace stackgate::kube
