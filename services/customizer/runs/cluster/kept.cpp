#include "services/customizer/runs/cluster/kept.hpp"

#include <algorithm>
#include <charconv>

#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::customizer {
namespace kept_detail {

std::string_view owner_job(const json::Value& object) {
  for (const json::Value& each : json::items(&object, {"metadata", "ownerReferences"}))
    if (json::text(&each, {"kind"}) == "Job") return json::text(&each, {"name"});
  return {};
}

/// Some versions name a PodGroup like its Job, and give it no owner.
std::string whose(Kind kind, const json::Value& object, std::string_view name) {
  if (kind == Kind::event) return std::string(json::text(&object, {"involvedObject", "name"}));
  if (kind != Kind::pod_group && kind != Kind::workload) return std::string(name);
  const std::string_view job = owner_job(object);
  return std::string(job.empty() ? name : job);
}

/// Templates make most of an object, and nothing of them is read, but of pods that do not run.
void write_spec(json::Writer& out, Kind kind, const json::Value& object) {
  if (kind == Kind::job) {
    out.member("suspend", json::flag(&object, {"spec", "suspend"}));
    return;
  }
  const json::Value* spec = object.find("spec");
  if (kind != Kind::pod || spec == nullptr) return;
  const std::string_view phase = json::text(&object, {"status", "phase"});
  if (phase == "Pending" || phase == "Failed")
    return out.members(*spec, {"affinity", "tolerations", "securityContext"});
  out.member("nodeName", json::text(spec, {"nodeName"}));
  out.member("restartPolicy", json::text(spec, {"restartPolicy"}));
}

std::string shortened(Kind kind, const json::Value& object) {
  return json::object_text([&](json::Writer& out) {
    if (const json::Value* metadata = object.find("metadata"))
      out.object("metadata", [&] { out.members(*metadata, {"managedFields", "annotations", "ownerReferences"}); });
    out.object("spec", [&] { write_spec(out, kind, object); });
    if (const json::Value* status = object.find("status")) out.member("status", *status);
    if (kind == Kind::event)
      out.members(object, {"apiVersion", "kind", "metadata", "spec", "status", "source", "reportingComponent"});
  });
}

}  // namespace kept_detail

using namespace kept_detail;

std::optional<Kind> kind_of(const kube::ResourceType& type) {
  const auto found = std::ranges::find_if(watched_types, [&](const kube::ResourceType& each) {
    return each.group == type.group && each.plural == type.plural;
  });
  if (found == watched_types.end()) return std::nullopt;
  return static_cast<Kind>(found - watched_types.begin());
}

std::string_view group_of(std::string_view object_name) {
  for (const std::string_view head : {"cust-", "model-"}) {
    if (!object_name.starts_with(head)) continue;
    const std::size_t end = object_name.find_first_not_of("0123456789abcdef", head.size());
    if (object_name.size() == head.size() || end == head.size()) return {};
    if (end != std::string_view::npos && object_name[end] != '-') return {};
    return object_name.substr(0, end);
  }
  return {};
}

KeptPtr keep(Kind kind, const json::Value& object) {
  const std::string_view name = kube::metadata(object, "name");
  std::string of = whose(kind, object, name);
  const std::string_view group = group_of(of);
  if (group.empty()) return nullptr;
  auto out = std::make_shared<Kept>(Kept{.kind = kind,
                                         .name = std::string(name),
                                         .uid = std::string(kube::metadata(object, "uid")),
                                         .group = std::string(group),
                                         .ending = !kube::metadata(object, "deletionTimestamp").empty()});
  out->of = std::move(of);
  const std::string_view version = kube::metadata(object, "resourceVersion");
  std::from_chars(version.data(), version.data() + version.size(), out->version);
  const auto owners = json::items(&object, {"metadata", "ownerReferences"});
  if (!owners.empty()) out->owner = json::text(&owners.front(), {"uid"});
  bool valid = false;
  out->object = std::make_shared<const kube::Object>(kube::Object::parse(shortened(kind, object), valid));
  return out;
}

KeptPtr ended(const Kept& kept) {
  auto out = std::make_shared<Kept>(kept);
  out->ending = true;
  return out;
}

}  // namespace stackgate::customizer
