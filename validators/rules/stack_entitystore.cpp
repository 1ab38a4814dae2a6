#include "validators/rules/kinds.hpp"
#include "validators/rules/stack_parts.hpp"

namespace stackgate::validate {

void check_stack_entitystore(Context& context, Field object) {
  const Field datastore = object["spec"]["datastore"]["endpoint"];
  check_service_endpoint(context, object, datastore);
  check_datastore_root(context, datastore);
}

}  // namespace stackgate::validate
