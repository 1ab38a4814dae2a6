#include "services/trainer/report/events.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "services/kit/json/write.hpp"

namespace stackgate::trainer {
namespace events_detail {

template <class Members>
std::string event(std::string_view name, std::string_view job, const Members& members) {
  return json::object_text([&](json::Writer& w) {
    w.member("event", name);
    if (!job.empty()) w.member("job_id", job);
    members(w);
  });
}

double percentage(const Stepped& event) {
  return event.max_steps == 0 ? 100 : 100.0 * static_cast<double>(event.step) / static_cast<double>(event.max_steps);
}

}  // namespace events_detail

std::string event_text(const Started& event, std::string_view job) {
  return events_detail::event("start", job, [&](json::Writer& w) {
    w.member("parameters", event.parameters);
    w.member("trainable_parameters", event.trainable_parameters);
    w.member("examples", event.examples);
    w.member("tokens", event.tokens);
    w.member("truncated", event.cut);
    w.member("skipped", event.skipped);
    w.member("max_steps", event.max_steps);
    w.member("num_epochs", event.num_epochs);
    if (event.resumed_step != 0) w.member("resumed_step", event.resumed_step);
  });
}

std::string event_text(const Stepped& event, std::string_view job) {
  return events_detail::event("step", job, [&](json::Writer& w) {
    w.member("step", event.step);
    w.member("max_steps", event.max_steps);
    w.member("epoch", event.epoch);
    w.member("loss", event.loss);
    w.member("learning_rate", event.learning_rate);
    w.member("grad_norm", event.grad_norm);
    w.member("tokens_per_second", std::round(event.tokens_per_second * 10) / 10);
    w.member("memory_bytes", event.memory);
    w.member("eta_seconds", std::round(event.eta_seconds));
    w.member("percentage_done", events_detail::percentage(event));
  });
}

std::string event_text(const Finished& event, std::string_view job) {
  return events_detail::event("done", job, [&](json::Writer& w) {
    if (event.train_loss) w.member("train_loss", *event.train_loss);
    if (event.val_loss) w.member("val_loss", *event.val_loss);
    w.member("path", event.path);
    if (!event.archive.empty()) w.member("archive", event.archive);
    if (!event.sha256.empty()) w.member("sha256", event.sha256);
  });
}

std::string event_text(const Failed& event, std::string_view job) {
  return events_detail::event("error", job, [&](json::Writer& w) {
    w.member("message", event.message);
    if (!event.file.empty()) w.member("file", event.file);
    if (event.line != 0) w.member("line", event.line);
  });
}

std::string validation_text(std::uint64_t step, double loss, std::string_view job) {
  return events_detail::event("validation", job, [&](json::Writer& w) {
    w.member("step", step);
    w.member("val_loss", loss);
  });
}

std::string checkpoint_text(std::uint64_t step, std::string_view path, std::string_view job) {
  return events_detail::event("checkpoint", job, [&](json::Writer& w) {
    w.member("step", step);
    w.member("path", path);
  });
}

std::string bar(const Stepped& event, std::size_t columns) {
  constexpr std::size_t width = 20;
  const double percent = events_detail::percentage(event);
  const auto full = std::min(width, static_cast<std::size_t>(percent / 100 * width));
  const auto left = static_cast<std::uint64_t>(std::max(0.0, event.eta_seconds));
  std::string out = fmt::format("[{}{}] {:3.0f} %  step {} of {}  loss {:.4f}  {:.0f} tokens/s  {}:{:02} left",
                                std::string(full, '#'), std::string(width - full, '.'), percent, event.step,
                                event.max_steps, event.loss, event.tokens_per_second, left / 60, left % 60);
  out.resize(std::min(out.size(), columns));
  return out;
}

}  // namespace stackgate::trainer
