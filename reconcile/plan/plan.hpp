// The decision: what shall exist for a resource, and what its status is. One pure function of values.
//
//   Resource (as stored) ─┐
//   Observed (children,   ├─→ make_plan() ─→ Plan: children as they shall be, status, events
//   pods, references)     │
//   Settings (flags)     ─┘
//
// Level-based: the same input gives the same plan, whatever happened before and however often it is asked. What the
// plan does not name is pruned by the caller when this resource's owner reference is on it. No I/O, no clock, no
// randomness; thread-safe.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crds/kinds.hpp"
#include "reconcile/child_types.hpp"
#include "reconcile/status/status.hpp"
#include "services/kit/findings/finding.hpp"
#include "services/kit/json/document.hpp"
#include "services/kit/pod_problems/pod.hpp"
#include "validators/lookup.hpp"

namespace stackgate::reconcile {

/// The resource as it is stored, without managedFields and kubectl's last-applied annotation.
struct Resource {
  crds::Kind kind;
  std::string_view ns, name, uid;
  std::int64_t generation = 0;
  bool deleting = false;
  const json::Value* object = nullptr;  // the whole object; never nullptr
  const json::Value* spec = nullptr;    // never nullptr; an empty object when absent
  const json::Value* status = nullptr;  // nullptr when none was written
};

/// An object in the cluster that bears the name of a planned child or this resource's owner reference.
struct LiveChild {
  ChildType type;
  std::string_view name;
  const json::Value* object = nullptr;  // without managedFields
  bool owned = false;                   // carries this resource's owner reference, by uid
};

/// A Secret or ConfigMap that the resource's pods read.
struct InputFacts {
  ChildType type;  // secret or config_map
  std::string name;
  std::string content_hash = {};  // 16 hex digits of a SHA-256 over its keys and values; empty: there is none
  bool needed = true;             // without it no pod starts
  bool reloaded = false;          // the pods look for changes themselves: these restart nothing
  /// Where the resource names it and its keys: "spec.authSecret". The rules' findings about it stand there.
  std::vector<std::string> fields = {};
};

/// The InferenceCache that an InferenceService names.
struct CacheFacts {
  bool exists = false;
  std::string state = {};  // status.state
  std::string claim = {};  // status.pvc, or what its spec says
  std::string sub_path = {};
  std::string message = {};  // of its Ready condition
};

/// What the API server serves; asked once, and again when a CRD comes or goes.
struct Served {
  std::string_view autoscaling = "autoscaling/v2";  // or autoscaling/v2beta2
  bool http_routes = false, service_monitors = false, leader_worker_sets = false;
};

struct Observed {
  std::span<const LiveChild> children;
  std::span<const PodFacts> pods;
  std::span<const InputFacts> inputs;  // those of inputs_of()
  CacheFacts cache;
  /// secrets.gitAdminSecret of the StackDatastore in this namespace that spec.datastore.endpoint names; empty: unknown.
  std::string_view datastore_admin = {};
  Served served;
  /// What the rules find in the resource as it is stored. With a fault of the resource itself nothing is planned and
  /// what runs is left alone; what they find about other objects is reported and waited for. See findings.hpp.
  std::span<const validate::Finding> findings;

  const LiveChild* find(ChildType type, std::string_view name) const {
    for (const LiveChild& child : children)
      if (child.type == type && child.name == name) return &child;
    return nullptr;
  }
};

/// What the operator was started with.
struct Settings {
  /// Service images for stack resources without spec.image: by the last part of their name ("datastore", …, "puller").
  std::map<std::string, std::string, std::less<>> images;
  std::vector<std::string> gpu_resources;  // names that count as a GPU beside those ending in "/gpu"
  /// Whether workflow pods of an evaluator may also create and patch workflowtaskresults, as the executor of Argo
  /// Workflows 3.4 and later needs it; the specification's rights alone otherwise.
  bool workflow_task_results = false;
};

/// The whole object: apiVersion, kind, metadata (name, namespace, labels, annotations, owner reference) and what its
/// kind has. Only fields that the plan wants to own; quantities as Kubernetes writes them. Parsed once, where it is
/// made; copies share it. Immutable and thread-safe.
class ChildBody {
 public:
  ChildBody() = default;
  /// Throws std::logic_error when `json` is none: a plan function is broken.
  explicit ChildBody(std::string json);

  /// Compact JSON.
  const std::string& text() const { return data_->text; }
  const json::Value& root() const { return data_->document.root; }

 private:
  struct Data {
    std::string text;
    json::Document document;  // views `text`
  };
  std::shared_ptr<const Data> data_;
};

/// A child as it shall be.
struct DesiredChild {
  ChildType type;
  std::string name;
  ChildBody body;
  /// Made once and then left as it is: generated keys, claims (whose spec is immutable but for the size).
  bool keep = false;
  /// spec.replicas was taken from the live object because an autoscaler sets it: a change of it alone is no new plan.
  bool follows_live_replicas = false;
  /// A key pair is put in when the object is made: Secret data "id" and "id.pub" (OpenSSH formats).
  bool generate_ssh_key = false;
};

/// One event to record on the resource; repeats of the same are folded by the recorder.
struct EventNote {
  bool warning = true;
  std::string reason, message;
};

struct Plan {
  std::vector<DesiredChild> children;  // ordered by ChildType
  /// False: the resource is refused or leaving, and children that exist are not touched, not even pruned.
  bool acts = true;
  Status status;
  std::vector<EventNote> events;  // to go with the status, when that says something new
  /// Of what is missing and mostly comes in a moment: to be recorded once the condition ReferencesResolved has been
  /// False for a while.
  std::vector<EventNote> late_events;
};

Plan make_plan(const Resource& resource, const Observed& observed, const Settings& settings);

/// The Secrets and ConfigMaps that the resource's pods read, each once, in the order of the fields. The
/// caller fills in content_hash and hands them in as Observed::inputs.
std::vector<InputFacts> inputs_of(crds::Kind kind, const json::Value& spec);

/// The objects of one kind that the resource names, whether it makes them or not.
std::vector<std::string> names_of(validate::ReferenceKind wanted, crds::Kind kind, const json::Value& spec);

}  // namespace stackgate::reconcile
