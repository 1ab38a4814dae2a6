// Errors of the layers below, as a client gets them; their causes are in the log.
#pragma once
#include "services/datastore/lfs/large_files.hpp"
#include "services/kit/objects/service_error.hpp"
#include "services/kit/sql/service_error.hpp"

namespace stackgate::datastore::lfs {

void log_cause(std::string_view message);  // objects.cpp

inline std::unexpected<ServiceError> failed(const sql::SqlError& cause) {
  return std::unexpected(sql::to_service_error(cause));
}
inline std::unexpected<ServiceError> failed(const objects::StoreError& cause) {
  return std::unexpected(objects::to_service_error(cause));
}

}  // namespace stackgate::datastore::lfs
