#include "services/datastore/hub/handlers.hpp"
#include "services/datastore/hub/place.hpp"
#include "services/datastore/hub/shapes.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::hub {

web::Answer get_whoami(const Backend& backend, web::Call& call) {
  const auto identity = TRY(identify_someone(backend, call));
  const auto account = TRY(backend.accounts.find(identity.account));
  std::vector<Account> organizations;
  auto all = TRY(backend.accounts.list(AccountKind::organization, "", 0, 100, nullptr));
  for (Account& organization : all)
    if (organization.steward_id == identity.account) organizations.push_back(std::move(organization));
  return json_answer(whoami(account, identity.scope, organizations));
}

}  // namespace stackgate::datastore::hub
