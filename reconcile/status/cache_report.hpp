// What a puller reports of its download, and what of it stands in the status already.
// Pure and thread-safe.
#pragma once
#include <optional>
#include <vector>

#include "reconcile/status/status.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::reconcile {

/// From the ConfigMap that the puller writes, see CacheView::report; nothing where it says nothing, or nonsense.
std::optional<Progress> reported_progress(const json::Value* config_map);
std::vector<Profile> reported_profiles(const json::Value* config_map);

/// From the status as it is stored.
std::optional<Progress> stored_progress(const json::Value* status);
std::vector<Profile> stored_profiles(const json::Value* status);

}  // namespace stackgate::reconcile
