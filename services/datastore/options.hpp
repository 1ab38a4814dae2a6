// The datastore's settings: the table that --help is written from, and what they come to.
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <string>

#include "services/kit/base/error.hpp"
#include "services/kit/objects/options.hpp"
#include "services/kit/settings/settings.hpp"

namespace stackgate::datastore {

struct Options {
  std::string data_dir;
  std::string database_url, database_password;
  bool embedded = false;  // SQLite in the data directory: nobody else migrates it
  std::string admin_name, admin_password;
  std::string jwt_key;
  objects::Options store;
  bool serve_direct = true;
  bool anonymous_read = true;
  std::uint64_t lfs_threshold = 1'000'000;                        // bytes
  std::uint64_t lfs_file = 0, lfs_repository = 0, lfs_total = 0;  // bytes; 0: no limit
  std::uint64_t push_bytes = 0;
  unsigned git_processes = 8;
  std::chrono::seconds upkeep{3600};  // 0: never
  std::string init_dir;
  bool repair = false, hash = true;
};

/// For service::run, the common settings included.
settings::Program program();

/// The error names every setting that is wrong beyond what the table says. Credentials that are missing stay empty.
std::expected<Options, Error> read_options(const settings::Values& values);

}  // namespace stackgate::datastore
