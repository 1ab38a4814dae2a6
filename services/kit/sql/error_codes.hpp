// What the databases' error codes mean to us. Pure.
#pragma once
#include <string>
#include <string_view>

#include "services/kit/sql/connection.hpp"

namespace stackgate::sql {

// SQLite's extended result codes; source: sqlite.org/rescode.html.

Fault fault_of_sqlite(int extended_code);
Retry retry_of_sqlite(int extended_code);
/// "users.name" of "UNIQUE constraint failed: users.name".
std::string constraint_of_sqlite(int extended_code, std::string_view message);

// PostgreSQL's SQLSTATE; source: "Appendix A. PostgreSQL Error Codes".

Fault fault_of_sqlstate(std::string_view state);
/// Whether the transaction may succeed on another try.
Retry retry_of_sqlstate(std::string_view state);
/// The server's message without the values that the codes of class 22 quote: `invalid input syntax for type bigint:
/// "x"`.
std::string_view without_values(std::string_view state, std::string_view message);

}  // namespace stackgate::sql
