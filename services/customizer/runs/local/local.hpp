// Stages as processes on this machine, each customization in a directory of its own. One process at a time may use the
// directory; its stages go on without it, and the next one finds them.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "services/customizer/runs/executor.hpp"
#include "services/customizer/runs/local/attempt.hpp"
#include "services/kit/files/file.hpp"

namespace stackgate::customizer {

struct LocalOptions {
  std::string directory{};  // of the customizations
  std::string models{}, programs{};
  Addresses addresses{};
  Credentials credentials{};
  unsigned trainings = 1;  // at the same time; the others wait for their turn
};

class LocalExecutor final : public Executor {
 public:
  /// The error: the directory cannot be made, or another process uses it.
  static std::expected<std::unique_ptr<LocalExecutor>, Error> open(LocalOptions options);

  std::vector<std::expected<Seen, Error>> look(std::span<const Work* const> all) override;
  std::expected<void, Error> create(const Work& work, Stage stage) override;
  std::expected<void, Error> advance(const Work& work, Stage stage) override { return create(work, stage); }
  std::expected<void, Error> cancel(const Work& work, Stage stage) override;
  std::expected<void, Error> clean_up(const Work& work) override;
  std::expected<std::string, Error> log(const Work& work, Stage stage, std::uint64_t& offset) override;
  std::vector<std::string> changed() override;
  bool is_polled() const override { return !running_.empty() || !waiting_.empty(); }
  bool has_workspace(const Work& work) const override;
  validate::Findings check(const CustomizationRequest& request) const override;

 private:
  LocalExecutor(LocalOptions options, files::File lock) : options_(std::move(options)), lock_(std::move(lock)) {}
  std::string workspace(const Work& work) const { return options_.directory + "/" + work.job.id; }
  Attempt attempt(const Work& work, Stage stage) const;
  StageSight sight(const Work& work, Stage stage);
  std::expected<void, Error> prepare(const Work& work, Stage stage) const;

  const LocalOptions options_;
  const files::File lock_;
  std::map<std::string, Attempt> running_{};  // by the customization: a change of phase is looked for
  std::set<std::string> training_{};
  std::set<std::pair<Seconds, std::string>> waiting_{};  // for their turn: who was created first has the next one
};

}  // namespace stackgate::customizer
