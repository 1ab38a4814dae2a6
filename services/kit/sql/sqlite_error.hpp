// What SQLite's extended result codes mean to us. Source: sqlite.org/rescode.html. Pure.
#pragma once
#include <string>
#include <string_view>

#include "services/kit/sql/connection.hpp"

namespace stackgate::sql {

Fault fault_of_sqlite(int extended_code);
Retry retry_of_sqlite(int extended_code);
/// "users.name" of "UNIQUE constraint failed: users.name".
std::string constraint_of_sqlite(int extended_code, std::string_view message);

}  // namespace stackgate::sql
