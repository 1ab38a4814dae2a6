// The record of a whole model, which stands in its directory: what was pulled from where. A directory without one is
// not complete. Pure and thread-safe.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/puller/plan/files.hpp"
#include "services/puller/plan/selection.hpp"

namespace stackgate::puller {

struct ManifestFile {
  std::string path;
  std::uint64_t size = 0;
  std::string sha256;
};

struct Manifest {
  std::string source;    // URL of the repository or directory, without secrets
  std::string revision;  // commit, or "sha256:…" of the checksum list
  Patterns patterns{};
  std::vector<ManifestFile> files{};
};

std::string write_manifest(const Manifest& manifest);
/// Nothing for what is none: it comes from a volume that others may write. Its paths have passed fault_of_path().
std::optional<Manifest> read_manifest(std::string_view text);

/// Whether `have` is the record of what is asked for.
bool is_of(const Manifest& have, std::string_view source, std::string_view revision, const Patterns& patterns);

}  // namespace stackgate::puller
