#include "services/model/loading/inside.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/files/file.hpp"

namespace stackgate::model {
namespace {

std::unexpected<validate::Finding> wrong(std::string_view name, std::string_view rule, std::string problem,
                                         std::string fix) {
  return std::unexpected(validate::Finding{
      .rule = rule, .path = std::string(name), .value = {}, .problem = std::move(problem), .fix = std::move(fix)});
}

std::unexpected<validate::Finding> unreadable(std::string_view name, int error) {
  return wrong(
      name, "model-unreadable",
      error == ENOENT ? "is no file" : fmt::format("cannot be read: {}", std::generic_category().message(error)),
      "make it a file that this user may read");
}

}  // namespace

std::expected<std::string, validate::Finding> place_inside(const std::string& directory, std::string_view name) {
  std::error_code error;
  const auto root = std::filesystem::canonical(directory, error);
  const auto place = error ? root : std::filesystem::canonical(root / name, error);
  if (error) return wrong(name, "model-missing", "is missing: " + error.message(), "take all files of the model");
  const std::string inside = root == root.root_path() ? root.string() : root.string() + "/";
  if (!place.string().starts_with(inside))
    return wrong(name, "model-link", "is a link that leads out of the directory",
                 "copy the files themselves: cp -rL DIR COPY");
  return place.string();
}

std::expected<std::string, validate::Finding> read_inside(const std::string& directory, std::string_view name,
                                                          std::uint64_t most) {
  const std::string path = TRY(place_inside(directory, name));
  auto content = files::read_file(path, most);
  if (content) return std::move(*content);
  if (content.error() != EFBIG) return unreadable(name, content.error());
  return wrong(name, "model-limit", fmt::format("has more than {} MiB", most >> 20U), "take the model's own file");
}

std::expected<files::MappedFile, validate::Finding> map_inside(const std::string& directory, std::string_view name) {
  const std::string path = TRY(place_inside(directory, name));
  auto file = files::MappedFile::open(path);
  if (!file) return unreadable(name, file.error());
  return std::move(*file);
}

}  // namespace stackgate::model
