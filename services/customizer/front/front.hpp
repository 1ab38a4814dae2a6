// The routes of the service: requests become customizations, customizations become answers.
#pragma once
#include <chrono>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/customizer/front/report_limit.hpp"
#include "services/customizer/front/report_queue.hpp"
#include "services/customizer/runs/catalogue_folder.hpp"
#include "services/customizer/runs/dataset.hpp"
#include "services/customizer/runs/runner.hpp"
#include "services/customizer/trackers/wandb.hpp"
#include "services/kit/web/call.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::customizer {

struct FrontOptions {
  std::chrono::milliseconds validation_limit{20'000};
  OpenDatasets datasets{};
  bool has_mlflow = false;   // customizations are recorded there
  WandbOptions wandb{};      // without keys of its own it takes those of requests
  std::string token_file{};  // bearer tokens that may call, one a line; empty: everybody may
  std::chrono::milliseconds follow{500};
};

/// What the handlers share. Thread-safe.
struct Front {
  Runner& runner;
  CatalogueFolder& catalogue;
  FrontOptions options;
  ReportQueue& reports;
  std::shared_ptr<ReportLimit> limit = std::make_shared<ReportLimit>();
  Records& records() const { return runner.records(); }
};
using FrontPtr = std::shared_ptr<const Front>;

/// All but health, metrics and pages. With a token file they want a bearer token.
std::vector<web::Route> routes(const FrontPtr& front);
/// Of the port that trainers report to, each with its own token: POST, take_report, which waits for nothing.
inline constexpr std::string_view report_pattern = "/v1/customizations/{id}/progress";

// Handlers; but for take_report they wait for the database.
web::Answer create_customization(const Front& front, web::Call& call);
web::Answer create_job(const Front& front, web::Call& call);  // NeMo's body
web::Answer list_customizations(const Front& front, web::Call& call);
web::Answer get_customization(const Front& front, web::Call& call);
web::Answer get_status(const Front& front, web::Call& call);
web::Answer get_metrics(const Front& front, web::Call& call);
web::Answer get_logs(const Front& front, web::Call& call);
web::Answer get_events(const Front& front, web::Call& call);
web::Answer cancel_customization(const Front& front, web::Call& call);
web::Answer retry_customization(const Front& front, web::Call& call);
web::Answer delete_customization(const Front& front, web::Call& call);
web::Answer list_targets(const Front& front, web::Call& call);
web::Answer list_configs(const Front& front, web::Call& call);
web::Answer take_report(const Front& front, web::Call& call);

/// That the route's {name} names: a name, or an id; else 404.
std::expected<Stored, ServiceError> find_customization(const Front& front, web::Call& call);
/// The answer of one: its record with curves and status_logs.
std::expected<std::string, ServiceError> record_of(const Front& front, const Customization& job);

}  // namespace stackgate::customizer
