#include <algorithm>

#include <fmt/format.h>

#include "services/customizer/api/request.hpp"

namespace stackgate::customizer {
namespace dataset_files_detail {

bool is_lines(std::string_view path) { return path.ends_with(".jsonl") || path.ends_with(".ndjson"); }

/// What lies below the folder; empty is the repository's top.
std::vector<std::string> below(const std::vector<std::string>& paths, std::string_view folder) {
  const std::string head = folder.empty() ? std::string() : fmt::format("{}/", folder);
  std::vector<std::string> out;
  for (const std::string& each : paths)
    if (each.starts_with(head) && is_lines(each)) out.push_back(each);
  std::ranges::sort(out);
  return out;
}

}  // namespace dataset_files_detail

std::expected<void, std::string> choose_files(DatasetChoice& dataset, const std::vector<std::string>& paths) {
  using namespace dataset_files_detail;
  dataset.training_files.clear();
  dataset.validation_files.clear();
  if (std::ranges::find(paths, dataset.path) != paths.end()) {
    dataset.training_files = {dataset.path};
  } else {
    const std::string head = dataset.path.empty() ? std::string() : fmt::format("{}/", dataset.path);
    dataset.training_files = below(paths, head + "training");
    dataset.validation_files = below(paths, head + "validation");
    if (dataset.training_files.empty()) {
      for (const std::string& each : below(paths, dataset.path))
        if (!each.substr(head.size()).contains('/')) dataset.training_files.push_back(each);
    }
  }
  const std::string place =
      dataset.path.empty() ? dataset.repository : fmt::format("{}/{}", dataset.repository, dataset.path);
  if (dataset.training_files.empty())
    return std::unexpected(fmt::format("{} has no .jsonl file, neither in training/ nor beside it", place));
  for (const auto* files : {&dataset.training_files, &dataset.validation_files})
    for (const std::string& each : *files)
      if (each.contains(','))
        return std::unexpected(
            fmt::format("the name of {} has a comma, where lists of files are cut; rename it", each));
  return {};
}

}  // namespace stackgate::customizer
