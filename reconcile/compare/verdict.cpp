#include "reconcile/compare/verdict.hpp"

#include "reconcile/compare/drift.hpp"
#include "reconcile/compare/plan_hash.hpp"

namespace stackgate::reconcile {
namespace {

bool is_leaving(const json::Value& object) {
  const json::Value* metadata = object.find("metadata");
  return metadata != nullptr && metadata->find("deletionTimestamp") != nullptr;
}

}  // namespace

Verdict judge(const WantedChild& wanted, const FoundChild& found) {
  if (found.object == nullptr) return {Need::create, "missing"};
  const bool mine = found.ownership == Ownership::own || (!wanted.owned && found.ours);
  if (is_leaving(*found.object)) return {Need::wait, "it is being deleted"};
  if (!mine && found.ownership == Ownership::left_over) return {Need::wait, "its former owner is gone"};
  if (!mine && found.ownership == Ownership::orphan && wanted.adopts) return {Need::adopt, "it has no owner"};
  if (!mine) return {Need::taken, "not ours"};
  if (wanted.keep) return {};
  if (plan_hash_of(*found.object) != wanted.hash) return {Need::update, "new plan"};
  if (auto place = first_difference(wanted.body, *found.object)) return {Need::update, *place + " was changed", true};
  return {};
}

}  // namespace stackgate::reconcile
