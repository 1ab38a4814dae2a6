#include "services/guardrail/models/protocol/request.hpp"

#include <algorithm>
#include <array>

#include "services/guardrail/models/protocol/content.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::string_view api_version = "/v1";

/// Of a client's body and of a configuration's parameters: not for the model.
constexpr std::array<std::string_view, 25> not_passed_on = {
    "model",     "messages",        "prompt",         "stream",          "config_id",       "config_ids", "thread_id",
    "context",   "options",         "state",          "guardrails",      "rails",           "base_url",   "api_base",
    "api_key",   "api_key_env_var", "openai_api_key", "openai_api_base", "openai_base_url", "timeout",    "max_retries",
    "streaming", "request_timeout", "verbose",        "default_headers"};

std::size_t path_begin(std::string_view url) {
  const auto scheme = url.find("://");
  const auto from = scheme == std::string_view::npos ? 0 : scheme + 3;
  return std::min(url.find_first_of("/?#", from), url.size());
}

std::expected<json::Value, std::string> read_object(std::string_view text, json::Document& document,
                                                    std::string_view what) {
  if (text.empty()) text = "{}";
  const auto root = json::parse(text, document, {.max_depth = 128});
  if (!root) return std::unexpected(std::string(what) + ": " + root.error().message);
  if (!root->is_object()) return std::unexpected(std::string(what) + " is no JSON object");
  return *root;
}

/// A call's own values, which replace all others.
struct Decided {
  const ModelRequest& request;
  std::string_view limit_name;  // "max_completion_tokens" where somebody uses the newer name
  bool has(std::string_view key) const {
    if (key == "temperature") return request.temperature.has_value();
    if (key == "max_tokens" || key == "max_completion_tokens") return request.max_tokens.has_value();
    return key == "stop" && !request.stop.empty();
  }
  void write(json::Writer& w) const {
    if (request.temperature) w.member("temperature", *request.temperature);
    if (request.max_tokens) w.member(limit_name, *request.max_tokens);
    if (request.stop.empty()) return;
    w.array("stop", [&] {
      for (const std::string& each : request.stop) w.value(each);
    });
  }
};

void write_message(json::Writer& w, const Message& message) {
  w.object([&] {
    w.member("role", message.role);
    w.member("content", message.content);
  });
}

}  // namespace

std::string endpoint_url(std::string_view base_url, std::string_view path) {
  std::string_view base = base_url.substr(0, base_url.find_first_of("?#"));
  while (base.ends_with('/')) base.remove_suffix(1);
  for (const std::string_view whole : {"/chat/completions", "/completions", "/embeddings", "/models"})
    if (base.ends_with(whole)) {
      base.remove_suffix(whole.size());
      break;
    }
  std::string out(base);
  if (path_begin(base) >= base.size()) out += api_version;
  return out.append("/").append(path);
}

std::string endpoint_origin(std::string_view base_url) {
  const std::string_view origin = base_url.substr(0, path_begin(base_url));
  const auto scheme = origin.find("://"), user = origin.rfind('@');
  if (user == std::string_view::npos) return std::string(origin);
  return std::string(scheme == std::string_view::npos ? "" : origin.substr(0, scheme + 3))
      .append(origin.substr(user + 1));
}

std::string prompt_text(const std::vector<Message>& messages) {
  if (messages.size() == 1) return messages[0].content;
  std::string out;
  for (const Message& each : messages) {
    if (each.role == "user") out += "User: ";
    if (each.role == "assistant") out += "Assistant: ";
    out.append(each.content).append("\n");
  }
  return out + "Assistant:";
}

std::string shown_prompt(const ModelRequest& request) {
  if (request.messages_json.empty()) return prompt_text(request.messages);
  if (request.messages.empty()) return request.messages_json;
  std::string out;
  json::Writer w(out);
  w.array([&] {
    for (const Message& each : request.messages) write_message(w, each);
  });
  const std::size_t first = request.messages_json.find('{');
  if (first == std::string::npos) return out;
  out.back() = ',';
  return out.append(request.messages_json, first);
}

std::expected<std::string, std::string> write_model_body(const ModelEndpoint& endpoint, const ModelRequest& request,
                                                         std::string_view model, bool stream) {
  json::Document of_endpoint, of_client, of_messages;
  const auto parameters = TRY(read_object(endpoint.parameters, of_endpoint, "the model's parameters"));
  const auto body = TRY(read_object(request.body, of_client, "the request's body"));
  json::Value others;
  if (!request.messages_json.empty()) {
    const auto read = json::parse(request.messages_json, of_messages, {.max_depth = 128});
    if (!read || !read->is_array()) return std::unexpected("the messages are no JSON array");
    others = *read;
  }
  const bool newer =
      parameters.find("max_completion_tokens") != nullptr || body.find("max_completion_tokens") != nullptr;
  const Decided decided{.request = request, .limit_name = newer ? "max_completion_tokens" : "max_tokens"};
  const auto passes = [&](std::string_view key) {
    return std::ranges::find(not_passed_on, key) == not_passed_on.end() && !decided.has(key);
  };
  return json::object_text([&](json::Writer& w) {
    w.member("model", model);
    if (endpoint.completion) {
      std::vector<Message> all = request.messages;
      for (const json::Value& each : others.items())
        all.push_back({std::string(json::text(&each, {"role"})), content_text(json::value_at(&each, {"content"}))});
      w.member("prompt", prompt_text(all));
    } else {
      w.array("messages", [&] {
        for (const Message& each : request.messages) write_message(w, each);
        for (const json::Value& each : others.items()) w.value(each);
      });
    }
    for (const json::Member& each : body.members())
      if (passes(each.key)) w.member(each.key, each.value);
    for (const json::Member& each : parameters.members())
      if (passes(each.key) && body.find(each.key) == nullptr) w.member(each.key, each.value);
    decided.write(w);
    if (stream) w.member("stream", true);
  });
}

std::string write_embeddings_body(std::string_view model, const std::vector<std::string>& texts) {
  return json::object_text([&](json::Writer& w) {
    w.member("model", model);
    w.array("input", [&] {
      for (const std::string& each : texts) w.value(each);
    });
  });
}

}  // namespace stackgate::guardrail
