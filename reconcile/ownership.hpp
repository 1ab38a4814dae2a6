// Whose an object is that bears the name of a resource's child. Kubernetes' rule is that of its garbage collector: who
// has an owner goes with it, who has none stays for ever.
// https://kubernetes.io/docs/concepts/architecture/garbage-collection/
// Pure and thread-safe.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "crds/kinds.hpp"
#include "reconcile/labels.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::reconcile {

enum class Ownership : std::uint8_t {
  own,        // this very resource controls it
  orphan,     // the operator made it for a resource of this kind and name, and nothing owns it: nobody will collect it
  left_over,  // likewise, but a resource of this name that is gone owns it: the cluster will collect it
  foreign,    // everything else
};

/// `uid`, `kind` and `name` are the resource's. An orphan has all of the operator's labels with this resource's kind
/// and name, the mark of a plan, and no owner but this resource itself (whose reference may have lost its
/// `controller`).
inline Ownership ownership_of(const json::Value& object, crds::Kind kind, std::string_view name, std::string_view uid) {
  const json::Value* metadata = object.find("metadata");
  bool former = false, others = false;
  for (const json::Value& each : json::items(metadata, {"ownerReferences"})) {
    const bool controller = json::flag(&each, {"controller"});
    if (json::text(&each, {"uid"}) == uid) {
      if (controller) return Ownership::own;
      continue;
    }
    former = former || (controller && json::text(&each, {"apiVersion"}).starts_with(crds::api_group) &&
                        json::text(&each, {"kind"}) == crds::info(kind).name && json::text(&each, {"name"}) == name);
    others = true;
  }
  if (json::text(metadata, {"labels", managed_by_label}) != managed_by ||
      json::text(metadata, {"labels", instance_label}) != name ||
      json::text(metadata, {"labels", component_label}) != component_of(kind))
    return Ownership::foreign;
  if (others) return former ? Ownership::left_over : Ownership::foreign;
  return json::text(metadata, {"annotations", plan_annotation}).empty() ? Ownership::foreign : Ownership::orphan;
}

}  // namespace stackgate::reconcile
