#include "services/customizer/objects/names.hpp"

#include <array>

#include <fmt/format.h>

#include "services/kit/base/fnv.hpp"

namespace stackgate::customizer {

std::string_view short_name(Stage stage) {
  static constexpr std::array<std::string_view, 3> names = {"download", "training", "upload"};
  return names.at(static_cast<std::size_t>(stage));
}

std::string object_name(std::string_view id) { return std::string(id); }

std::string job_name(std::string_view id, Stage stage, std::uint32_t attempt) {
  return fmt::format("{}-{}-{}", id, short_name(stage), attempt);
}

std::string model_job_name(const Target& target, std::string_view claim) {
  return fmt::format("model-{:016x}", fnv1a(fmt::format("{}\n{}\n{}", target.uri.text, claim, target.path)));
}

}  // namespace stackgate::customizer
