// Answers the reference rules from the documents of the same run: whoever applies a Secret together with the resource
// that names it has it. What is not among them is asked of the cluster, or is unknown.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "crds/kinds.hpp"
#include "services/kit/json/value.hpp"
#include "validators/lookup.hpp"

namespace stackgate {

/// Fill it first, then share it: reading is thread-safe.
class LocalObjects {
 public:
  /// Any Kubernetes object; those that no rule asks about are ignored. `ns` is where none is written.
  void add(const json::Value& object, std::string_view ns);

  const validate::ReferencedObject* find(validate::ReferenceKind kind, std::string_view ns,
                                         std::string_view name) const;

  /// nullptr: there is no such ConfigMap among them.
  const std::vector<validate::ConfigMapEntry>* contents(std::string_view ns, std::string_view config_map) const;

  /// Those resources of ours in the namespace that can matter to this one: with a child or name in common, or of the
  /// kind whose image tag must be the same, or users of this cache. (All of them would make a large set quadratic.)
  /// The resource itself need not be among the objects.
  std::vector<validate::Neighbour> neighbours_of(crds::Kind kind, std::string_view ns, std::string_view name) const;

 private:
  struct Namespace {
    std::vector<validate::Neighbour> resources;
    std::map<std::pair<crds::Kind, std::string>, std::size_t> by_name;
    std::unordered_map<std::string, std::vector<std::size_t>> by_child;  // and by their own name
    std::map<std::pair<crds::Kind, std::string>, std::size_t> by_tag;    // one of each kind and tag
    std::unordered_map<std::string, std::vector<std::size_t>> by_cache;  // InferenceServices, by the cache they use
  };
  void add_neighbour(crds::Kind kind, const json::Value& object, std::string_view ns);

  using Key = std::tuple<validate::ReferenceKind, std::string, std::string>;
  std::map<Key, validate::ReferencedObject> objects_;
  std::map<std::pair<std::string, std::string>, std::vector<validate::ConfigMapEntry>> config_maps_;
  std::map<std::string, Namespace, std::less<>> namespaces_;
};

/// For the review of one resource. `cluster` may be nullptr. All arguments must outlive it.
class LocalLookup final : public validate::Lookup {
 public:
  LocalLookup(const LocalObjects& objects, validate::Lookup* cluster, crds::Kind kind, std::string_view name)
      : objects_(objects), cluster_(cluster), kind_(kind), name_(name) {}
  validate::ReferencedObject find(validate::ReferenceKind kind, std::string_view ns, std::string_view name) override;
  std::optional<std::vector<validate::ConfigMapEntry>> contents(std::string_view ns,
                                                                std::string_view config_map) override;
  bool neighbours(std::string_view ns, std::vector<validate::Neighbour>& out) override;

 private:
  const LocalObjects& objects_;
  validate::Lookup* cluster_;
  crds::Kind kind_;
  std::string_view name_;
};

/// The object's own namespace, or `ns`.
std::string_view namespace_of(const json::Value& object, std::string_view ns);

}  // namespace stackgate
