#include "services/kit/mlflow/requests.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "services/kit/base/percent.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::mlflow {
namespace requests_detail {

constexpr json::ParseLimits limits{.max_depth = 32, .max_bytes = 1U << 20U};
constexpr std::size_t longest_words = 300;

std::string path(std::string_view call) { return fmt::format("/api/2.0/mlflow/{}", call); }

void write_pairs(json::Writer& w, std::string_view name, std::span<const Pair> pairs) {
  w.array(name, [&] {
    for (const Pair& each : pairs)
      w.object([&] {
        w.member("key", each.key);
        w.member("value", each.value.substr(0, longest_value));
      });
  });
}

void write_number(json::Writer& w, double value) {
  if (std::isfinite(value))
    w.member("value", value);
  else
    w.member("value", std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
}

/// A text of a plausible length at the end of `keys`.
std::expected<std::string, std::string> id_at(std::string_view body, std::span<const std::string_view> keys) {
  json::Document document;
  const auto root = json::parse(body, document, limits);
  if (!root) return std::unexpected("it answers with what is no JSON");
  const json::Value* at = &*root;
  for (const std::string_view key : keys)
    if (at != nullptr) at = at->find(key);
  const std::string_view id = at != nullptr ? at->string() : "";
  if (id.empty() || id.size() > longest_id)
    return std::unexpected(fmt::format("it answers without \"{}\"", fmt::join(keys, ".")));
  return std::string(id);
}

}  // namespace requests_detail

std::string_view to_string(Status status) {
  constexpr std::array<std::string_view, 4> words{"RUNNING", "FINISHED", "FAILED", "KILLED"};
  return words[static_cast<std::size_t>(status)];
}

Call find_experiment(std::string_view name) {
  return {"GET", requests_detail::path("experiments/get-by-name?experiment_name=") + percent_encode(name)};
}

Call create_experiment(std::string_view name) {
  return {"POST", requests_detail::path("experiments/create"),
          json::object_text([&](json::Writer& w) { w.member("name", name); })};
}

Call create_run(std::string_view experiment, std::string_view name, std::span<const Pair> tags, std::int64_t begun) {
  return {"POST", requests_detail::path("runs/create"), json::object_text([&](json::Writer& w) {
            w.member("experiment_id", experiment);
            w.member("start_time", begun);
            if (!name.empty()) w.member("run_name", name);
            requests_detail::write_pairs(w, "tags", tags);
          })};
}

Call find_run(std::string_view experiment, std::string_view tag, std::string_view value) {
  return {"POST", requests_detail::path("runs/search"), json::object_text([&](json::Writer& w) {
            w.array("experiment_ids", [&] { w.value(experiment); });
            w.member("filter", fmt::format("tags.{} = '{}'", tag, value));
            w.member("max_results", 1);
          })};
}

Call log_params(std::string_view run, std::span<const Pair> params) {
  return {"POST", requests_detail::path("runs/log-batch"), json::object_text([&](json::Writer& w) {
            w.member("run_id", run);
            requests_detail::write_pairs(w, "params", params.first(std::min(params.size(), most_params)));
          })};
}

Call log_tags(std::string_view run, std::span<const Pair> tags) {
  return {"POST", requests_detail::path("runs/log-batch"), json::object_text([&](json::Writer& w) {
            w.member("run_id", run);
            requests_detail::write_pairs(w, "tags", tags);
          })};
}

Call log_metrics(std::string_view run, std::span<const Metric> metrics) {
  return {"POST", requests_detail::path("runs/log-batch"), json::object_text([&](json::Writer& w) {
            w.member("run_id", run);
            w.array("metrics", [&] {
              for (const Metric& each : metrics)
                w.object([&] {
                  w.member("key", each.key);
                  requests_detail::write_number(w, each.value);
                  w.member("timestamp", each.milliseconds);
                  w.member("step", each.step);
                });
            });
          })};
}

Call update_run(std::string_view run, Status status, std::optional<std::int64_t> ended) {
  return {"POST", requests_detail::path("runs/update"), json::object_text([&](json::Writer& w) {
            w.member("run_id", run);
            w.member("status", to_string(status));
            if (ended) w.member("end_time", *ended);
          })};
}

std::expected<std::string, std::string> read_experiment(std::string_view body) {
  constexpr std::array<std::string_view, 2> found{"experiment", "experiment_id"};
  constexpr std::array<std::string_view, 1> created{"experiment_id"};
  if (auto id = requests_detail::id_at(body, found)) return id;
  return requests_detail::id_at(body, created);
}

std::expected<std::string, std::string> read_run(std::string_view body) {
  constexpr std::array<std::string_view, 3> keys{"run", "info", "run_id"};
  return requests_detail::id_at(body, keys);
}

std::expected<std::string, std::string> read_found_run(std::string_view body) {
  json::Document document;
  const auto root = json::parse(body, document, requests_detail::limits);
  if (!root || !root->is_object()) return std::unexpected("it answers with what is no JSON object");
  const json::Value* runs = root->find("runs");
  if (runs == nullptr || runs->items().empty()) return std::string();
  const json::Value* info = runs->items()[0].find("info");
  const json::Value* id = info == nullptr ? nullptr : info->find("run_id");
  if (id == nullptr || id->string().empty() || id->string().size() > longest_id)
    return std::unexpected("it answers with a run without \"run_id\"");
  return std::string(id->string());
}

Refusal read_refusal(std::string_view body) {
  json::Document document;
  const auto root = json::parse(body, document, requests_detail::limits);
  if (!root) return {};
  const auto text = [&](std::string_view key) {
    const json::Value* found = root->find(key);
    std::string out(found != nullptr ? found->string().substr(0, requests_detail::longest_words) : "");
    std::ranges::replace_if(out, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    return out;
  };
  return {text("error_code"), text("message")};
}

}  // namespace stackgate::mlflow
