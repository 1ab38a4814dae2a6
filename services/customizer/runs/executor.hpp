// Where stages run: the processes of this machine, or a cluster's objects.
#pragma once
#include <array>
#include <cstdint>
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "services/customizer/api/request.hpp"
#include "services/customizer/job/next.hpp"
#include "services/customizer/objects/plan.hpp"
#include "services/customizer/records/records.hpp"
#include "services/kit/base/error.hpp"

namespace stackgate::customizer {

/// A customization with its request read.
struct Work {
  Stored stored{};
  CustomizationRequest request{};
  TrainingJob job{};
};
Work work_of(Stored stored);
/// Of one that is not stored: without an id and a token.
TrainingJob training_job(const CustomizationRequest& request);

/// What was found of one. The error: it could not be looked at, and the next look may do better.
struct Seen {
  std::array<StageSight, 3> stages{};  // of their newest attempts
  bool leftovers = false;              // any object of the customization is there
  bool workspace = false;              // what finished stages have made is there
};

/// Calls block; one thread at a time, but for what says otherwise. Whatever is done twice is done once.
class Executor {
 public:
  virtual ~Executor() = default;
  /// One for each of `all`, in their order.
  virtual std::vector<std::expected<Seen, Error>> look(std::span<const Work* const> all) = 0;
  /// The stage's newest attempt, and what it needs; that it is there is as good.
  virtual std::expected<void, Error> create(const Work& work, Stage stage) = 0;
  /// Of one that is there and waits: whether its turn has come, where that is decided here.
  virtual std::expected<void, Error> advance(const Work& /*work*/, Stage /*stage*/) { return {}; }
  /// What computes of it is asked to end, and made to later.
  virtual std::expected<void, Error> cancel(const Work& work, Stage stage) = 0;
  /// All of it. The error: what computes has been asked to end, and has not yet. Any thread.
  virtual std::expected<void, Error> clean_up(const Work& work) = 0;
  /// What the stage's newest attempt has written behind `offset`, whole lines, which moves on.
  virtual std::expected<std::string, Error> log(const Work& work, Stage stage, std::uint64_t& offset) = 0;
  /// Those about which something has changed since the last call, as far as that can be known.
  virtual std::vector<std::string> changed() = 0;
  /// `wake` is called on any thread when that would not be empty, as far as it is known. An empty one ends it.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): those that use it keep it
  virtual void on_change(std::function<void()> /*wake*/) {}
  /// The error: what is there cannot be known, and nothing may be looked at or done. Any thread.
  virtual std::expected<void, Error> available() const { return {}; }
  /// Customizations of which something is there, whether anybody knows them or not.
  virtual std::vector<std::string> ids() const { return {}; }
  /// Nobody asks about it here any more: another replica does, or it is over.
  virtual void forget(std::string_view /*id*/) {}
  /// Whether changes have to be looked for often: nobody reports them.
  virtual bool is_polled() const = 0;
  /// Whether the workspace is there. Any thread.
  virtual bool has_workspace(const Work& work) const = 0;
  /// What can be known of a request, whose dataset was looked at, before it is stored: errors and warnings. Any thread.
  virtual validate::Findings check(const CustomizationRequest& request) const = 0;
};

}  // namespace stackgate::customizer
