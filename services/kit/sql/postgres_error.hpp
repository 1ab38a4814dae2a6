// What PostgreSQL's error codes mean to us. Source: "Appendix A. PostgreSQL Error Codes". Pure.
#pragma once
#include <string_view>

#include "services/kit/sql/connection.hpp"

namespace stackgate::sql {

Fault fault_of_sqlstate(std::string_view state);
/// Whether the transaction may succeed on another try.
Retry retry_of_sqlstate(std::string_view state);
/// The server's message without the values that the codes of class 22 quote: `invalid input syntax for type bigint:
/// "x"`.
std::string_view without_values(std::string_view state, std::string_view message);

}  // namespace stackgate::sql
