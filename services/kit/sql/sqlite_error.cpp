#include "services/kit/sql/sqlite_error.hpp"

#include <sqlite3.h>

namespace stackgate::sql {

Fault fault_of_sqlite(int extended_code) {
  switch (extended_code) {
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID:
      return Fault::duplicate;
    default:
      break;
  }
  switch (extended_code & 0xFF) {
    case SQLITE_CONSTRAINT:
      return Fault::refers;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Fault::busy;
    case SQLITE_FULL:
      return Fault::full;
    case SQLITE_INTERRUPT:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_NOMEM:
      return Fault::away;
    case SQLITE_READONLY:  // of the file, not of our own query_only
      return extended_code == SQLITE_READONLY ? Fault::broken : Fault::away;
    default:
      return Fault::broken;
  }
}

Retry retry_of_sqlite(int extended_code) {
  switch (extended_code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Retry::again;
    default:
      return Retry::no;
  }
}

std::string constraint_of_sqlite(int extended_code, std::string_view message) {
  if ((extended_code & 0xFF) != SQLITE_CONSTRAINT) return {};
  const auto colon = message.find(": ");
  return colon == std::string_view::npos ? std::string() : std::string(message.substr(colon + 2));
}

}  // namespace stackgate::sql
