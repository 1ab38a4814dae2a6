// Stages as objects of a cluster. What is there is watched, and shared by all replicas; nothing is remembered that
// the objects do not show.
#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "services/customizer/runs/cluster/log_lines.hpp"
#include "services/customizer/runs/cluster/object_store.hpp"
#include "services/customizer/runs/cluster/positions.hpp"
#include "services/customizer/runs/cluster/stage_writes.hpp"
#include "services/customizer/runs/executor.hpp"
#include "services/kit/kube/client.hpp"
#include "services/kit/kube/shared_watches.hpp"

namespace stackgate::customizer {

struct ClusterOptions {
  kube::Config config{};
  JobSetup setup{};
  Addresses addresses{};                          // with the namespace
  std::function<ContainerDefaults()> defaults{};  // as they are now; any thread
  std::function<void(std::string_view)> fail{};   // at each write; empty in production
  kube::ClientOptions client{};
  std::chrono::milliseconds call_limit{5'000};  // one call is waited for by all customizations
};

class ClusterExecutor final : public Executor {
 public:
  /// Watches from now on. The error: the settings cannot be used; a cluster that is away is none.
  static std::expected<std::unique_ptr<ClusterExecutor>, Error> open(ClusterOptions options);
  ~ClusterExecutor() override;

  std::vector<std::expected<Seen, Error>> look(std::span<const Work* const> all) override;
  std::expected<void, Error> create(const Work& work, Stage stage) override;
  std::expected<void, Error> cancel(const Work& work, Stage stage) override;
  std::expected<void, Error> clean_up(const Work& work) override;
  std::expected<std::string, Error> log(const Work& work, Stage stage, std::uint64_t& offset) override;
  std::vector<std::string> changed() override;
  void on_change(std::function<void()> wake) override { store_.on_change(std::move(wake)); }
  bool is_polled() const override { return false; }
  std::expected<void, Error> available() const override;
  void forget(std::string_view id) override;
  std::vector<std::string> ids() const override { return store_.groups_of_owner(options_.setup.owner.uid); }
  bool has_workspace(const Work& work) const override;
  validate::Findings check(const CustomizationRequest& request) const override;

  /// Why the API server is not reached; empty: it is. Any thread.
  std::string problem() const;

 private:
  struct Reading {
    LogCursor cursor{};
    std::chrono::steady_clock::time_point next{};  // of a stage that still writes
    std::chrono::seconds pause{5};                 // until then
  };

  ClusterExecutor(ClusterOptions options, std::unique_ptr<kube::Client> client);
  void watch();
  kube::CallOptions patiently() const;
  ObjectStore::Objects model_of(const Work& work) const;
  void show_positions(std::span<const Work* const> all, std::vector<std::expected<Seen, Error>>& seen);
  void ask_positions();
  std::expected<void, Error> make(const Work& work, const PlannedObject& object);
  std::expected<void, Error> take_over(const Work& work, const PlannedObject& object);
  std::expected<void, Error> replace_failed(const PlannedObject& object, const kube::Object& found);
  bool lasts(const std::string& id, const kube::ApiError& error);
  std::expected<void, Error> refuse(const Work& work, std::string why);
  std::expected<void, Error> remove(const NamedObject& object);
  void note(std::string_view point) const {
    if (options_.fail) options_.fail(point);
  }

  const ClusterOptions options_;
  const std::string& ns_;
  const std::unique_ptr<kube::Client> client_;
  ObjectStore store_;
  kube::SharedWatches watches_;
  std::map<Kind, kube::Subscription> subscriptions_{};
  // Of the one thread that steps.
  std::map<std::string, std::chrono::steady_clock::time_point, std::less<>> refused_since_{};  // by customization
  std::chrono::steady_clock::time_point away_until_{};
  Error away_{};
  Positions positions_{};
  std::chrono::steady_clock::time_point positions_until_{};
  std::map<std::string, std::string, std::less<>> refusals_{};  // by customization: of its newest attempt
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>>
      models_{};                                            // the model's Job → who waits for it
  std::map<std::string, Reading, std::less<>> readings_{};  // by customization: of its newest attempt
};

}  // namespace stackgate::customizer
