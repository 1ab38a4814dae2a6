#include "services/kit/objects/service_error.hpp"

#include "services/kit/log/log.hpp"

namespace stackgate::objects {

ServiceError to_service_error(const StoreError& error) {
  if (error.fault == Fault::missing) return {ServiceFault::missing, "the file is not in the store"};
  log::error("the object store failed", {{"cause", error.message}});
  if (error.fault == Fault::full) return {ServiceFault::full, "no space is left in the store"};
  if (error.fault == Fault::away)
    return {ServiceFault::unavailable, "the object store cannot be reached; try again shortly"};
  return {ServiceFault::broken, "the object store refused the operation; the server's log says why"};
}

StoreError::operator ServiceError() const { return to_service_error(*this); }

}  // namespace stackgate::objects
