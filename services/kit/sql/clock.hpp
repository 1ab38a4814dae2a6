// The database's clock: the one that all replicas share.
#pragma once
#include <string_view>

#include "services/kit/sql/database.hpp"

namespace stackgate::sql {

/// An expression for seconds since 1970, at the moment of the statement.
constexpr std::string_view now_seconds(Engine engine) {
  return engine == Engine::sqlite ? "CAST(strftime('%s', 'now') AS INTEGER)"
                                  : "CAST(extract(epoch FROM clock_timestamp()) AS BIGINT)";
}

}  // namespace stackgate::sql
