// Every table of the datastore, in order. Each folder that has tables hands in its own steps; numbers are fixed:
// accounts 1–9, repositories 10–19, lfs 20–29 (lfs/schema.hpp), hub 30–39.
#pragma once
#include <span>
#include <vector>

#include "services/kit/sql/migrate.hpp"

namespace stackgate::datastore {

std::span<const sql::Migration> account_migrations();     // accounts/tables.cpp
std::span<const sql::Migration> repository_migrations();  // repositories/tables.cpp
std::vector<sql::Migration> all_migrations();

}  // namespace stackgate::datastore
