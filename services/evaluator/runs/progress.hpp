// How far a run is: the samples of its tasks counted, and NeMo's status details of it. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::evaluator {

struct TaskProgress {
  std::string name{};
  std::uint64_t total = 0, done = 0, failed = 0;  // samples; failed: of those done
  bool complete = false;
};

/// Of 100, by samples; 100 only when all tasks are complete. Without samples: 0.
double percent_of(const std::vector<TaskProgress>& tasks);

/// {"task_status": {<task>: "pending", "running" or "completed"}, "progress": 0 … 100, "samples": {"total", "done",
/// "failed"}}: an object. `least`: what was shown before, which is never gone back behind.
std::string progress_json(const std::vector<TaskProgress>& tasks, double least);
/// Of a workflow, whose samples nobody counts.
std::string progress_json(const std::vector<std::string>& tasks, std::string_view status, double percent);

/// "progress" of what the two write; 0 of anything else.
double shown_percent(std::string_view progress);

}  // namespace stackgate::evaluator
