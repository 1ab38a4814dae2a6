#include "reconcile/plan/parts/canonical.hpp"
#include "reconcile/plan/parts/workload.hpp"
#include "services/kit/grammar/quantity.hpp"
#include "services/kit/json/read.hpp"
#include "validators/children.hpp"

namespace stackgate::reconcile::parts {
namespace {

/// A claim's spec cannot be changed once it is there, but it can grow.
bool grows(const Scope& scope, std::string_view claim, std::string_view size) {
  const LiveChild* live = scope.planning.observed.find(ChildType::persistent_volume_claim, claim);
  if (live == nullptr || live->object == nullptr) return false;
  const json::Value* now = json::at(live->object, {"spec", "resources", "requests", "storage"});
  if (now == nullptr) return false;
  const auto have = validate::grammar::parse_quantity(now->string());
  const auto want = validate::grammar::parse_quantity(size);
  return have && want && *want > *have;
}

}  // namespace

std::string claim_name(const Scope& scope, const Field& pvc) {
  return validate::claim_name(scope.name, pvc["name"].text().value_or(""));
}

void add_claim(const Scope& scope, const Field& pvc, bool owned) {
  if (!pvc["create"].flag().value_or(false)) return;
  const std::string name = claim_name(scope, pvc);
  const std::string_view size = pvc["size"].text().value_or("");
  const ChildHead head{.owned = owned, .keep = !grows(scope, name, size)};
  add_child(scope, ChildType::persistent_volume_claim, name, head, [&](json::Writer& out) {
    out.object("spec", [&] {
      out.array("accessModes", [&] { out.value(pvc["volumeAccessMode"].text().value_or("ReadWriteOnce")); });
      if (const auto storage_class = pvc["storageClass"].text()) out.member("storageClassName", *storage_class);
      out.object("resources",
                 [&] { out.object("requests", [&] { out.member("storage", std::string_view(amount_text(size))); }); });
    });
  });
}

}  // namespace stackgate::reconcile::parts
