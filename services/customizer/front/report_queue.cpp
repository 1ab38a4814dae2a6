#include "services/customizer/front/report_queue.hpp"

#include <utility>

namespace stackgate::customizer {
namespace report_queue_detail {

/// It is of one of them, and the others may be stored without it.
bool is_of_one(sql::Fault fault) {
  using sql::Fault;
  return fault == Fault::unfit || fault == Fault::broken || fault == Fault::duplicate || fault == Fault::refers;
}

}  // namespace report_queue_detail

ReportQueue::ReportQueue(Records& records, ReportQueueOptions options)
    : records_(records), options_(options), thread_([this](const std::stop_token& stop) { work(stop); }) {}

ReportQueue::~ReportQueue() = default;

bool ReportQueue::add(Records::Report report, Done done) {
  const std::scoped_lock lock(mutex_);
  if (waiting_.reports.size() >= options_.most) return false;
  waiting_.reports.push_back(std::move(report));
  waiting_.done.push_back(std::move(done));
  // What comes behind the first shares its commit, until they are many.
  if (waiting_.reports.size() == 1 || waiting_.reports.size() == options_.at_once) changed_.notify_one();
  return true;
}

void ReportQueue::work(const std::stop_token& stop) {
  auto next = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, stop, [&] { return !waiting_.reports.empty(); });
    if (waiting_.reports.empty()) return;
    changed_.wait_until(lock, stop, next, [&] { return waiting_.reports.size() >= options_.at_once; });
    Batch batch = std::exchange(waiting_, {});
    lock.unlock();
    next = std::chrono::steady_clock::now() + options_.pause;
    store(std::move(batch));
    lock.lock();
  }
}

void ReportQueue::store(Batch batch) const {
  auto all = records_.report(batch.reports);
  for (std::size_t i = 0; i < batch.done.size(); ++i) {
    if (all)
      batch.done[i](std::move((*all)[i]));
    else if (batch.done.size() > 1 && report_queue_detail::is_of_one(all.error().fault))
      batch.done[i](records_.report(batch.reports[i].id, batch.reports[i].token, batch.reports[i].body));
    else
      batch.done[i](std::unexpected(all.error()));
  }
}

}  // namespace stackgate::customizer
