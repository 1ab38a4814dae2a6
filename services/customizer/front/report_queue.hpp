// Reports of trainers, stored many at a time: a commit costs more than all else about a report. Each is answered once
// the transaction that has it is committed. Thread-safe.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "services/customizer/records/records.hpp"

namespace stackgate::customizer {

struct ReportQueueOptions {
  std::chrono::milliseconds pause{50};  // between two commits; a report that comes alone does not wait
  std::size_t at_once = 256, most = 4'096;
};

class ReportQueue {
 public:
  /// Called once, on the queue's thread.
  using Done = std::move_only_function<void(sql::Expected<Records::Reported>)>;

  /// `records` must outlive it.
  explicit ReportQueue(Records& records, ReportQueueOptions options = {});
  /// What waits is stored first.
  ~ReportQueue();
  ReportQueue(const ReportQueue&) = delete;
  ReportQueue& operator=(const ReportQueue&) = delete;

  /// Never waits for the database. False: too many wait, and `done` is not called.
  [[nodiscard]] bool add(Records::Report report, Done done);

 private:
  struct Batch {
    std::vector<Records::Report> reports{};
    std::vector<Done> done{};
  };
  void work(const std::stop_token& stop);
  void store(Batch batch) const;

  Records& records_;
  const ReportQueueOptions options_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  Batch waiting_{};
  std::jthread thread_;  // last: it uses the others
};

}  // namespace stackgate::customizer
