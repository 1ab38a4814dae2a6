#include "services/kit/mlflow/calls.hpp"

#include <utility>

#include <fmt/format.h>

#include "services/kit/base/base64.hpp"
#include "services/kit/http_client/url.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/mlflow/artifacts.hpp"

namespace stackgate::mlflow {
namespace calls_detail {

Server without_slashes(Server server) {
  while (server.url.ends_with('/')) server.url.pop_back();
  return server;
}

bool passes(int status) { return status >= 500 || status == 429 || status == 408; }

}  // namespace calls_detail

std::string authorization(const Server& server) {
  if (!server.token.empty()) return "Bearer " + server.token;
  return server.user.empty() ? "" : "Basic " + base64::encode(server.user + ":" + server.password);
}

Calls::Calls(Server server, std::chrono::milliseconds limit, std::function<bool()> give_up)
    : server_(calls_detail::without_slashes(std::move(server))),
      give_up_(std::move(give_up)),
      client_({.whole = limit, .retries = 0, .ca_file = server_.ca_file}) {}

Outcome Calls::call(const Call& what, std::string_view expected) {
  http_client::Request request = request_of(what);
  request.body = what.body;
  Outcome came = perform(request);
  if (came.kind == Outcome::Kind::refused && (came.code != expected || expected.empty()))
    warn("MLflow refuses what is logged; the run goes on", came.words);
  return came;
}

Outcome Calls::put(const Call& what, std::istream& in, std::uint64_t size, std::chrono::milliseconds limit) {
  http_client::Request request = request_of(what);
  request.body_size = size;
  request.read_body = [&in](char* space, std::size_t most) {
    in.read(space, static_cast<std::streamsize>(most));
    return in.bad() ? http_client::body_failed : static_cast<std::size_t>(in.gcount());
  };
  request.whole = limit;
  return perform(request);
}

http_client::Request Calls::request_of(const Call& what) const {
  http_client::Request request{.method = what.method, .url = server_.url + what.path};
  if (what.method != "GET") request.headers.emplace_back("Content-Type", what.content_type);
  if (std::string credentials = authorization(server_); !credentials.empty())
    request.headers.emplace_back("Authorization", std::move(credentials));
  request.largest_reply = 1U << 20U;
  request.repeatable = false;
  request.give_up = give_up_;
  return request;
}

Outcome Calls::perform(const http_client::Request& request) {
  const auto answer = client_.call(request);
  if (!answer) return failed(answer.error().message);
  if (answer->status >= 200 && answer->status < 300) {
    if (std::exchange(warned_, false)) log::info("MLflow takes what is logged again");
    return {Outcome::Kind::good, answer->body, {}, {}};
  }
  if (has_no_proxy(answer->status, answer->body))
    return {Outcome::Kind::refused, {}, {}, "HTTP 503: it runs with --no-serve-artifacts"};
  const Refusal refusal = read_refusal(answer->body);
  const std::string words = fmt::format("HTTP {} {} {}", answer->status, refusal.code, refusal.message);
  if (calls_detail::passes(answer->status)) return failed(words);
  return {Outcome::Kind::refused, {}, refusal.code, words};
}

Outcome Calls::failed(const std::string& words) {
  if (!give_up_()) warn("MLflow cannot be reached; the run goes on", words);
  return {Outcome::Kind::passing, {}, {}, words};
}

void Calls::warn(std::string_view what, const std::string& words) {
  if (!std::exchange(warned_, true))
    log::warning(what, {{"server", http_client::without_secrets(server_.url)}, {"cause", words}});
}

}  // namespace stackgate::mlflow
