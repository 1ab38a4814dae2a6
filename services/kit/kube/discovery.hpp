// What the API server serves. One question each, for those who ask once; whether a type comes or goes later is reported
// by SharedWatches. Source: https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/kube/client.hpp"

namespace stackgate::kube {

/// The versions of an API group ("autoscaling"; empty: the core group), the server's preferred one first. None when it
/// does not serve the group at all.
Result<std::vector<std::string>> served_versions(Client& client, std::string_view group,
                                                 const CallOptions& options = {});

/// The first of `wanted` (newest first) that is served: newest_served(client, "autoscaling", {"v2", "v2beta2"}).
Result<std::optional<std::string>> newest_served(Client& client, std::string_view group,
                                                 std::initializer_list<std::string_view> wanted,
                                                 const CallOptions& options = {});

/// Whether this very type is served in this version: a group may have a version without having every type in it.
Result<bool> serves(Client& client, const ResourceType& type, const CallOptions& options = {});

}  // namespace stackgate::kube
