// The datastore's settings: the table that --help is written from, and what they come to.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "services/kit/findings/finding.hpp"
#include "services/kit/objects/options.hpp"
#include "services/kit/settings/settings.hpp"

namespace stackgate::datastore {

struct Options {
  std::string data_dir;
  bool embedded = false;  // SQLite: nobody else migrates it
  std::string admin_name, admin_password;
  std::string jwt_key;
  objects::Options store;
  bool serve_direct = true;
  bool anonymous_read = true;
  std::uint64_t lfs_threshold = 1'000'000;                        // bytes
  std::uint64_t lfs_parts_from = 0;                               // bytes; see Backend
  std::uint64_t lfs_file = 0, lfs_repository = 0, lfs_total = 0;  // bytes; 0: no limit
  std::uint64_t push_bytes = 0;
  unsigned git_processes = 8;
  std::chrono::seconds upkeep{3600};  // 0: never
  std::string init_dir;
  bool repair = false, hash = true;
};

/// For service::run, the common settings included.
settings::Program program();

/// What no single setting has wrong with it: for service::Service::check.
validate::Findings check_options(const settings::Values& values);
/// Of settings that passed. Credentials that are missing stay empty.
Options read_options(const settings::Values& values);

}  // namespace stackgate::datastore
