// A model behind an OpenAI endpoint, asked. Thread-safe; calls block.
#pragma once
#include <atomic>
#include <cstdint>
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/endpoint/protocol/answer.hpp"
#include "services/evaluator/endpoint/protocol/embeddings.hpp"
#include "services/evaluator/endpoint/protocol/question.hpp"
#include "services/kit/http_client/client.hpp"

namespace stackgate::evaluator {

struct EndpointOptions {
  std::string url;      // "http://inference:8000/v1"
  std::string model{};  // empty: the first that it lists
  std::string api_key{};
  std::uint32_t timeout_seconds = 120;  // for one answer, without its repetitions
  std::uint32_t max_retries = 5;
  http_client::Pem authorities{};  // to trust besides the system's
};

/// Why there is no answer. The message names the endpoint and its words, and no key.
struct NoAnswer {
  enum class Kind : std::uint8_t {
    away,     // not reached, overloaded, or an error of its own: later it may answer
    refused,  // its 4xx: this question, model or key
    broken,   // an answer that is none
    stopped,  // by us
  };
  Kind kind = Kind::away;
  std::string message;
};

class Endpoint {
 public:
  /// `stop` is asked a few times a second while a call is under way.
  Endpoint(EndpointOptions options, std::function<bool()> stop);

  /// Whether it answers and serves the model, whose name it keeps. Once, before the first question.
  std::expected<void, NoAnswer> check();
  /// Whether it gives log-probabilities of the prompt's own tokens; the reason where it does not.
  std::expected<void, NoAnswer> check_likelihoods() const;

  std::expected<Answer, NoAnswer> ask(const Question& question) const;
  /// A vector for each text, all of one dimension; at most most_texts of them, none empty.
  std::expected<Embeddings, NoAnswer> embed(std::span<const std::string> texts) const;

  const std::string& model() const { return options_.model; }
  /// Scheme, host and port, for messages.
  const std::string& origin() const { return origin_; }

 private:
  std::expected<std::string, NoAnswer> call(std::string_view method, std::string_view path, std::string body) const;

  EndpointOptions options_;
  std::string origin_;
  std::function<bool()> stop_;
  http_client::Client client_;
};

}  // namespace stackgate::evaluator
