#include "services/kit/kube/events.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "services/kit/kube/caller.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::kube {
namespace {

using EventClock = std::chrono::steady_clock;

/// Nobody waits for an Event, but those behind it in the queue do.
constexpr RetryPolicy event_retry{
    .attempts = 4, .total = std::chrono::milliseconds(10'000), .backoff = {std::chrono::milliseconds(200)}};

}  // namespace

struct EventRecorder::Impl {
  Caller caller;
  const EventOptions options;
  EventFolder folder{options.tuning, std::random_device{}()};  // on the thread only
  std::string last_error;                                      // likewise

  mutable std::mutex mutex;
  std::condition_variable wake, ended;
  std::deque<EventRecord> waiting;  // this and what follows up to `end` under the mutex
  bool stopping = false, has_ended = false;
  EventClock::time_point end = EventClock::time_point::max();

  std::atomic<std::uint64_t> recorded{0}, created{0}, patched{0}, folded{0}, dropped{0}, failed{0};
  std::thread thread;

  Impl(Client& c, EventOptions o) : caller(c), options(std::move(o)) {}

  void run();
  bool step();
  void send(const EventWrite& event);
  std::optional<ApiError> attempt(const EventWrite& event, const CallOptions& call);
  CallOptions call_options() const;
};

CallOptions EventRecorder::Impl::call_options() const {
  CallOptions call;
  call.timeout = std::chrono::milliseconds(5'000);
  call.retry = event_retry;
  const std::scoped_lock lock(mutex);
  if (stopping) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - EventClock::now());
    return CallOptions::once(std::max(left, std::chrono::milliseconds(1)));
  }
  return call;
}

std::optional<ApiError> EventRecorder::Impl::attempt(const EventWrite& event, const CallOptions& call) {
  const std::string_view ns = event_namespace(event.record.object);
  Request request = event.create
                        ? Request::create(types::events, ns, event_json(event, options.component, options.instance))
                        : Request::patch(types::events, ns, event.name, PatchType::merge, event_patch(event));
  // To create it twice is refused, its name being its own; to write the same count twice does no harm.
  request.idempotent = true;
  auto answer = caller.send(std::move(request).metadata_only(), call);
  if (answer || answer.error().reason == "AlreadyExists") return std::nullopt;
  return std::move(answer.error());
}

void EventRecorder::Impl::send(const EventWrite& event) {
  auto error = attempt(event, call_options());
  if (error && error->not_found() && !event.create) {
    // The server drops Events after a while: the count goes on in a new one of the same name.
    EventWrite again = event;
    again.create = true;
    error = attempt(again, call_options());
  }
  if (!error) {
    ++(event.create ? created : patched);
    last_error.clear();
    return;
  }
  ++failed;
  folder.forget(event);
  if (last_error != error->message) log::warning("an event could not be written", {{"error", error->message}});
  last_error = std::move(error->message);
}

void EventRecorder::Impl::run() {
  while (step()) {
  }
  const std::scoped_lock lock(mutex);
  has_ended = true;
  ended.notify_all();
}

/// Sends one record and what is due. False at the end.
bool EventRecorder::Impl::step() {
  std::optional<EventRecord> record;
  bool ending = false;
  {
    std::unique_lock lock(mutex);
    const auto ready = [this] { return stopping || !waiting.empty(); };
    if (const auto due = folder.next_due())
      wake.wait_until(lock, *due, ready);
    else
      wake.wait(lock, ready);
    if (EventClock::now() >= end) {
      dropped += waiting.size();
      waiting.clear();
      return false;
    }
    if (!waiting.empty()) {
      record = std::move(waiting.front());
      waiting.pop_front();
    }
    ending = stopping && waiting.empty();
  }
  if (record) {
    if (const auto event = folder.add(std::move(*record), EventClock::now(), std::chrono::system_clock::now()))
      send(*event);
    else
      ++folded;
  }
  for (const EventWrite& event : folder.due(EventClock::now(), ending)) send(event);
  return !ending;
}

EventRecorder::EventRecorder(Client& client, EventOptions options)
    : impl_(std::make_unique<Impl>(client, std::move(options))) {
  impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
}

EventRecorder::~EventRecorder() { stop(); }

void EventRecorder::record(const ObjectReference& object, EventType type, std::string_view reason,
                           std::string_view message) {
  ++impl_->recorded;
  EventRecord record{object, type, std::string(reason), cut_message(message)};
  const std::scoped_lock lock(impl_->mutex);
  if (impl_->stopping || impl_->waiting.size() >= impl_->options.most_waiting) {
    ++impl_->dropped;
    return;
  }
  impl_->waiting.push_back(std::move(record));
  impl_->wake.notify_one();
}

void EventRecorder::stop(std::chrono::milliseconds limit) {
  {
    std::unique_lock lock(impl_->mutex);
    if (impl_->stopping) return;
    impl_->stopping = true;
    impl_->end = EventClock::now() + limit;
    impl_->wake.notify_one();
    // One call may last longer than the limit.
    if (!impl_->ended.wait_until(lock, impl_->end, [this] { return impl_->has_ended; })) impl_->caller.break_off();
  }
  impl_->thread.join();
}

EventNumbers EventRecorder::numbers() const {
  const std::scoped_lock lock(impl_->mutex);
  return {impl_->waiting.size(), impl_->recorded, impl_->created, impl_->patched,
          impl_->folded,         impl_->dropped,  impl_->failed};
}

}  // namespace stackgate::kube
