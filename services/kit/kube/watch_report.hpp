// How the watches of a process are doing, for readiness, metrics and messages. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "services/kit/kube/watch_runner.hpp"

namespace stackgate::kube {

/// What is known of a type in a namespace.
enum class Coverage : std::uint8_t {
  unlisted,  // not listed yet
  listed,    // once at least: what the sink does not hold does not exist, or is a moment old
  absent,    // the API server does not serve the type: there are no objects
  refused,   // it may not be listed (401, 403)
  outside,   // not among the namespaces that are watched
};
std::string_view to_string(Coverage coverage);

struct WatchReport {
  std::string type;  // "secrets", "inferencecaches.stackgate.dev"
  std::string ns;    // empty: all, or cluster-wide
  Coverage coverage = Coverage::unlisted;
  WatchHealth health;  // its counts go on where a watch of an optional type is ended and begun again
};

/// "2 of 24 first lists are not complete yet, secrets: connection refused": what is still unlisted, with the last error
/// that one of them met. Of who is not synced: never empty.
std::string first_lists_problem(std::span<const WatchReport> reports);

/// "deployments.apps, secrets in namespace ml": what may not be listed; empty when all may.
std::string unseen_types(std::span<const WatchReport> reports);

}  // namespace stackgate::kube
