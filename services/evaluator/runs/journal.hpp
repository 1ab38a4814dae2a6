// What a run writes about its evaluation: events, states, results. Each write is insisted on while the database is
// away, until the run is to stop. Thread-safe.
#pragma once
#include <chrono>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "services/evaluator/records/records.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::evaluator {

class RunJournal {
 public:
  RunJournal(Records& records, std::string id, std::string name, std::function<bool()> stop,
             std::function<void(std::string_view)> fail)
      : records_(records), id_(std::move(id)), name_(std::move(name)), stop_(std::move(stop)), fail_(std::move(fail)) {}

  Records& records() { return records_; }
  const std::string& id() const { return id_; }
  bool stopping() const { return stop_(); }

  /// False: the run is to stop, or the database does not take it at all. `write` returns an sql::Expected.
  template <class Write>
  bool insist(std::string_view point, const Write& write) {
    for (bool first = true;; first = false) {
      const auto done = write();
      if (done) {
        if (fail_) fail_(point);
        return true;
      }
      using enum sql::Fault;
      const sql::Fault fault = done.error().fault;
      if (fault != away && fault != busy && fault != conflict && fault != full) {
        log::error("a run cannot be stored",
                   {{"evaluation", name_}, {"write", point}, {"reason", done.error().message}});
        return false;
      }
      if (first)
        log::warning("the database is away; waiting for it",
                     {{"evaluation", name_}, {"write", point}, {"reason", done.error().message}});
      for (int i = 0; i < 10; ++i) {
        if (stop_()) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
    }
  }

  /// An event, and a line of the log.
  void note(std::string_view message) {
    log::info("evaluation", {{"evaluation", name_}, {"event", message}});
    insist("event", [&] { return records_.add_event(id_, message); });
  }
  /// That it runs, with its message and an event.
  bool runs(std::string_view message, std::string_view event) {
    log::info("evaluation", {{"evaluation", name_}, {"event", event}});
    return insist("running", [&] { return records_.move(id_, State::running, message, event); });
  }
  /// Why it waits: its message, and an event when it changes. "": it waits no more.
  void waits(std::string_view message) {
    {
      const std::lock_guard lock(mutex_);
      if (waits_for_ == message) return;
      waits_for_ = message;
    }
    runs(message, message.empty() ? "goes on" : message);
  }

 private:
  Records& records_;
  const std::string id_, name_;
  const std::function<bool()> stop_;
  const std::function<void(std::string_view)> fail_;
  std::mutex mutex_;
  std::string waits_for_{};
};

}  // namespace stackgate::evaluator
