#include "services/kit/shared_object/shared_object.hpp"

#include <array>

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

namespace stackgate::shared_object {
namespace {

/// With its last slash; empty where there is no /proc.
std::string folder_of_program() {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  const std::string whole(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return whole.substr(0, whole.find_last_of('/') + 1);
}

}  // namespace

std::string default_path(std::string_view name) {
  const std::string folder = folder_of_program();
  std::string beside = fmt::format("{}{}", folder, name);
  if (!folder.empty() && ::access(beside.c_str(), R_OK) == 0) return beside;
  return fmt::format("{}lib/stackgate/{}", folder.empty() ? "/usr/" : folder + "../", name);
}

std::expected<const void*, std::string> open_entry(const std::string& path, const char* symbol) {
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return std::unexpected(fmt::format("a part of this program cannot be loaded: {}", ::dlerror()));
  const void* entry = ::dlsym(library, symbol);
  if (entry == nullptr) return std::unexpected(fmt::format("{} is no part of this program", path));
  const std::string_view theirs = *static_cast<const std::string_view*>(entry);
  if (theirs != build())
    return std::unexpected(fmt::format("{} is of another build ({}) than this program ({})", path, theirs, build()));
  return entry;
}

}  // namespace stackgate::shared_object
