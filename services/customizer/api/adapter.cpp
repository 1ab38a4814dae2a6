#include "services/customizer/api/adapter.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/semantic_version.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::customizer {
namespace adapter_detail {

using validate::grammar::Problem;

constexpr std::size_t longest_namespace = 32, longest_name = 64, longest_metadata_text = 4000;

struct Parts {
  std::string_view name_space, name, version;
};
Parts parts_of(std::string_view text) {
  const std::string_view model = text.substr(0, text.find('@'));
  const std::size_t slash = model.find('/');
  return {.name_space = slash == std::string_view::npos ? std::string_view{} : model.substr(0, slash),
          .name = slash == std::string_view::npos ? model : model.substr(slash + 1),
          .version = model.size() == text.size() ? std::string_view{} : text.substr(model.size() + 1)};
}

/// Names become those of Git repositories.
bool is_name(std::string_view name, std::size_t longest) {
  const auto fits = [](char c) { return ascii::is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; };
  if (name.empty() || name.size() > longest || !std::ranges::all_of(name, fits) || name.contains("..")) return false;
  if (!ascii::is_alphanumeric(name.front()) || !ascii::is_alphanumeric(name.back())) return false;
  const std::string lower = ascii::to_lower(name);
  return std::ranges::none_of(std::initializer_list<std::string_view>{".git", ".lock", ".wiki"},
                              [&](std::string_view end) { return lower.ends_with(end); });
}

std::string version_of(Seconds created_at) {
  const std::chrono::sys_seconds time{std::chrono::seconds(created_at)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  return fmt::format("1.{}{:02}{:02}.{}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()), (time - day).count());
}

void write_training(json::Writer& w, const Customization& job, const CustomizationRequest& request) {
  w.object("training", [&] {
    w.member("dataset", fmt::format("{}@{}", request.dataset.repository, request.dataset.revision));
    w.member("job_id", job.id);
    w.object("hyperparameters", [&] {
      model::write_hyperparameters(w, request.hyperparameters);
      if (request.hyperparameters.num_epochs) w.member("epochs", *request.hyperparameters.num_epochs);
    });
    w.member("dataset_commit", request.dataset.revision);
    w.array("training_files", [&] {
      for (const std::string& each : request.dataset.training_files) w.value(each);
    });
    w.array("validation_files", [&] {
      for (const std::string& each : request.dataset.validation_files) w.value(each);
    });
    w.member("customization", job.name);
    w.member("model", request.target.name);
    w.member("config", request.config.name);
  });
}

}  // namespace adapter_detail

std::optional<validate::grammar::Problem> check_output_model(std::string_view text) {
  using namespace adapter_detail;
  const Parts parts = parts_of(text);
  if (!is_name(parts.name_space, longest_namespace) || parts.name_space.contains("--") ||
      !is_name(parts.name, longest_name))
    return Problem{
        "is not <namespace>/<name>[@<version>] as the entitystore takes it",
        "use letters, digits, '-', '_' and '.': at most 32 characters for the namespace, without \"--\", and 64 "
        "for the name"};
  if (text.contains('@') && !parse_semantic_version(parts.version))
    return Problem{"has a version that is no semantic version", "write for example @1.0.0, or leave the version out"};
  return std::nullopt;
}

OutputModel output_model_of(const Customization& job, const CustomizationRequest& request) {
  const auto parts = adapter_detail::parts_of(request.output_model);
  return {.name_space = std::string(parts.name_space),
          .name = std::string(parts.name),
          .version = parts.version.empty() ? adapter_detail::version_of(job.created_at) : std::string(parts.version)};
}

std::string adapter_metadata(const Customization& job, const CustomizationRequest& request, const Progress& progress) {
  using namespace adapter_detail;
  const OutputModel made = output_model_of(job, request);
  const model::Hyperparameters& p = request.hyperparameters;
  return json::object_text([&](json::Writer& w) {
    w.member("name", made.name);
    w.member("namespace", made.name_space);
    w.member("base_model", request.target.base_model);
    w.member("version", made.version);
    if (!request.description.empty()) w.member("description", request.description.substr(0, longest_metadata_text));
    w.object("lora_config", [&] {
      w.member("rank", p.lora_rank);
      w.member("alpha", p.lora_alpha);
      w.member("dropout", p.lora_dropout);
      w.array("target_modules", [&] {
        for (const model::Module each : p.target_modules) w.value(short_name(each));
      });
    });
    write_training(w, job, request);
    w.object("metrics", [&] {
      if (progress.train_loss) w.member("train_loss", *progress.train_loss);
      if (progress.val_loss) w.member("val_loss", *progress.val_loss);
    });
    w.array("tags", [&] {
      for (const std::string& each : request.tags) w.value(each);
    });
  });
}

}  // namespace stackgate::customizer
