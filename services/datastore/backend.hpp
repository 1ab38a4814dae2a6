// What the handlers of every API work on. Made by main(), shared by all threads, outlives every request.
#pragma once
#include <memory>
#include <string>

#include "services/kit/objects/store.hpp"
#include "services/kit/run/readiness.hpp"
#include "services/kit/sql/database.hpp"

namespace stackgate::datastore {

class Accounts;      // accounts/accounts.hpp: who is who; tokens, passwords, failed sign-ins
class Repositories;  // repositories/repositories.hpp: records and folders
namespace lfs {
class LargeFiles;  // lfs/large_files.hpp: large files, their links to repositories
}

struct Backend {
  sql::Database& database;
  Accounts& accounts;
  Repositories& repositories;
  objects::Store& store;  // large files
  lfs::LargeFiles& large_files;
  std::string jwt_key;       // raw bytes
  bool serve_direct = true;  // presigned URLs instead of passing bytes through; only where the store can
  std::uint64_t lfs_parts_from =
      0;  // bytes; multipart uploads from there on; 0: 256 MiB straight to S3, 5 GiB through us
  std::uint64_t lfs_threshold = 1'000'000;  // bytes; files beyond it are large
  bool anonymous_read = true;               // public repositories without signing in
  /// What probes read; without checks before the service runs.
  std::shared_ptr<const run::Readiness> readiness = std::make_shared<run::Readiness>();
};

}  // namespace stackgate::datastore
