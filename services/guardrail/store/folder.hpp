// The files of a folder of configurations, as they lie on disk: a claim, a folder of somebody's, or a mounted
// ConfigMap, whose files are links through `..data` and are swapped all at once.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "services/guardrail/configuration/configuration.hpp"
#include "services/kit/findings/finding.hpp"

namespace stackgate::guardrail {

struct FolderLimits {
  std::uint64_t file_bytes = 1U << 20U, total_bytes = 64U << 20U;
  std::size_t files = 5'000, entries = 20'000;  // entries: of all folders, what is no configuration's too
  unsigned depth = 8;
};

struct FoundFile {
  std::string name;  // below the folder: "strict/kb/prices.md"
  std::string real;  // the path without links
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified = 0, changed = 0;  // nanoseconds
};

struct Listing {
  std::vector<FoundFile> files{};  // by name
  validate::Findings findings{};   // what was left out, and why; `path`: its name
  std::uint64_t fingerprint = 0;   // differs when a file was added, removed or written
  bool away = false;               // the folder itself cannot be read
};

/// Only names that may belong to a configuration: *.yml, *.yaml, *.co, *.py, *.md, .railsignore; names that begin with
/// a dot are passed over. Links are followed within the folder; those that lead out of it are findings.
Listing list_folder(const std::string& folder, const FolderLimits& limits = {});

struct FolderContent {
  std::vector<File> files{};      // `shown` is the name
  validate::Findings findings{};  // with Listing's; a file that cannot be read is there without its text
  std::uint64_t fingerprint = 0;
  bool away = false;
};

/// All of them, of one state: read again when a ConfigMap was swapped meanwhile.
FolderContent read_folder(const std::string& folder, const FolderLimits& limits = {});

/// By configuration: files at the top whose names have "__" are flat keys, as ConfigMaps have them; subdirectories are
/// configurations of their own; config.yml at the top without either is the one configuration `default`.
std::map<std::string, std::vector<File>> configurations_of(const std::vector<File>& files);

}  // namespace stackgate::guardrail
