#include <algorithm>
#include <array>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/model/directory/model_directory.hpp"

namespace stackgate::model {
namespace {

constexpr std::array<std::string_view, 4> pickle_endings{".bin", ".pt", ".pth", ".ckpt"};
constexpr std::size_t most_reported = 4;  // of a kind

bool is_pickle(std::string_view name) {
  return std::ranges::any_of(pickle_endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

}  // namespace

WeightFiles find_weights(const std::vector<std::string>& names) {
  WeightFiles out;
  const auto has = [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  const auto wrong = [&](std::string_view rule, std::string_view path, std::string problem, std::string fix) {
    out.findings.push_back(
        {.rule = rule, .path = std::string(path), .value = {}, .problem = std::move(problem), .fix = std::move(fix)});
  };
  if (has(single_weights)) {
    out.single = single_weights;
    return out;
  }
  if (has(index_name)) {
    out.has_index = true;
    return out;
  }
  std::vector<std::string_view> pickles, others, quantized;
  for (const std::string& name : names) {
    if (is_pickle(name)) pickles.push_back(name);
    if (name.ends_with(".safetensors")) others.push_back(name);
    if (name.ends_with(".gguf")) quantized.push_back(name);
  }
  for (auto* list : {&pickles, &others, &quantized}) std::ranges::sort(*list);
  for (const std::string_view name : pickles | std::views::take(most_reported))
    wrong("weights-pickle", name, "is a pickle, which runs code when it is read: it is never opened",
          "save the model as safetensors: AutoModelForCausalLM.from_pretrained(DIR).save_pretrained(DIR)");
  for (const std::string_view name : quantized | std::views::take(most_reported))
    wrong("weights-gguf", name, "is GGUF, which is not read",
          "take the model as safetensors, or serve it with llama-server and use upstream mode");
  if (!out.findings.empty()) return out;
  if (others.empty())
    wrong("weights-missing", single_weights, "is missing", "take all files of the model");
  else
    wrong("weights-missing", index_name,
          fmt::format("is missing, and so is {}: which of {} belong to the model is not known", single_weights,
                      fmt::join(others | std::views::take(most_reported), ", ")),
          "take the index of the model, or name its only file model.safetensors");
  return out;
}

}  // namespace stackgate::model
