// What is to be done next about a workflow. Pure.
//
//   submit ─▶ follow ─▶ take_results ─▶ done
//               │  └──▶ retry ─▶ follow
//               └─ stop, in the end terminate ─▶ follow ─▶ stopped             fail: from anywhere
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "services/evaluator/workflow/protocol/workflow_object.hpp"

namespace stackgate::evaluator {

struct WorkflowSituation {
  std::optional<WorkflowFacts> workflow{};  // nothing: the server has none of this name
  std::string name{};                       // that it must be labelled with
  bool was_there = false;                   // in this run
  bool stop_wanted = false, stop_sent = false, stop_is_late = false, terminate_sent = false;
  bool has_results = false, results_were_sought = false;
  std::uint32_t retries_left = 0;
};

struct NextStep {
  enum class Kind : std::uint8_t { submit, follow, take_results, retry, stop, terminate, done, stopped, fail };
  Kind kind = Kind::follow;
  std::string why{};  // of fail: a sentence without its end
};

NextStep next_step(const WorkflowSituation& situation);

}  // namespace stackgate::evaluator
