#include "services/trainer/checkpoint/durable.hpp"

#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "services/kit/base/try.hpp"
#include "services/kit/files/file.hpp"

namespace stackgate::trainer {
namespace durable_detail {

Done outcome(std::string_view what, const std::string& path, int error) {
  if (error == 0) return {};
  return std::unexpected(fmt::format("{} cannot be {}: {}", path, what, std::strerror(error)));
}

Done move(const std::string& from, const std::string& to) {
  TRY(outcome("moved to its place", from, std::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno));
  const std::string above = std::filesystem::path(to).parent_path().string();
  return outcome("written", to, files::sync_directory(above.empty() ? "." : above));
}

}  // namespace durable_detail

Done write_file(const std::string& path, std::span<const std::string_view> pieces) {
  const files::File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) return durable_detail::outcome("written", path, errno);
  for (const std::string_view each : pieces)
    TRY(durable_detail::outcome("written", path, files::write_all(file.fd(), each)));
  return durable_detail::outcome("written", path, ::fsync(file.fd()) == 0 ? 0 : errno);
}

Done write_file(const std::string& path, std::string_view text) { return write_file(path, std::span(&text, 1)); }

Done move_directory(const std::string& from, const std::string& to) {
  TRY(durable_detail::outcome("written", from, files::sync_directory(from)));
  return durable_detail::move(from, to);
}

Done move_file(const std::string& from, const std::string& to) { return durable_detail::move(from, to); }

Done remove_all(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  return durable_detail::outcome("removed", path, error.value());
}

Done make_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  return durable_detail::outcome("made", path, error.value());
}

}  // namespace stackgate::trainer
