// How far a training is, from what the trainer posts: one JSON object for each event. Pure and thread-safe.
// Source: services/trainer/report/events.hpp writes these objects.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/customizer/job/customization.hpp"

namespace stackgate::customizer {

struct Progress {
  std::uint64_t step = 0, max_steps = 0, validated_step = 0;
  double epoch = 0, num_epochs = 0;
  std::optional<double> train_loss{}, val_loss{}, best_val_loss{};
  std::optional<double> best_epoch{};  // of the least validation loss
  double learning_rate = 0, tokens_per_second = 0, eta_seconds = 0;
  std::uint64_t examples = 0, tokens = 0, trainable_parameters = 0;
  std::string archive{}, sha256{};  // once it is trained: the adapter in the workspace
  std::string error{};              // the trainer's last words
  std::uint32_t percent = 0;        // never goes back; 100 is for what is trained

  friend bool operator==(const Progress&, const Progress&) = default;
};

/// What a report has changed.
struct ReportChange {
  /// Of a step, or of a validation behind it.
  struct Point {
    std::uint64_t step = 0;
    std::optional<double> train_loss{}, val_loss{}, learning_rate{}, tokens_per_second{}, epoch{};
    friend bool operator==(const Point&, const Point&) = default;
  };
  bool changed = false;
  bool trained = false;  // the trainer has reported its end
  std::vector<Point> points{};
  /// What is wrong with the first event that counts for nothing; the others count. A sentence: no event, of another
  /// job, numbers that cannot be. "": nothing.
  std::string problem{};
};

/// `body`: an event, or an array of events in their order. A step that is known, or lies behind the newest one, changes
/// nothing, so each counts once, whoever posts it again and however often a training goes on from a checkpoint.
ReportChange apply_report(Progress& progress, std::string_view body, std::string_view job_id);

/// A point of the loss curves, and when it was reported.
struct MetricPoint {
  std::uint64_t step = 0;
  std::optional<double> train_loss{}, val_loss{};
  Seconds at = 0;
  std::optional<double> learning_rate{}, tokens_per_second{}, epoch{};
};

/// As it is stored: reads as the same again. Of an empty text: none.
std::string progress_json(const Progress& progress);
Progress read_progress(std::string_view json);

}  // namespace stackgate::customizer
