#include "services/guardrail/models/protocol/answer.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "services/guardrail/models/protocol/content.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/number.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::size_t most_models = 10'000;
constexpr std::size_t most_dimensions = 65'536;
constexpr std::size_t longest_message = 2'000;
constexpr json::ParseLimits limits{.max_depth = 128, .max_bytes = largest_answer};

std::expected<json::Value, std::string> read_object(std::string_view body, json::Document& document) {
  const auto root = json::parse(body, document, limits);
  if (!root) return std::unexpected(fmt::format("the answer is no JSON (byte {})", root.error().offset));
  if (!root->is_object()) return std::unexpected("the answer is no JSON object");
  return *root;
}

std::uint32_t count_of(const json::Value& usage, std::string_view name) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(json::integer(&usage, {name}), 0, UINT32_MAX));
}

/// A word of an API ("rate_limit_exceeded"), which may be logged: nobody's text.
std::string word_of(const json::Value& value) {
  const std::string text = json::scalar_text(value);
  const bool is_word = text.size() <= 64 && std::ranges::all_of(text, [](char c) {
                         return ascii::is_alphanumeric(c) || c == '_' || c == '-' || c == '.';
                       });
  return is_word ? text : std::string();
}

void shorten(std::string& text, std::size_t most) {
  if (text.size() <= most) return;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  text.resize(end);
  text += "…";
}

void take_out(std::string& text, std::string_view secret) {
  if (secret.size() < 4) return;
  for (auto at = text.find(secret); at != std::string::npos; at = text.find(secret, at))
    text.replace(at, secret.size(), "***");
}

/// The words of OpenAI's form, vLLM's older one, FastAPI's.
std::string_view words_of(const json::Value& root) {
  for (const std::string_view text : {json::text(&root, {"error", "message"}), json::text(&root, {"message"}),
                                      json::text(&root, {"detail"}), json::text(&root, {"error"})})
    if (!text.empty()) return text;
  return {};
}

}  // namespace

std::expected<ModelAnswer, std::string> read_answer(std::string_view body, bool completion) {
  json::Document document;
  const auto root = TRY(read_object(body, document));
  const auto choices = json::items(&root, {"choices"});
  if (choices.empty() || !choices[0].is_object()) return std::unexpected("the answer has no choice");
  const json::Value& choice = choices[0];
  ModelAnswer out;
  if (completion) {
    const json::Value text = json::value_at(&choice, {"text"});
    if (!text.is_string()) return std::unexpected("the answer's choice has no text");
    out.text = text.string();
  } else {
    const json::Value* const message = choice.find("message");
    if (message == nullptr || !message->is_object()) return std::unexpected("the answer's choice has no message");
    const json::Value content = json::value_at(message, {"content"});
    out.has_tool_calls = !json::items(message, {"tool_calls"}).empty();
    const bool has_refusal = !json::text(message, {"refusal"}).empty();
    if (!content.is_string() && !content.is_array() && !out.has_tool_calls && !has_refusal)
      return std::unexpected("the answer's message has neither content nor tool calls");
    out.text = content.is_null() && has_refusal ? std::string(json::text(message, {"refusal"})) : content_text(content);
    out.message = json::to_json(*message);
  }
  out.finish_reason = word_of(json::value_at(&choice, {"finish_reason"}));
  out.model = json::text(&root, {"model"});
  const json::Value usage = json::value_at(&root, {"usage"});
  out.usage = {.prompt = count_of(usage, "prompt_tokens"), .completion = count_of(usage, "completion_tokens")};
  return out;
}

std::expected<std::vector<std::vector<float>>, std::string> read_embeddings(std::string_view body, std::size_t texts) {
  json::Document document;
  const auto root = TRY(read_object(body, document));
  const auto data = json::items(&root, {"data"});
  if (data.size() != texts)
    return std::unexpected(fmt::format("the answer has {} embeddings for {} texts", data.size(), texts));
  std::vector<std::vector<float>> out(texts);
  std::size_t next = 0;
  for (const json::Value& each : data) {
    const auto index = json::integer(&each, {"index"}, static_cast<std::int64_t>(next++));
    if (index < 0 || static_cast<std::size_t>(index) >= texts || !out[static_cast<std::size_t>(index)].empty())
      return std::unexpected("the answer's embeddings have wrong indices");
    const auto numbers = json::items(&each, {"embedding"});
    if (numbers.empty() || numbers.size() > most_dimensions)
      return std::unexpected("an embedding has no usable length");
    auto& vector = out[static_cast<std::size_t>(index)];
    vector.reserve(numbers.size());
    for (const json::Value& number : numbers) {
      const auto value = static_cast<float>(number.number());
      if (!number.is_number() || !std::isfinite(value)) return std::unexpected("an embedding holds what is no number");
      vector.push_back(value);
    }
  }
  const auto differs = [&](const auto& each) { return each.size() != out.front().size(); };
  if (std::ranges::any_of(out, differs)) return std::unexpected("the embeddings differ in length");
  return out;
}

std::expected<std::vector<std::string>, std::string> read_model_names(std::string_view body) {
  json::Document document;
  const auto root = TRY(read_object(body, document));
  const json::Value* const data = root.find("data");
  if (data == nullptr || !data->is_array()) return std::unexpected("the answer has no list of models");
  std::vector<std::string> out;
  for (const json::Value& each : data->items()) {
    const std::string_view id = json::text(&each, {"id"});
    if (!id.empty() && id.size() <= 1'024) out.emplace_back(id);
    if (out.size() == most_models) break;
  }
  if (out.empty()) return std::unexpected("the answer's list of models is empty");
  return out;
}

ModelFailure read_failure(int status, std::string_view body, std::string_view key, std::string_view origin) {
  json::Document document;
  const auto read = json::parse(body, document, limits);
  const json::Value root = read ? *read : json::Value{};
  const json::Value* error = json::at(&root, {"error"});
  if (error == nullptr || !error->is_object()) error = &root;
  ModelFailure out;
  out.type = word_of(json::value_at(error, {"type"}));
  out.code = word_of(json::value_at(error, {"code"}));
  out.param = word_of(json::value_at(error, {"param"}));
  if (status == 0) status = to_number<int>(out.code).value_or(502);
  out.status = status >= 400 && status <= 599 ? status : 502;
  if (out.status == 401 || out.status == 403) {
    out.message = "the model's endpoint refused this server's credentials";
    out.type = "upstream_authentication_error";
    out.code.clear();
    out.param.clear();
  } else {
    out.message = words_of(root);
    if (out.message.empty()) out.message = fmt::format("the model's endpoint answered {}", out.status);
    take_out(out.message, key);
    shorten(out.message, longest_message);
  }
  out.cause = fmt::format("{} answered {}", origin, out.status);
  if (!out.code.empty()) out.cause += fmt::format(" ({})", out.code);
  take_out(out.cause, key);
  return out;
}

}  // namespace stackgate::guardrail
