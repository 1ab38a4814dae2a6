#include "services/inference/front/base_model.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "services/kit/base/utf8.hpp"
#include "services/model/loading/inside.hpp"
#include "services/model/loading/load.hpp"

namespace stackgate::inference {
namespace {

std::string last_part(std::string_view directory) {
  while (directory.size() > 1 && directory.ends_with('/')) directory.remove_suffix(1);
  return std::string(directory.substr(directory.rfind('/') + 1));
}

SamplingParameters defaults_of(const model::Generation& generation) {
  SamplingParameters out;
  const auto set = [](const std::optional<double>& from, float& to) {
    if (from) to = static_cast<float>(*from);
  };
  set(generation.temperature, out.temperature);
  set(generation.top_p, out.top_p);
  set(generation.min_p, out.min_p);
  set(generation.repetition_penalty, out.repetition_penalty);
  out.top_k = generation.top_k.value_or(0);
  return out;
}

/// Under the names that models' publishers use; what cannot be read is none.
void read_license(const std::string& directory, BaseModel& out) {
  constexpr std::uint64_t largest = 1U << 20U;
  for (const char* name : {"LICENSE", "LICENSE.txt", "LICENSE.md", "license", "license.txt", "USE_POLICY.md"}) {
    auto text = model::read_inside(directory, name, largest);
    if (!text || !utf8::is_valid(*text)) continue;
    out.license_file = name;
    out.license = std::move(*text);
    return;
  }
}

std::chrono::local_seconds local_now() {
  return std::chrono::local_seconds(
      std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()).time_since_epoch());
}

}  // namespace

std::expected<std::shared_ptr<const BaseModel>, validate::Findings> load_base_model(const BaseModelOptions& options) {
  model::DirectoryRead read = model::load_directory(options.directory);
  if (validate::has_errors(read.findings)) return std::unexpected(std::move(read.findings));
  auto out = std::make_shared<BaseModel>();
  out->warnings = std::move(read.findings);
  out->directory = std::move(read.model);
  if (!options.chat_template.empty()) out->directory.templates = {{"default", options.chat_template}};
  model::ChatTemplatesRead templates =
      model::ChatTemplates::compile(out->directory.templates, out->directory.special_tokens, {.clock = local_now});
  out->warnings.insert(out->warnings.end(), templates.findings.begin(), templates.findings.end());
  if (validate::has_errors(out->warnings)) return std::unexpected(std::move(out->warnings));
  out->templates = std::move(templates.templates);
  out->root = last_part(options.directory);
  out->name = options.name.empty() ? out->root : options.name;
  out->created =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  out->tokenizer_config =
      model::read_inside(options.directory, "tokenizer_config.json", model::largest_tokenizer_config).value_or("{}");
  read_license(options.directory, *out);
  out->limits = {
      .context = options.context == 0 ? out->directory.context : std::min(options.context, out->directory.context),
      .vocabulary = out->directory.config.vocabulary,
      .defaults = defaults_of(out->directory.generation)};
  out->tokenizer = std::make_shared<const tokenizer::Tokenizer>(std::move(out->directory.tokenizer));
  return out;
}

std::unique_ptr<tokenizer::Encoder> Encoders::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto out = std::move(idle_.back());
      idle_.pop_back();
      return out;
    }
  }
  return std::make_unique<tokenizer::Encoder>(tokenizer_);
}

}  // namespace stackgate::inference
