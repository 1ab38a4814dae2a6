#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/files/file.hpp"
#include "services/puller/program/options.hpp"

namespace stackgate::puller {
namespace authorities_detail {

constexpr std::uint64_t largest = 4U << 20U;
constexpr std::string_view certificate = "-----BEGIN CERTIFICATE-----";

std::unexpected<Failure> wrong(std::string_view flag, std::string why) {
  return std::unexpected(
      Failure{Cause::settings, fmt::format("{}: {}", flag, why), "give PEM certificates of authorities"});
}

Result<std::string> pem_in(std::string_view flag, const std::string& path) {
  auto text = files::read_file(path, largest);
  if (!text) return wrong(flag, failure_of_system("read " + path, text.error()).message);
  if (!text->contains(certificate)) return wrong(flag, path + " holds no certificate");
  return *text + "\n";
}

/// In the order of their names; "..data" is Kubernetes' own.
Result<std::string> pem_in_folder(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.is_regular_file(error) && !entry.path().filename().string().starts_with('.'))
      paths.push_back(entry.path().string());
  if (error) return wrong("--ca-dir", failure_of_system("read " + folder, error.value()).message);
  if (paths.empty()) return wrong("--ca-dir", folder + " is empty");
  std::ranges::sort(paths);
  std::string out;
  for (const std::string& path : paths) out += TRY(pem_in("--ca-dir", path));
  return out;
}

std::string of_system() {
  const char* named = std::getenv("SSL_CERT_FILE");
  const std::string path = named != nullptr && *named != '\0' ? named : "/etc/ssl/certs/ca-certificates.crt";
  const auto text = files::read_file(path, largest);
  return text ? *text + "\n" : std::string();
}

}  // namespace authorities_detail

Result<std::string> authorities(const settings::Values& values) {
  using namespace authorities_detail;
  const std::string &file = values.text("ca-file"), &folder = values.text("ca-dir");
  if (file.empty() && folder.empty()) return std::string();
  std::string out = of_system();
  if (!file.empty()) out += TRY(pem_in("--ca-file", file));
  if (!folder.empty()) out += TRY(pem_in_folder(folder));
  return out;
}

}  // namespace stackgate::puller
