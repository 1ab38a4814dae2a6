// Faults of the layers below as faults of large files.
#pragma once
#include "services/datastore/lfs/objects.hpp"

namespace stackgate::datastore::lfs {

inline ObjectError fault_of(const sql::SqlError& error) {
  if (error.fault == sql::Fault::unfit) return {Fault::invalid, "what was sent holds a NUL or bytes that are no UTF-8"};
  if (error.fault == sql::Fault::full) return {Fault::full, "no space is left for the database"};
  const bool away =
      error.fault == sql::Fault::away || error.fault == sql::Fault::busy || error.fault == sql::Fault::conflict;
  return {away ? Fault::away : Fault::broken, away ? "the database does not answer; try again" : "the database failed"};
}

inline ObjectError fault_of(const objects::StoreError& error) {
  switch (error.fault) {
    case objects::Fault::missing:
      return {Fault::missing, "the object store does not have this file"};
    case objects::Fault::full:
      return {Fault::full, "no space is left for large files"};
    case objects::Fault::away:
      return {Fault::away, "the object store does not answer; try again"};
    case objects::Fault::refused:
    case objects::Fault::broken:
      break;
  }
  return {Fault::broken, "the object store failed"};
}

void log_cause(std::string_view message);  // objects.cpp

/// The error to hand on, with the cause in the log: a client is told less.
template <typename Cause>
std::unexpected<ObjectError> failed(const Cause& cause) {
  ObjectError error = fault_of(cause);
  if (error.fault == Fault::broken || error.fault == Fault::away) log_cause(cause.message);
  return std::unexpected(std::move(error));
}

}  // namespace stackgate::datastore::lfs
