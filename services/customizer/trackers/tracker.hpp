// An experiment tracker: what of a customization it has not been sent yet is sent to it. Blocking; one thread.
#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "services/customizer/records/records.hpp"
#include "services/kit/http_client/client.hpp"

namespace stackgate::customizer {

/// What came of it.
struct Sent {
  enum class Kind : std::uint8_t {
    going_on,  // it has all that there is now
    over,      // it has all, the end too
    away,      // no answer, or one that passes: later it may take it
    refused,   // for good
    later,     // it has all but something of this one alone; the rest of what is sent to it need not wait
  };
  Kind kind = Kind::going_on;
  std::string words{};  // of the last three: why
};

class Tracker {
 public:
  virtual ~Tracker() = default;
  /// "mlflow": of Tracking::tracker; and as people call it.
  virtual std::string_view key() const = 0;
  virtual std::string_view name() const = 0;
  /// `tracking` moves on with each piece that was taken. What is sent twice is there once.
  virtual Sent send(Tracking& tracking, const Customization& job, const Records& records) = 0;
};

/// Of a call that did not do what it should.
struct TrackerFault {
  bool passes = false;
  int status = 0;
  std::string body{};
  std::string words{};
  Sent sent() const { return {passes ? Sent::Kind::away : Sent::Kind::refused, words}; }
};

class TrackerCalls {
 public:
  TrackerCalls(std::string url, std::string ca_file, std::function<bool()> give_up);
  /// The body of a good answer. `authorization` may be empty.
  std::expected<std::string, TrackerFault> call(std::string method, std::string_view path, std::string body,
                                                const std::string& authorization,
                                                std::string_view content_type = "application/json") const;

 private:
  const std::string url_;
  const std::function<bool()> give_up_;
  const http_client::Client client_;
};

/// Points that were not sent, in order: a point counts once more when its validation loss comes behind its training
/// loss. `sent` of a point: sent_of().
std::vector<MetricPoint> unsent(std::vector<MetricPoint> points, std::int64_t sent);
constexpr std::int64_t sent_of(const MetricPoint& point) {
  return static_cast<std::int64_t>(point.step) * 2 + (point.val_loss ? 1 : 0);
}
/// Behind which step unsent points lie.
constexpr std::int64_t step_before(std::int64_t sent) { return sent / 2 - 1; }

/// What a point has, as names and values.
std::vector<std::pair<std::string_view, double>> metrics_of(const MetricPoint& point);
inline constexpr std::int64_t most_metrics_of_a_point = 5;

/// Hyperparameters, model and dataset as names and values.
std::vector<std::pair<std::string, std::string>> parameters_of(const Customization& job);

}  // namespace stackgate::customizer
