#include "reconcile/control/recording_lookup.hpp"

#include "reconcile/observe/store.hpp"

namespace stackgate::reconcile {
validate::ReferencedObject RecordingLookup::find(validate::ReferenceKind kind, std::string_view ns,
                                                 std::string_view name) {
  asked_.push_back(reference(cluster::resource_type(kind).plural, ns, name));
  return behind_.find(kind, ns, name);
}

bool RecordingLookup::neighbours(std::string_view, std::vector<validate::Neighbour>&) { return true; }

}  // namespace stackgate::reconcile
