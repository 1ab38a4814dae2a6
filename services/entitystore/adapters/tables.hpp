// The tables of the entitystore, as migrations.
#pragma once
#include <span>

#include "services/kit/sql/migrate.hpp"

namespace stackgate::entitystore {

std::span<const sql::Migration> migrations();

}  // namespace stackgate::entitystore
