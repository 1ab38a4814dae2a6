#include "services/kit/sql/service_error.hpp"

#include "services/kit/log/log.hpp"

namespace stackgate::sql {

ServiceError to_service_error(const SqlError& error) {
  if (error.fault == Fault::unfit) return {ServiceFault::invalid, "the text holds a NUL or bytes that are not UTF-8"};
  log::error("the database failed", {{"cause", error.message}});
  switch (error.fault) {
    case Fault::away:
    case Fault::busy:
    case Fault::conflict:
      return {ServiceFault::unavailable, "the database is away; try again shortly"};
    case Fault::full:
      return {ServiceFault::full, "no space is left for the database; free some and try again"};
    default:
      return {ServiceFault::broken, "the database refused the operation; the server's log says why"};
  }
}

SqlError::operator ServiceError() const { return to_service_error(*this); }

}  // namespace stackgate::sql
