#include "services/datastore/migrations.hpp"

#include "services/datastore/lfs/schema.hpp"

namespace stackgate::datastore {

std::vector<sql::Migration> all_migrations() {
  std::vector<sql::Migration> all;
  for (const auto part : {account_migrations(), repository_migrations()})
    all.insert(all.end(), part.begin(), part.end());
  all.push_back({4, "large files", lfs::schema_1, {}});
  for (const sql::Migration& each : failure_migrations()) all.push_back(each);
  return all;
}

}  // namespace stackgate::datastore
