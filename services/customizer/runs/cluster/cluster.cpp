#include "services/customizer/runs/cluster/cluster.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/customizer/objects/names.hpp"
#include "services/customizer/observe/sight.hpp"
#include "services/customizer/runs/cluster/seen_objects.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::customizer {
namespace cluster_detail {

constexpr std::chrono::seconds refusal_lasts{30}, away_lasts{2};
constexpr std::chrono::seconds positions_limit{1}, positions_last{5}, positions_absent{60};

/// Of what others have made, labels of ours do not come with it.
constexpr std::string_view our_label = "app.kubernetes.io/managed-by=stackgate-customizer";

kube::WatchTarget target_of(Kind kind, const std::string& ns) {
  kube::WatchTarget out{.type = type_of(kind), .ns = ns};
  if (kind == Kind::event)
    out.field_selector = "type=Warning";
  else if (kind != Kind::pod_group && kind != Kind::workload)
    out.label_selector = our_label;
  return out;
}

Error to_error(const kube::ApiError& error) { return Error{error.message}; }

}  // namespace cluster_detail

using namespace cluster_detail;

ClusterExecutor::ClusterExecutor(ClusterOptions options, std::unique_ptr<kube::Client> client)
    : options_(std::move(options)),
      ns_(options_.addresses.kubernetes_namespace),
      client_(std::move(client)),
      watches_(client_->transport(), {ns_}) {}

std::expected<std::unique_ptr<ClusterExecutor>, Error> ClusterExecutor::open(ClusterOptions options) {
  auto client = TRY(kube::Client::connect(options.config, options.client));
  std::unique_ptr<ClusterExecutor> out(new ClusterExecutor(std::move(options), std::move(client)));
  out->watch();
  return out;
}

ClusterExecutor::~ClusterExecutor() = default;

kube::CallOptions ClusterExecutor::patiently() const {
  kube::CallOptions out;
  out.timeout = options_.call_limit;
  out.retry.total = options_.call_limit;
  return out;
}

void ClusterExecutor::watch() {
  for (std::size_t i = 0; i < watched_types.size(); ++i)
    if (const auto each = static_cast<Kind>(i); is_watched(each, options_.setup.scheduler))
      subscriptions_.emplace(each, watches_.subscribe(target_of(each, ns_), store_.sink(each)));
  watches_.start();
}

std::string ClusterExecutor::problem() const { return watches_.contact().problem(); }

std::expected<void, Error> ClusterExecutor::available() const {
  if (!watches_.synced()) return std::unexpected(Error{kube::first_lists_problem(watches_.report())});
  for (const auto& [kind, subscription] : subscriptions_) {
    if (kind == Kind::event || kind == Kind::pod_group || kind == Kind::workload) continue;  // why it waits, only
    if (subscription.coverage(ns_) == kube::Coverage::refused)
      return std::unexpected(
          Error{fmt::format("{} in the namespace {} may not be listed", kube::to_string(type_of(kind)), ns_)});
  }
  return {};
}

ObjectStore::Objects ClusterExecutor::model_of(const Work& work) const {
  if (work.job.target.uri.kind == ModelUri::Kind::none) return {};
  return store_.of(model_job_name(work.job.target, options_.setup.model_claim.name));
}

std::vector<std::expected<Seen, Error>> ClusterExecutor::look(std::span<const Work* const> all) {
  std::vector<std::expected<Seen, Error>> out;
  for (const Work* each : all) {
    const std::string& id = each->job.id;
    Seen seen = seen_of(*each, options_.setup, store_.of(id), model_of(*each));
    const Customization& job = each->stored.job;
    if (is_final(job.state)) readings_.erase(id);
    if (job.stage(Stage::download).state != State::completed && !is_final(job.state) &&
        each->job.target.uri.kind != ModelUri::Kind::none)
      models_[model_job_name(each->job.target, options_.setup.model_claim.name)].insert(id);
    if (const auto refusal = refusals_.find(id); refusal != refusals_.end()) {
      const auto stage = std::ranges::find_if(all_stages, [&](Stage which) {
        return !is_final(job.stage(which).state) &&
               seen.stages.at(static_cast<std::size_t>(which)).objects == StageSight::Objects::absent;
      });
      if (stage != all_stages.end())
        seen.stages.at(static_cast<std::size_t>(*stage)) = {.objects = StageSight::Objects::there,
                                                            .state = State::failed,
                                                            .may_retry = true,
                                                            .message = refusal->second};
      refusals_.erase(refusal);
    }
    out.emplace_back(std::move(seen));
  }
  if (options_.setup.scheduler == Scheduler::kueue) show_positions(all, out);
  return out;
}

void ClusterExecutor::show_positions(std::span<const Work* const> all, std::vector<std::expected<Seen, Error>>& seen) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!seen[i]) continue;
    StageSight& training = seen[i]->stages.at(static_cast<std::size_t>(Stage::training));
    if (training.state != State::pending || training.message.empty()) continue;
    const auto own = store_.of(all[i]->job.id);
    const std::string_view job = job_without_quota(own);
    if (job.empty()) continue;
    ask_positions();
    if (const auto found = positions_.find(job); found != positions_.end())
      training.message += position_text(found->second);
  }
}

/// Not for each that waits, and seldom where nobody serves it.
void ClusterExecutor::ask_positions() {
  const auto now = std::chrono::steady_clock::now();
  if (now < positions_until_) return;
  const auto found = kube::object_of(client_
                                         ->start({.path = kube::object_path(types::visible_local_queues, ns_,
                                                                            options_.setup.queue, "pendingworkloads")},
                                                 kube::CallOptions::once(positions_limit))
                                         .wait());
  positions_ = found ? positions_of(found->root()) : Positions{};
  positions_until_ = now + (found || !found.error().not_found() ? positions_last : positions_absent);
}

std::expected<void, Error> ClusterExecutor::refuse(const Work& work, std::string why) {
  refusals_.insert_or_assign(work.job.id, std::move(why));  // the next look shows it
  return {};
}

std::expected<void, Error> ClusterExecutor::make(const Work& work, const PlannedObject& object) {
  // All customizations wait for one that waits: who did not answer a moment ago is not asked for each of them.
  if (std::chrono::steady_clock::now() < away_until_) return std::unexpected(away_);
  const auto made = kube::object_of(client_->send(kube::Request::create(object.type, ns_, object.body), patiently()));
  note("object");
  if (made) {
    if (const auto kind = kind_of(object.type)) store_.wrote(*kind, made->root());
    return {};
  }
  if (made.error().reason == "AlreadyExists") return take_over(work, object);
  if (std::string why = quota_refusal(object, made.error()); !why.empty())
    return std::unexpected(Error{std::move(why)});
  if (std::string why = lasting_refusal(object, made.error()); !why.empty()) {
    if (!lasts(work.job.id, made.error())) return std::unexpected(Error{std::move(why)});
    return refuse(work, std::move(why));
  }
  if (made.error().failure != kube::Failure::answered) {
    away_until_ = std::chrono::steady_clock::now() + away_lasts;
    away_ = to_error(made.error());
  }
  return std::unexpected(to_error(made.error()));
}

/// An API server that has just begun knows neither rights nor definitions.
bool ClusterExecutor::lasts(const std::string& id, const kube::ApiError& error) {
  if (error.code != 403 && error.code != 404) return true;
  const auto now = std::chrono::steady_clock::now();
  return now - refused_since_.try_emplace(id, now).first->second >= refusal_lasts;
}

/// There is one of the name: ours, of an earlier call, or somebody else's.
std::expected<void, Error> ClusterExecutor::take_over(const Work& work, const PlannedObject& object) {
  if (object.type.plural == "secrets" || object.type.plural == "services") return {};  // which may not be read
  const auto found = client_->get(object.type, ns_, object.name, patiently());
  if (!found) return std::unexpected(to_error(found.error()));
  const auto kind = kind_of(object.type);
  if (kind) store_.wrote(*kind, found->root());
  if (object.shared) return replace_failed(object, *found);
  if (kind == Kind::job || kind == Kind::volcano_job) return {};  // what is seen of it shows whose it is
  if (json::text(&found->root(), {"metadata", "labels", customization_label}) == work.job.id) {
    if (kind != Kind::claim || kube::metadata(found->root(), "deletionTimestamp").empty()) return {};
    return std::unexpected(Error{"the workspace of an earlier attempt is being deleted"});
  }
  return refuse(work, fmt::format("there is an object {} {} that is not this customization's; delete it",
                                  kube::to_string(object.type), object.name));
}

std::expected<void, Error> ClusterExecutor::replace_failed(const PlannedObject& object, const kube::Object& found) {
  if (!has_failed(found.root())) return {};
  const std::string_view uid = kube::metadata(found.root(), "uid");
  const auto gone = client_->remove(object.type, ns_, object.name, {.uid = uid}, patiently());
  if (!gone && !gone.error().not_found()) return std::unexpected(to_error(gone.error()));
  const auto made = kube::object_of(client_->send(kube::Request::create(object.type, ns_, object.body), patiently()));
  if (!made) return std::unexpected(to_error(made.error()));
  store_.wrote(Kind::job, made->root());
  return {};
}

std::expected<void, Error> ClusterExecutor::create(const Work& work, Stage stage) {
  const std::string& id = work.job.id;
  const auto planned =
      objects_of_stage(work, stage, options_.setup, options_.defaults(), options_.addresses, store_.of(id));
  for (const PlannedObject& each : planned) {
    TRY(make(work, each));
    if (refusals_.contains(id)) break;
  }
  refused_since_.erase(id);
  return {};
}

std::expected<void, Error> ClusterExecutor::remove(const NamedObject& object) {
  kube::DeleteOptions how;
  if (object.kept != nullptr) how.uid = object.kept->uid;
  const auto gone = client_->remove(object.type, ns_, object.name, how, patiently());
  note("deletion");
  if (!gone && !gone.error().not_found()) return std::unexpected(to_error(gone.error()));
  if (object.kept != nullptr) store_.deleted(*object.kept);
  return {};
}

std::expected<void, Error> ClusterExecutor::cancel(const Work& work, Stage stage) {
  const KeptPtr job =
      job_of(store_.of(work.job.id), options_.setup, work.job.id, stage, work.stored.job.stage(stage).attempts);
  if (job == nullptr || job->ending) return {};  // its pods are ending
  return remove({type_of(job->kind), job->name, job});
}

std::expected<void, Error> ClusterExecutor::clean_up(const Work& work) {
  for (const NamedObject& each : objects_to_delete(work, options_.setup, store_.of(work.job.id))) TRY(remove(each));
  return {};
}

void ClusterExecutor::forget(std::string_view id) {
  const auto drop = [&](auto& map) {
    if (const auto found = map.find(id); found != map.end()) map.erase(found);
  };
  drop(refused_since_);
  drop(refusals_);
  drop(readings_);
  for (auto& [model, waiting] : models_) drop(waiting);
}

bool ClusterExecutor::has_workspace(const Work& work) const { return has_claim(store_.of(work.job.id)); }

std::vector<std::string> ClusterExecutor::changed() {
  std::vector<std::string> out;
  for (std::string& group : store_.take_changed()) {
    if (!group.starts_with("model-")) {
      out.push_back(std::move(group));
      continue;
    }
    // Whoever still waits is entered again when it is looked at.
    const auto waiting = models_.find(group);
    if (waiting == models_.end()) continue;
    out.insert(out.end(), waiting->second.begin(), waiting->second.end());
    models_.erase(waiting);
  }
  return out;
}

}  // namespace stackgate::customizer
