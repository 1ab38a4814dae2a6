#include "services/kit/kube/shared_watches.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>

#include "services/kit/kube/crd_names.hpp"
#include "services/kit/kube/watch_fan_out.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::kube {
namespace {

using std::chrono::milliseconds;

// A definition that was just made is served within seconds; one that does not serve our version may never be. What
// changes it is reported by its watch, so that asking again soon is not worth much.
constexpr BackoffLimits after_404{milliseconds(100), milliseconds(300'000), 1.5};
WatchTarget definitions() { return {types::custom_resource_definitions, {}, {}, {}, true}; }

bool same_type(const ResourceType& a, const ResourceType& b) {
  return a.group == b.group && a.version == b.version && a.plural == b.plural;
}

/// Metadata-only aside.
bool same_objects(const WatchTarget& a, const WatchTarget& b) {
  return same_type(a.type, b.type) && a.ns == b.ns && a.label_selector == b.label_selector &&
         a.field_selector == b.field_selector;
}

/// Each once; an empty one stands for all.
std::vector<std::string> distinct(std::vector<std::string> namespaces) {
  std::ranges::sort(namespaces);
  namespaces.erase(std::ranges::unique(namespaces).begin(), namespaces.end());
  if (!namespaces.empty() && namespaces.front().empty()) namespaces.clear();
  return namespaces;
}

}  // namespace

WatchTarget watch_all(const ResourceType& type) {
  WatchTarget out{type};
  if (same_type(type, types::secrets)) out.field_selector = "type!=helm.sh/release.v1";
  return out;
}

struct Subscription::State {
  struct Part {
    explicit Part(std::string ns_) : ns(std::move(ns_)) {}
    const std::string ns;  // empty: all, or cluster-wide
    std::atomic<Coverage> coverage{Coverage::unlisted};
  };
  std::deque<Part> parts;  // one per watch; not changed after start()
  bool namespaced = true;
};

Coverage Subscription::coverage(std::string_view ns) const {
  if (state_ == nullptr) return Coverage::unlisted;
  for (const auto& part : state_->parts)
    if (part.ns.empty() || part.ns == ns || !state_->namespaced) return part.coverage;
  return Coverage::outside;
}

bool Subscription::settled() const {
  return state_ != nullptr &&
         std::ranges::none_of(state_->parts, [](const auto& part) { return part.coverage == Coverage::unlisted; });
}

/// All but `mutex` and what it guards is used on the transport's thread only once start() was called.
struct SharedWatches::Impl : std::enable_shared_from_this<Impl> {
  using State = Subscription::State;

  struct Group {
    WatchTarget target;
    std::string crd;  // empty: not optional
    FanOut sinks;
    std::optional<NamespaceMerge> merge;
    std::shared_ptr<State> state = std::make_shared<State>();
    std::vector<std::shared_ptr<WatchSink>> inlets;  // one per part
    std::deque<std::optional<Watch>> watches;        // guarded by `mutex` for whoever is on another thread
    std::vector<WatchCounts> past;                   // of ended watches; guarded likewise
    bool running = false;
    bool served = false;     // as on_served_changed() was told
    bool elsewhere = false;  // listed although it has no definition: another API server serves it
    std::optional<std::chrono::steady_clock::time_point> missing_since;  // of such a type

    /// Whether a type that was served elsewhere is gone. A server that has just started answers 404 until it has found
    /// the one behind it.
    bool gone_for(milliseconds time) {
      const auto now = std::chrono::steady_clock::now();
      if (!missing_since) missing_since = now;
      return now - *missing_since >= time;
    }

    bool any(Coverage wanted) const {
      return std::ranges::any_of(state->parts, [wanted](const auto& part) { return part.coverage == wanted; });
    }
    bool all(Coverage wanted) const {
      return std::ranges::all_of(state->parts, [wanted](const auto& part) { return part.coverage == wanted; });
    }
  };

  Transport& transport;
  const std::vector<std::string> namespaces;
  const WatchTuning tuning;
  std::function<void(std::string_view, bool)> served_changed;
  std::deque<Group> groups;
  std::shared_ptr<CrdNames> crds;  // nullptr: nothing is optional
  Subscription crds_subscription;
  bool started = false;
  bool unlisted = false;  // the definitions may not be listed
  bool stopped = false;
  std::atomic<bool> synced{false};
  ContactLog contact;
  mutable std::mutex mutex;

  Impl(Transport& t, std::vector<std::string> ns, const WatchTuning& tuning_)
      : transport(t), namespaces(distinct(std::move(ns))), tuning(tuning_), contact(t.config().server) {}

  Group& group_of(WatchTarget&& target);
  void lay_out(Group& group) const;
  void begin(Group& group);
  void end(Group& group);
  void stop();
  void vanish(Group& group);
  void set_served(Group& group, bool served);
  void crd_changed(std::string_view name, CrdChange change);
  void crds_listed();
  void observed(Group& group, std::size_t part, const WatchHealth& health);
  void missing_elsewhere(Group& group);
  void crds_observed(const WatchHealth& health);
  bool any_connected() const;
  void note_contact(const WatchHealth& health);
  void look_at_contact(std::chrono::milliseconds after);
  void look_whether_synced();
};

SharedWatches::Impl::Group& SharedWatches::Impl::group_of(WatchTarget&& target) {
  for (Group& group : groups)
    if (same_objects(group.target, target)) {
      group.target.metadata_only = group.target.metadata_only && target.metadata_only;
      return group;
    }
  Group& group = groups.emplace_back();
  group.target = std::move(target);
  lay_out(group);
  return group;
}

void SharedWatches::Impl::lay_out(Group& group) const {
  const bool everywhere = !group.target.type.namespaced || !group.target.ns.empty() || namespaces.empty();
  const std::vector<std::string> chosen = everywhere ? std::vector<std::string>{group.target.ns} : namespaces;
  group.state->namespaced = group.target.type.namespaced;
  // The sinks live as long as the group; this pointer owns nothing.
  const std::shared_ptr<WatchSink> sinks(std::shared_ptr<WatchSink>{}, &group.sinks);
  if (chosen.size() > 1) group.merge.emplace(group.sinks, chosen);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    group.state->parts.emplace_back(chosen[i]);
    group.inlets.push_back(group.merge ? group.merge->part(i) : sinks);
    group.watches.emplace_back();
  }
  group.past.resize(chosen.size());
}

void SharedWatches::Impl::begin(Group& group) {
  if (group.running || stopped) return;
  group.running = true;
  WatchTuning tuned = tuning;
  if (!group.crd.empty()) {
    if (unlisted) tuned.denied_grace.fill(milliseconds(100));  // the definitions' refusal has outlasted it
    const BackoffLimits now_and_then{tuning.unlisted_wait, tuning.unlisted_wait, 1.0};
    tuned.missing = unlisted || group.elsewhere ? now_and_then : after_404;
    // It may be there now, with objects that nobody has seen.
    for (auto& part : group.state->parts)
      if (part.coverage == Coverage::absent) part.coverage = Coverage::unlisted;
  }
  const std::scoped_lock lock(mutex);
  for (std::size_t i = 0; i < group.watches.size(); ++i) {
    WatchTarget target = group.target;
    target.ns = group.state->parts[i].ns;
    group.watches[i].emplace(transport, std::move(target), group.inlets[i], tuned,
                             [this, &group, i](const WatchHealth& health) { observed(group, i, health); });
  }
}

void SharedWatches::Impl::end(Group& group) {
  if (!group.running) return;
  group.running = false;
  const std::scoped_lock lock(mutex);
  for (std::size_t i = 0; i < group.watches.size(); ++i) {
    auto& watch = group.watches[i];
    if (!watch) continue;
    group.past[i] = group.past[i] + watch->health().counts;
    watch.reset();
  }
}

void SharedWatches::Impl::stop() {
  stopped = true;
  for (Group& group : groups) end(group);
}

/// The type's objects are gone with it, if there ever were any: the sinks get an empty list.
void SharedWatches::Impl::vanish(Group& group) {
  for (auto& part : group.state->parts) part.coverage = Coverage::absent;
  if (group.merge) group.merge->reset();
  group.sinks.clear();
  set_served(group, false);
  look_whether_synced();
}

void SharedWatches::Impl::set_served(Group& group, bool served) {
  if (group.served == served) return;
  group.served = served;
  if (served_changed) served_changed(group.crd, served);
}

void SharedWatches::Impl::crd_changed(std::string_view name, CrdChange change) {
  for (Group& group : groups) {
    if (group.crd != name) continue;
    group.elsewhere = false;
    const bool missing =
        std::ranges::any_of(group.watches, [](const auto& watch) { return watch && watch->health().missing; });
    switch (change) {
      case CrdChange::appeared:
      case CrdChange::touched:
        if (missing) end(group);
        begin(group);
        break;
      case CrdChange::replaced:
        end(group);
        vanish(group);
        begin(group);
        break;
      case CrdChange::vanished:
        end(group);
        vanish(group);
        break;
    }
  }
}

void SharedWatches::Impl::crds_listed() {
  if (std::exchange(unlisted, false)) log::info("customresourcedefinitions can be listed now");
  // A type without definition is asked for too; when that is answered with 404 the watch is let go: see observed().
  for (Group& group : groups)
    if (!group.crd.empty() && group.any(Coverage::unlisted)) begin(group);
}

void SharedWatches::Impl::crds_observed(const WatchHealth& health) {
  if (unlisted || !(health.denied || health.missing)) return;
  unlisted = true;
  log::warning(
      "customresourcedefinitions may not be listed: absent types are asked for again and again",
      {{"every_seconds", std::chrono::duration<double>(tuning.unlisted_wait).count()}, {"error", health.last_error}});
  for (Group& group : groups) {
    if (group.crd.empty()) continue;
    end(group);
    begin(group);
  }
}

bool SharedWatches::Impl::any_connected() const {
  return std::ranges::any_of(groups, [](const Group& group) {
    return std::ranges::any_of(group.watches, [](const auto& watch) { return watch && watch->health().connected; });
  });
}

void SharedWatches::Impl::note_contact(const WatchHealth& health) {
  if (health.connected || health.reach == Reach::reached) return contact.answered();
  if (health.reach != Reach::unreached || any_connected()) return;
  const auto look = contact.failed(health.last_error.empty() ? "nothing comes from it" : health.last_error);
  if (look) look_at_contact(*look);
}

void SharedWatches::Impl::look_at_contact(std::chrono::milliseconds after) {
  transport.run_after(after, [self = weak_from_this()] {
    const auto impl = self.lock();
    if (impl == nullptr || impl->stopped) return;
    if (const auto again = impl->contact.look()) impl->look_at_contact(*again);
  });
}

/// No definition will report that it is back: its watch goes on asking, and what it listed stays for a while.
void SharedWatches::Impl::missing_elsewhere(Group& group) {
  if (group.all(Coverage::absent) || !group.gone_for(tuning.unlisted_wait)) return;
  end(group);
  begin(group);
  vanish(group);
}

void SharedWatches::Impl::observed(Group& group, std::size_t part, const WatchHealth& health) {
  note_contact(health);
  const bool undefined = !group.crd.empty() && !unlisted && !crds->exists(group.crd);
  if (undefined && health.synced && !health.missing) {
    group.elsewhere = true;
    group.missing_since.reset();
  }
  if (group.elsewhere && health.missing) return missing_elsewhere(group);
  const bool unlisted_or_gone = undefined || (unlisted && !group.crd.empty());
  if (unlisted_or_gone && !group.elsewhere && (health.missing || (health.denied && !unlisted))) {
    // A refusal means nothing for a type that nobody has defined.
    if (!unlisted) end(group);
    if (!group.all(Coverage::absent)) vanish(group);
    return;
  }
  std::atomic<Coverage>& coverage = group.state->parts[part].coverage;
  if (health.synced)
    coverage = Coverage::listed;
  else if (health.missing)
    coverage = Coverage::absent;
  else if (health.denied)
    coverage = Coverage::refused;
  if (crds_subscription.state_ == group.state) crds_observed(health);
  if (!group.crd.empty() && group.any(Coverage::listed) && !group.any(Coverage::unlisted)) set_served(group, true);
  look_whether_synced();
}

void SharedWatches::Impl::look_whether_synced() {
  if (synced) return;
  synced = std::ranges::none_of(groups, [](const Group& group) { return group.any(Coverage::unlisted); });
}

SharedWatches::SharedWatches(Transport& transport, std::vector<std::string> namespaces, const WatchTuning& tuning)
    : impl_(std::make_shared<Impl>(transport, std::move(namespaces), tuning)) {}

SharedWatches::~SharedWatches() {
  impl_->transport.run_and_wait([impl = impl_] { impl->stop(); });
}

Subscription SharedWatches::subscribe(WatchTarget target, std::shared_ptr<WatchSink> sink) {
  Subscription out;
  if (impl_->started) {
    log::error("a subscription after the start of the watches does nothing", {{"type", to_string(target.type)}});
    return out;
  }
  Impl::Group& group = impl_->group_of(std::move(target));
  group.sinks.add(std::move(sink));
  out.state_ = group.state;
  return out;
}

Subscription SharedWatches::subscribe_optional(WatchTarget target, const std::string& crd_name,
                                               std::shared_ptr<WatchSink> sink) {
  if (impl_->started) return subscribe(std::move(target), std::move(sink));
  if (impl_->crds == nullptr) {
    Impl* impl = impl_.get();
    impl->crds =
        std::make_shared<CrdNames>([impl](std::string_view name, CrdChange change) { impl->crd_changed(name, change); },
                                   [impl] { impl->crds_listed(); });
    impl->crds_subscription = subscribe(definitions(), impl->crds);
  }
  Impl::Group& group = impl_->group_of(WatchTarget(target));
  group.crd = crd_name;
  impl_->crds->want(crd_name);
  return subscribe(std::move(target), std::move(sink));
}

void SharedWatches::on_served_changed(std::function<void(std::string_view, bool)> listener) {
  impl_->served_changed = std::move(listener);
}

void SharedWatches::start() {
  if (std::exchange(impl_->started, true)) return;
  impl_->transport.run([impl = impl_] {
    for (Impl::Group& group : impl->groups)
      if (group.crd.empty()) impl->begin(group);
  });
}

bool SharedWatches::synced() const { return impl_->synced; }

const ContactLog& SharedWatches::contact() const { return impl_->contact; }

const std::vector<std::string>& SharedWatches::namespaces() const { return impl_->namespaces; }

std::vector<WatchReport> SharedWatches::report() const {
  std::vector<WatchReport> out;
  const std::scoped_lock lock(impl_->mutex);
  for (const Impl::Group& group : impl_->groups)
    for (std::size_t i = 0; i < group.watches.size(); ++i) {
      const auto& part = group.state->parts[i];
      WatchReport& report = out.emplace_back(WatchReport{to_string(group.target.type), part.ns, part.coverage, {}});
      if (const auto& watch = group.watches[i]; watch) report.health = watch->health();
      report.health.missing = report.health.missing || part.coverage == Coverage::absent;
      report.health.counts = group.past[i] + report.health.counts;
    }
  return out;
}

}  // namespace stackgate::kube
