#include "reconcile/control/reconciler.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "reconcile/compare/stamp.hpp"
#include "reconcile/control/recording_lookup.hpp"
#include "reconcile/control/refusal.hpp"
#include "reconcile/control/tell.hpp"
#include "reconcile/plan/datastore_client.hpp"
#include "reconcile/status/blocked.hpp"
#include "reconcile/status/read.hpp"
#include "reconcile/status/workload.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::reconcile {
namespace {

std::string now_text() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));
}

/// What a service needs to know of its cache.
CacheFacts cache_facts(const Store& store, const Resource& service) {
  const std::string_view name = read::text(service.spec, {"storage", "nimCache", "name"});
  if (name.empty()) return {};
  const auto stored = store.resource({crds::Kind::inference_cache, std::string(service.ns), std::string(name)});
  json::Document document;
  if (!stored || !json::parse(*stored->json, document)) return {};
  const json::Value* cache = &document.root;
  const json::Value* ready = read::condition(cache, "Ready");
  return {.exists = true,
          .state = stored->state,
          .claim = std::string(read::text(cache, {"status", "pvc"})),
          .sub_path = std::string(read::text(cache, {"spec", "storage", "pvc", "subPath"})),
          .message = std::string(read::text(ready, {"message"}))};
}

/// The Secret of the StackDatastore that an entitystore keeps its files in, when that is one of this namespace.
std::string admin_of(const Store& store, const Resource& resource, std::string_view datastore) {
  if (datastore.empty()) return {};
  const auto stored = store.resource({crds::Kind::stack_datastore, std::string(resource.ns), std::string(datastore)});
  json::Document document;
  if (!stored || !json::parse(*stored->json, document)) return {};
  return std::string(read::text(&document.root, {"spec", "secrets", "gitAdminSecret"}));
}

/// Made once the others are there: pods mount them and run as their account, and the API server looks a binding's role
/// up when it is created.
bool needs_others(ChildType type) {
  return type == ChildType::role_binding || type == ChildType::deployment || type == ChildType::leader_worker_set ||
         type == ChildType::job;
}

/// The plan sees by itself that a name is taken, and has words of its own for it where it knows more.
bool is_told(const Status& status, const Trouble& trouble) {
  return trouble.reason == name_taken_reason &&
         std::ranges::any_of(status.conditions, [&](const Condition& each) { return each.reason == trouble.reason; });
}

/// The claims that pods of the resource may mount although it does not make them.
std::vector<std::string> named_claims(const Resource& resource, const CacheFacts& cache) {
  std::vector<std::string> out;
  for (const read::Path path : {read::Path{"pvc"}, read::Path{"storage", "pvc"}, read::Path{"configStore", "pvc"},
                                read::Path{"trainingConfig", "modelPVC"}})
    if (const std::string_view name = read::text(read::at(resource.spec, path), {"name"}); !name.empty())
      out.emplace_back(name);
  if (!cache.claim.empty()) out.push_back(cache.claim);
  return out;
}

}  // namespace

/// The snapshot of one pass, parsed.
struct Reconciler::View {
  Snapshot snapshot;
  json::Document document;
  Resource resource;
  std::deque<json::Document> documents;  // of the children
  std::vector<LiveChild> children;
  std::vector<InputFacts> inputs;
  CacheFacts cache;
  std::string datastore_admin;
  std::vector<Text> claims;  // what the documents of named claims view
  validate::Findings findings;

  /// False when the resource is gone.
  bool load(const Key& key, Snapshot taken);
  FoundChild find(ChildType type, std::string_view name) const;
  bool has(ChildType type, std::string_view name) const {
    return std::ranges::any_of(children, [&](const auto& each) { return each.type == type && each.name == name; });
  }
};

bool Reconciler::View::load(const Key& key, Snapshot taken) {
  snapshot = std::move(taken);
  if (!snapshot.resource || !json::parse(*snapshot.resource->json, document)) return false;
  static const json::Value empty = json::Value::make_object({}, 0);
  const json::Value* spec = document.root.find("spec");
  resource = {.kind = key.kind,
              .ns = key.ns,
              .name = key.name,
              .uid = snapshot.resource->uid,
              .generation = snapshot.resource->generation,
              .deleting = read::at(&document.root, {"metadata", "deletionTimestamp"}) != nullptr,
              .object = &document.root,
              .spec = spec == nullptr ? &empty : spec,
              .status = document.root.find("status")};
  documents.clear();
  children.clear();
  for (const StoredChild& child : snapshot.children) {
    json::Document& parsed = documents.emplace_back();
    if (!json::parse(*child.json, parsed)) continue;
    children.push_back({child.type, child.name, &parsed.root, child.owner_uid == resource.uid});
  }
  return true;
}

FoundChild Reconciler::View::find(ChildType type, std::string_view name) const {
  for (std::size_t i = 0; i < children.size(); ++i) {
    if (children[i].type != type || children[i].name != name) continue;
    const auto stored = std::ranges::find_if(
        snapshot.children, [&](const StoredChild& each) { return each.type == type && each.name == name; });
    if (stored == snapshot.children.end()) return {};  // a claim that is only named
    return {.object = children[i].object,
            .ownership = ownership_of(*children[i].object, resource.kind, resource.name, resource.uid),
            .ours = stored->managed};
  }
  return {};
}

/// What one pass has done so far.
struct Reconciler::Write {
  Pass pass;
  bool children_written = false;
  bool learned = false;            // the store holds an object by now of which the view knows nothing, or too little
  bool looks_again = false;        // the children are judged once more for that
  std::optional<Trouble> trouble;  // the first that users have to know of
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

Reconciler::Reconciler(kube::Client& client, Store& store, const World& world, ReconcilerOptions options)
    : client_(client), store_(store), world_(world), options_(std::move(options)), writer_(client, store, world) {}

Pass Reconciler::run(const Key& key, bool defer_status) {
  Write write;
  View view;
  if (!view.load(key, store_.snapshot(key))) return write.pass;
  Plan plan = plan_for(key, view);
  if (plan.acts) {
    write_children(key, view, plan, write);
    if (write.learned) {
      // Whose it is decides what the status says: not that the child is about to be made.
      if (!view.load(key, store_.snapshot(key))) return write.pass;
      plan = plan_for(key, view);
      write.looks_again = true;
      write_children(key, view, plan, write);
    }
    if (write.children_written) {
      if (defer_status && !write.trouble && write.pass.result == Pass::Result::settled) {
        write.pass.result = Pass::Result::status_waits;
        return write.pass;
      }
      // The status speaks of what is there now.
      if (!view.load(key, store_.snapshot(key))) return write.pass;
      plan = plan_for(key, view);
    }
  }
  if (view.resource.deleting) return write.pass;
  write_status(key, view, plan, write);
  write.pass.look_after = late_.tell(key, view.resource, plan, std::chrono::system_clock::now(), options_.record);
  return write.pass;
}

Plan Reconciler::plan_for(const Key& key, View& view) {
  std::vector<std::string> references;
  if (!view.resource.deleting) {
    const auto lookup = options_.lookup();
    RecordingLookup recording(*lookup);
    view.findings =
        validate::review({.kind = key.kind, .object = view.resource.object, .ns = key.ns}, &recording, options_.rules);
    references = recording.take();
  }
  view.inputs = inputs_of(key.kind, *view.resource.spec);
  for (InputFacts& input : view.inputs) {
    references.push_back(reference(info(input.type).resource.plural, key.ns, input.name));
    input.content_hash = store_.input(input.type, key.ns, input.name).value_or("");
  }
  if (key.kind == crds::Kind::inference_service) view.cache = cache_facts(store_, view.resource);
  if (key.kind == crds::Kind::stack_entitystore) {
    const auto datastore = service_named(read::text(view.resource.spec, {"datastore", "endpoint"}), key.ns);
    view.datastore_admin = admin_of(store_, view.resource, datastore);
    if (!datastore.empty())
      references.push_back(reference(crds::info(crds::Kind::stack_datastore).plural, key.ns, datastore));
    if (const std::string& secret = view.datastore_admin; !secret.empty()) {
      view.inputs.push_back({.type = ChildType::secret, .name = secret});
      InputFacts& input = view.inputs.back();
      references.push_back(reference(info(input.type).resource.plural, key.ns, input.name));
      input.content_hash = store_.input(input.type, key.ns, input.name).value_or("");
    }
  }
  constexpr ChildType claim_type = ChildType::persistent_volume_claim;
  for (const std::string& name : named_claims(view.resource, view.cache)) {
    references.push_back(reference(info(claim_type).resource.plural, key.ns, name));
    const Text stored = store_.claim(key.ns, name);
    if (stored == nullptr || view.has(claim_type, name)) continue;
    json::Document& parsed = view.documents.emplace_back();
    if (!json::parse(*stored, parsed)) continue;
    view.claims.push_back(stored);
    view.children.push_back({claim_type, read::text(&parsed.root, {"metadata", "name"}), &parsed.root, false});
  }
  store_.set_references(key, std::move(references));
  const Observed observed{.children = view.children,
                          .pods = view.snapshot.pods,
                          .inputs = view.inputs,
                          .cache = view.cache,
                          .datastore_admin = view.datastore_admin,
                          .served = world_.served(),
                          .findings = view.findings};
  return make_plan(view.resource, observed, options_.settings);
}

void Reconciler::write_children(const Key& key, const View& view, const Plan& plan, Write& write) {
  for (const bool second : {false, true}) {
    std::vector<ChildWriter::Creation> missing;
    for (const DesiredChild& child : plan.children)
      if (needs_others(child.type) == second) write_child(key, view, child, write, missing);
    create(key, missing, write);
  }
  prune(key, view, plan, write);
}

void Reconciler::create(const Key& key, std::span<const ChildWriter::Creation> missing, Write& write) {
  if (missing.empty()) return;
  const auto done = writer_.create(key, missing);
  for (std::size_t i = 0; i < done.size(); ++i) {
    const DesiredChild& child = *missing[i].child;
    const std::string_view kind = info(child.type).kind;
    if (done[i]) {
      ++write.pass.writes;
      write.children_written = true;
      write.pass.repairs += missing[i].drift ? 1 : 0;
      tell_child(key, "child created", kind, child.name, missing[i].why, missing[i].drift);
    } else if (done[i].error().conflict() && !write.looks_again) {
      write.learned = true;
    } else {
      write.failed(done[i].error());
      if (!write.trouble) write.trouble = refusal(kind, child.name, done[i].error());
    }
  }
}

void Reconciler::write_child(const Key& key, const View& view, const DesiredChild& child, Write& write,
                             std::vector<ChildWriter::Creation>& missing) {
  json::Document body;
  if (!json::parse(child.body, body)) {
    log::error("a planned child is no JSON", {{"resource", to_string(key)}, {"kind", info(child.type).kind}});
    return;
  }
  const std::string hash = plan_hash(body.root, child.follows_live_replicas);
  const WantedChild wanted{.body = body.root,
                           .hash = hash,
                           .keep = child.keep,
                           .owned = read::at(&body.root, {"metadata", "ownerReferences"}) != nullptr,
                           .adopts = child.type != ChildType::persistent_volume_claim};
  const FoundChild found = view.find(child.type, child.name);
  Verdict verdict = judge(wanted, found);
  const std::string_view kind = info(child.type).kind;
  if (verdict.need == Need::nothing) return;
  const auto stored = std::ranges::find_if(view.snapshot.children, [&](const StoredChild& each) {
    return each.type == child.type && each.name == child.name;
  });
  // An older API server drops what it does not know: applying it again would change nothing.
  if (verdict.need == Need::update && stored->applied == hash) return;
  if (!options_.may_write()) {
    write.failed({.message = "not the leader any more"});
    return;
  }
  const bool waits = verdict.need == Need::wait;
  if (verdict.need == Need::taken || (waits && found.ownership == Ownership::foreign)) {  // no watch tells of it
    const auto free = writer_.look_again(key, child.type, child.name);
    if (!free) return write.failed(free.error());
    if (!*free && waits) return write.waits(Pass::Waiting::for_deletion, kind, child.name, verdict.why);
    if (!*free) {
      write.waits(Pass::Waiting::for_a_person, kind, child.name, "the name is taken");
      if (!write.trouble) write.trouble = name_taken(kind, child.name);
      return;
    }
    verdict.need = Need::create;
  }
  if (verdict.need == Need::adopt) return adopt(key, body.root, *stored, write);
  if (verdict.need == Need::wait) return write.waits(Pass::Waiting::for_deletion, kind, child.name, verdict.why);
  if (verdict.need == Need::create) {
    const bool lost =
        std::ranges::find(view.snapshot.lost, std::pair(child.type, child.name)) != view.snapshot.lost.end();
    missing.push_back({&child, hash, lost ? "somebody deleted it" : std::move(verdict.why), lost});
    return;
  }
  if (const auto done = writer_.update(key, child, hash, *stored); done) {
    ++write.pass.writes;
    write.children_written = true;
    write.pass.repairs += verdict.drift ? 1 : 0;
    tell_child(key, "child updated", kind, child.name, verdict.why, verdict.drift);
  } else {
    write.failed(done.error());
    if (!write.trouble) write.trouble = refusal(kind, child.name, done.error());
  }
}

void Reconciler::adopt(const Key& key, const json::Value& body, const StoredChild& orphan, Write& write) {
  const std::string_view kind = info(orphan.type).kind;
  if (const auto done = writer_.adopt(key, body, orphan); !done) {
    write.failed(done.error());
    if (!write.trouble) write.trouble = refusal(kind, orphan.name, done.error());
    return;
  }
  ++write.pass.writes;
  write.children_written = true;
  log::info("child taken back", {{"resource", to_string(key)}, {"kind", kind}, {"name", orphan.name}});
  // What else was changed while nobody looked after it is judged now.
  if (write.looks_again) write.failed({.message = "a child was taken back"});
  write.learned = true;
}

void Reconciler::prune(const Key& key, const View& view, const Plan& plan, Write& write) {
  for (const StoredChild& child : view.snapshot.children) {
    if (child.owner_uid != view.resource.uid) continue;
    const bool wanted = std::ranges::any_of(
        plan.children, [&](const DesiredChild& each) { return each.type == child.type && each.name == child.name; });
    const FoundChild found = view.find(child.type, child.name);
    if (wanted || found.object == nullptr) continue;
    if (read::at(found.object, {"metadata", "deletionTimestamp"}) != nullptr) continue;
    if (!options_.may_write()) return write.failed({.message = "not the leader any more"});
    if (auto removed = writer_.remove(key, child); !removed) {
      write.failed(removed.error());
      continue;
    }
    ++write.pass.writes;
    write.children_written = true;
    log::info("child removed", {{"resource", to_string(key)}, {"kind", info(child.type).kind}, {"name", child.name}});
  }
}

void Reconciler::write_status(const Key& key, const View& view, const Plan& plan, Write& write) {
  const bool tells = write.trouble && !is_told(plan.status, *write.trouble);
  const Status status = tells ? blocked_by(plan.status, *write.trouble) : plan.status;
  const std::string body = status_json(status, view.resource.generation, view.resource.status, now_text());
  if (body.empty()) return;
  if (!options_.may_write()) return write.failed({.message = "not the leader any more"});
  std::string patch;
  json::Writer writer(patch);
  writer.object([&] {
    writer.key("metadata");
    writer.object([&] { writer.member("uid", view.resource.uid); });  // never the status of a namesake
    writer.key("status");
    writer.raw(body);
  });
  const kube::ResourceType type{crds::api_group, crds::api_version, crds::info(key.kind).plural};
  const std::string path = kube::object_path(type, key.ns, key.name, "status") + "?fieldManager=stackgate-status";
  const Store::OwnWrite writing(store_, key);
  const auto answer = client_.request("PATCH", path, patch, "application/merge-patch+json", true);
  if (!answer) {
    // It went meanwhile: its deletion is on the way to us.
    if (!answer.error().not_found()) write.failed(answer.error());
    return;
  }
  ++write.pass.writes;
  json::Document stored;
  if (json::parse(answer->body, stored)) store_.wrote_resource(key, stored.root);
  tell_status(key, read::text(view.resource.status, {"state"}), status);
  for (const EventNote& note : plan.events) options_.record(view.resource, note);
  if (tells)
    options_.record(view.resource,
                    {.warning = true, .reason = write.trouble->reason, .message = write.trouble->message});
}

}  // namespace stackgate::reconcile
