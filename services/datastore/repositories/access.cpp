#include "services/datastore/repositories/access.hpp"

namespace stackgate::datastore {

Verdict judge(const Identity& identity, const Repository* repository, Action action, bool anonymous_read) {
  if (identity.anonymous()) {
    const bool open = anonymous_read && repository != nullptr && !repository->is_private && action == Action::read;
    return open ? Verdict::allowed : Verdict::sign_in;
  }
  if (repository == nullptr) return Verdict::hidden;
  const bool own = identity.admin || may_create_in(identity, repository->owner_id, repository->steward_id);
  if (!own && repository->is_private) return Verdict::hidden;
  if (action == Action::read) return Verdict::allowed;
  if (!own || identity.scope == Scope::read) return Verdict::forbidden;
  if (action == Action::write && repository->archived) return Verdict::forbidden;
  return Verdict::allowed;
}

bool may_create_in(const Identity& identity, std::int64_t owner_id, std::int64_t steward_id) {
  if (identity.anonymous()) return false;
  return identity.admin || identity.account == owner_id || (steward_id != 0 && identity.account == steward_id);
}

}  // namespace stackgate::datastore
