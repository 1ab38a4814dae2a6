#include "services/kit/kube/watch.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/kube/object.hpp"

namespace stackgate::kube {
namespace {

// A stream that ends sooner without a word is a failure: a server that closes at once must not be asked in a loop.
constexpr std::chrono::milliseconds short_stream{2'000};
// After so many failures in a row the version itself is suspect (a restored etcd counts from lower numbers).
constexpr int failures_before_relist = 4;

ApiError error_from_status(const json::Value& status) {
  ApiError error;
  error.failure = Failure::answered;
  if (const json::Value* code = status.find("code"); code != nullptr) error.code = static_cast<int>(code->integer());
  error.reason = json::text_at(status, "reason");
  error.message = fmt::format("watch: {}", json::text_at(status, "message"));
  return error;
}

}  // namespace

WatchCounts operator+(const WatchCounts& a, const WatchCounts& b) {
  return {a.lists + b.lists,     a.watches + b.watches, a.events + b.events,    a.bookmarks + b.bookmarks,
          a.expired + b.expired, a.stalls + b.stalls,   a.failures + b.failures};
}

WatchAction WatchMachine::start() { return list({}, tuning_.page_size, true); }

WatchAction WatchMachine::list(std::string token, int limit, bool first) {
  state_ = WatchState::listing;
  version_.clear();
  if (first) ++counts_.lists;
  return ListNow{std::move(token), limit, first};
}

WatchAction WatchMachine::watch(bool fresh_connection) {
  state_ = WatchState::watching;
  progress_ = expired_ = false;
  stream_error_ = {};
  ++counts_.watches;
  const auto span = static_cast<double>((tuning_.longest_watch - tuning_.shortest_watch).count());
  const auto extra = std::chrono::seconds(static_cast<std::int64_t>(span * jitter_.next()));
  return WatchNow{version_, tuning_.shortest_watch + extra, fresh_connection};
}

WatchAction WatchMachine::wait(std::chrono::milliseconds time) {
  state_ = WatchState::waiting;
  return WaitFor{time};
}

WatchAction WatchMachine::fail(const ApiError& error) {
  last_error_ = error.message;
  missing_ = error.not_found();
  // Proxies answer for servers that are gone, without the Status object that tells a reason.
  reach_ = error.failure == Failure::answered && (error.code < 500 || !error.reason.empty()) ? Reach::reached
                                                                                             : Reach::unreached;
  if (error.forbidden()) {
    ++denials_;
    denial_ = error.message;
  } else if (!denied() || (reach_ == Reach::reached && error.code < 429)) {
    denials_ = 0;
  }
  const bool expected = missing_ && tuning_.missing;
  if (!expected) ++counts_.failures;
  std::chrono::milliseconds time = backoff_.next(jitter_);
  if (expected)
    time = missing_backoff_.next(jitter_);
  else if (error.forbidden() && !denied())
    time = tuning_.denied_grace[denials_ - 1];
  else if (error.forbidden() || missing_)
    time = std::max(time, tuning_.denied_wait);
  return wait(std::max<std::chrono::milliseconds>(time, error.retry_after));
}

/// With what was asked for.
void WatchMachine::answered() {
  backoff_.reset();
  reach_ = Reach::reached;
  missing_ = false;
  denials_ = 0;
  last_error_.clear();
}

WatchAction WatchMachine::page_received(const ListPage& page) {
  answered();
  missing_backoff_.reset();
  if (!page.continue_token.empty()) return list(page.continue_token, tuning_.page_size, false);
  version_ = page.resource_version;
  synced_ = true;
  failed_watches_ = 0;
  return watch(false);
}

WatchAction WatchMachine::list_failed(const ApiError& error) {
  if (error.gone()) {
    // The pages' common snapshot is gone before the last one was read: take all in one piece, which cannot expire.
    ++counts_.expired;
    reach_ = Reach::reached;
    if (backoff_.failures() == 0) {
      (void)backoff_.next(jitter_);
      return list({}, 0, true);
    }
  }
  return fail(error);
}

EventVerdict WatchMachine::event(const json::Value& frame) {
  const std::string_view type = json::text_at(frame, "type");
  const json::Value* object = frame.find("object");
  if (object == nullptr) object = &frame;
  if (type == "ERROR") {
    stream_error_ = error_from_status(*object);
    expired_ = stream_error_.gone();
    return EventVerdict::end;
  }
  const bool bookmark = type == "BOOKMARK";
  const bool removed = type == "DELETED";
  const std::string_view version = metadata(*object, "resourceVersion");
  if (version.empty() || (!bookmark && !removed && type != "ADDED" && type != "MODIFIED")) {
    stream_error_ = {Failure::malformed, 0, "", fmt::format("watch: an event of type \"{}\" makes no sense", type), {}};
    expired_ = true;  // whatever it was is not known now: list again
    return EventVerdict::end;
  }
  version_ = version;
  progress_ = true;
  failed_watches_ = 0;
  answered();
  if (bookmark) {
    ++counts_.bookmarks;
    return EventVerdict::pass;
  }
  ++counts_.events;
  return removed ? EventVerdict::remove : EventVerdict::upsert;
}

WatchAction WatchMachine::stream_ended(const ApiError* error, std::chrono::milliseconds lasted) {
  // What the stream itself said counts for more than how it was then closed.
  if (stream_error_.failure != Failure::none) error = &stream_error_;
  const bool expired = expired_ || (error != nullptr && error->gone());
  if (expired) {
    ++counts_.expired;
    reach_ = Reach::reached;
    version_.clear();
    // At once, unless it has just been tried: after a compaction one new list is all it takes.
    if (failed_watches_++ == 0) return list({}, tuning_.page_size, true);
    return fail(*error);
  }
  if (error == nullptr && (progress_ || lasted >= short_stream)) {
    failed_watches_ = 0;
    backoff_.reset();
    reach_ = Reach::reached;
    return watch(false);
  }
  ++failed_watches_;
  if (error == nullptr) {
    const ApiError closed{Failure::interrupted, 0, "", "watch: closed by the server at once", {}};
    return fail(closed);
  }
  const bool refused = error->code >= 400 && error->code < 500 && error->code != 429;
  if (refused || failed_watches_ >= failures_before_relist) {
    version_.clear();
    failed_watches_ = 0;
  }
  return fail(*error);
}

WatchAction WatchMachine::stalled() {
  ++counts_.stalls;
  reach_ = Reach::unreached;
  return watch(true);
}

WatchAction WatchMachine::waited() {
  reach_ = Reach::unknown;
  if (version_.empty()) return list({}, tuning_.page_size, true);
  return watch(false);
}

}  // namespace stackgate::kube
