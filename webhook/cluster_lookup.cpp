#include "webhook/cluster_lookup.hpp"

#include <algorithm>
#include <deque>
#include <optional>

#include "services/kit/log/log.hpp"

namespace stackgate::webhook {
namespace {

using std::chrono::milliseconds;
using validate::Neighbour;
using validate::Presence;
using validate::Referent;
using validate::Referred;
using Clock = std::chrono::steady_clock;

class FromCache final : public QuickLookup {
 public:
  FromCache(const ReferenceCache& cache, LookupCounters& counters) : cache_(cache), counters_(counters) {}

  Referred find(Referent referent, std::string_view ns, std::string_view name) override {
    Referred out = cache_.find(referent, ns, name);
    if (out.presence == Presence::present)
      ++counters_.cached;
    else
      wants_asking_ = true;
    return out;
  }
  bool neighbours(std::string_view ns, std::vector<Neighbour>& out) override {
    if (cache_.neighbours(ns, out)) return true;
    wants_asking_ = true;
    return false;
  }
  bool wanted_neighbours(std::string_view ns, const validate::Wanted& wanted, std::vector<Neighbour>& out) override {
    if (cache_.neighbours(ns, out, &wanted)) return true;
    wants_asking_ = true;
    return false;
  }
  bool wants_asking() const override { return wants_asking_; }

 private:
  const ReferenceCache& cache_;
  LookupCounters& counters_;
  bool wants_asking_ = false;
};

class CachedOnly final : public validate::Lookup {
 public:
  explicit CachedOnly(const ReferenceCache& cache) : cache_(cache) {}
  Referred find(Referent referent, std::string_view ns, std::string_view name) override {
    return cache_.find(referent, ns, name);
  }
  bool neighbours(std::string_view ns, std::vector<Neighbour>& out) override { return cache_.neighbours(ns, out); }
  bool wanted_neighbours(std::string_view ns, const validate::Wanted& wanted, std::vector<Neighbour>& out) override {
    return cache_.neighbours(ns, out, &wanted);
  }

 private:
  const ReferenceCache& cache_;
};

/// Remembers within its own life what it was told.
class Asking : public validate::Lookup {
 public:
  Asking(ReferenceAsker& asker, LookupCounters& counters, const ReferenceCache* cache, LookupLimits limits)
      : limits_(limits), asker_(asker), counters_(counters), cache_(cache), deadline_(Clock::now() + limits.review) {}

  Referred find(Referent referent, std::string_view ns, std::string_view name) override {
    for (const Told& each : told_)
      if (each.referent == referent && each.ns == ns && each.name == name) return each.referred;
    return told_.emplace_back(Told{referent, std::string(ns), std::string(name), ask(referent, ns, name)}).referred;
  }

  bool neighbours(std::string_view ns, std::vector<Neighbour>& out) override {
    for (const auto& [known, list] : told_neighbours_)
      if (known == ns) {
        out.insert(out.end(), list.begin(), list.end());
        return true;
      }
    if (const milliseconds left = time_left(); left.count() > 0) {
      auto asked = asker_.neighbours(ns, left);
      heard(asked.server_reached, asked.error);
      if (asked.list) {
        out.insert(out.end(), asked.list->begin(), asked.list->end());
        told_neighbours_.emplace_back(std::string(ns), std::move(*asked.list));
        return true;
      }
    }
    return cache_ != nullptr && cache_->neighbours(ns, out);
  }

 protected:
  /// Of the time that this question may take; 0: do not ask.
  virtual milliseconds time_left() const {
    if (!server_reached_) return milliseconds(0);
    const auto left = std::chrono::floor<milliseconds>(deadline_ - Clock::now());
    return std::clamp(left, milliseconds(0), limits_.each);
  }
  virtual void heard(bool server_reached, const std::string& error) {
    server_reached_ = server_reached;
    if (!error.empty() && !server_reached) log::warning("the API server cannot be asked", {{"error", error}});
  }

  bool server_reached_ = true;
  const LookupLimits limits_;

 private:
  struct Told {
    Referent referent;
    std::string ns, name;
    Referred referred;
  };

  Referred ask(Referent referent, std::string_view ns, std::string_view name) {
    if (const milliseconds left = time_left(); left.count() > 0) {
      AskedReferent asked = asker_.find(referent, ns, name, left);
      heard(asked.server_reached, asked.error);
      if (asked.referred.presence != Presence::unknown) {
        ++(asked.referred.presence == Presence::present ? counters_.present : counters_.absent);
        return std::move(asked.referred);
      }
    }
    ++counters_.failed;
    if (cache_ != nullptr)
      if (Referred known = cache_->find(referent, ns, name); known.presence == Presence::present) return known;
    return {};
  }

  ReferenceAsker& asker_;
  LookupCounters& counters_;
  const ReferenceCache* const cache_;
  const Clock::time_point deadline_;
  std::deque<Told> told_;
  std::deque<std::pair<std::string, std::vector<Neighbour>>> told_neighbours_;
};

/// What a lookup for one command owns, before the base class that uses it.
struct OneRun {
  explicit OneRun(kube::Client& client) : run_asker(client) {}
  ReferenceAsker run_asker;
  LookupCounters run_counters;
};

class AskingOneRun final : private OneRun, public Asking {
 public:
  AskingOneRun(kube::Client& client, std::string* error)
      : OneRun(client),
        Asking(run_asker, run_counters, nullptr, {milliseconds(5'000), milliseconds(0)}),
        error_(error) {}

 private:
  milliseconds time_left() const override { return server_reached_ ? limits_.each : milliseconds(0); }
  void heard(bool server_reached, const std::string& error) override {
    server_reached_ = server_reached;
    if (!error.empty() && !server_reached && error_ != nullptr) *error_ = error;
  }

  std::string* const error_;
};

}  // namespace

ClusterLookup::ClusterLookup(kube::Client& client, kube::SharedWatches& watches, LookupLimits limits)
    : cache_(watches), asker_(client), limits_(limits) {}

std::unique_ptr<QuickLookup> ClusterLookup::quick() { return std::make_unique<FromCache>(cache_, counters_); }

std::unique_ptr<validate::Lookup> ClusterLookup::asking() {
  return std::make_unique<Asking>(asker_, counters_, &cache_, limits_);
}

std::unique_ptr<validate::Lookup> ClusterLookup::cached_only() const { return std::make_unique<CachedOnly>(cache_); }

std::unique_ptr<validate::Lookup> make_asking_lookup(kube::Client& client, std::string* error) {
  return std::make_unique<AskingOneRun>(client, error);
}

}  // namespace stackgate::webhook
