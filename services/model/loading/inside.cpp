#include "services/model/loading/inside.hpp"

#include <filesystem>

namespace stackgate::model {

std::expected<std::string, validate::Finding> place_inside(const std::string& directory, std::string_view name) {
  const auto wrong = [&](std::string_view rule, std::string problem, std::string fix) {
    return std::unexpected(validate::Finding{
        .rule = rule, .path = std::string(name), .value = {}, .problem = std::move(problem), .fix = std::move(fix)});
  };
  std::error_code error;
  const auto root = std::filesystem::canonical(directory, error);
  if (error) return wrong("model-missing", "is missing: " + error.message(), "take all files of the model");
  const auto place = std::filesystem::canonical(root / name, error);
  if (error) return wrong("model-missing", "is missing: " + error.message(), "take all files of the model");
  const std::string inside = root == root.root_path() ? root.string() : root.string() + "/";
  if (!place.string().starts_with(inside))
    return wrong("model-link", "is a link that leads out of the directory",
                 "copy the files themselves: cp -rL DIR COPY");
  return place.string();
}

}  // namespace stackgate::model
