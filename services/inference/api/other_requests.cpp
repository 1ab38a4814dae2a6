#include "services/inference/api/other_requests.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace stackgate::inference {
namespace {

/// `read` fills in a request from the members; what it finds wrong is the answer.
template <class Request, class Read>
ReadBody<Request> gathered(const json::Value& body, Read&& read) {
  validate::Findings findings;
  Fields fields(body, findings);
  Request out;
  if (findings.empty()) read(fields, out);
  if (!findings.empty()) return std::unexpected(std::move(findings));
  return out;
}

std::string adapter_name(Fields& fields) {
  constexpr std::size_t longest = 255;
  std::string name = fields.needed_text("lora_name");
  const auto odd = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; };
  if (name.size() > longest || std::ranges::any_of(name, odd))
    fields.wrong_type(fields.place("lora_name"), "a name of at most 255 bytes without blanks");
  return name;
}

}  // namespace

ReadBody<EmbeddingRequest> read_embedding(const json::Value& body, const ApiLimits& limits) {
  return gathered<EmbeddingRequest>(body, [&limits](Fields& fields, EmbeddingRequest& out) {
    out.inputs = read_prompts(fields, "input", limits);
    out.model = fields.needed_text("model");
    out.peft_name = fields.text("peft_name");
    const std::string format = fields.text("encoding_format");
    out.base64 = format == "base64";
    if (!format.empty() && format != "float" && !out.base64)
      fields.wrong_type(fields.place("encoding_format"), "\"float\" or \"base64\"");
    for (const std::string_view key : {"dimensions", "truncate_prompt_tokens"})
      if (fields.asks(key)) fields.not_served(fields.place(key), "is not served", "leave it out");
    const std::string truncate = fields.text("truncate");  // NIM's
    if (!truncate.empty() && truncate != "NONE")
      fields.not_served(fields.place("truncate"), "is not served", "send shorter inputs");
  });
}

ReadBody<TokenizeRequest> read_tokenize(const json::Value& body, const ApiLimits&) {
  return gathered<TokenizeRequest>(body, [](Fields& fields, TokenizeRequest& out) {
    out.model = fields.text("model");
    out.return_token_strs = fields.flag("return_token_strs");
    const bool chat = fields.has("messages");
    out.add_special_tokens = fields.flag("add_special_tokens", !chat);
    if (chat == fields.has("prompt"))
      return fields.wrong("prompt", chat ? "is given beside \"messages\"" : "is missing, and \"messages\" as well",
                          "write one of them");
    out.prompt = fields.text("prompt");
    if (chat) out.chat = read_template_input(fields);
  });
}

ReadBody<DetokenizeRequest> read_detokenize(const json::Value& body, const ApiLimits& limits) {
  return gathered<DetokenizeRequest>(body, [&limits](Fields& fields, DetokenizeRequest& out) {
    constexpr std::size_t most = 1U << 20U;
    out.model = fields.text("model");
    if (!fields.has("tokens")) return fields.missing("tokens", "write a list of token ids");
    out.tokens = fields.ids(fields.place("tokens"), limits.vocabulary, most);
  });
}

ReadBody<LoadAdapterRequest> read_load_adapter(const json::Value& body) {
  return gathered<LoadAdapterRequest>(body, [](Fields& fields, LoadAdapterRequest& out) {
    out.name = adapter_name(fields);
    out.path = fields.needed_text("lora_path");
    out.in_place = fields.flag("load_inplace");
  });
}

ReadBody<std::string> read_unload_adapter(const json::Value& body) {
  return gathered<std::string>(body, [](Fields& fields, std::string& out) { out = adapter_name(fields); });
}

}  // namespace stackgate::inference
