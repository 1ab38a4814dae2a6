#include "reconcile/control/recording_lookup.hpp"

#include "reconcile/observe/store.hpp"

namespace stackgate::reconcile {
namespace {

std::string_view plural_of(validate::Referent kind) {
  switch (kind) {
    case validate::Referent::secret:
      return "secrets";
    case validate::Referent::config_map:
      return "configmaps";
    case validate::Referent::persistent_volume_claim:
      return "persistentvolumeclaims";
    case validate::Referent::service_account:
      return "serviceaccounts";
    case validate::Referent::inference_cache:
      return "inferencecaches";
    case validate::Referent::storage_class:
      return "storageclasses";
    case validate::Referent::priority_class:
      return "priorityclasses";
    case validate::Referent::runtime_class:
      return "runtimeclasses";
  }
  return {};
}

}  // namespace

validate::Referred RecordingLookup::find(validate::Referent kind, std::string_view ns, std::string_view name) {
  asked_.push_back(reference(plural_of(kind), ns, name));
  return behind_.find(kind, ns, name);
}

bool RecordingLookup::neighbours(std::string_view, std::vector<validate::Neighbour>&) { return true; }

}  // namespace stackgate::reconcile
