#include "validators/rules/claim_growth.hpp"

#include <fmt/format.h>

#include "services/kit/grammar/names.hpp"
#include "services/kit/grammar/quantity.hpp"
#include "services/kit/json/value.hpp"
#include "validators/children.hpp"
#include "validators/rules/common/single_values.hpp"

namespace stackgate::validate {
namespace claim_growth {

/// Why the API server will not let the claim grow, or nothing. What cannot be asked is said elsewhere.
/// Source: k8s.io/kubernetes/plugin/pkg/admission/storage/persistentvolume/resize.
std::string obstacle(Asker& asker, const ReferencedObject& claim, const Field& at) {
  if (claim.storage_class.empty()) return "it has no StorageClass, and only a claim of a class can grow";
  const ReferencedObject& found = asker.ask(ReferenceKind::storage_class, claim.storage_class, at);
  if (found.presence == Presence::unknown) return {};
  if (found.presence == Presence::absent) return fmt::format("its StorageClass \"{}\" is gone", claim.storage_class);
  return found.allows_expansion ? std::string{}
                                : fmt::format("its StorageClass \"{}\" does not allow it", claim.storage_class);
}

}  // namespace claim_growth

Field own_claim(crds::Kind kind, const Field& spec) {
  switch (kind) {
    case crds::Kind::inference_cache:
      return spec["storage"]["pvc"];
    case crds::Kind::stack_customizer:
      return spec["trainingConfig"]["modelPVC"];
    case crds::Kind::stack_guardrail:
      return spec["configStore"]["pvc"];
    default:
      return spec["pvc"];
  }
}

void check_claim_growth(Context& context, Asker& asker, const Field& object) {
  using namespace claim_growth;
  const crds::Kind kind = context.request.kind;
  // A cache's storage is fixed altogether, which has its own rule.
  if (context.request.old == nullptr || kind == crds::Kind::inference_cache) return;
  if (context.options.other_references == References::off) return;
  const Field pvc = own_claim(kind, object["spec"]);
  const Field before = own_claim(kind, Field::root(context.walk, *context.request.old, object.node())["spec"]);
  if (!pvc["create"].flag().value_or(false) || (before.present() && json::equal(*pvc.value(), *before.value()))) return;
  const Field size = pvc["size"];
  const auto wanted = quantity_of(size);
  const std::string name = claim_name(object["metadata"]["name"].text().value_or(""), pvc["name"].text().value_or(""));
  if (!wanted || grammar::check_dns_subdomain(name)) return;
  const ReferencedObject& claim = asker.ask(ReferenceKind::persistent_volume_claim, name, size);
  if (claim.presence != Presence::present) return;
  const auto has = grammar::parse_quantity(claim.size);
  if (!has || *wanted <= *has) return;
  const std::string reason = obstacle(asker, claim, size);
  if (reason.empty()) return;
  context.report(rule::claim_not_expandable, size,
                 fmt::format("the claim \"{}\" has {} and cannot grow: {}", name, claim.size, reason),
                 claim.storage_class.empty()
                     ? fmt::format("write {}, or move the data to another claim", claim.size)
                     : fmt::format("write {}, or set allowVolumeExpansion: true on the class if its storage can grow",
                                   claim.size));
}

}  // namespace stackgate::validate
