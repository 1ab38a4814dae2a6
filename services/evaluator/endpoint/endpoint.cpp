#include "services/evaluator/endpoint/endpoint.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/kit/base/try.hpp"
#include "services/kit/findings/nearest.hpp"
#include "services/kit/grammar/url.hpp"

namespace stackgate::evaluator {
namespace {

http_client::Options client_options(const EndpointOptions& options) {
  return {.connect = std::chrono::seconds(5),
          .pause = std::chrono::seconds(options.timeout_seconds),
          .retries = options.max_retries,
          .ca_file = options.authorities.file,
          .ca_text = options.authorities.text,
          .user_agent = "stackgate-evaluator"};
}

std::string origin_of(std::string_view text) {
  const auto url = validate::grammar::parse_http_url(text);
  if (!url) return "the endpoint";
  const std::string host = url->v6 ? fmt::format("[{}]", url->host) : std::string(url->host);
  return url->port ? fmt::format("{}://{}:{}", url->scheme, host, *url->port)
                   : fmt::format("{}://{}", url->scheme, host);
}

std::unexpected<NoAnswer> failed(NoAnswer::Kind kind, std::string message) {
  return std::unexpected(NoAnswer{kind, std::move(message)});
}

bool is_passing(int status) { return status == 408 || status == 429 || status >= 500; }

}  // namespace

Endpoint::Endpoint(EndpointOptions options, std::function<bool()> stop)
    : options_(std::move(options)),
      origin_(origin_of(options_.url)),
      stop_(std::move(stop)),
      client_(client_options(options_)) {}

std::expected<std::string, NoAnswer> Endpoint::call(std::string_view method, std::string_view path,
                                                    std::string body) const {
  http_client::Request request{.method = std::string(method),
                               .url = options_.url + std::string(path),
                               .headers = {{"Accept", "application/json"}},
                               .body = std::move(body),
                               .largest_reply = largest_answer,
                               .repeatable = true,
                               .give_up = stop_};
  if (!request.body.empty()) request.headers.emplace_back("Content-Type", "application/json");
  if (!options_.api_key.empty()) request.headers.emplace_back("Authorization", "Bearer " + options_.api_key);
  auto reply = client_.call(request);
  if (!reply) {
    if (stop_ && stop_()) return failed(NoAnswer::Kind::stopped, "stopped");
    return failed(NoAnswer::Kind::away, std::move(reply.error().message));
  }
  if (reply->status < 300) return std::move(reply->body);
  std::string words = read_error(reply->body, options_.api_key);
  if (reply->status == 401 || reply->status == 403)
    words = "it does not take the API key; set \"api_key\"";
  else if (words.empty())
    words = "no reason given";
  return failed(is_passing(reply->status) ? NoAnswer::Kind::away : NoAnswer::Kind::refused,
                fmt::format("{} answered {} with status {}: {}", origin_, path, reply->status, words));
}

std::expected<void, NoAnswer> Endpoint::check() {
  const std::string body = TRY(call("GET", "/models", {}));
  auto models = read_models(body);
  if (!models)
    return failed(NoAnswer::Kind::broken, fmt::format("{} answered /models with what {}", origin_, models.error()));
  if (models->empty()) return failed(NoAnswer::Kind::away, fmt::format("{} serves no model yet", origin_));
  if (options_.model.empty()) {
    options_.model = models->front();
    return {};
  }
  if (std::ranges::find(*models, options_.model) != models->end()) return {};
  const std::vector<std::string_view> known(models->begin(), models->end());
  const std::string_view near = validate::nearest(options_.model, known);
  const std::string cure =
      near.empty() ? fmt::format("it serves {}{}",
                                 fmt::join(std::span(known).first(std::min<std::size_t>(known.size(), 10)), ", "),
                                 known.size() > 10 ? ", …" : "")
                   : fmt::format("did you mean \"{}\"?", near);
  // An adapter may come later, so this passes.
  return failed(NoAnswer::Kind::away,
                fmt::format("{} does not serve the model \"{}\"; {}", origin_, options_.model, cure));
}

std::expected<void, NoAnswer> Endpoint::check_likelihoods() const {
  const Question probe = likelihood_probe();
  auto answer = ask(probe);
  if (!answer) return std::unexpected(std::move(answer.error()));
  return {};
}

std::expected<Answer, NoAnswer> Endpoint::ask(const Question& question) const {
  const std::string_view path = path_of(question);
  const std::string body = TRY(call("POST", path, write_question(question, options_.model)));
  auto answer = read_answer(question, body);
  if (!answer)
    return failed(NoAnswer::Kind::broken, fmt::format("{} answered {} with what {}", origin_, path, answer.error()));
  return std::move(*answer);
}

std::expected<Embeddings, NoAnswer> Endpoint::embed(std::span<const std::string> texts) const {
  const std::string body = TRY(call("POST", "/embeddings", write_embeddings(texts, options_.model)));
  auto vectors = read_embeddings(body, texts.size());
  if (!vectors)
    return failed(NoAnswer::Kind::broken,
                  fmt::format("{} answered /embeddings with what {}", origin_, vectors.error()));
  return std::move(*vectors);
}

}  // namespace stackgate::evaluator
