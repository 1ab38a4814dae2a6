// The calls of MLflow's tracking server that record a run, and what it answers. Pure.
// Source: https://mlflow.org/docs/latest/rest-api.html (2.0), limits of runs/log-batch included.
#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::mlflow {

struct Pair {
  std::string key, value;
};

struct Metric {
  std::string key;
  double value = 0;               // also no finite number
  std::int64_t milliseconds = 0;  // since 1970
  std::uint64_t step = 0;
};

enum class Status : std::uint8_t { running, finished, failed, killed };
std::string_view to_string(Status status);

inline constexpr std::size_t most_metrics = 1000, most_params = 100;  // of one runs/log-batch
inline constexpr std::size_t longest_value = 500;  // bytes of a parameter; older servers take no more
inline constexpr std::size_t longest_id = 256;

struct Call {
  std::string method, path, body{};  // path: below the server's address, with its query
  std::string_view content_type = "application/json";
};

Call find_experiment(std::string_view name);
Call create_experiment(std::string_view name);
Call create_run(std::string_view experiment, std::string_view name, std::span<const Pair> tags, std::int64_t begun);
/// A run of an experiment that has the tag, so that nobody makes it twice. The value: letters, digits and "-".
Call find_run(std::string_view experiment, std::string_view tag, std::string_view value);
/// At most most_params, and values of at most longest_value bytes: the rest is left out.
Call log_params(std::string_view run, std::span<const Pair> params);
Call log_tags(std::string_view run, std::span<const Pair> tags);          // set again they are replaced
Call log_metrics(std::string_view run, std::span<const Metric> metrics);  // at most most_metrics
/// `ended`: milliseconds since 1970, of a run that has.
Call update_run(std::string_view run, Status status, std::optional<std::int64_t> ended = {});

/// The id in a good answer to find_experiment() or create_experiment(), and to create_run(); an error is a sentence.
std::expected<std::string, std::string> read_experiment(std::string_view body);
std::expected<std::string, std::string> read_run(std::string_view body);

/// Of an answer to find_run(); "": there is none.
std::expected<std::string, std::string> read_found_run(std::string_view body);

/// "RESOURCE_DOES_NOT_EXIST" and the message of another answer; both empty when it is something else.
struct Refusal {
  std::string code, message;
};
Refusal read_refusal(std::string_view body);

}  // namespace stackgate::mlflow
