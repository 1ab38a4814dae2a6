#include "reconcile/control/controller.hpp"

#include <chrono>
#include <exception>

#include "services/kit/log/log.hpp"

namespace stackgate::reconcile {

Controller::Controller(Reconciler& reconciler, const Store& store, Telemetry& telemetry, unsigned workers)
    : reconciler_(reconciler), store_(store), telemetry_(telemetry) {
  for (unsigned i = 0; i < workers; ++i) workers_.emplace_back([this] { work(); });
}

Controller::~Controller() { stop(); }

void Controller::stop() {
  leading_ = false;
  queue_.shut_down();
  workers_.clear();
}

void Controller::lead() {
  leading_ = true;
  for (const Key& key : store_.resources()) queue_.add(key);
}

void Controller::follow() { leading_ = false; }

void Controller::changed(const Key& key) {
  if (leading_) queue_.add(key);
}

void Controller::work() {
  while (auto taken = queue_.get()) {
    if (leading_) handle(*taken);
    queue_.done(taken->key);
  }
}

void Controller::handle(const Queue::Taken& taken) {
  using Result = Pass::Result;
  const auto begin = std::chrono::steady_clock::now();
  Pass pass;
  try {
    pass = reconciler_.run(taken.key, queue_.numbers().normal > 0);
  } catch (const std::exception& fault) {  // one resource must not stop the others
    pass.result = Result::try_again;
    pass.error = fault.what();
  }
  telemetry_.observe(taken.key.kind, pass, std::chrono::steady_clock::now() - begin);
  switch (pass.result) {
    case Result::settled:
      queue_.forget(taken.key);
      return;
    case Result::status_waits:
      queue_.forget(taken.key);
      queue_.add(taken.key, kube::Priority::low);
      return;
    case Result::try_again: {
      const auto wait = queue_.add_backing_off(taken.key);
      // The first failures are everyday life: conflicts, a name that is still being freed.
      const auto level = taken.failures < 3 ? log::Level::debug : log::Level::warning;
      const std::string resource = to_string(taken.key);
      const log::Field fields[] = {{"resource", resource},
                                   {"error", pass.error},
                                   {"failures", taken.failures + 1},
                                   {"again_in_ms", wait.count()}};
      if (log::enabled(level)) log::write(level, "reconcile failed", fields);
      return;
    }
  }
}

}  // namespace stackgate::reconcile
