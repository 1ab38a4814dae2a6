#include "services/inference/upstream/upstream.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include <fmt/format.h>

#include "services/inference/upstream/state.hpp"

namespace stackgate::inference::upstream {

Upstream::Impl::Impl(Options given, Adapters functions, metrics::Registry& registry)
    : options(std::move(given)),
      theirs(options.upstream_dir.empty() ? options.adapter_dir : options.upstream_dir),
      adapters(std::move(functions)),
      control({.retries = 0, .user_agent = "stackgate-inference"}),
      client({.pause = options.head, .retries = 0, .user_agent = "stackgate-inference"}),
      requests(registry.counter("stackgate_inference_upstream_requests_total", "Requests passed on, by how they ended.",
                                {"result"})),
      calls(registry.counter("stackgate_inference_upstream_adapter_calls_total", "Adapters that engines were told of.",
                             {"action", "result"})),
      figures(registry),
      kind(options.kind) {
  for (std::string origin : options.urls) {
    while (origin.ends_with('/')) origin.pop_back();
    if (origin.ends_with("/v1")) origin.resize(origin.size() - 3);
    visitors.push_back({.replica = Replica(control, std::move(origin))});
  }
  known.resize(visitors.size());
}

Upstream::Upstream(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Upstream::~Upstream() { stop(); }

std::shared_ptr<Upstream> Upstream::start(Options options, Adapters adapters, metrics::Registry& metrics) {
  auto impl = std::make_shared<Impl>(std::move(options), std::move(adapters), metrics);
  metrics.before_reading([weak = std::weak_ptr(impl)] {
    const auto here = weak.lock();
    if (!here) return;
    const std::scoped_lock lock(here->mutex);
    const auto first = std::ranges::find_if(here->known, [](const Known& each) { return !each.models.empty(); });
    if (first == here->known.end()) return;
    std::size_t running = 0;
    for (const Known& each : here->known) running += *each.in_flight;
    here->figures.running.set(base_of(first->models).id, static_cast<double>(running));
    here->figures.waiting.set(base_of(first->models).id, static_cast<double>(here->parked.size()));
  });
  {
    const std::scoped_lock lock(impl->mutex);  // park() wakes all of them
    for (std::size_t i = 0; i < impl->visitors.size(); ++i)
      impl->visitors[i].rounds = std::make_unique<run::Periodic>(
          std::chrono::milliseconds(0),
          [raw = impl.get(), i](const std::stop_token& stop) { return raw->round(i, stop); });
  }
  return std::shared_ptr<Upstream>(new Upstream(std::move(impl)));
}

void Upstream::end_requests() {
  for (const PassagePtr& each : impl_->open->all())
    each->end(not_now("The server is stopping: the answer was not finished. Ask again."));
}

void Upstream::stop() {
  std::deque<PassagePtr> waiting;
  {
    const std::scoped_lock lock(impl_->mutex);
    if (std::exchange(impl_->stopped, true)) return;
    std::swap(waiting, impl_->parked);
  }
  impl_->looked.notify_all();
  for (const Visitor& each : impl_->visitors) each.rounds->stop();
  for (Visitor& each : impl_->visitors) each.rounds.reset();
}

std::expected<void, Error> Upstream::ready(std::chrono::milliseconds limit) const {
  std::unique_lock lock(impl_->mutex);
  const auto one_is = [&] { return std::ranges::any_of(impl_->known, &Known::healthy); };
  impl_->looked.wait_for(lock, limit, [&] {
    return one_is() || impl_->stopped ||
           std::ranges::all_of(impl_->known, [](const Known& each) { return each.looks_ended > 0; });
  });
  if (one_is()) return {};
  std::string faults;
  for (std::size_t i = 0; i < impl_->known.size(); ++i)
    faults += fmt::format("{}{}: {}", i == 0 ? "" : "; ", impl_->visitors[i].replica.origin(), impl_->known[i].fault);
  return std::unexpected(Error{std::move(faults)});
}

std::vector<ReplicaState> Upstream::states_of(std::string_view name) const {
  using enum ReplicaState::Word;
  std::vector<ReplicaState> out;
  const std::scoped_lock lock(impl_->mutex);
  const auto found = impl_->wanted->by_name.find(name);
  if (found == impl_->wanted->by_name.end()) return out;
  const WantedAdapter& wanted = impl_->wanted->adapters[found->second];
  for (std::size_t i = 0; i < impl_->known.size(); ++i) {
    const Known& each = impl_->known[i];
    ReplicaState state{.url = impl_->visitors[i].replica.origin()};
    const auto refused = each.refused.find(wanted.name);
    if (!wanted.hindrance.empty()) {
      state.word = ReplicaState::Word::refused;
      state.reason = wanted.hindrance;
    } else if (!each.healthy) {
      state.word = unreachable;
      state.reason = each.fault;
    } else if (each.has.contains(wanted.name)) {
      state.word = loaded;
    } else if (refused != each.refused.end()) {
      state.word = ReplicaState::Word::refused;
      state.reason = refused->second;
    }
    out.push_back(std::move(state));
  }
  return out;
}

}  // namespace stackgate::inference::upstream
