// What is to be done next about a customization. Pure and thread-safe.
//
//   create download ─▶ wait ─▶ create training ─▶ wait ─▶ create upload ─▶ wait ─▶ finish ─▶ clean up
//         ▲  └ failed, may be tried again ┘ └─ cancel ─▶ wait ─▶ finish
//
// The caller stores `job` and then does `action`, whatever happened before: objects have names made of the
// customization, the stage and the attempt, so an action that is done twice, by this replica or another, is done once.
#pragma once
#include <array>
#include <cstdint>
#include <expected>
#include <string>

#include "services/customizer/job/customization.hpp"

namespace stackgate::customizer {

/// What a stage's newest attempt looks like: of the cluster's objects, or of a process on this machine.
struct StageSight {
  enum class Objects : std::uint8_t { absent, there, foreign };
  Objects objects = Objects::absent;  // foreign: the name is taken by what does not carry our label
  State state = State::pending;       // of what is there: pending, running, completed or failed
  bool may_retry = false;             // of what failed: another attempt may do better without a change
  std::string message{};              // why it waits, or why it failed: a sentence without its end
};

/// Of the adapter in the entitystore.
enum class AdapterState : std::uint8_t { unknown, uploading, pending, ready, failed };

struct Observed {
  Seconds now = 0;
  std::array<StageSight, 3> stages{};
  AdapterState adapter = AdapterState::unknown;
  bool leftovers = false;  // any object of the customization is there

  StageSight& stage(Stage which) { return stages.at(static_cast<std::size_t>(which)); }
  const StageSight& stage(Stage which) const { return stages.at(static_cast<std::size_t>(which)); }
};

/// Seconds; 0: no limit.
struct Limits {
  Seconds waiting = 24 * 3600;              // of an attempt that does not run
  Seconds download = 6 * 3600;              // of the download, once it runs
  Seconds training = 0;                     // trainingConfig.timeout: of all attempts together, once it runs
  Seconds upload = 3600;                    // of the upload, until the adapter is stored
  std::uint32_t retries = 3;                // of a download or an upload
  std::uint32_t restarts = 10;              // of a training that was stopped behind a checkpoint, or lost its node
  Seconds pause = 10, longest_pause = 300;  // before an attempt: doubled with each
  Seconds keep = 3600;                      // of what has finished: its pods and logs
  Seconds keep_failed = 24 * 3600;          // of what failed: its workspace, so that it can go on
};

struct Action {
  enum class Kind : std::uint8_t {
    wait,      // until something changes, or `at`
    create,    // the objects of the stage's newest attempt; that they exist is as good
    cancel,    // delete what computes of the stage's newest attempt
    finish,    // the state is final: trackers and waiting clients learn of it
    clean_up,  // delete all objects of the customization, which is stored as cleared
    nothing,   // ever again
  };
  Kind kind = Kind::wait;
  Stage stage = Stage::download;
  Seconds at = 0;  // of wait: look again then; 0: no such time
  friend bool operator==(const Action&, const Action&) = default;
};

struct Step {
  Customization job;
  Action action;
};

Step next(Customization job, const Observed& observed, const Limits& limits);

/// Asks for its end. A final one stays as it is.
Customization cancelled(Customization job, Seconds now);

/// The failed stage once more, and no other: what is trained is not trained again. The error is a sentence.
std::expected<Customization, std::string> retried(Customization job, bool workspace_is_there, Seconds now);

}  // namespace stackgate::customizer
