#include "certs/self_managed.hpp"

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "certs/ca_bundle.hpp"
#include "certs/reloader.hpp"
#include "certs/self_managed_secret.hpp"
#include "services/kit/base/backoff.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/kube/watch_runner.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/run/periodic.hpp"

namespace stackgate::certs {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds call_limit{5'000};
constexpr int most_tries = 8;  // of one pass, when others write at the same time

/// Wakes the thread when a watched object changes.
class Waker final : public kube::WatchSink {
 public:
  explicit Waker(std::function<void()> wake) : wake_(std::move(wake)) {}
  void relist_began() override {}
  void upsert(const json::Value& /*object*/) override { wake_(); }
  void remove(const json::Value& /*object*/) override { wake_(); }
  void relist_ended() override {}

 private:
  const std::function<void()> wake_;
};

}  // namespace

struct SelfManaged::Impl {
  kube::Client& client;
  const SelfManagedOptions options;

  mutable std::mutex mutex;
  std::shared_ptr<ssl_ctx_st> context;
  IdentityStatus shown;
  bool is_published = false;

  // Of the rounds alone.
  Reloader reloader;
  SelfManagedState last_known;
  std::string last_error;
  Backoff backoff{{milliseconds(500), milliseconds(30'000), 2.0}};
  Jitter jitter = Jitter::random();

  run::Periodic rounds;
  std::vector<kube::Watch> watches;  // end first: they wake the rounds

  Impl(kube::Client& c, SelfManagedOptions o);

  struct Configuration {
    kube::ResourceType type;
    kube::Object object;
  };

  std::expected<std::vector<Configuration>, std::string> read_configurations();
  bool trusted_by(const std::vector<Configuration>& all, const std::string& bundle) const;
  kube::Result<void> write_secret(const std::string& version, const SelfManagedState& state);
  std::expected<bool, std::string> publish(const std::vector<Configuration>& all, const std::string& bundle);
  /// Nothing: somebody else wrote in between.
  std::expected<std::optional<Time>, std::string> pass();
  void serve(const PemPair& leaf, Time now);
  void show(const std::string& error);
  milliseconds round(const std::stop_token& stop);
};

SelfManaged::Impl::Impl(kube::Client& c, SelfManagedOptions o)
    : client(c),
      options(std::move(o)),
      rounds(milliseconds(0), [this](const std::stop_token& stop) { return round(stop); }) {
  const auto waker = std::make_shared<Waker>([this] { rounds.wake(); });
  const auto watch = [&](const kube::ResourceType& type, const std::string& ns, const std::string& name) {
    watches.emplace_back(client.transport(), kube::WatchTarget{type, ns, "", "metadata.name=" + name}, waker);
  };
  watch(kube::types::secrets, options.ns, options.secret);
  for (const std::string& name : options.configurations) {
    watch(kube::types::validating_webhooks, {}, name);
    watch(kube::types::mutating_webhooks, {}, name);
  }
}

std::expected<std::vector<SelfManaged::Impl::Configuration>, std::string> SelfManaged::Impl::read_configurations() {
  std::vector<Configuration> out;
  for (const kube::ResourceType& type : {kube::types::validating_webhooks, kube::types::mutating_webhooks})
    for (const std::string& name : options.configurations) {
      auto object = client.get(type, {}, name, kube::CallOptions::once(call_limit));
      if (object)
        out.push_back({type, std::move(*object)});
      else if (!object.error().object_missing(name))
        return std::unexpected(object.error().message);
    }
  return out;
}

bool SelfManaged::Impl::trusted_by(const std::vector<Configuration>& all, const std::string& bundle) const {
  return std::ranges::all_of(all, [&](const Configuration& each) {
    const auto patch = bundle_patch(each.object.root(), bundle);
    return patch && !*patch;
  });
}

kube::Result<void> SelfManaged::Impl::write_secret(const std::string& version, const SelfManagedState& state) {
  const auto once = kube::CallOptions::once(call_limit);
  TRY(version.empty() ? client.create(kube::types::secrets, options.ns, new_secret(options.secret, state), false, once)
                      : client.patch(kube::types::secrets, options.ns, options.secret, kube::PatchType::merge,
                                     patch_of_secret(version, state), {}, once));
  return {};
}

std::expected<bool, std::string> SelfManaged::Impl::publish(const std::vector<Configuration>& all,
                                                            const std::string& bundle) {
  for (const Configuration& each : all) {
    const auto made = bundle_patch(each.object.root(), bundle);
    if (!made) return std::unexpected(made.error().message);
    const auto& patch = *made;
    if (!patch) continue;
    const auto written = client.patch(each.type, {}, each.object.name(), kube::PatchType::json, *patch, {},
                                      kube::CallOptions::once(call_limit));
    // 422: the version that the patch tests has moved on. 404: deleted a moment ago.
    if (!written && (written.error().conflict() || written.error().code == 422 || written.error().not_found()))
      return false;
    if (!written) return std::unexpected(written.error().message);
    log::info("the webhook configuration trusts our CA",
              {{"kind", kube::to_string(each.type)}, {"name", each.object.name()}});
  }
  return true;
}

// The configurations are read before the Secret: what is then written into them is at least as new as what they held.
std::expected<std::optional<Time>, std::string> SelfManaged::Impl::pass() {
  const auto all = read_configurations();
  SelfManagedState state;
  std::string version;
  const auto secret = client.get(kube::types::secrets, options.ns, options.secret, kube::CallOptions::once(call_limit));
  if (secret) {
    state = read_secret(secret->root());
    version = secret->resource_version();
  } else if (!secret.error().object_missing(options.secret)) {
    return std::unexpected(secret.error().message);
  } else {
    // Deleted under us: putting back what all replicas still serve is better than a new CA.
    state = last_known;
  }

  const Time now = std::chrono::system_clock::now();
  const SelfManagedPlan todo = plan(state, options.policy, all && trusted_by(*all, trust_bundle(state)), now);
  if (!todo.nothing_to_do() || version.empty()) {
    auto made = carry_out(todo, state, options.policy, now);
    if (!made) return std::unexpected(made.error().message);
    if (const auto written = write_secret(version, *made); !written) {
      if (written.error().conflict()) return std::nullopt;
      return std::unexpected(written.error().message);
    }
    state = std::move(*made);
    for (const std::string& reason : todo.reasons) log::info("webhook certificates", {{"what", reason}});
  }
  last_known = state;
  // Without the right to read them somebody else may keep them: serving is then still right, and the error is shown.
  if (!all) {
    serve(state.leaf, now);
    return std::unexpected(all.error());
  }
  // A CA that starts from nothing must be trusted before its leaf is served; one that takes over is trusted already.
  const auto published = publish(*all, trust_bundle(state));
  if (!published) {
    serve(state.leaf, now);
    return std::unexpected(published.error());
  }
  if (!*published) return std::nullopt;
  serve(state.leaf, now);
  const std::scoped_lock lock(mutex);
  is_published = !all->empty();
  return todo.look_again;
}

void SelfManaged::Impl::serve(const PemPair& leaf, Time now) {
  if (reloader.offer(leaf, now) != Reloader::Outcome::accepted) return;
  const auto& identity = *reloader.identity();
  log::info("serving a webhook certificate", {{"subject", identity.leaf.subject},
                                              {"serial", identity.leaf.serial},
                                              {"not_after", to_rfc3339(identity.not_after)}});
  const std::scoped_lock lock(mutex);
  context = identity.context;
}

void SelfManaged::Impl::show(const std::string& error) {
  if (!error.empty() && error != last_error) log::warning("webhook certificates cannot be kept", {{"error", error}});
  last_error = error;
  const std::scoped_lock lock(mutex);
  if (!error.empty()) is_published = false;
  shown.error = error.empty() ? reloader.error() : error;
  shown.reloads = reloader.accepted();
  shown.failures = reloader.refused();
  if (reloader.identity() != nullptr) {
    shown.serving = reloader.identity()->leaf;
    shown.not_after = reloader.identity()->not_after;
  }
}

milliseconds SelfManaged::Impl::round(const std::stop_token& stop) {
  std::expected<std::optional<Time>, std::string> done;
  for (int tries = 0; tries < most_tries && !stop.stop_requested(); ++tries) {
    done = pass();
    if (!done || *done) break;
    // Others are at it: a short, uneven pause ends the crowd.
    std::this_thread::sleep_for(milliseconds(static_cast<int>(10 + 90 * jitter.next())));
  }
  if (const auto next = done ? *done : std::nullopt) {
    backoff.reset();
    show({});
    const auto until = std::chrono::ceil<milliseconds>(*next - std::chrono::system_clock::now());
    return std::clamp<milliseconds>(until, milliseconds(1'000), options.check);
  }
  show(done ? "others keep changing the Secret or the webhook configurations" : done.error());
  return backoff.next(jitter);
}

std::vector<std::string> service_names(const std::string& service, const std::string& ns) {
  return {fmt::format("{}.{}.svc", service, ns), fmt::format("{}.{}.svc.cluster.local", service, ns)};
}

std::shared_ptr<SelfManaged> SelfManaged::start(kube::Client& client, SelfManagedOptions options) {
  return std::shared_ptr<SelfManaged>(new SelfManaged(std::make_shared<Impl>(client, std::move(options))));
}

SelfManaged::SelfManaged(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
SelfManaged::~SelfManaged() = default;

std::shared_ptr<ssl_ctx_st> SelfManaged::current() const {
  const std::scoped_lock lock(impl_->mutex);
  return impl_->context;
}

IdentityStatus SelfManaged::status() const {
  const std::scoped_lock lock(impl_->mutex);
  return impl_->shown;
}

bool SelfManaged::published() const {
  const std::scoped_lock lock(impl_->mutex);
  return impl_->is_published;
}

}  // namespace stackgate::certs
