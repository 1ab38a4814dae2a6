// `stackgate operator`: gate and reconciler in one process, over one set of watches. Wiring only.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster_state/watch_rights.hpp"
#include "reconcile/control/controller.hpp"
#include "reconcile/control/reconcile_metrics.hpp"
#include "reconcile/observe/cluster_watches.hpp"
#include "services/kit/kube/discovery.hpp"
#include "services/kit/kube/events.hpp"
#include "services/kit/kube/leader.hpp"
#include "services/kit/kube/lease.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/run/metrics.hpp"
#include "services/kit/run/stop.hpp"
#include "services/stackgate/admission.hpp"
#include "services/stackgate/process.hpp"
#include "services/stackgate/serve_options.hpp"

namespace stackgate {
namespace {

using namespace std::chrono_literals;

/// Which version of the autoscaling API is written: asked until the API server answers. Nothing after a stop signal.
std::optional<std::string_view> find_autoscaling(kube::Client& client, run::StopSignals& signals,
                                                 kube::ContactLog& contact) {
  while (true) {
    const auto found = kube::newest_served(client, "autoscaling", {"v2", "v2beta2"});
    if (found) {
      contact.answered();
      return *found == "v2beta2" ? "autoscaling/v2beta2" : "autoscaling/v2";
    }
    if (found.error().failure == kube::Failure::answered) {
      contact.answered();
      log::warning("the API server cannot be asked yet", {{"error", found.error().message}});
    } else {
      contact.failed(found.error().message);
      contact.look();
    }
    if (signals.wait_for(2s)) return std::nullopt;
  }
}

kube::ObjectReference reference_to(const reconcile::Resource& resource) {
  return {.api_version = std::string(crds::api_group_version),
          .kind = std::string(crds::info(resource.kind).name),
          .ns = std::string(resource.ns),
          .name = std::string(resource.name),
          .uid = std::string(resource.uid),
          .resource_version = {},
          .field_path = {}};
}

/// Counts all calls, and keeps the reconciler from flooding a server that does not defend itself.
kube::ClientOptions client_options(const OperatorOptions& options, metrics::Registry& registry) {
  auto& calls = registry.counter("stackgate_api_requests_total",
                                 "Calls to the API server by verb, resource and answer.", {"verb", "resource", "code"});
  auto& seconds =
      registry.histogram("stackgate_api_request_seconds", "Until the answer's head, watches excepted.", {"verb"});
  return {.rate_limit = {.per_second = static_cast<double>(options.api_calls_per_second),
                         .burst = std::max(1, static_cast<int>(options.api_calls_per_second) * 2)},
          .observer = [&calls, &seconds](const kube::SeenCall& call) {
            const std::string code = call.code == 0 ? std::string(to_string(call.failure)) : std::to_string(call.code);
            calls.at({call.verb, call.resource, code}).add();
            if (call.verb != "watch") seconds.at({call.verb}).observe(static_cast<double>(call.duration.count()) / 1e6);
          }};
}

void add_queue_metrics(metrics::Registry& registry, const reconcile::Controller& controller) {
  const auto gauge = [&](const char* name, const char* help, auto read) {
    registry.gauge_from(name, help, [&controller, read] { return static_cast<double>(read(controller.queue())); });
  };
  gauge("stackgate_queue_depth", "Resources that wait to be looked at.", [](const auto& n) { return n.depth(); });
  gauge("stackgate_queue_delayed", "Resources that are looked at again later.",
        [](const auto& n) { return n.delayed; });
  gauge("stackgate_queue_in_work", "Resources that are looked at now.", [](const auto& n) { return n.in_work; });
  gauge("stackgate_queue_failing", "Resources whose last pass failed.", [](const auto& n) { return n.failing; });
  gauge("stackgate_queue_longest_wait_seconds", "Of the resources that wait now.",
        [](const auto& n) { return std::chrono::duration<double>(n.longest_wait).count(); });
  gauge("stackgate_queue_longest_work_seconds", "Of the resources that are looked at now.",
        [](const auto& n) { return std::chrono::duration<double>(n.longest_work).count(); });
  registry.counter_from("stackgate_queue_adds_total", "Changes that were queued.",
                        [&controller] { return static_cast<double>(controller.queue().adds_total); });
  registry.counter_from("stackgate_queue_retries_total", "Passes that were put off after a failure.",
                        [&controller] { return static_cast<double>(controller.queue().retries_total); });
}

void add_store_metrics(metrics::Registry& registry, const reconcile::Store& store) {
  registry.gauge_from("stackgate_cached_resources", "Resources of ours in memory.",
                      [&store] { return static_cast<double>(store.sizes().resources); });
  registry.gauge_from("stackgate_cached_children", "Objects made for them in memory.",
                      [&store] { return static_cast<double>(store.sizes().children); });
}

/// The operator may be started before its own definitions are installed.
void log_missing_definitions(const cluster::State& state) {
  const auto missing = state.missing_definitions();
  if (missing.empty()) return;
  log::warning("custom resource definitions are not installed; waiting for them",
               {{"definitions", fmt::format("{}", fmt::join(missing, ", "))}, {"cure", "stackgate crds --apply"}});
}

std::string lease_namespace(const OperatorOptions& options) {
  return options.lease_namespace.empty() ? options.gate.service_namespace : options.lease_namespace;
}

/// Without an election nobody keeps a second process from writing: both would undo what the other has just said.
void warn_of_other_leader(kube::Client& client, const OperatorOptions& options) {
  const auto found = client.get(kube::types::leases, lease_namespace(options), options.lease_name);
  if (!found) return;
  const kube::LeaseRecord record = kube::read_lease(found->root());
  if (record.holder.empty()) return;
  log::warning("another process holds the lease; if it lives, both undo each other's writes",
               {{"lease", fmt::format("{}/{}", lease_namespace(options), options.lease_name)},
                {"holder", record.holder},
                {"renewed", record.renew_time},
                {"cure", "stop one of them, or leave out --no-leader-elect"}});
}

/// Of who is not synced. `contact` is of the time before there are watches.
std::string caches_problem(const kube::SharedWatches* watches, const kube::ContactLog& contact) {
  if (watches != nullptr) return kube::first_lists_problem(watches->report());
  const std::string error = contact.error();
  return fmt::format("the first lists are not complete yet{}{}", error.empty() ? "" : ": ", error);
}

void log_served(std::string_view definition, bool served) {
  const bool ours = definition.ends_with(fmt::format(".{}", crds::api_group));
  if (served)
    log::info("a type is served now", {{"definition", definition}});
  else if (ours)
    log::warning("a definition of ours is gone, and with it its resources: what was made for them goes too",
                 {{"definition", definition}, {"cure", "stackgate crds --apply"}});
  else
    log::info("a type is gone", {{"definition", definition}});
}

void log_what_is_known(const reconcile::Store& store, const kube::SharedWatches& watches) {
  const auto sizes = store.sizes();
  if (const std::string unseen = kube::unseen_types(watches.report()); !unseen.empty())
    log::warning(
        "the cluster is known in part: some types may not be listed",
        {{"unseen", unseen}, {"resources", sizes.resources}, {"children", sizes.children}, {"pods", sizes.pods}});
  else
    log::info("cluster is known", {{"resources", sizes.resources}, {"children", sizes.children}, {"pods", sizes.pods}});
}

}  // namespace

int run_operator(const OperatorOptions& options) {
  run::StopSignals signals;  // before any thread: threads inherit the signal mask
  configure_process(options.gate);
  metrics::Registry registry;
  run::add_process_metrics(registry);
  run::Readiness readiness;
  reconcile::ReconcileMetrics reconcile_metrics(registry);
  Endpoints endpoints(options.gate, registry);

  auto client = connect(options.gate, "operator", client_options(options, registry));
  if (!client) return fail("operator", client.error().message);

  // The controller is made last; once it is there, changes are passed to it by way of this pointer.
  std::atomic<reconcile::Controller*> running{nullptr};
  cluster::State state(cluster::State::Contents::yes);
  reconcile::Store store(state, [&running](const reconcile::Key& key) {
    if (auto* controller = running.load()) controller->changed(key);
  });
  std::atomic<bool> observing{false};
  kube::ContactLog first_contact((*client)->transport().config().server);
  std::atomic<const kube::SharedWatches*> watching{nullptr};
  readiness.add("caches", [&observing, &watching, &first_contact] {
    return observing ? std::string() : caches_problem(watching, first_contact);
  });
  registry.before_reading([&reconcile_metrics, &store] { reconcile_metrics.count_states(store); });
  const EndpointsEnd endpoints_end_first{endpoints};
  if (auto served = endpoints.serve(readiness); !served) return fail("operator", served.error().message);

  const auto autoscaling = find_autoscaling(**client, signals, first_contact);
  if (!autoscaling) return 0;
  kube::SharedWatches watches((*client)->transport(), options.gate.namespaces);
  state.subscribe(watches);
  cluster::ClusterLookup lookup(**client, state);
  reconcile::ClusterWatches cluster_watches(watches, store, *autoscaling);
  watches.on_served_changed([&](std::string_view definition, bool served) {
    if (observing) log_served(definition, served);
    if (auto* controller = running.load())
      for (const reconcile::Key& key : store.resources()) controller->changed(key);
  });
  add_lookup_metrics(registry, state, lookup);
  add_watch_metrics(registry, watches);
  add_store_metrics(registry, store);
  add_watch_warning(readiness, watches);
  const cluster::WatchRights rights(watches, registry, {.gate = options.admission, .reconciler = true});
  readiness.add_warning("rights", [&rights] { return rights.problem(); });
  watching = &watches;
  const EndpointsEnd endpoints_end_second{endpoints};

  std::unique_ptr<Admission> admission;
  if (options.admission) {
    auto started = Admission::start(options.gate, client->get(), &lookup, registry, readiness, endpoints.telemetry());
    if (!started) return fail("operator", started.error().message);
    admission = std::move(*started);
  }
  watches.start();

  kube::EventRecorder events(**client, {});
  std::atomic<kube::LeaderElector*> election{nullptr};
  reconcile::Reconciler reconciler(
      **client, store, cluster_watches,
      {.settings = options.settings,
       .rules = options.gate.rules,
       .lookup = [&lookup] { return lookup.cached_only(); },
       .may_write =
           [&] {
             const auto* elector = election.load();
             return !options.leader_elect || (elector != nullptr && elector->is_leader());
           },
       .record =
           [&events](const reconcile::Resource& resource, const reconcile::EventNote& note) {
             events.record(reference_to(resource), note.warning ? kube::EventType::warning : kube::EventType::normal,
                           note.reason, note.message);
           }});
  auto controller =
      std::make_unique<reconcile::Controller>(reconciler, store, reconcile_metrics, options.reconcile_workers);
  running = controller.get();
  add_queue_metrics(registry, *controller);
  std::unique_ptr<kube::LeaderElector> elector;
  const EndpointsEnd endpoints_end{endpoints};

  bool stopping = false;
  // Who does not know the cluster yet does not compete.
  while (!stopping && !cluster_watches.synced()) stopping = signals.wait_for(20ms).has_value();
  observing = true;
  if (!stopping) {
    log_what_is_known(store, watches);
    log_missing_definitions(state);
    if (options.leader_elect) {
      auto started = kube::LeaderElector::start(**client,
                                                {.ns = lease_namespace(options),
                                                 .name = options.lease_name,
                                                 .identity = kube::make_identity(),
                                                 .tuning = options.leader},
                                                {.started = [&] { controller->lead(); },
                                                 .stopped = [&](const std::string&) { controller->follow(); },
                                                 .new_leader = {}});
      if (!started) return fail("operator", started.error().message);
      elector = std::move(*started);
      election = elector.get();
      readiness.add_warning("lease", [&elector] { return elector->numbers().last_error; });
      registry.gauge_from("stackgate_leader", "1 while this process leads.",
                          [&elector] { return elector->is_leader() ? 1.0 : 0.0; });
    } else {
      warn_of_other_leader(**client, options);
      controller->lead();
    }
    signals.wait();
  }

  // Work ends before the lease is handed over: the next leader may begin within milliseconds.
  running = nullptr;
  controller->stop();
  events.stop();
  if (elector) elector->release();
  log::info("stopped reconciling");
  if (admission) admission->stop(signals, readiness, options.gate);
  return 0;
}

}  // namespace stackgate
