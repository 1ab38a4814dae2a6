// An archive taken apart: every file hashed, the large ones unpacked beside it, the configuration and weights looked
// at.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "services/entitystore/adapters/metadata.hpp"
#include "services/entitystore/registration/spool.hpp"
#include "services/kit/peft/compatibility.hpp"
#include "services/kit/peft/layout.hpp"
#include "services/kit/peft/weights.hpp"

namespace stackgate::entitystore {

/// How the archive itself is called where its files are stored.
inline constexpr std::string_view archive_name = "adapter.tar.gz";
/// What is known of the version, beside its files: so that a repository explains itself, and that two versions with the
/// same files are still two commits.
inline constexpr std::string_view record_name = "adapter_record.json";
inline constexpr std::array reserved_names = {archive_name, record_name};

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
  peft::Layout layout;
  std::optional<std::string> config;  // adapter_config.json, if it was small enough to be one
  std::optional<peft::Weights> weights;
  validate::Findings findings;         // of archive and layout
  std::optional<ServiceError> failed;  // the disk, the connection
};

Inspected inspect(archive::Source source, const Spool& spool, std::string_view id, const InspectLimits& limits);

void append_findings(validate::Findings& to, const validate::Findings& from);

/// Everything that is wrong with an upload, and the record filled in from its files. `shape`: of the base model, when
/// it is known.
validate::Findings judge(const Inspected& inspected, Metadata& metadata, const std::optional<peft::ModelShape>& shape,
                         const peft::ServingLimits& serving);

}  // namespace stackgate::entitystore
