// Plans of samples, to be looked into with JSON pointers.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "reconcile/plan/plan.hpp"
#include "services/kit/json/document.hpp"

namespace stackgate::reconcile::tests {

using Tree = nlohmann::ordered_json;

/// The first document of a YAML text; throws std::runtime_error when there is none.
Tree tree_of(std::string_view yaml);
/// A sample patched with YAML (RFC 7386).
Tree minimal(crds::Kind kind, std::string_view patch = "{}");
Tree full(crds::Kind kind, std::string_view patch = "{}");

/// What is observed, as texts; owns everything that Observed points to.
struct World {
  World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Observed observed;
  Settings settings;
  /// An object in the cluster, owned by the resource or not.
  void add(ChildType type, std::string_view name, std::string_view yaml, bool owned = true);

 private:
  struct Held {
    std::string name, text;
    json::Document document;
    json::Value root;
  };
  std::deque<Held> held_;
  std::vector<LiveChild> children_;
};

/// The plan of an object in namespace "team" with a fixed uid. Each child's body must be JSON; throws otherwise.
struct Planned {
  Plan plan;
  std::vector<Tree> bodies;  // in the order of plan.children

  /// The body of that child; null when it is not planned.
  const Tree& child(ChildType type, std::string_view name) const;
  /// The Deployment's container (or, by name, its init container); null when there is none.
  Tree container(std::string_view init = {}) const;
  /// The value of a variable of the container: a text, or the object under valueFrom, or null.
  Tree variable(std::string_view name) const;
  /// The volume of that name, or null.
  Tree volume(std::string_view name) const;
  /// Where the container mounts the volume: the whole entry, or null.
  Tree mount(std::string_view volume) const;
  /// "kind name" of every child, sorted.
  std::vector<std::string> names() const;
};
Planned plan_of(const Tree& object, const World& world);
Planned plan_of(const Tree& object);

/// The whole plan as one List that `kubectl apply -f` takes.
std::string as_list(const Planned& planned);

/// Fails the test unless golden/<name>.json is that text; UPDATE_GOLDEN=1 writes it instead.
void expect_golden(const std::string& name, const std::string& text);

}  // namespace stackgate::reconcile::tests
