#include "reconcile/control/controller.hpp"

#include <chrono>
#include <exception>

#include "services/kit/log/log.hpp"

namespace stackgate::reconcile {
namespace {

/// What only a person can cure is said once; what takes its course, once it takes long.
log::Level level_of(const Pass& pass, int failures) {
  constexpr int usual = 3;      // conflicts are everyday life
  constexpr int patience = 12;  // retries, in about 20 s
  switch (pass.waiting) {
    case Pass::Waiting::for_a_person:
      return pass.news ? log::Level::warning : log::Level::debug;
    case Pass::Waiting::for_deletion:
      return failures == patience ? log::Level::warning : log::Level::debug;
    case Pass::Waiting::no:
      break;
  }
  return failures < usual ? log::Level::debug : log::Level::warning;
}

}  // namespace

Controller::Controller(Reconciler& reconciler, const Store& store, ReconcileMetrics& metrics, unsigned workers)
    : reconciler_(reconciler), store_(store), metrics_(metrics) {
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
  metrics_.observe(taken.key.kind, pass, std::chrono::steady_clock::now() - begin);
  if (pass.look_after) queue_.add_after(taken.key, *pass.look_after);
  switch (pass.result) {
    case Result::settled:
      queue_.forget(taken.key);
      return;
    case Result::status_waits:
      queue_.forget(taken.key);
      queue_.add(taken.key, kube::Priority::low);
      return;
    case Result::try_again: {
      auto wait = queue_.add_backing_off(taken.key);
      if (pass.look_within && wait > *pass.look_within) queue_.add_after(taken.key, wait = *pass.look_within);
      const auto level = level_of(pass, taken.failures);
      const std::string resource = to_string(taken.key);
      const log::Field fields[] = {{"resource", resource},
                                   {"error", pass.error},
                                   {"failures", taken.failures + 1},
                                   {"again_in_ms", wait.count()}};
      if (log::enabled(level))
        log::write(level, pass.waiting == Pass::Waiting::no ? "reconcile failed" : "reconcile waits", fields);
      return;
    }
  }
}

}  // namespace stackgate::reconcile
