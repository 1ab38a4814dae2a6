#include <array>

#include "services/datastore/lfs/schema.hpp"
#include "services/datastore/migrations.hpp"

namespace stackgate::datastore::lfs {

std::span<const sql::Migration> migrations() {
  static constexpr std::array<sql::Migration, 1> steps = {{{20, "large files", schema_1, {}}}};
  return steps;
}

}  // namespace stackgate::datastore::lfs
