// An archive taken apart: every file hashed, the large ones unpacked beside it, the configuration and weights looked
// at.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "services/entitystore/adapters/metadata.hpp"
#include "services/entitystore/archive/layout.hpp"
#include "services/entitystore/peft/compatibility.hpp"
#include "services/entitystore/peft/weights.hpp"
#include "services/entitystore/registration/spool.hpp"

namespace stackgate::entitystore {

struct InspectLimits {
  archive::TarLimits tar{};
  /// Files beyond it go by LFS; weights always do. The specification's 1 MB.
  std::uint64_t large_bytes = 1'000'000;
  /// Small files are held in memory until the commit; beyond this sum they go by LFS too.
  std::uint64_t held_bytes = std::uint64_t{8} << 20U;
};

struct Inspected {
  struct File {
    StoredFile stored;
    std::string content;   // of a small one
    std::string unpacked;  // where a large one lies
  };
  std::vector<File> files;  // with their paths in the repository
  archive::Layout layout;
  std::optional<std::string> config;  // adapter_config.json, if it was small enough to be one
  std::optional<peft::Weights> weights;
  validate::Findings findings;        // of archive and layout
  std::optional<std::string> failed;  // the disk, the connection
};

Inspected inspect(archive::Source source, const Spool& spool, std::string_view id, const InspectLimits& limits);

/// Everything that is wrong with an upload, and the record filled in from its files. `shape`: of the base model, when
/// it is known.
validate::Findings judge(const Inspected& inspected, Metadata& metadata, const std::optional<peft::ModelShape>& shape,
                         const peft::ServingLimits& serving);

}  // namespace stackgate::entitystore
