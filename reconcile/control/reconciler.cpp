#include "reconcile/control/reconciler.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "reconcile/compare/plan_hash.hpp"
#include "reconcile/control/refusal.hpp"
#include "reconcile/observe/store.hpp"
#include "reconcile/status/status.hpp"
#include "reconcile/status/workload.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/log/log.hpp"
#include "validators/lookup.hpp"

namespace stackgate::reconcile {
namespace {

/// Remembers what the rules asked about, so that a change of any of it is news for the resource. For one review. It
/// knows no neighbours: of two resources that want the same child the API server refuses the second one's.
class RecordingLookup final : public validate::Lookup {
 public:
  explicit RecordingLookup(validate::Lookup& behind) : behind_(behind) {}
  validate::ReferencedObject find(validate::ReferenceKind kind, std::string_view ns, std::string_view name) override {
    asked_.push_back(reference(cluster::resource_type(kind).plural, ns, name));
    return behind_.find(kind, ns, name);
  }
  bool neighbours(std::string_view, std::vector<validate::Neighbour>&) override { return true; }
  /// See reference() in observe/store.hpp.
  std::vector<std::string> take() { return std::move(asked_); }

 private:
  validate::Lookup& behind_;
  std::vector<std::string> asked_;
};

/// Made once the others are there: pods mount them and run as their account, and the API server looks a binding's role
/// up when it is created.
bool needs_others(ChildType type) {
  return type == ChildType::role_binding || type == ChildType::deployment || type == ChildType::leader_worker_set ||
         type == ChildType::job;
}

/// `drift`: somebody else had changed or deleted the child. Who wonders where a change by hand has gone finds that at
/// the usual level; other writes are for debugging.
void log_child(const Key& key, std::string_view what, std::string_view kind, std::string_view name,
               std::string_view why, bool drift) {
  (drift ? log::info : log::debug)(what, {{"resource", to_string(key)}, {"kind", kind}, {"name", name}, {"why", why}});
}

/// `was`: the state until now, empty when there was none.
void log_status(const Key& key, std::string_view was, const Status& status) {
  const auto ready = std::ranges::find(status.conditions, "Ready", &Condition::type);
  const bool has_reason = ready != status.conditions.end();
  log::info("status", {{"resource", to_string(key)},
                       {"state", to_string(status.state)},
                       {"was", was},
                       {"reason", has_reason ? std::string_view(ready->reason) : std::string_view{}},
                       {"why", has_reason ? std::string_view(ready->message) : std::string_view{}}});
}

}  // namespace

/// What one pass has done so far.
struct Reconciler::Progress {
  Pass pass;
  bool children_written = false;
  bool learned = false;            // the store holds an object by now of which the view knows nothing, or too little
  bool looks_again = false;        // the children are judged once more for that
  std::optional<Problem> problem;  // the first that users have to know of
  /// A child; `repair`: somebody else had changed or deleted it.
  void wrote(bool repair = false) {
    ++pass.writes;
    pass.repairs += repair ? 1 : 0;
    children_written = true;
  }
  void refused(std::string_view kind, std::string_view name, const kube::ApiError& error) {
    failed(error);
    if (!problem) problem = refusal(kind, name, error);
  }
  void failed(const kube::ApiError& error) {
    pass.result = Pass::Result::try_again;
    if (pass.error.empty() || pass.waiting != Pass::Waiting::no) pass.error = error.message;
    pass.waiting = Pass::Waiting::no;
  }
  void waits(Pass::Waiting whom, std::string_view kind, std::string_view name, std::string_view why) {
    pass.look_within = name_retry;
    if (pass.result == Pass::Result::try_again) return;  // a failure, or an earlier wait
    pass.result = Pass::Result::try_again;
    pass.waiting = whom;
    pass.news = learned;
    pass.error = fmt::format("{} {}: {}", kind, name, why);
  }
};

Reconciler::Reconciler(kube::Client& client, Store& store, const ClusterWatches& watches, ReconcilerOptions options)
    : client_(client),
      store_(store),
      watches_(watches),
      options_(std::move(options)),
      writer_(client, store, watches) {}

Pass Reconciler::run(const Key& key, bool defer_status) {
  Progress progress;
  std::unique_ptr<const Observation> view;
  Plan plan;
  const auto look = [&] {
    view = std::make_unique<const Observation>(store_, key);
    if (view->is_there()) plan = plan_for(key, *view);
    return view->is_there();
  };
  if (!look() || view->resource().deleting) late_.forget(key);
  if (!view->is_there()) return progress.pass;
  const auto lost = view->snapshot().lost;
  if (plan.acts) write_children(key, *view, plan, progress);
  if (progress.learned) {
    // Whose it is decides what the status says: not that the child is about to be made.
    if (!look()) return progress.pass;
    progress.looks_again = true;
    if (plan.acts) write_children(key, *view, plan, progress);
  }
  if (progress.children_written) {
    if (defer_status && !progress.problem && progress.pass.result == Pass::Result::settled) {
      progress.pass.result = Pass::Result::status_waits;
      return progress.pass;
    }
    // The status speaks of what is there now.
    if (!look()) return progress.pass;
  }
  if (view->resource().deleting) return progress.pass;
  if (progress.pass.result == Pass::Result::settled) store_.forget_lost(key, lost);
  write_status(key, *view, plan, progress);
  progress.pass.look_after = late_.warn(key, view->resource(), plan, std::chrono::system_clock::now(), options_.record);
  return progress.pass;
}

Plan Reconciler::plan_for(const Key& key, const Observation& view) {
  std::vector<std::string> references = view.references();
  validate::Findings findings;
  if (!view.resource().deleting) {
    const auto lookup = options_.lookup();
    RecordingLookup recording(*lookup);
    findings = validate::review({.kind = key.kind, .object = view.resource().object, .ns = key.ns}, &recording,
                                options_.rules);
    std::ranges::move(recording.take(), std::back_inserter(references));
  }
  store_.set_references(key, std::move(references));
  return make_plan(view.resource(), view.observed(watches_.served(), findings), options_.settings);
}

void Reconciler::write_children(const Key& key, const Observation& view, const Plan& plan, Progress& progress) {
  for (const bool second : {false, true}) {
    std::vector<ChildWriter::Creation> missing;
    for (const DesiredChild& child : plan.children)
      if (needs_others(child.type) == second) write_child(key, view, child, progress, missing);
    create(key, missing, progress);
  }
  prune(key, view, plan, progress);
}

void Reconciler::create(const Key& key, std::span<const ChildWriter::Creation> missing, Progress& progress) {
  if (missing.empty()) return;
  const auto done = writer_.create(key, missing);
  for (std::size_t i = 0; i < done.size(); ++i) {
    const DesiredChild& child = *missing[i].child;
    const std::string_view kind = info(child.type).kind;
    if (done[i]) {
      progress.wrote(missing[i].drift);
      log_child(key, "child created", kind, child.name, missing[i].why, missing[i].drift);
    } else if (done[i].error().conflict() && !progress.looks_again) {
      progress.learned = true;
    } else {
      progress.refused(kind, child.name, done[i].error());
    }
  }
}

void Reconciler::write_child(const Key& key, const Observation& view, const DesiredChild& child, Progress& progress,
                             std::vector<ChildWriter::Creation>& missing) {
  const json::Value& body = child.body.root();
  const std::string hash = plan_hash(body, child.follows_live_replicas);
  const WantedChild wanted{.body = body,
                           .hash = hash,
                           .keep = child.keep,
                           .owned = json::at(&body, {"metadata", "ownerReferences"}) != nullptr,
                           .adopts = child.type != ChildType::persistent_volume_claim};
  const FoundChild found = view.find(child.type, child.name);
  Verdict verdict = judge(wanted, found);
  const std::string_view kind = info(child.type).kind;
  if (verdict.need == Need::nothing) return;
  const StoredChild* stored = view.stored(child.type, child.name);
  // An older API server drops what it does not know: applying it again would change nothing.
  if (verdict.need == Need::update && stored->applied == hash) return;
  if (!options_.may_write()) {
    progress.failed({.message = "not the leader any more"});
    return;
  }
  const bool waits = verdict.need == Need::wait;
  if (verdict.need == Need::taken || (waits && found.ownership == Ownership::foreign)) {  // no watch reports it
    const auto free = writer_.look_again(key, child.type, child.name);
    if (!free) return progress.failed(free.error());
    if (!*free && waits) return progress.waits(Pass::Waiting::for_deletion, kind, child.name, verdict.why);
    if (!*free) {
      progress.waits(Pass::Waiting::for_a_person, kind, child.name, "the name is taken");
      if (!progress.problem) progress.problem = name_taken(kind, child.name);
      return;
    }
    verdict.need = Need::create;
  }
  if (verdict.need == Need::adopt) return adopt(key, body, *stored, progress);
  if (verdict.need == Need::wait) return progress.waits(Pass::Waiting::for_deletion, kind, child.name, verdict.why);
  if (verdict.need == Need::create) {
    const bool lost =
        std::ranges::find(view.snapshot().lost, std::pair(child.type, child.name)) != view.snapshot().lost.end();
    missing.push_back({&child, hash, lost ? "somebody deleted it" : std::move(verdict.why), lost});
    return;
  }
  if (const auto done = writer_.update(key, child, hash, *stored); done) {
    progress.wrote(verdict.drift);
    log_child(key, "child updated", kind, child.name, verdict.why, verdict.drift);
  } else {
    progress.refused(kind, child.name, done.error());
  }
}

void Reconciler::adopt(const Key& key, const json::Value& body, const StoredChild& orphan, Progress& progress) {
  const std::string_view kind = info(orphan.type).kind;
  if (const auto done = writer_.adopt(key, body, orphan); !done)
    return progress.refused(kind, orphan.name, done.error());
  progress.wrote(true);
  log_child(key, "child adopted", kind, orphan.name, "it had lost its owner", true);
  // What else was changed while nobody looked after it is judged now.
  if (progress.looks_again) progress.failed({.message = "a child was taken back"});
  progress.learned = true;
}

void Reconciler::prune(const Key& key, const Observation& view, const Plan& plan, Progress& progress) {
  for (const StoredChild& child : view.snapshot().children) {
    if (child.owner_uid != view.resource().uid) continue;
    const bool wanted = std::ranges::any_of(
        plan.children, [&](const DesiredChild& each) { return each.type == child.type && each.name == child.name; });
    const FoundChild found = view.find(child.type, child.name);
    if (wanted || found.object == nullptr) continue;
    if (json::at(found.object, {"metadata", "deletionTimestamp"}) != nullptr) continue;
    if (!options_.may_write()) return progress.failed({.message = "not the leader any more"});
    if (auto removed = writer_.remove(key, child); !removed) {
      progress.failed(removed.error());
      continue;
    }
    progress.wrote();
    log::info("child removed", {{"resource", to_string(key)}, {"kind", info(child.type).kind}, {"name", child.name}});
  }
}

void Reconciler::write_status(const Key& key, const Observation& view, const Plan& plan, Progress& progress) {
  const bool reports = progress.problem && !is_reported(plan.status, *progress.problem);
  const Status status = reports ? blocked_by(plan.status, *progress.problem) : plan.status;
  const std::string body = status_json(status, view.resource().generation, view.resource().status,
                                       to_rfc3339(std::chrono::system_clock::now()));
  if (body.empty()) return;
  if (!options_.may_write()) return progress.failed({.message = "not the leader any more"});
  std::string patch;
  json::Writer writer(patch);
  writer.object([&] {
    writer.object("metadata", [&] { writer.member("uid", view.resource().uid); });  // never the status of a namesake
    writer.key("status");
    writer.raw(body);
  });
  const std::string path = kube::object_path(cluster::resource_type(key.kind), key.ns, key.name, "status") +
                           "?fieldManager=stackgate-status";
  const Store::OwnWrite writing(store_, key);
  const auto answer = client_.request("PATCH", path, patch, "application/merge-patch+json", true);
  if (!answer) {
    // It went meanwhile: its deletion is on the way to us.
    if (!answer.error().not_found()) progress.failed(answer.error());
    return;
  }
  ++progress.pass.writes;
  json::Document stored;
  if (json::parse(answer->body, stored)) store_.wrote_resource(key, stored.root);
  log_status(key, json::text(view.resource().status, {"state"}), status);
  for (const EventNote& note : plan.events) options_.record(view.resource(), note);
  if (reports)
    options_.record(view.resource(),
                    {.warning = true, .reason = progress.problem->reason, .message = progress.problem->message});
}

}  // namespace stackgate::reconcile
