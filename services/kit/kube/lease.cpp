#include "services/kit/kube/lease.hpp"

#include <fmt/format.h>
#include <time.h>

#include "services/kit/json/write.hpp"
#include "services/kit/kube/object.hpp"

namespace stackgate::kube {
namespace {

std::string_view lease_text(const json::Value& lease, std::string_view key) {
  const json::Value* value = at(lease, {"spec", key});
  return value == nullptr ? std::string_view{} : value->string();
}

std::int64_t lease_number(const json::Value& lease, std::string_view key) {
  const json::Value* value = at(lease, {"spec", key});
  return value == nullptr ? 0 : value->integer();
}

void write_spec(json::Writer& w, const LeaseRecord& record) {
  w.key("spec");
  w.object([&] {
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
  out.holder = lease_text(lease, "holderIdentity");
  out.duration = std::chrono::seconds(lease_number(lease, "leaseDurationSeconds"));
  out.acquire_time = lease_text(lease, "acquireTime");
  out.renew_time = lease_text(lease, "renewTime");
  out.transitions = lease_number(lease, "leaseTransitions");
  out.resource_version = metadata(lease, "resourceVersion");
  return out;
}

std::string lease_json(std::string_view ns, std::string_view name, const LeaseRecord& record) {
  std::string out;
  json::Writer w(out);
  w.object([&] {
    w.member("apiVersion", "coordination.k8s.io/v1");
    w.member("kind", "Lease");
    w.key("metadata");
    w.object([&] {
      w.member("namespace", ns);
      w.member("name", name);
    });
    write_spec(w, record);
  });
  return out;
}

std::string lease_patch(const LeaseRecord& record) {
  std::string out;
  json::Writer w(out);
  w.object([&] {
    w.key("metadata");
    w.object([&] { w.member("resourceVersion", record.resource_version); });
    write_spec(w, record);
  });
  return out;
}

}  // namespace stackgate::kube
