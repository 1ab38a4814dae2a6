// What an engine behind us answers about itself and its adapters. The answers come from outside: limits on size, depth
// and count are kept, and what is returned has unique names. Pure and thread-safe.
// Source: vLLM, docs/features/lora, "Dynamically serving LoRA adapters"; SGLang, docs/advanced_features/lora;
// llama.cpp, tools/server/README.
#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::inference::upstream {

enum class Kind : std::uint8_t {
  openai,        // models, and no calls about adapters
  vllm,          // adapters are loaded and unloaded at run time, by directories that it reads itself
  sglang,        // as vllm, with calls, names and refusals of its own
  llama_server,  // adapters are given at its start, and chosen by number
};
/// Whether it is told of adapters while it runs.
constexpr bool takes_adapters(Kind kind) { return kind == Kind::vllm || kind == Kind::sglang; }
std::string_view to_string(Kind kind);
/// "vllm", "sglang", "llama-server", "openai".
std::optional<Kind> parse_kind(std::string_view word);

inline constexpr std::size_t most_models = 100'000;

struct ListedModel {
  std::string id;
  std::string root{};    // of an adapter: the directory that it was loaded from; empty: not said
  std::string parent{};  // empty: no adapter
  std::string owned_by{};
  std::int64_t created = 0;   // seconds since 1970
  std::uint32_t context = 0;  // tokens; 0: not said
};

/// GET /v1/models. At least one model without a parent; the first one is the base. The error is a sentence.
std::expected<std::vector<ListedModel>, std::string> read_models(std::string_view body);
/// The first without a parent.
const ListedModel& base_of(const std::vector<ListedModel>& models);

struct NumberedAdapter {
  std::int64_t id = 0;
  std::string name;  // its file's without ".gguf"
};
/// llama-server's GET /lora-adapters. Of equal names the first one counts. The error is a sentence.
std::expected<std::vector<NumberedAdapter>, std::string> read_numbered_adapters(std::string_view body);

/// vLLM's GET /version; nothing when the answer is none.
std::optional<std::string> read_version(std::string_view body);

/// Whether a refusal says that the engine does not know the path, and not that it lacks a model.
bool lacks_path(int status, std::string_view body);

/// What an engine is, by its list of models and by what it answers to the two calls that others do not have (the body
/// of a 200; empty: another status).
Kind kind_of(const std::vector<ListedModel>& models, std::string_view version, std::string_view lora_adapters);

}  // namespace stackgate::inference::upstream
