#include "services/inference/front/handlers.hpp"

#include <algorithm>
#include <array>
#include <random>

#include "services/inference/api/context.hpp"
#include "services/inference/constrain/schema_compiler.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::inference {
namespace {

std::uint64_t random_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32U | device();
}

/// The value of a text that was JSON when the request was read; null for "".
json::Value value_of(const std::string& text, json::Document& document) {
  return text.empty() ? json::Value{} : json::parse(text, document).value_or(json::Value{});
}

std::expected<std::shared_ptr<const Grammar>, web::Failure> grammar_of(const ResponseFormat& format,
                                                                       const std::string& schema) {
  if (!schema.empty()) return compiled(schema, "tools");
  if (format.kind == ResponseFormat::Kind::json_object) return json_object_grammar();
  if (format.kind == ResponseFormat::Kind::json_schema)
    return compiled(format.schema, "response_format.json_schema.schema");
  return nullptr;
}

}  // namespace

std::expected<std::shared_ptr<const Grammar>, web::Failure> compiled(const std::string& schema, std::string_view path) {
  json::Document document;
  const auto root = json::parse(schema, document);
  if (!root) return std::unexpected(bad_parameter("parameter-value", path, "is no JSON", "write a JSON Schema"));
  auto grammar = compile_schema(*root, path);
  if (!grammar) return std::unexpected(bad_request(std::move(grammar.error())));
  return std::move(*grammar);
}

web::Failure bad_parameter(std::string_view rule, std::string_view param, std::string problem, std::string fix) {
  return bad_request(
      {{.rule = rule, .path = std::string(param), .value = {}, .problem = std::move(problem), .fix = std::move(fix)}});
}

std::expected<const json::Value*, web::Failure> body_of(web::Call& call) {
  auto object = web::read_object(call);
  if (!object && object.error().status == 422) object.error().status = 400;
  return object;
}

std::expected<std::string, web::Failure> adapter_of(const Front& front, std::string_view model,
                                                    std::string_view peft_name) {
  return adapter_for(model, peft_name, {.base = {&front.model->name, 1}, .adapter = front.adapters.state});
}

std::expected<std::vector<TokenId>, web::Failure> encode_text(const Front& front, std::string_view text,
                                                              bool add_special_tokens, std::string_view param) {
  auto ids = front.encoders->with(
      [&](tokenizer::Encoder& encoder) { return encoder.encode(text, {.add_special_tokens = add_special_tokens}); });
  if (!ids) return std::unexpected(bad_parameter("parameter-value", param, ids.error().problem, ids.error().fix));
  return std::move(*ids);
}

std::expected<EncodedPrompt, web::Failure> encode(const Front& front, const Prompt& prompt, std::string_view param,
                                                  bool echo, bool add_special_tokens) {
  EncodedPrompt out;
  if (const auto* ids = std::get_if<std::vector<TokenId>>(&prompt)) {
    out.ids = std::make_shared<const std::vector<TokenId>>(*ids);
    if (echo) out.text = std::make_shared<const PromptText>(prompt_text(*front.model->tokenizer, *ids));
    return out;
  }
  const std::string& text = std::get<std::string>(prompt);
  if (!echo) {
    out.ids = std::make_shared<const std::vector<TokenId>>(TRY(encode_text(front, text, add_special_tokens, param)));
    return out;
  }
  const auto spans = front.encoders->with([&](tokenizer::Encoder& encoder) {
    return encoder.encode_with_spans(text, {.add_special_tokens = add_special_tokens});
  });
  if (!spans) return std::unexpected(bad_parameter("parameter-value", param, spans.error().problem, spans.error().fix));
  std::vector<TokenId> ids;
  for (const tokenizer::TokenSpan& each : *spans) ids.push_back(each.id);
  out.text = std::make_shared<const PromptText>(prompt_text(text, *spans));
  out.ids = std::make_shared<const std::vector<TokenId>>(std::move(ids));
  return out;
}

std::expected<std::string, web::Failure> render_chat(const Front& front, const TemplateInput& chat) {
  std::array<json::Document, 4> documents;
  const model::Conversation conversation{.messages = value_of(chat.messages, documents[0]),
                                         .tools = value_of(chat.tools, documents[1]),
                                         .documents = value_of(chat.documents, documents[2]),
                                         .kwargs = value_of(chat.arguments, documents[3]),
                                         .add_generation_prompt = chat.add_generation_prompt};
  auto rendered = front.model->templates.render(conversation);
  if (rendered) return std::move(rendered->text);
  return std::unexpected(web::Failure{.status = 400,
                                      .message = rendered.error().message,
                                      .findings = {{.rule = "chat-template",
                                                    .path = rendered.error().param,
                                                    .value = {},
                                                    .problem = rendered.error().message,
                                                    .fix = {}}}});
}

std::expected<Job, web::Failure> job_of(const Front& front, const Generation& generation, const std::string& schema) {
  Job out{.sampling = generation.sampling, .text = generation.text, .seed = generation.seed.value_or(random_seed())};
  out.text.end_ids = front.model->directory.end_ids;
  out.log_probs = generation.log_probs;
  out.cache_salt = generation.cache_salt;
  out.grammar = TRY(grammar_of(generation.format, schema));
  return out;
}

std::expected<void, web::Failure> add_choices(const Front& front, const Generation& generation,
                                              const EncodedPrompt& prompt, std::uint32_t otherwise,
                                              std::string_view prompt_key, std::string_view max_tokens_key, Job& job) {
  const auto context =
      static_cast<std::uint32_t>(std::min<std::size_t>(front.model->limits.context, front.options.cache_tokens));
  auto most = fit_context({.prompt_tokens = prompt.ids->size(),
                           .max_tokens = generation.max_tokens,
                           .otherwise = otherwise,
                           .context = context,
                           .prompt_key = prompt_key,
                           .max_tokens_key = max_tokens_key});
  if (!most) return std::unexpected(bad_request(std::move(most.error())));
  const auto beyond =
      std::ranges::find_if(*prompt.ids, [&](TokenId id) { return id >= front.model->limits.vocabulary; });
  if (beyond != prompt.ids->end())
    return std::unexpected(bad_parameter("parameter-value", prompt_key, "has a token that the model does not know",
                                         "give the model the tokenizer that it was trained with"));
  for (std::uint32_t choice = 0; choice < generation.best_of; ++choice)
    job.sequences.push_back({.prompt = prompt.ids, .choice = choice, .max_tokens = *most, .echo = prompt.text});
  return {};
}

}  // namespace stackgate::inference
