#include "services/datastore/hub/handlers.hpp"
#include "services/datastore/hub/place.hpp"
#include "services/datastore/hub/shapes.hpp"

namespace stackgate::datastore::hub {

web::Answer get_whoami(const Backend& backend, web::Call& call) {
  const auto identity = identify_someone(backend, call);
  if (!identity) return identity.error();
  const auto account = backend.accounts.find(identity->account);
  if (!account) return to_failure(account.error());
  std::vector<Account> organizations;
  auto all = backend.accounts.list(AccountKind::organization, "", 0, 100, nullptr);
  if (!all) return to_failure(all.error());
  for (Account& organization : *all)
    if (organization.steward_id == identity->account) organizations.push_back(std::move(organization));
  return json_answer(whoami(*account, identity->scope, organizations));
}

}  // namespace stackgate::datastore::hub
