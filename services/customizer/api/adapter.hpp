// The adapter that a customization makes, as the entitystore knows it. Pure and thread-safe.
// Source: services/entitystore's POST /v1/adapters; tests/customizer/api reads what is written here with its reader.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "services/customizer/api/request.hpp"
#include "services/customizer/job/customization.hpp"
#include "services/customizer/job/progress.hpp"
#include "services/kit/grammar/problem.hpp"

namespace stackgate::customizer {

struct OutputModel {
  std::string name_space{}, name{}, version{};
  /// "<namespace>/<name>@<version>"
  std::string text() const { return name_space + "/" + name + "@" + version; }
};

/// "<namespace>/<name>[@<version>]", as the entitystore takes them. Nothing, or what is wrong.
std::optional<validate::grammar::Problem> check_output_model(std::string_view text);

/// A version that nobody asked for is made of the time: "1.20261126.45781", the day and its second. It is the same
/// whoever asks, and later ones are higher.
OutputModel output_model_of(const Customization& job, const CustomizationRequest& request);

/// The part `metadata` of the upload: what it was trained on and how, with the dataset's commit and the losses.
std::string adapter_metadata(const Customization& job, const CustomizationRequest& request, const Progress& progress);

}  // namespace stackgate::customizer
