#include "cluster_state/lookup.hpp"

#include <algorithm>
#include <deque>
#include <optional>

#include "services/kit/log/log.hpp"

namespace stackgate::cluster {
namespace {

using std::chrono::milliseconds;
using validate::Neighbour;
using validate::Presence;
using validate::ReferencedObject;
using validate::ReferenceKind;
using Clock = std::chrono::steady_clock;

class FromCache final : public QuickLookup {
 public:
  /// `counters` may be nullptr.
  FromCache(const State& state, LookupCounters* counters) : state_(state), counters_(counters) {}

  ReferencedObject find(ReferenceKind reference_kind, std::string_view ns, std::string_view name) override {
    ReferencedObject out = state_.find(reference_kind, ns, name);
    if (out.presence != Presence::present)
      wants_asking_ = true;
    else if (counters_ != nullptr)
      ++counters_->cached;
    return out;
  }
  std::optional<std::vector<validate::ConfigMapEntry>> contents(std::string_view, std::string_view) override {
    wants_asking_ = true;  // contents are not kept
    return std::nullopt;
  }
  bool neighbours(std::string_view ns, std::vector<Neighbour>& out) override { return list(ns, nullptr, out); }
  bool wanted_neighbours(std::string_view ns, const validate::NeighbourFilter& wanted,
                         std::vector<Neighbour>& out) override {
    return list(ns, &wanted, out);
  }
  bool wants_asking() const override { return wants_asking_; }

 private:
  bool list(std::string_view ns, const validate::NeighbourFilter* wanted, std::vector<Neighbour>& out) {
    const bool listed = state_.neighbours(ns, out, wanted);
    wants_asking_ = wants_asking_ || !listed;
    return listed;
  }

  const State& state_;
  LookupCounters* const counters_;
  bool wants_asking_ = false;
};

/// Remembers the answers that it got as long as it lives.
class Asking : public validate::Lookup {
 public:
  /// Without a limit for the whole review each question has its time. Why the API server cannot be asked goes to
  /// `error`, or to the log where that is nullptr.
  Asking(ReferenceAsker& asker, LookupCounters& counters, const State* state, LookupLimits limits,
         std::string* error = nullptr)
      : asker_(asker),
        counters_(counters),
        state_(state),
        limits_(limits),
        deadline_(Clock::now() + limits.review),
        error_(error) {}

  ReferencedObject find(ReferenceKind reference_kind, std::string_view ns, std::string_view name) override {
    for (const Answered& each : answered_)
      if (each.reference_kind == reference_kind && each.ns == ns && each.name == name) return each.referred;
    return answered_
        .emplace_back(Answered{reference_kind, std::string(ns), std::string(name), ask(reference_kind, ns, name)})
        .referred;
  }

  std::optional<std::vector<validate::ConfigMapEntry>> contents(std::string_view ns,
                                                                std::string_view config_map) override {
    for (const Contents& each : contents_)
      if (each.ns == ns && each.name == config_map) return each.entries;
    Contents& asked = contents_.emplace_back(Contents{std::string(ns), std::string(config_map), {}});
    if (const milliseconds left = time_left(); left.count() > 0) {
      auto answer = asker_.contents(ns, config_map, left);
      note_answer(answer.server_reached, answer.error);
      asked.entries = std::move(answer.entries);
    }
    return asked.entries;
  }

  bool neighbours(std::string_view ns, std::vector<Neighbour>& out) override {
    for (const auto& [known, list] : asked_neighbours_)
      if (known == ns) {
        out.insert(out.end(), list.begin(), list.end());
        return true;
      }
    if (const milliseconds left = time_left(); left.count() > 0) {
      auto asked = asker_.neighbours(ns, left);
      note_answer(asked.server_reached, asked.error);
      if (asked.list) {
        out.insert(out.end(), asked.list->begin(), asked.list->end());
        asked_neighbours_.emplace_back(std::string(ns), std::move(*asked.list));
        return true;
      }
    }
    return state_ != nullptr && state_->neighbours(ns, out);
  }

  /// Where the cache knows of none that could matter nobody would be blamed: the namespace's lists, which are long, are
  /// not asked for.
  bool wanted_neighbours(std::string_view ns, const validate::NeighbourFilter& wanted,
                         std::vector<Neighbour>& out) override {
    std::vector<Neighbour> known;
    if (state_ != nullptr && state_->neighbours(ns, known, &wanted) && known.empty()) return true;
    return neighbours(ns, out);
  }

 private:
  /// Of the time that this question may take; 0: do not ask.
  milliseconds time_left() const {
    if (!server_reached_) return milliseconds(0);
    if (limits_.review.count() == 0) return limits_.each;
    const auto left = std::chrono::floor<milliseconds>(deadline_ - Clock::now());
    return std::clamp(left, milliseconds(0), limits_.each);
  }
  void note_answer(bool server_reached, const std::string& error) {
    server_reached_ = server_reached;
    if (error.empty() || server_reached) return;
    if (error_ != nullptr)
      *error_ = error;
    else
      log::warning("the API server cannot be asked", {{"error", error}});
  }

  struct Answered {
    ReferenceKind reference_kind;
    std::string ns, name;
    ReferencedObject referred;
  };

  struct Contents {
    std::string ns, name;
    std::optional<std::vector<validate::ConfigMapEntry>> entries;
  };

  ReferencedObject ask(ReferenceKind reference_kind, std::string_view ns, std::string_view name) {
    if (const milliseconds left = time_left(); left.count() > 0) {
      AskedReference asked = asker_.find(reference_kind, ns, name, left);
      note_answer(asked.server_reached, asked.error);
      if (asked.referred.presence != Presence::unknown) {
        ++(asked.referred.presence == Presence::present ? counters_.present : counters_.absent);
        return std::move(asked.referred);
      }
    }
    ++counters_.failed;
    if (state_ != nullptr)
      if (ReferencedObject known = state_->find(reference_kind, ns, name); known.presence == Presence::present)
        return known;
    return {};
  }

  ReferenceAsker& asker_;
  LookupCounters& counters_;
  const State* const state_;
  const LookupLimits limits_;
  const Clock::time_point deadline_;
  std::string* const error_;
  bool server_reached_ = true;
  std::deque<Answered> answered_;
  std::deque<Contents> contents_;
  std::deque<std::pair<std::string, std::vector<Neighbour>>> asked_neighbours_;
};

/// What a lookup for one command owns, before the base class that uses it.
struct OneRun {
  explicit OneRun(kube::Client& client) : run_asker(client) {}
  ReferenceAsker run_asker;
  LookupCounters run_counters;
  std::string run_error;
};

class AskingOneRun final : private OneRun, public Asking {
 public:
  AskingOneRun(kube::Client& client, std::string* error)
      : OneRun(client),
        Asking(run_asker, run_counters, nullptr, {milliseconds(5'000), milliseconds(0)},
               error == nullptr ? &run_error : error) {}
};

}  // namespace

ClusterLookup::ClusterLookup(kube::Client& client, const State& state, LookupLimits limits)
    : state_(state), asker_(client), limits_(limits) {}

std::unique_ptr<QuickLookup> ClusterLookup::quick() { return std::make_unique<FromCache>(state_, &counters_); }

std::unique_ptr<validate::Lookup> ClusterLookup::asking() {
  return std::make_unique<Asking>(asker_, counters_, &state_, limits_);
}

std::unique_ptr<validate::Lookup> ClusterLookup::cached_only() const {
  return std::make_unique<FromCache>(state_, nullptr);
}

std::unique_ptr<validate::Lookup> make_asking_lookup(kube::Client& client, std::string* error) {
  return std::make_unique<AskingOneRun>(client, error);
}

}  // namespace stackgate::cluster
