// Writes one child as its verdict says, and files the API server's answer in the store at once.
#pragma once
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reconcile/compare/verdict.hpp"
#include "reconcile/observe/cluster_watches.hpp"
#include "reconcile/observe/store.hpp"
#include "reconcile/plan/plan.hpp"
#include "services/kit/kube/client.hpp"

namespace stackgate::reconcile {

/// Thread-safe; blocks.
class ChildWriter {
 public:
  ChildWriter(kube::Client& client, Store& store, const ClusterWatches& watches)
      : client_(client), store_(store), watches_(watches) {}

  struct Creation {
    const DesiredChild* child;
    std::string hash, why;
    bool drift = false;  // somebody else deleted it
  };
  /// POSTs, all at once; results in the order of `creations`. Where the name is taken (409) the object that has it is
  /// fetched into the store, so that the next verdict knows whose it is; the error is returned all the same.
  std::vector<std::expected<void, kube::ApiError>> create(const Key& key, std::span<const Creation> creations) const;
  /// Server-side apply. Where the plan may have lost a field, a child that was never applied before first has its
  /// create entry turned into an apply entry: see create_entry() in cluster_state/pruning.hpp. Where an item that
  /// somebody changed by hand stands in the way, the lists of the child are replaced.
  std::expected<void, kube::ApiError> update(const Key& key, const DesiredChild& child, std::string_view hash,
                                             const StoredChild& found) const;
  /// Gives an orphan its owner reference back, and changes nothing else: only in the very state in which it was judged.
  /// Where it has changed meanwhile it is fetched into the store; the error is returned all the same.
  std::expected<void, kube::ApiError> adopt(const Key& key, const json::Value& body, const StoredChild& found) const;
  /// Only this very object. One that is gone already is no error.
  std::expected<void, kube::ApiError> remove(const Key& key, const StoredChild& found) const;
  /// Asks whose the name is now: true when it is free.
  std::expected<bool, kube::ApiError> look_again(const Key& key, ChildType type, std::string_view name) const;

 private:
  std::expected<void, kube::ApiError> created(const Key& key, const DesiredChild& child,
                                              kube::Result<kube::Response> answer) const;

  kube::Client& client_;
  Store& store_;
  const ClusterWatches& watches_;
};

}  // namespace stackgate::reconcile
