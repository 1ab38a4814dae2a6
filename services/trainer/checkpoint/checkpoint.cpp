#include "services/trainer/checkpoint/checkpoint.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/files/file.hpp"
#include "services/kit/peft/layout.hpp"
#include "services/trainer/checkpoint/tensors.hpp"

namespace stackgate::trainer {
namespace checkpoint_detail {

constexpr std::string_view prefix = "checkpoint-", state_name = "state.json", moments_name = "optimizer.safetensors";
constexpr std::size_t kept = 2;

/// Steps of the checkpoints in `directory`, ascending.
std::vector<std::uint64_t> steps_in(const std::string& directory) {
  std::vector<std::uint64_t> out;
  std::error_code error;
  for (const auto& each : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = each.path().filename().string();
    std::uint64_t step = 0;
    if (!name.starts_with(prefix)) continue;
    const char *begin = name.data() + prefix.size(), *end = name.data() + name.size();
    if (const auto read = std::from_chars(begin, end, step); read.ptr == end && begin != end) out.push_back(step);
  }
  std::ranges::sort(out);
  return out;
}

std::string path_of(const std::string& directory, std::uint64_t step) {
  return fmt::format("{}/{}{}", directory, prefix, step);
}

std::string in(const std::string& directory, std::string_view name) { return fmt::format("{}/{}", directory, name); }

Done save_moments(const std::string& path, std::span<const Parameter> parameters, const Moments& moments) {
  std::vector<NamedTensor> tensors;
  for (const Parameter& each : parameters) {
    tensors.push_back({"exp_avg." + each.name, each.shape, each.of(std::span(moments.first))});
    tensors.push_back({"exp_avg_sq." + each.name, each.shape, each.of(std::span(moments.second))});
  }
  return write_tensors(path, tensors);
}

}  // namespace checkpoint_detail

std::expected<std::string, std::string> save_checkpoint(const std::string& directory, const TrainingState& state,
                                                        std::span<const Parameter> parameters,
                                                        std::span<const float> values, const Moments& moments,
                                                        std::string_view adapter_config, const FailPoint& fail_point) {
  using namespace checkpoint_detail;
  std::string place = path_of(directory, state.step);
  const std::string beside = place + ".part";
  TRY(remove_all(beside));
  TRY(make_directory(beside));
  std::vector<NamedTensor> tensors;
  for (const Parameter& each : parameters) tensors.push_back({each.name, each.shape, each.of(values)});
  TRY(write_tensors(in(beside, peft::weights_name), tensors));
  TRY(write_file(in(beside, peft::config_name), adapter_config));
  TRY(save_moments(in(beside, moments_name), parameters, moments));
  TRY(write_file(in(beside, state_name), write_state(state)));
  fail_point("checkpoint-written");
  TRY(remove_all(place));  // of a run that was begun anew
  TRY(move_directory(beside, place));
  fail_point("checkpoint-moved");
  const auto steps = steps_in(directory);
  for (std::size_t i = 0; i + kept < steps.size(); ++i) TRY(remove_all(path_of(directory, steps[i])));
  return place;
}

std::optional<std::string> newest_checkpoint(const std::string& directory) {
  const auto steps = checkpoint_detail::steps_in(directory);
  return steps.empty() ? std::nullopt : std::optional(checkpoint_detail::path_of(directory, steps.back()));
}

std::expected<TrainingState, std::string> load_checkpoint(const std::string& checkpoint, std::uint64_t fingerprint,
                                                          std::span<const Parameter> parameters,
                                                          std::span<float> values, Moments& moments) {
  using namespace checkpoint_detail;
  const std::string file = in(checkpoint, state_name);
  const auto text = files::read_file(file, 1U << 16U);
  if (!text) return std::unexpected(fmt::format("{} cannot be read", file));
  const auto state = read_state(*text);
  if (!state) return std::unexpected(fmt::format("{} {}", file, state.error()));
  if (state->fingerprint != fingerprint)
    return std::unexpected(fmt::format(
        "{} is of another run: configuration, data or model differ; give those of that run, or leave out --resume",
        checkpoint));
  std::vector<TensorSpace> spaces, of_moments;
  for (const Parameter& each : parameters) {
    spaces.push_back({each.name, each.of(values)});
    of_moments.push_back({"exp_avg." + each.name, each.of(std::span(moments.first))});
    of_moments.push_back({"exp_avg_sq." + each.name, each.of(std::span(moments.second))});
  }
  TRY(read_tensors(in(checkpoint, peft::weights_name), spaces));
  TRY(read_tensors(in(checkpoint, moments_name), of_moments));
  return *state;
}

}  // namespace stackgate::trainer
