// Every table of the datastore, in order, numbered without gaps over all folders: accounts 1 and 2, repositories 3,
// large files 4 (lfs/schema.hpp), failed sign-ins 5 (accounts). A later step of any folder takes the next number and is
// added at the end.
#pragma once
#include <span>
#include <vector>

#include "services/kit/sql/migrate.hpp"

namespace stackgate::datastore {

std::span<const sql::Migration> account_migrations();
std::span<const sql::Migration> failure_migrations();     // accounts/tables.cpp
std::span<const sql::Migration> repository_migrations();  // repositories/tables.cpp
std::vector<sql::Migration> all_migrations();

}  // namespace stackgate::datastore
