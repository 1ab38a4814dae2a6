// List and watch as a state machine without I/O: it gets what happened and returns what to do next.
//
//            ┌────────── failed ────────────┐
//   start → listing ── last page ──→ watching ── closed, stalled ──→ watching (resumes where it was)
//            ↑   ↖ next page            │  └── failed ──→ waiting ──→ watching
//            └── expired (410) ─────────┘
//
// The resource version of the last event or bookmark is where a broken watch resumes. When the server has forgotten it
// (410, after a compaction or a restart) everything is listed again. Every failure waits longer than the one before;
// anything received ends that. Source: https://kubernetes.io/docs/reference/using-api/api-concepts/
// Pure; not thread-safe.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "services/kit/base/backoff.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/kube/api_error.hpp"
#include "services/kit/kube/watch_frame.hpp"

namespace stackgate::kube {

struct WatchTuning {
  int page_size = 500;
  std::chrono::seconds shortest_watch{300}, longest_watch{600};  // asked of the server, drawn at random
  std::chrono::milliseconds list_timeout{60'000};
  /// Silence after which a watch counts as dead. Bookmarks come about once a minute; a server that sends none only
  /// makes a quiet watch resume this often.
  std::chrono::milliseconds stall{100'000};
  BackoffLimits backoff{std::chrono::milliseconds(200), std::chrono::milliseconds(10'000), 2.0};
  /// After 401, 403 and 404: rights and CRDs are given by people.
  std::chrono::milliseconds denied_wait{15'000};
  /// After the first refusals in a row instead of denied_wait. An API server that has just started refuses everybody
  /// until it has read its roles: a refusal counts when it outlasts these.
  std::array<std::chrono::milliseconds, 2> denied_grace{std::chrono::milliseconds(1'000),
                                                        std::chrono::milliseconds(4'000)};
  /// After 404, instead of denied_wait.
  std::optional<BackoffLimits> missing = {};
  /// SharedWatches: how often an absent type is asked for where definitions may not be listed.
  std::chrono::milliseconds unlisted_wait{30'000};
};

enum class WatchState : std::uint8_t { idle, listing, watching, waiting };

/// What became of the last attempt to get something from the API server.
enum class Reach : std::uint8_t {
  unknown,    // none has ended yet, or the next one is under way
  reached,    // it answered: with objects, with a refusal, or with a fault that it explains as API servers do
  unreached,  // no connection, silence, or an answer that is a proxy's
};

/// Ask for a page. `first`: what was listed before in this round, if anything, counts no longer.
struct ListNow {
  std::string continue_token;
  int limit = 0;  // 0: all at once
  bool first = true;
};
struct WatchNow {
  std::string resource_version;
  std::chrono::seconds timeout{0};
  bool fresh_connection = false;
};
struct WaitFor {
  std::chrono::milliseconds time{0};
};
using WatchAction = std::variant<ListNow, WatchNow, WaitFor>;

enum class EventVerdict : std::uint8_t {
  upsert,  // store the event's object
  remove,
  pass,  // a bookmark
  end,   // close the stream and call stream_ended()
};

/// Monotonic. That a type which may be absent (WatchTuning::missing) is absent is not a failure.
struct WatchCounts {
  std::uint64_t lists = 0, watches = 0, events = 0, bookmarks = 0, expired = 0, stalls = 0, failures = 0;
};
WatchCounts operator+(const WatchCounts& a, const WatchCounts& b);

class WatchMachine {
 public:
  WatchMachine(WatchTuning tuning, Jitter jitter)
      : tuning_(tuning),
        jitter_(jitter),
        backoff_(tuning.backoff),
        missing_backoff_(tuning.missing.value_or(BackoffLimits{})) {}

  WatchAction start();
  /// In state listing.
  WatchAction page_received(const ListPage& page);
  WatchAction list_failed(const ApiError& error);
  /// In state watching: one frame of the stream, {"type", "object"}.
  EventVerdict event(const json::Value& frame);
  /// The stream is over: `error` is nullptr after a regular end; `lasted` counts from the request.
  WatchAction stream_ended(const ApiError* error, std::chrono::milliseconds lasted);
  /// Nothing came for WatchTuning::stall; the caller has cut the stream.
  WatchAction stalled();
  /// In state waiting.
  WatchAction waited();

  WatchState state() const { return state_; }
  /// Everything was listed at least once.
  bool synced() const { return synced_; }
  /// The server refuses (401, 403), and did so for longer than WatchTuning::denied_grace. Stays while it is not
  /// reached.
  bool denied() const { return denials_ > tuning_.denied_grace.size(); }
  /// Its words, while denied().
  const std::string& denial() const { return denial_; }
  /// The server does not know the type (404).
  bool missing() const { return missing_; }
  Reach reach() const { return reach_; }
  const std::string& last_error() const { return last_error_; }
  const WatchCounts& counts() const { return counts_; }

 private:
  WatchAction list(std::string token, int limit, bool first);
  WatchAction watch(bool fresh_connection);
  WatchAction wait(std::chrono::milliseconds time);
  WatchAction fail(const ApiError& error);
  void answered();

  WatchTuning tuning_;
  Jitter jitter_;
  Backoff backoff_;
  Backoff missing_backoff_;
  WatchState state_ = WatchState::idle;
  std::string version_;  // empty: list next
  bool synced_ = false, missing_ = false;
  Reach reach_ = Reach::unknown;
  std::size_t denials_ = 0;  // in a row
  std::string denial_;
  bool progress_ = false;  // something was received on this stream
  bool expired_ = false;   // the stream reported that version_ is forgotten
  int failed_watches_ = 0;
  ApiError stream_error_;
  std::string last_error_;
  WatchCounts counts_;
};

}  // namespace stackgate::kube
