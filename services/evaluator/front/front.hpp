// The routes of the service: requests become evaluations, evaluations become answers.
#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "services/evaluator/runs/dataset.hpp"
#include "services/evaluator/runs/runner.hpp"
#include "services/evaluator/workflow/run.hpp"
#include "services/kit/web/call.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::evaluator {

struct FrontOptions {
  bool validation = true;  // data sets are pinned and looked at before an evaluation is stored
  std::chrono::milliseconds validation_limit{20'000};
  OpenDatasets datasets{};    // empty: no datastore is configured
  std::string entitystore{};  // its URL; empty: models are not looked up
  WorkflowOptions workflow{};
  bool vector_database = false;           // one is configured
  std::chrono::milliseconds follow{500};  // between two looks for new events
};

/// What the handlers share; they only read it. Thread-safe.
struct Front {
  Runner& runner;
  FrontOptions options;
  Records& records() const { return runner.records(); }
};
using FrontPtr = std::shared_ptr<const Front>;

/// All but health, metrics and pages.
std::vector<web::Route> routes(const FrontPtr& front);

// Handlers; they wait for the database.
web::Answer create_evaluation(const Front& front, web::Call& call);
web::Answer create_job(const Front& front, web::Call& call);  // NeMo's body, or ours
web::Answer list_evaluations(const Front& front, web::Call& call);
web::Answer get_evaluation(const Front& front, web::Call& call);
web::Answer get_status(const Front& front, web::Call& call);
web::Answer get_results(const Front& front, web::Call& call);
web::Answer list_samples(const Front& front, web::Call& call);
web::Answer get_logs(const Front& front, web::Call& call);
web::Answer get_events(const Front& front, web::Call& call);
web::Answer cancel_evaluation(const Front& front, web::Call& call);
web::Answer create_comparison(const Front& front, web::Call& call);
web::Answer delete_evaluation(const Front& front, web::Call& call);

/// That the route's {name} names: a name, or an id; else 404.
std::expected<Evaluation, ServiceError> find_evaluation(const Front& front, web::Call& call);

}  // namespace stackgate::evaluator
