#include "services/kit/kube/watch_runner.hpp"

#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/kube/client.hpp"

namespace stackgate::kube {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_kept_arena = 256 * 1024;
constexpr std::size_t most_refusal = 64 * 1024;

/// The whole object is what a server without that form may answer: it has the metadata too.
std::string accept_of(const WatchTarget& target, std::string_view kind) {
  if (!target.metadata_only) return "application/json";
  return fmt::format("application/json;as={};g=meta.k8s.io;v=v1,application/json", kind);
}

/// All watches of a transport parse on its thread, one object at a time, into the same memory.
json::Document& scratch() {
  thread_local json::Document document;
  if (document.arena.bytes_used() > most_kept_arena) document = {};
  return document;
}

}  // namespace

struct Watch::Impl : std::enable_shared_from_this<Watch::Impl> {
  Transport& transport;
  const WatchTarget target;
  const std::shared_ptr<WatchSink> sink;
  const WatchTuning tuning;
  const Observer observer;
  WatchMachine machine;  // this and all below up to `mutex`: on the transport's thread only
  bool stopped = false;
  std::uint64_t turn = 0;  // of the exchange or timer that counts; others are late and mean nothing
  ExchangeId exchange = 0;
  bool cut_as_stalled = false;
  Clock::time_point begun, last_bytes;

  mutable std::mutex mutex;
  WatchHealth shown;

  Impl(Transport& t, WatchTarget target_, std::shared_ptr<WatchSink> sink_, const WatchTuning& tuning_,
       Observer observer_)
      : transport(t),
        target(std::move(target_)),
        sink(std::move(sink_)),
        tuning(tuning_),
        observer(std::move(observer_)),
        machine(tuning_, Jitter::random()) {}

  void show(bool connected) {
    WatchHealth now{machine.synced(),     connected,        machine.denied(), machine.missing(),
                    machine.last_error(), machine.counts(), machine.reach(),  machine.denial()};
    {
      const std::scoped_lock lock(mutex);
      shown = now;
    }
    if (observer) observer(now);
  }

  std::string collection() const { return collection_path(target.type, target.ns); }

  void perform(const WatchAction& action) {
    if (stopped) return;
    ++turn;
    if (const auto* list = std::get_if<ListNow>(&action)) {
      begin_list(*list);
    } else if (const auto* watch = std::get_if<WatchNow>(&action)) {
      begin_watch(*watch);
    } else {
      transport.run_after(std::get<WaitFor>(action).time, [self = weak_from_this(), due = turn] {
        const auto impl = self.lock();
        if (impl != nullptr && !impl->stopped && impl->turn == due) impl->perform(impl->machine.waited());
      });
    }
    show(false);
  }

  void begin_list(const ListNow& list);
  void begin_watch(const WatchNow& watch);

  /// Looks again later until the stream has been silent for too long.
  void arm_stall(std::chrono::milliseconds wait) {
    transport.run_after(wait, [self = weak_from_this(), due = turn] {
      const auto impl = self.lock();
      if (impl == nullptr || impl->stopped || impl->turn != due) return;
      const auto silent = std::chrono::floor<std::chrono::milliseconds>(Clock::now() - impl->last_bytes);
      if (silent < impl->tuning.stall) {
        impl->arm_stall(impl->tuning.stall - silent);
      } else {
        impl->cut_as_stalled = true;
        impl->transport.cancel(impl->exchange);
      }
    });
  }

  bool list_item(std::string_view text) {
    json::Document& document = scratch();
    if (!json::parse(text, document)) return false;
    sink->upsert(document.root);
    return true;
  }

  bool stream_frame(std::string_view text, std::string& fault) {
    json::Document& document = scratch();
    if (const auto parsed = json::parse(text, document); !parsed) {
      fault = "an event is not JSON: " + parsed.error().message;
      return false;
    }
    switch (machine.event(document.root)) {
      case EventVerdict::upsert:
        sink->upsert(*document.root.find("object"));
        break;
      case EventVerdict::remove:
        sink->remove(*document.root.find("object"));
        break;
      case EventVerdict::pass:
        break;
      case EventVerdict::end:
        return false;
    }
    return true;
  }

  class Reading;
  class ReadingList;
  class ReadingStream;
};

/// What both kinds of answer have in common: refusals are read as Status, and late ones are dropped.
class Watch::Impl::Reading : public Receiver {
 public:
  explicit Reading(std::shared_ptr<Impl> impl) : impl_(std::move(impl)), turn_(impl_->turn) {}

  void head(const HttpHead& head) final {
    if (!late()) opened(head);
  }
  bool data(const HttpHead& head, std::string_view bytes) final {
    if (late()) return false;
    if (head.status < 300) return take(bytes);
    if (refusal_.size() < most_refusal) refusal_.append(bytes);
    return true;
  }

  void done(const HttpHead& head, const TransportError* error) final {
    if (late()) return;
    const std::string what = "watch of " + impl_->collection();
    std::optional<ApiError> failed;
    if (!fault_.empty())
      failed = ApiError{Failure::malformed, 0, "", what + ": " + fault_, {}};
    else if (error != nullptr)
      failed = error_from_transport(what, *error);
    else if (head.status >= 300)
      failed = error_from_answer(what, head.status, refusal_, head.retry_after);
    ended(failed ? &*failed : nullptr);
  }

 protected:
  virtual void opened(const HttpHead& /*head*/) {}
  virtual bool take(std::string_view bytes) = 0;
  virtual void ended(const ApiError* error) = 0;

  std::shared_ptr<Impl> impl_;
  std::string fault_;

 private:
  bool late() const { return impl_->stopped || impl_->turn != turn_; }

  std::uint64_t turn_;
  std::string refusal_;
};

class Watch::Impl::ReadingList final : public Reading {
 public:
  using Reading::Reading;

 private:
  bool take(std::string_view bytes) override {
    if (splitter_.feed(bytes, [this](std::string_view item) { return impl_->list_item(item); })) return true;
    fault_ = splitter_.fault();
    return false;
  }
  void ended(const ApiError* error) override {
    if (error != nullptr) return impl_->perform(impl_->machine.list_failed(*error));
    const auto page = splitter_.finish();
    if (!page) {
      const ApiError malformed{Failure::malformed, 0, "", impl_->collection() + ": " + page.error().message, {}};
      return impl_->perform(impl_->machine.list_failed(malformed));
    }
    if (page->continue_token.empty()) impl_->sink->relist_ended();
    impl_->perform(impl_->machine.page_received(*page));
  }

  ListSplitter splitter_;
};

class Watch::Impl::ReadingStream final : public Reading {
 public:
  using Reading::Reading;

 private:
  void opened(const HttpHead& head) override { impl_->show(head.status < 300); }
  bool take(std::string_view bytes) override {
    impl_->last_bytes = Clock::now();
    const bool go_on =
        splitter_.feed(bytes, [this](std::string_view frame) { return impl_->stream_frame(frame, fault_); });
    if (fault_.empty()) fault_ = splitter_.fault();
    impl_->show(go_on);
    return go_on;
  }
  void ended(const ApiError* error) override {
    if (impl_->cut_as_stalled) return impl_->perform(impl_->machine.stalled());
    const auto lasted = std::chrono::floor<std::chrono::milliseconds>(Clock::now() - impl_->begun);
    impl_->perform(impl_->machine.stream_ended(error, lasted));
  }

  FrameSplitter splitter_;
};

void Watch::Impl::begin_list(const ListNow& list) {
  if (list.first) sink->relist_began();
  Request request;
  request.path = collection() + Query()
                                    .add("labelSelector", target.label_selector)
                                    .add("fieldSelector", target.field_selector)
                                    .add("limit", list.limit == 0 ? std::string{} : std::to_string(list.limit))
                                    .add("continue", list.continue_token)
                                    .text();
  request.accept = accept_of(target, "PartialObjectMetadataList");
  request.timeout = tuning.list_timeout;
  exchange = transport.send(std::move(request), std::make_shared<ReadingList>(shared_from_this()));
}

void Watch::Impl::begin_watch(const WatchNow& watch) {
  Request request;
  request.path = collection() + Query()
                                    .add("watch", "1")
                                    .add("allowWatchBookmarks", "true")
                                    .add("labelSelector", target.label_selector)
                                    .add("fieldSelector", target.field_selector)
                                    .add("resourceVersion", watch.resource_version)
                                    .add("timeoutSeconds", std::to_string(watch.timeout.count()))
                                    .text();
  request.accept = accept_of(target, "PartialObjectMetadata");
  request.timeout = watch.timeout + std::chrono::seconds(30);
  request.endless = true;
  request.fresh_connection = watch.fresh_connection;
  cut_as_stalled = false;
  begun = last_bytes = Clock::now();
  exchange = transport.send(std::move(request), std::make_shared<ReadingStream>(shared_from_this()));
  arm_stall(tuning.stall);
}

Watch::Watch(Transport& transport, WatchTarget target, std::shared_ptr<WatchSink> sink, const WatchTuning& tuning,
             Observer observer)
    : impl_(std::make_shared<Impl>(transport, std::move(target), std::move(sink), tuning, std::move(observer))) {
  transport.run([impl = impl_] { impl->perform(impl->machine.start()); });
}

Watch::~Watch() {
  if (impl_ == nullptr) return;
  impl_->transport.run_and_wait([impl = impl_] {
    impl->stopped = true;
    impl->transport.cancel(impl->exchange);
  });
}

WatchHealth Watch::health() const {
  const std::scoped_lock lock(impl_->mutex);
  return impl_->shown;
}

}  // namespace stackgate::kube
