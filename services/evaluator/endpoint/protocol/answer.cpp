#include "services/evaluator/endpoint/protocol/answer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "services/kit/base/replace_all.hpp"
#include "services/kit/grammar/characters.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace {

constexpr json::ParseLimits limits{.max_depth = 64, .max_bytes = largest_answer};

std::unexpected<std::string> refused(std::string why) { return std::unexpected(std::move(why)); }

std::uint32_t count_at(const json::Value& root, std::string_view key) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(json::integer(&root, {"usage", key}), 0, UINT32_MAX));
}

/// A string, or its text parts one behind the other.
std::string content_text(const json::Value& content) {
  std::string out(content.string());
  for (const json::Value& part : content.items()) out += json::text(&part, {"text"});
  return out;
}

/// Whether the token at `i` was the most likely one; nothing where the answer does not say.
std::optional<bool> is_most_likely(const json::Value& top, double logprob) {
  if (!top.is_object() || top.members().empty()) return std::nullopt;
  double most = -std::numeric_limits<double>::infinity();
  for (const json::Member& each : top.members()) most = std::max(most, each.value.number());
  return logprob >= most;
}

std::expected<Likelihood, std::string> read_likelihood(const Question& question, const json::Value& choice) {
  const json::Value logprobs = json::value_at(&choice, {"logprobs"});
  const auto tokens = json::items(&logprobs, {"tokens"});
  const auto values = json::items(&logprobs, {"token_logprobs"});
  const auto tops = json::items(&logprobs, {"top_logprobs"});
  const auto offsets = json::items(&logprobs, {"text_offset"});
  if (values.empty() || tokens.size() != values.size())
    return refused("has no log-probabilities: this endpoint cannot score given texts");
  if (!offsets.empty() && offsets.size() != values.size())
    return refused("has another number of offsets than of log-probabilities");
  const std::size_t prompt_length = validate::grammar::count_characters(question.prompt);
  Likelihood out{.is_greedy = true};
  std::size_t at = 0;  // in code points
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t begin =
        offsets.empty() ? at : static_cast<std::size_t>(std::max<std::int64_t>(offsets[i].integer(), 0));
    const std::size_t length = validate::grammar::count_characters(tokens[i].string());
    at = begin + length;
    if (begin >= prompt_length) break;                // what was generated
    if (at <= question.context_characters) continue;  // of the context
    // A token over the boundary belongs to what follows it.
    if (values[i].is_null() && i == 0) return refused("has no log-probability for the first token, which is asked for");
    if (!values[i].is_number()) return refused("has a log-probability that is no number");
    const double logprob = values[i].number();
    if (!std::isfinite(logprob) || logprob > 1e-6) return refused("has a log-probability above 0");
    out.sum += logprob;
    ++out.tokens;
    out.is_greedy = out.is_greedy && i < tops.size() && is_most_likely(tops[i], logprob).value_or(false);
  }
  if (at < prompt_length && offsets.empty())
    return refused("has log-probabilities of a part of the prompt only: this endpoint cannot score given texts");
  if (out.tokens == 0)
    return refused("has log-probabilities of generated tokens only: this endpoint cannot score given texts");
  if (!std::isfinite(out.sum)) return refused("has log-probabilities whose sum is no number");
  return out;
}

}  // namespace

std::expected<Answer, std::string> read_answer(const Question& question, std::string_view body) {
  json::Document document;
  const auto root = json::parse(body, document, limits);
  if (!root) return refused("is no JSON");
  const auto choices = json::items(&*root, {"choices"});
  if (choices.empty()) return refused("has no choices");
  const json::Value& choice = choices.front();
  Answer out{.finish_reason = std::string(json::text(&choice, {"finish_reason"})),
             .prompt_tokens = count_at(*root, "prompt_tokens"),
             .completion_tokens = count_at(*root, "completion_tokens")};
  if (question.likelihood) {
    auto likelihood = read_likelihood(question, choice);
    if (!likelihood) return std::unexpected(std::move(likelihood.error()));
    out.likelihood = *likelihood;
    return out;
  }
  if (!question.is_chat()) {
    const json::Value* text = choice.find("text");
    if (text == nullptr || !text->is_string()) return refused("has no text");
    out.text = text->string();
    return out;
  }
  const json::Value* message = choice.find("message");
  if (message == nullptr || !message->is_object()) return refused("has no message");
  out.text = content_text(json::value_at(message, {"content"}));
  if (const json::Value* calls = message->find("tool_calls"); calls != nullptr && !calls->items().empty())
    out.tool_calls = json::to_json(*calls);
  return out;
}

std::expected<std::vector<std::string>, std::string> read_models(std::string_view body) {
  json::Document document;
  const auto root = json::parse(body, document, limits);
  if (!root) return refused("is no JSON");
  const json::Value* data = root->find("data");
  if (data == nullptr || !data->is_array()) return refused("has no list of models");
  std::vector<std::string> out;
  for (const json::Value& each : data->items().first(std::min<std::size_t>(data->items().size(), 10'000)))
    if (const std::string_view id = json::text(&each, {"id"}); !id.empty()) out.emplace_back(id);
  return out;
}

std::string read_error(std::string_view body, std::string_view key) {
  json::Document document;
  const auto root = json::parse(body, document, limits);
  if (!root) return {};
  std::string out(json::text(&*root, {"error", "message"}));
  for (const std::string_view member : {"error", "message", "detail"})
    if (out.empty()) out = json::text(&*root, {member});
  out = replace_all(out, key, "***");
  std::ranges::replace_if(out, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  if (out.size() > 300) {
    std::size_t end = 300;
    while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xC0U) == 0x80U) --end;  // inside of a character
    out.resize(end);
  }
  return out;
}

}  // namespace stackgate::evaluator
