#include "services/customizer/runs/local/checks.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "services/kit/files/file.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::customizer {
namespace checks_detail {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_config = 64U << 20U;

bool has_file(const std::string& model, std::string_view name) {
  std::error_code ignored;
  return fs::exists(fmt::format("{}/{}", model, name), ignored);
}

/// In a file of its own, or within the tokenizer's.
bool has_chat_template(const std::string& model) {
  if (has_file(model, "chat_template.jinja") || has_file(model, "chat_template.json")) return true;
  const auto text = files::read_file(model + "/tokenizer_config.json", largest_config);
  json::Document document;
  if (!text) return false;
  const auto root = json::parse(*text, document);
  const json::Value* found = root ? root->find("chat_template") : nullptr;
  return found != nullptr && !found->is_null();
}

}  // namespace checks_detail

using namespace checks_detail;

validate::Findings judge_request(const CustomizationRequest& request, const std::string& models) {
  validate::Findings out;
  const Target& target = request.target;
  const std::string model = fmt::format("{}/{}", models, target.path);
  const bool is_here = has_file(model, "config.json");
  if (target.uri.kind == ModelUri::Kind::none && !is_here)
    out.push_back({.rule = "customization-model",
                   .path = "model",
                   .problem = fmt::format("has no model_uri, and {}/config.json is not there", model),
                   .fix = "put the model there, or give the target a model_uri"});
  if (target.uri.kind == ModelUri::Kind::foreign)
    out.push_back({.rule = "customization-model",
                   .path = "model",
                   .problem = fmt::format("lies at {}, which the puller does not read", target.uri.text),
                   .fix = "write hf://, datastore:// or https://"});
  if (request.dataset.is_chat && is_here && !has_chat_template(model))
    out.push_back({.rule = "customization-template",
                   .path = "dataset",
                   .problem = fmt::format("has conversations, and the model {} has no chat template to write them with",
                                          target.name),
                   .fix = R"(write {"prompt": …, "completion": …} in each line, or choose a model with a template)"});
  if (request.config.option.processes() > 1)
    out.push_back(
        {.rule = "customization-processes",
         .severity = validate::Severity::warning,
         .path = "config",
         .problem = fmt::format("asks for {} processes; on this machine it is one", request.config.option.processes()),
         .fix = "nothing: the result is the same"});
  return out;
}

}  // namespace stackgate::customizer
