// What an archive's files are for: the adapter's configuration and weights at its root or in its one folder. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "services/entitystore/archive/tar_gz.hpp"

namespace stackgate::entitystore::archive {

inline constexpr std::string_view config_name = "adapter_config.json";
inline constexpr std::string_view weights_name = "adapter_model.safetensors";
inline constexpr std::string_view pickle_name = "adapter_model.bin";  // stored, flagged, never read
/// How the archive itself is called where its files are stored.
inline constexpr std::string_view archive_name = "adapter.tar.gz";
/// What is known of the version, beside its files: so that a repository explains itself, and that two versions with the
/// same files are still two commits.
inline constexpr std::string_view record_name = "adapter_record.json";

struct Layout {
  std::string folder;  // "my-adapter/", taken off every name; or empty
  bool has_config = false, has_weights = false, has_pickle = false;
  validate::Findings findings;
};

Layout read_layout(const std::vector<Entry>& files);

/// Whether the entry may be the file of that name: at the root or one folder below.
bool may_be(std::string_view entry, std::string_view name);

}  // namespace stackgate::entitystore::archive
