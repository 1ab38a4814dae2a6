// Customizations as bodies of answers: NeMo's job record, under both paths. Pure and thread-safe.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "services/customizer/api/request.hpp"
#include "services/customizer/job/customization.hpp"
#include "services/customizer/job/progress.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::customizer {

struct StatusLog {
  Seconds at = 0;
  std::string message{}, detail{};
};

/// What is read beside the record; both may be left out.
struct ShownWith {
  std::span<const MetricPoint> points{};
  std::span<const StatusLog> logs{};
};

/// Of the whole: 100 once it is completed, whatever the training says.
std::uint32_t percentage_done(const Customization& job, const Progress& progress);

/// `now`: elapsed_time of one that has not ended is counted to it.
void write_customization(json::Writer& w, const Customization& job, Seconds now, const ShownWith& with = {});
std::string customization_json(const Customization& job, Seconds now, const ShownWith& with = {});
/// {"status", "status_details", "message"}
std::string status_json(const Customization& job, Seconds now, const ShownWith& with = {});

/// The loss curves alone: {"keys", "metrics"}.
std::string metrics_json(std::span<const MetricPoint> points);
/// A model and a configuration of the catalogue, as NeMo's lists have them.
void show_target(json::Writer& w, const Target& target);
void show_config(json::Writer& w, const ConfigTemplate& config);

/// What is stored as warnings: [{"loc", "msg", "type"}].
std::string warnings_json(const validate::Findings& findings);

}  // namespace stackgate::customizer
