// What the statements of this folder share: lists of ids.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "services/datastore/lfs/large_files.hpp"
#include "services/kit/sql/database.hpp"

namespace stackgate::datastore::lfs {

void log_cause(std::string_view message);  // large_files.cpp

/// A list of ids travels as one value, so that one prepared statement serves any length. What is no id is left out.
inline std::string list_value(sql::Engine engine, std::span<const std::string> oids) {
  const bool json = engine == sql::Engine::sqlite;
  std::string out(json ? "[" : "");
  for (const std::string& oid : oids) {
    if (!is_oid(oid)) continue;
    if (out.size() > 1) out += ',';
    out += json ? "\"" + oid + "\"" : oid;
  }
  if (json) out += ']';
  return out;
}

/// "IN (…)" around the placeholder ("$2") of such a value.
inline std::string in_list(sql::Engine engine, std::string_view placeholder) {
  const std::string p(placeholder);
  return engine == sql::Engine::sqlite ? "IN (SELECT value FROM json_each(" + p + "))"
                                       : "= ANY (string_to_array(" + p + ", ','))";
}

}  // namespace stackgate::datastore::lfs
