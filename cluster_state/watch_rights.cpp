#include "cluster_state/watch_rights.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "cluster_state/facts.hpp"
#include "crds/kinds.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::cluster {
namespace watch_rights_detail {

constexpr std::chrono::seconds period{5};

/// The kind of reference that names such objects, if any.
std::optional<validate::ReferenceKind> reference_to(std::string_view resource) {
  for (const validate::ReferenceKindInfo& each : validate::reference_kinds)
    if (to_string(resource_type(each.kind)) == resource) return each.kind;
  return std::nullopt;
}

bool is_cluster_wide(std::string_view resource) {
  const auto kind = reference_to(resource);
  return kind ? validate::is_cluster_wide(*kind) : resource == to_string(kube::types::custom_resource_definitions);
}

/// The API server says which it is ("… cannot watch resource …"); without its words, a type is listed before it is
/// watched.
std::string_view denied_verb(const kube::WatchHealth& health) {
  if (health.denial.find("cannot watch") != std::string::npos) return "watch";
  if (health.denial.find("cannot list") != std::string::npos) return "list";
  return health.synced ? "watch" : "list";
}

bool is_ours(std::string_view resource) {
  return resource.ends_with(crds::api_group) &&
         resource.substr(0, resource.size() - crds::api_group.size()).ends_with('.');
}

/// What resources of ours refer to; a gate watches nothing else.
bool is_referred_to(std::string_view resource) { return is_ours(resource) || reference_to(resource); }

bool contains(const std::vector<MissingRight>& rights, const MissingRight& right) {
  return std::ranges::any_of(rights, [&](const MissingRight& each) { return each.is_same(right); });
}

}  // namespace watch_rights_detail

std::vector<MissingRight> missing_rights(std::span<const kube::WatchReport> reports) {
  using namespace watch_rights_detail;
  std::vector<MissingRight> out;
  for (const kube::WatchReport& each : reports) {
    // What the server does not serve cannot be allowed either.
    if (!each.health.denied || each.coverage == kube::Coverage::absent) continue;
    out.push_back(
        {std::string(denied_verb(each.health)), each.type, each.ns, is_cluster_wide(each.type), each.health.denial});
  }
  return out;
}

std::string to_string(const MissingRight& right) {
  return fmt::format("{} {}{}", right.verb, right.resource,
                     right.cluster_wide  ? ""
                     : !right.ns.empty() ? fmt::format(" in namespace {}", right.ns)
                                         : " in all namespaces");
}

std::string consequence(std::string_view resource, Watchers watchers) {
  using namespace watch_rights_detail;
  if (resource == to_string(kube::types::custom_resource_definitions))
    return "whether optional types are there is asked again and again instead of being told";
  std::string out;
  if (watchers.reconciler)
    out = is_ours(resource) ? "the reconciler does not see these resources and does nothing for them"
                            : "the reconciler does not see these objects";
  if (watchers.gate && is_referred_to(resource))
    out +=
        fmt::format("{}references to such objects are asked about one by one, or not checked", out.empty() ? "" : "; ");
  return out.empty() ? "these objects are not seen" : out;
}

std::string can_i(const MissingRight& right) {
  return fmt::format("kubectl auth can-i {} {}{}", right.verb, right.resource,
                     right.cluster_wide  ? ""
                     : !right.ns.empty() ? fmt::format(" --namespace {}", right.ns)
                                         : " --all-namespaces");
}

RightsReminder::Changes RightsReminder::update(std::vector<MissingRight> missing, Clock::time_point now) {
  using watch_rights_detail::contains;
  Changes changes;
  std::erase_if(known_, [&](Known& each) {
    if (contains(missing, each.right)) return false;
    changes.regained.push_back(std::move(each.right));
    return true;
  });
  for (MissingRight& right : missing) {
    const auto known = std::ranges::find_if(known_, [&](const Known& each) { return each.right.is_same(right); });
    if (known != known_.end() && now - known->logged < again) continue;
    changes.missing.push_back(right);
    if (known == known_.end())
      known_.push_back({std::move(right), now});
    else
      known->logged = now;
  }
  return changes;
}

WatchRights::WatchRights(const kube::SharedWatches& watches, metrics::Registry& registry, Watchers watchers)
    : watches_(watches),
      watchers_(watchers),
      denied_(registry.gauge("stackgate_gate_watch_denied",
                             "1 while objects that the gate or the reconciler looks at may not be listed or watched.",
                             {"verb", "resource", "namespace"})),
      rounds_(std::chrono::milliseconds(0), [this](const std::stop_token&) {
        log_changes();
        return watch_rights_detail::period;
      }) {}

std::string WatchRights::problem() const {
  std::string out;
  for (const MissingRight& each : missing_rights(watches_.report()))
    fmt::format_to(std::back_inserter(out), "{}may not {} ({})", out.empty() ? "" : "; ", to_string(each), can_i(each));
  return out;
}

void WatchRights::log_changes() {
  const auto changes = reminder_.update(missing_rights(watches_.report()), RightsReminder::Clock::now());
  for (const MissingRight& each : changes.missing) {
    denied_.at({each.verb, each.resource, each.ns}).set(1);
    log::warning("a right is missing: " + consequence(each.resource, watchers_),
                 {{"right", to_string(each)}, {"check", can_i(each)}, {"error", each.error}});
  }
  for (const MissingRight& each : changes.regained) {
    denied_.at({each.verb, each.resource, each.ns}).set(0);
    log::info("a right that was missing is there", {{"right", to_string(each)}});
  }
}

}  // namespace stackgate::cluster
