// What the handlers of the routes have in common.
#pragma once
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/inference/api/chat_request.hpp"
#include "services/inference/api/prompt.hpp"
#include "services/inference/engine/job.hpp"
#include "services/inference/front/front.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::inference {

using FrontPtr = std::shared_ptr<const Front>;

// One handler for each route. They wait for nothing: the answer comes from the engine's thread.
web::Answer complete(const FrontPtr& front, web::Call& call);
web::Answer chat(const FrontPtr& front, web::Call& call);
web::Answer embed(const FrontPtr& front, web::Call& call);
web::Answer tokenize(const FrontPtr& front, web::Call& call);
web::Answer detokenize(const FrontPtr& front, web::Call& call);
web::Answer tokenizer_info(const FrontPtr& front, web::Call& call);
web::Answer list_models(const FrontPtr& front, web::Call& call);
web::Answer show_model(const FrontPtr& front, web::Call& call);

/// 400 for what is no JSON object.
std::expected<const json::Value*, web::Failure> body_of(web::Call& call);

/// "" for the base; 404, 400 or 503 for what cannot answer.
std::expected<std::string, web::Failure> adapter_of(const Front& front, std::string_view model,
                                                    std::string_view peft_name);

struct EncodedPrompt {
  std::shared_ptr<const std::vector<TokenId>> ids;
  std::shared_ptr<const PromptText> text;  // when it is to be echoed
};

/// `param`: the member that a fault is told of.
std::expected<EncodedPrompt, web::Failure> encode(const Front& front, const Prompt& prompt, std::string_view param,
                                                  bool echo, bool add_special_tokens);
std::expected<std::vector<TokenId>, web::Failure> encode_text(const Front& front, std::string_view text,
                                                              bool add_special_tokens, std::string_view param);

/// The prompt that a conversation makes.
std::expected<std::string, web::Failure> render_chat(const Front& front, const TemplateInput& chat);

/// Sampling, stops, seed and grammar of a request; no sequences yet. `schema`: of a forced tool call, or "".
std::expected<Job, web::Failure> job_of(const Front& front, const Generation& generation, const std::string& schema);

/// Adds the choices of one prompt. `otherwise`: tokens of an answer whose request does not say; 0: what is left.
std::expected<void, web::Failure> add_choices(const Front& front, const Generation& generation,
                                              const EncodedPrompt& prompt, std::uint32_t otherwise,
                                              std::string_view prompt_key, std::string_view max_tokens_key, Job& job);

/// The grammar of a schema, given as JSON; what cannot be held to is a fault below `path`.
std::expected<std::shared_ptr<const Grammar>, web::Failure> compiled(const std::string& schema, std::string_view path);

web::Failure bad_parameter(std::string_view rule, std::string_view param, std::string problem, std::string fix);

}  // namespace stackgate::inference
