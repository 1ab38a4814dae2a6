// The ground that every plan function stands on: the resource's spec with the schema's defaults, and the head that all
// children have in common (names, labels, owner).
//
//   parts::Scope scope(planning);
//   parts::Workload workload = parts::read_workload(scope, {.container = "guardrail"});   // workload.hpp
//   workload.main.env.push_back(pods::env_value("STACKGATE_LISTEN", "0.0.0.0:8000"));
//   parts::add_workload(scope, workload);
//
// Everything in parts/ is pure and deterministic. A Scope is used by one thread.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reconcile/plan/kinds.hpp"
#include "services/kit/pods/members.hpp"
#include "validators/field.hpp"

namespace stackgate::reconcile::parts {

using validate::Field;

/// Where every workload listens, and what the container's port is called.
inline constexpr int workload_port = 8000;
inline constexpr std::string_view api_port_name = "api";

struct Scope {
  /// `planning` must outlive this.
  explicit Scope(const Planning& planning);
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  const Planning& planning;
  std::string name;       // of the resource
  std::string component;  // component_of() its kind
  validate::Walk walk;
  /// Reads give the schema's default where nothing is written.
  Field spec;
  /// What stands in the way of a child; conclude() reports it. (outcome.hpp)
  mutable std::vector<Problem> problems;
};

/// The operator's own image of that name; empty when it was started without.
std::string_view own_image(const Scope& scope, std::string_view name);

/// The labels of every child and pod.
pods::TextMap own_labels(const Scope& scope);
/// Those by which Services and Deployments find pods. They never change: a Deployment's selector is immutable.
pods::TextMap selector_labels(const Scope& scope);

struct ChildHead {
  pods::TextMap labels = {};  // beside own_labels(), which win
  pods::TextMap annotations = {};
  bool owned = true;  // false: outlives the resource, as claims of users' data do
  bool keep = false;  // this and the next two as in DesiredChild
  bool follows_live_replicas = false;
  bool generate_ssh_key = false;
  /// Instead of info(type).api_version.
  std::string_view api_version = {};
};

/// Writes {"apiVersion", "kind", "metadata"} and leaves the object open.
void begin_child(const Scope& scope, json::Writer& out, ChildType type, std::string_view name, const ChildHead& head);
void put_child(const Scope& scope, ChildType type, std::string name, std::string body, const ChildHead& head);

/// Appends a child to the plan; `members(json::Writer&)` writes what follows metadata.
template <class Members>
void add_child(const Scope& scope, ChildType type, std::string name, const ChildHead& head, Members&& members) {
  std::string body;
  json::Writer out(body);
  out.object([&] {
    begin_child(scope, out, type, name, head);
    members(out);
  });
  put_child(scope, type, std::move(name), std::move(body), head);
}

inline constexpr std::string_view optional_apis_condition = "OptionalAPIs";

/// Reports in the condition OptionalAPIs that `field` asks for a child that cannot be made until `product`
/// ("the Prometheus Operator") is installed.
void note_missing_api(const Scope& scope, std::string_view field, ChildType type, std::string_view product);

}  // namespace stackgate::reconcile::parts
