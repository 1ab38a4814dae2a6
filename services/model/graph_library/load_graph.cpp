#include "services/model/graph_library/load_graph.hpp"

#include <array>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include "services/model/graph_library/entry.hpp"

namespace stackgate::model {
namespace {

constexpr std::string_view library_name = "libstackgate-engine.so";

/// Empty where there is no /proc.
std::string folder_of_program() {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  const std::string whole(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return whole.substr(0, whole.find_last_of('/') + 1);
}

}  // namespace

std::string default_graph_library() {
  const std::string folder = folder_of_program();
  const std::string beside = fmt::format("{}{}", folder, library_name);
  if (!folder.empty() && ::access(beside.c_str(), R_OK) == 0) return beside;
  return fmt::format("{}lib/stackgate/{}", folder.empty() ? "/usr/" : folder + "../", library_name);
}

std::expected<GraphLibrary, std::string> load_graph_library(const std::string& path) {
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::unexpected(fmt::format("the engine cannot be loaded: {}", ::dlerror()));
  const auto* entry = static_cast<const GraphEntry*>(::dlsym(library, graph_entry_name));
  if (entry == nullptr) return std::unexpected(fmt::format("{} is not an engine of this program", path));
  if (entry->build != graph_build())
    return std::unexpected(
        fmt::format("{} is of another build ({}) than this program ({})", path, entry->build, graph_build()));
  return GraphLibrary{entry};
}

std::expected<std::unique_ptr<Graph>, std::string> GraphLibrary::open(const ModelDirectory& model, Weights weights,
                                                                      const GraphOptions& options) const {
  return entry->open(model, std::move(weights), options);
}

std::string GraphLibrary::blas() const { return entry->blas(); }

}  // namespace stackgate::model
