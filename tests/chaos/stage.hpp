// The cluster around the operator: what users do in it, what controllers and kubelets would, and what stands in it.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "services/kit/kube/client.hpp"

namespace stackgate::chaos {

/// One change that a user makes, as a line of the scenario:
///   {"stage": "update", "create": {…}}                              an object; its kind says where
///   {"stage": "update", "plural": "…", "name": "…", "patch": …}     an object is a merge patch, a list a JSON patch
///   {"stage": "update", "plural": "…", "name": "…", "delete": true}
struct Change {
  std::string stage, create, plural, name, patch;
  bool json_patch = false;
};

/// In the order of the file; throws what is wrong with it.
std::vector<Change> read_scenario(const std::string& file);

/// Object by "plural/name" → JSON without what differs between two runs: uids, times, versions, addresses, keys.
using State = std::map<std::string, std::string>;
/// The first objects that differ, for a person; empty when there are none.
std::string difference(const State& wanted, const State& found);

/// One namespace. Not thread-safe; throws when the API server refuses.
class Stage {
 public:
  Stage(kube::Client& client, std::string ns);
  void make_namespace();
  void carry_out(const Change& change);
  /// Reads everything. On the way it plays the controllers: claims are bound, Jobs complete, Deployments available.
  State look();
  /// Every resource of ours has a status for its newest generation.
  bool all_told() const { return all_told_; }
  void clean_up();
  const std::string& ns() const { return ns_; }

 private:
  void play(std::string_view plural, const json::Value& object);
  /// The scheduler lets no pod start before its claims are bound, so no Job completes before.
  bool can_start(const json::Value& job) const;

  kube::Client& client_;
  const std::string ns_;
  bool all_told_ = false;
  std::set<std::string> bound_;  // claims, as of the looks so far
};

}  // namespace stackgate::chaos
