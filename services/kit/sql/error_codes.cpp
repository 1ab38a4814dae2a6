#include "services/kit/sql/error_codes.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <sqlite3.h>

namespace stackgate::sql {

Fault fault_of_sqlite(int extended_code) {
  // The first that is the extended code, or the plain one in it.
  static constexpr std::array<std::pair<int, Fault>, 12> meanings = {{
      {SQLITE_CONSTRAINT_UNIQUE, Fault::duplicate},
      {SQLITE_CONSTRAINT_PRIMARYKEY, Fault::duplicate},
      {SQLITE_CONSTRAINT_ROWID, Fault::duplicate},
      {SQLITE_CONSTRAINT, Fault::refers},
      {SQLITE_BUSY, Fault::busy},
      {SQLITE_LOCKED, Fault::busy},
      {SQLITE_FULL, Fault::full},
      {SQLITE_INTERRUPT, Fault::away},
      {SQLITE_IOERR, Fault::away},
      {SQLITE_CANTOPEN, Fault::away},
      {SQLITE_PERM, Fault::away},
      {SQLITE_NOMEM, Fault::away},
  }};
  if (extended_code == SQLITE_READONLY) return Fault::broken;         // our own query_only
  if ((extended_code & 0xFF) == SQLITE_READONLY) return Fault::away;  // of the file
  const auto found = std::ranges::find_if(
      meanings, [&](const auto& m) { return m.first == extended_code || m.first == (extended_code & 0xFF); });
  return found == meanings.end() ? Fault::broken : found->second;
}

Retry retry_of_sqlite(int extended_code) {
  return fault_of_sqlite(extended_code) == Fault::busy ? Retry::again : Retry::no;
}

std::string constraint_of_sqlite(int extended_code, std::string_view message) {
  if ((extended_code & 0xFF) != SQLITE_CONSTRAINT) return {};
  const auto colon = message.find(": ");
  return colon == std::string_view::npos ? std::string() : std::string(message.substr(colon + 2));
}

Fault fault_of_sqlstate(std::string_view state) {
  // The first that the code begins with.
  static constexpr std::array<std::pair<std::string_view, Fault>, 22> meanings = {{
      {"23505", Fault::duplicate}, {"23", Fault::refers},  {"40001", Fault::conflict}, {"40P01", Fault::conflict},
      {"53100", Fault::full},      {"53300", Fault::busy},  // too many connections
      {"55P03", Fault::busy},                               // lock_timeout
      {"08P01", Fault::broken},                             // a wrong number of values
      {"57014", Fault::away},                               // statement_timeout
      {"25006", Fault::away},                               // read only: a stand-by after a fail-over
      {"25P03", Fault::away},                               // idle in a transaction for too long
      {"57P05", Fault::away},                               // idle for too long
      {"08", Fault::away},         {"53", Fault::away},    {"57P", Fault::away},       {"58", Fault::away},
      {"28", Fault::away},     // the password is wrong: until somebody sets it right
      {"3D000", Fault::away},  // no such database: likewise
      {"42501", Fault::broken},    {"22", Fault::broken},  {"42", Fault::broken},      {"XX", Fault::broken},
  }};
  const auto found = std::ranges::find_if(meanings, [&](const auto& m) { return state.starts_with(m.first); });
  return found == meanings.end() ? Fault::broken : found->second;
}

Retry retry_of_sqlstate(std::string_view state) {
  if (state == "40001" || state == "40P01") return Retry::again;
  // 0A000: "cached plan must not change result type", after a migration. 26000: a pooler gave us another server
  // process.
  if (state == "0A000" || state == "26000") return Retry::reconnect;
  // A crash or an immediate shutdown may hit after the commit was written, an ordinary one does not.
  if (state == "57P02") return Retry::lost;
  if (state == "25006" || state.starts_with("57P") || (state.starts_with("08") && state != "08P01")) {
    return Retry::reconnect;
  }
  return Retry::no;
}

std::string_view without_values(std::string_view state, std::string_view message) {
  if (!state.starts_with("22")) return message;
  return message.substr(0, std::min(message.find(": \""), message.find(" \"")));
}

}  // namespace stackgate::sql
