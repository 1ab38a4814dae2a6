#include "services/kit/kube/lease.hpp"

#include <fmt/format.h>
#include <time.h>

#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/kube/object.hpp"

namespace stackgate::kube {
namespace {

void write_spec(json::Writer& w, const LeaseRecord& record) {
  w.object("spec", [&] {
    // Current validation refuses an empty identity; null takes it out of a stored one.
    w.key("holderIdentity");
    if (record.holder.empty())
      w.value(nullptr);
    else
      w.value(record.holder);
    w.member("leaseDurationSeconds", std::int64_t{record.duration.count()});
    w.member("acquireTime", record.acquire_time);
    w.member("renewTime", record.renew_time);
    w.member("leaseTransitions", record.transitions);
  });
}

}  // namespace

bool same_words(const LeaseRecord& a, const LeaseRecord& b) {
  return a.holder == b.holder && a.renew_time == b.renew_time && a.acquire_time == b.acquire_time &&
         a.duration == b.duration && a.transitions == b.transitions;
}

LeaseRecord read_lease(const json::Value& lease) {
  LeaseRecord out;
  out.holder = json::text(&lease, {"spec", "holderIdentity"});
  out.duration = std::chrono::seconds(json::integer(&lease, {"spec", "leaseDurationSeconds"}));
  out.acquire_time = json::text(&lease, {"spec", "acquireTime"});
  out.renew_time = json::text(&lease, {"spec", "renewTime"});
  out.transitions = json::integer(&lease, {"spec", "leaseTransitions"});
  out.resource_version = metadata(lease, "resourceVersion");
  return out;
}

std::string lease_json(std::string_view ns, std::string_view name, const LeaseRecord& record) {
  return json::object_text([&](json::Writer& w) {
    w.member("apiVersion", "coordination.k8s.io/v1");
    w.member("kind", "Lease");
    w.object("metadata", [&] {
      w.member("namespace", ns);
      w.member("name", name);
    });
    write_spec(w, record);
  });
}

std::string lease_patch(const LeaseRecord& record) {
  return json::object_text([&](json::Writer& w) {
    w.object("metadata", [&] { w.member("resourceVersion", record.resource_version); });
    write_spec(w, record);
  });
}

}  // namespace stackgate::kube
