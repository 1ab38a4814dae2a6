#include "services/inference/upstream/plan/answers.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::inference::upstream {
namespace {

constexpr json::ParseLimits limits{.max_depth = 64, .max_bytes = 64U << 20U};
constexpr std::size_t longest_text = 4'096;
constexpr std::array<std::pair<Kind, std::string_view>, 4> words{
    {{Kind::openai, "openai"}, {Kind::vllm, "vllm"}, {Kind::sglang, "sglang"}, {Kind::llama_server, "llama-server"}}};

/// Longer texts and those with control characters are none.
std::string text_of(const json::Value& object, std::string_view member) {
  const std::string_view text = json::text_at(object, member);
  const bool sound = text.size() <= longest_text && std::ranges::none_of(text, [](char c) {
                       return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
                     });
  return sound ? std::string(text) : std::string();
}

std::expected<json::Value, std::string> parsed(std::string_view body, json::Document& document) {
  auto root = json::parse(body, document, limits);
  if (!root) return std::unexpected(fmt::format("its answer is no JSON: {}", root.error().message));
  return *root;
}

std::string stem(std::string_view path) {
  path.remove_prefix(path.find_last_of("/\\") + 1);  // npos + 1 is 0
  if (path.ends_with(".gguf")) path.remove_suffix(5);
  return std::string(path);
}

}  // namespace

std::string_view to_string(Kind kind) {
  return std::ranges::find(words, kind, &std::pair<Kind, std::string_view>::first)->second;
}

std::optional<Kind> parse_kind(std::string_view word) {
  const auto* const found = std::ranges::find(words, word, &std::pair<Kind, std::string_view>::second);
  return found == words.end() ? std::nullopt : std::optional(found->first);
}

std::expected<std::vector<ListedModel>, std::string> read_models(std::string_view body) {
  json::Document document;
  const auto root = parsed(body, document);
  if (!root) return std::unexpected(root.error());
  const json::Value* const data = root->find("data");
  if (data == nullptr || !data->is_array()) return std::unexpected("its answer has no list \"data\"");
  if (data->items().size() > most_models)
    return std::unexpected(fmt::format("it lists more than {} models", most_models));
  std::vector<ListedModel> out;
  std::set<std::string, std::less<>> ids;
  for (const json::Value& each : data->items()) {
    ListedModel model{.id = text_of(each, "id"),
                      .root = text_of(each, "root"),
                      .parent = text_of(each, "parent"),
                      .owned_by = text_of(each, "owned_by"),
                      .created = json::integer(&each, {"created"}),
                      .context = static_cast<std::uint32_t>(
                          std::clamp<std::int64_t>(json::integer(&each, {"max_model_len"}), 0, UINT32_MAX))};
    if (model.id.empty()) return std::unexpected(fmt::format("data[{}] has no id", out.size()));
    if (!ids.insert(model.id).second) return std::unexpected(fmt::format("it lists {} twice", model.id));
    out.push_back(std::move(model));
  }
  if (std::ranges::none_of(out, [](const ListedModel& each) { return each.parent.empty(); }))
    return std::unexpected("it lists no model without a parent");
  return out;
}

const ListedModel& base_of(const std::vector<ListedModel>& models) {
  return *std::ranges::find_if(models, [](const ListedModel& each) { return each.parent.empty(); });
}

std::expected<std::vector<NumberedAdapter>, std::string> read_numbered_adapters(std::string_view body) {
  json::Document document;
  const auto root = parsed(body, document);
  if (!root) return std::unexpected(root.error());
  if (!root->is_array()) return std::unexpected("its answer is no list");
  if (root->items().size() > most_models)
    return std::unexpected(fmt::format("it lists more than {} adapters", most_models));
  std::vector<NumberedAdapter> out;
  std::set<std::string, std::less<>> names;
  for (const json::Value& each : root->items()) {
    const json::Value* const id = each.find("id");
    std::string name = stem(text_of(each, "path"));
    if (id == nullptr || !id->is_integer() || id->integer() < 0 || name.empty())
      return std::unexpected("its list has an adapter without an id or a path");
    if (names.insert(name).second) out.push_back({id->integer(), std::move(name)});
  }
  return out;
}

std::optional<std::string> read_version(std::string_view body) {
  json::Document document;
  const auto root = parsed(body, document);
  if (!root || !root->is_object()) return std::nullopt;
  std::string version = text_of(*root, "version");
  return version.empty() ? std::nullopt : std::optional(std::move(version));
}

bool lacks_path(int status, std::string_view body) {
  if (status == 405 || status == 501) return true;
  return status == 404 && body.find("does not exist") == std::string_view::npos;
}

Kind kind_of(const std::vector<ListedModel>& models, std::string_view version, std::string_view lora_adapters) {
  const std::string& owner = base_of(models).owned_by;
  if (owner == "llamacpp" || read_numbered_adapters(lora_adapters)) return Kind::llama_server;
  if (owner == "sglang") return Kind::sglang;
  if (owner == "vllm" || read_version(version)) return Kind::vllm;
  return Kind::openai;
}

}  // namespace stackgate::inference::upstream
