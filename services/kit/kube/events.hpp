// Reports to users what happens to their objects, as core/v1 Events: `kubectl describe` shows them.
#pragma once
#include <chrono>
#include <memory>
#include <string_view>

#include "services/kit/kube/client.hpp"
#include "services/kit/kube/events_core.hpp"

namespace stackgate::kube {

struct EventOptions {
  std::string component = "stackgate";  // who says so
  std::string instance = {};            // which of its pods; may be empty
  std::size_t most_waiting = 1'000;     // what is recorded beyond is dropped and counted
  EventTuning tuning = {};
};

/// Monotonic, but for `waiting`.
struct EventNumbers {
  std::size_t waiting = 0;     // recorded, not yet sent
  std::uint64_t recorded = 0;  // calls of record()
  std::uint64_t created = 0;   // Events written
  std::uint64_t patched = 0;   // counts of Events raised
  std::uint64_t folded = 0;    // records that needed no Event of their own
  std::uint64_t dropped = 0;   // the queue was full
  std::uint64_t failed = 0;    // the API server refused or could not be reached, after retries
};

/// Thread-safe. Sends on a thread of its own.
class EventRecorder {
 public:
  /// `client` must outlive it.
  EventRecorder(Client& client, EventOptions options);
  /// stop()
  ~EventRecorder();

  /// Never blocks. `reason` is one word in CamelCase for machines ("ImagePullBackOff"), `message` a sentence for
  /// people; it is cut to 1024 bytes. Everybody who may read events of the namespace sees both: no secrets.
  void record(const ObjectReference& object, EventType type, std::string_view reason, std::string_view message);

  /// Sends what waits, for at most `limit`; later records are dropped.
  void stop(std::chrono::milliseconds limit = std::chrono::milliseconds(2'000));

  EventNumbers numbers() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stackgate::kube
