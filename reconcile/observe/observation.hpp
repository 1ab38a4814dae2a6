// What a pass over one resource knows: all of it taken from the store at once, before anything is judged.
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "reconcile/compare/verdict.hpp"
#include "reconcile/observe/store.hpp"
#include "reconcile/plan/plan.hpp"
#include "services/kit/json/document.hpp"

namespace stackgate::reconcile {

/// Values and views into them: it stays where it is. Used by one thread.
class Observation {
 public:
  /// What the store holds for `key` now. Takes as many locks as the resource names objects.
  Observation(const Store& store, const Key& key);
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

  /// False when the resource is gone; nothing else may be asked then.
  bool is_there() const { return is_there_; }
  const Resource& resource() const { return resource_; }
  const Snapshot& snapshot() const { return snapshot_; }
  /// For make_plan(). The findings are whoever's who asked the rules.
  Observed observed(const Served& served, std::span<const validate::Finding> findings) const;
  /// What was asked about on the way: a change of any of them changes the observation. See reference().
  const std::vector<std::string>& references() const { return references_; }

  const StoredChild* stored(ChildType type, std::string_view name) const;
  /// The live object under a planned child's name, and whose it is.
  FoundChild find(ChildType type, std::string_view name) const;

 private:
  bool load(const Key& key);
  void load_children();
  void gather_inputs(const Store& store);
  void gather_cache(const Store& store);
  void gather_datastore(const Store& store);
  void gather_claims(const Store& store);
  void add_input(const Store& store, InputFacts input);

  Snapshot snapshot_;
  Resource resource_{};
  std::deque<json::Document> documents_;  // of the resource, its children and the claims that it names
  std::vector<LiveChild> children_;
  std::vector<Text> claims_;  // what the documents of claims view
  std::vector<InputFacts> inputs_;
  CacheFacts cache_;
  std::string datastore_admin_;
  std::vector<std::string> references_;
  bool is_there_ = false;
};

}  // namespace stackgate::reconcile
