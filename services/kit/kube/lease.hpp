// What a Lease holds, as far as an election needs it.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1/
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "services/kit/json/value.hpp"

namespace stackgate::kube {

struct LeaseRecord {
  std::string holder;  // empty: nobody
  std::chrono::seconds duration{0};
  std::string acquire_time, renew_time;  // RFC 3339 with microseconds, by the holder's clock; never compared here
  std::int64_t transitions = 0;          // how often the holder has changed
  std::string resource_version;          // not part of its contents; see same_words()
};

/// Two records with the same contents: nobody has renewed in between. The resource version may have changed, by a label
/// for example.
bool same_words(const LeaseRecord& a, const LeaseRecord& b);

/// From a coordination.k8s.io/v1 Lease. What is absent or of another type reads as empty.
LeaseRecord read_lease(const json::Value& lease);

/// A whole Lease for POST; a merge patch that changes nothing else of the object and is refused (409) unless the stored
/// one is of record.resource_version.
std::string lease_json(std::string_view ns, std::string_view name, const LeaseRecord& record);
std::string lease_patch(const LeaseRecord& record);

}  // namespace stackgate::kube
