#include "services/customizer/api/show.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "services/customizer/api/adapter.hpp"
#include "services/kit/base/time.hpp"

namespace stackgate::customizer {
namespace show_detail {

void write_time(json::Writer& w, std::string_view name, Seconds seconds) {
  if (seconds == 0)
    w.member(name, nullptr);
  else
    w.member(name, to_rfc3339(std::chrono::sys_seconds(std::chrono::seconds(seconds))));
}

void write_optional(json::Writer& w, std::string_view name, const std::optional<double>& value) {
  if (value)
    w.member(name, *value);
  else
    w.member(name, nullptr);
}

void write_curve(json::Writer& w, std::string_view key, std::span<const MetricPoint> points,
                 std::optional<double> MetricPoint::* member) {
  w.array(key, [&] {
    for (const MetricPoint& each : points)
      if (const auto& value = each.*member)
        w.object([&] {
          w.member("step", each.step);
          w.member("value", *value);
          write_time(w, "timestamp", each.at);
        });
  });
}

void write_curves(json::Writer& w, std::span<const MetricPoint> points) {
  w.array("keys", [&] {
    w.value("train_loss");
    w.value("val_loss");
  });
  w.object("metrics", [&] {
    write_curve(w, "train_loss", points, &MetricPoint::train_loss);
    write_curve(w, "val_loss", points, &MetricPoint::val_loss);
  });
}

std::uint32_t stage_percentage(const StageRecord& record, Stage stage, const Progress& progress) {
  if (record.state == State::completed) return 100;
  return stage == Stage::training ? progress.percent : 0;
}

void write_stages(json::Writer& w, const Customization& job, const Progress& progress) {
  w.array("stages", [&] {
    for (const Stage each : all_stages) {
      const StageRecord& record = job.stage(each);
      w.object([&] {
        w.member("name", to_string(each));
        w.member("status", to_string(record.state));
        w.member("percentage_done", stage_percentage(record, each, progress));
        w.member("attempts", record.attempts);
        w.member("message", record.message);
        write_time(w, "created_at", record.created_at);
        write_time(w, "started_at", record.started_at);
        write_time(w, "ended_at", record.ended_at);
      });
    }
  });
}

void write_details(json::Writer& w, const Customization& job, const Progress& progress, Seconds now,
                   const ShownWith& with) {
  w.object("status_details", [&] {
    write_time(w, "created_at", job.created_at);
    write_time(w, "updated_at", job.changed_at);
    w.member("elapsed_time",
             job.created_at == 0 ? 0 : std::max<Seconds>(0, (job.ended_at == 0 ? now : job.ended_at) - job.created_at));
    w.member("percentage_done", percentage_done(job, progress));
    w.member("steps_completed", progress.step);
    w.member("max_steps", progress.max_steps);
    w.member("epochs_completed", static_cast<std::int64_t>(progress.epoch));
    w.member("epoch", progress.epoch);
    w.member("num_epochs", progress.num_epochs);
    write_optional(w, "best_epoch", progress.best_epoch);
    write_optional(w, "train_loss", progress.train_loss);
    write_optional(w, "val_loss", progress.val_loss);
    w.member("learning_rate", progress.learning_rate);
    w.member("tokens_per_second", progress.tokens_per_second);
    w.member("eta_seconds", progress.eta_seconds);
    w.object("metrics", [&] { write_curves(w, with.points); });
    w.array("status_logs", [&] {
      for (const StatusLog& each : with.logs)
        w.object([&] {
          write_time(w, "updated_at", each.at);
          w.member("message", each.message);
          if (!each.detail.empty()) w.member("detail", each.detail);
        });
    });
    write_stages(w, job, progress);
  });
}

void write_option(json::Writer& w, const TrainingOption& option) {
  w.member("training_type", "sft");
  w.member("finetuning_type", "lora");
  w.member("num_gpus", option.num_gpus);
  w.member("num_nodes", option.num_nodes);
  if (option.micro_batch_size) w.member("micro_batch_size", *option.micro_batch_size);
  w.member("tensor_parallel_size", 1);
  w.member("pipeline_parallel_size", 1);
  w.member("data_parallel_size", option.processes());
  w.member("use_sequence_parallel", false);
}

void write_snapshot(json::Writer& w, const CustomizationRequest& request) {
  w.member("config", request.config.name);
  w.object("config_snapshot", [&] {
    w.member("base_model", request.target.base_model);
    w.member("precision", request.target.precision);
    w.member("num_parameters", request.target.num_parameters);
    if (request.hyperparameters.max_seq_length) w.member("max_seq_length", *request.hyperparameters.max_seq_length);
    w.member("prompt_template", request.config.prompt_template);
    w.object("training_option", [&] { write_option(w, request.config.option); });
  });
}

/// Under our names, and those that NeMo has for the same.
void write_parameters(json::Writer& w, const model::Hyperparameters& p) {
  w.object("hyperparameters", [&] {
    w.member("training_type", "sft");
    w.member("finetuning_type", "lora");
    model::write_hyperparameters(w, p);
    if (p.num_epochs) w.member("epochs", *p.num_epochs);
    w.object("lora", [&] {
      w.member("adapter_dim", p.lora_rank);
      w.member("alpha", p.lora_alpha);
      w.member("adapter_dropout", p.lora_dropout);
      w.array("target_modules", [&] {
        for (const model::Module each : p.target_modules) w.value(short_name(each));
      });
    });
  });
}

void write_dataset(json::Writer& w, const DatasetChoice& dataset) {
  w.member("dataset",
           dataset.revision.empty() ? dataset.repository : fmt::format("{}@{}", dataset.repository, dataset.revision));
  w.member("dataset_repo", dataset.repository);
  w.member("dataset_path", dataset.path);
  w.member("dataset_ref", dataset.revision);
}

}  // namespace show_detail

std::uint32_t percentage_done(const Customization& job, const Progress& progress) {
  // A training that is done and an adapter that is nowhere are not all of it.
  return job.state == State::completed ? 100 : std::min<std::uint32_t>(progress.percent, 99);
}

void write_customization(json::Writer& w, const Customization& job, Seconds now, const ShownWith& with) {
  using namespace show_detail;
  const CustomizationRequest request = read_stored(job.request);
  const Progress progress = read_progress(job.progress);
  w.object([&] {
    if (!job.id.empty()) w.member("id", job.id);
    w.member("name", job.name);
    w.member("namespace", "default");
    w.member("description", request.description);
    w.member("model", request.target.name);
    write_snapshot(w, request);
    write_dataset(w, request.dataset);
    write_parameters(w, request.hyperparameters);
    w.member("output_model", output_model_of(job, request).text());
    w.array("tags", [&] {
      for (const std::string& each : request.tags) w.value(each);
    });
    w.member("status", to_string(job.state));
    w.member("message", job.message);
    write_details(w, job, progress, now, with);
    write_time(w, "created_at", job.created_at);
    write_time(w, "updated_at", job.changed_at);
    write_time(w, "started_at", job.started_at);
    write_time(w, "ended_at", job.ended_at);
    w.key("warnings");
    w.raw(job.warnings.empty() ? "[]" : job.warnings);
  });
}

std::string customization_json(const Customization& job, Seconds now, const ShownWith& with) {
  std::string out;
  json::Writer w(out);
  write_customization(w, job, now, with);
  return out;
}

std::string status_json(const Customization& job, Seconds now, const ShownWith& with) {
  return json::object_text([&](json::Writer& w) {
    w.member("status", to_string(job.state));
    w.member("message", job.message);
    show_detail::write_details(w, job, read_progress(job.progress), now, with);
  });
}

std::string metrics_json(std::span<const MetricPoint> points) {
  return json::object_text([&](json::Writer& w) { show_detail::write_curves(w, points); });
}

void show_target(json::Writer& w, const Target& target) {
  w.object([&] {
    w.member("name", target.name);
    w.member("base_model", target.base_model);
    w.member("model_uri", target.uri.text);
    w.member("model_path", target.path);
    w.member("enabled", target.enabled);
    w.member("num_parameters", target.num_parameters);
    w.member("precision", target.precision);
  });
}

void show_config(json::Writer& w, const ConfigTemplate& config) {
  w.object([&] {
    w.member("name", config.name);
    w.member("target", config.target);
    if (config.max_seq_length) w.member("max_seq_length", *config.max_seq_length);
    w.member("prompt_template", config.prompt_template);
    w.array("training_options", [&] { w.object([&] { show_detail::write_option(w, config.option); }); });
  });
}

std::string warnings_json(const validate::Findings& findings) {
  std::string out;
  json::Writer w(out);
  w.array([&] {
    for (const validate::Finding& each : findings) {
      if (each.severity != validate::Severity::warning) continue;
      w.object([&] {
        w.array("loc", [&] {
          w.value("body");
          w.value(each.path);
        });
        w.member("msg", validate::to_line(each));
        w.member("type", each.rule);
      });
    }
  });
  return out;
}

}  // namespace stackgate::customizer
