#include "services/customizer/trackers/tracker.hpp"

#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "services/customizer/api/adapter.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::customizer {
namespace tracker_detail {

constexpr std::chrono::milliseconds limit{10'000};
constexpr std::uint64_t largest_reply = 1U << 20U;
constexpr std::size_t longest_words = 300;

std::string without_slashes(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

}  // namespace tracker_detail

using namespace tracker_detail;

TrackerCalls::TrackerCalls(std::string url, std::string ca_file, std::function<bool()> give_up)
    : url_(without_slashes(std::move(url))),
      give_up_(std::move(give_up)),
      client_({.whole = limit, .retries = 0, .ca_file = std::move(ca_file), .user_agent = "stackgate-customizer"}) {}

std::expected<std::string, TrackerFault> TrackerCalls::call(std::string method, std::string_view path, std::string body,
                                                            const std::string& authorization,
                                                            std::string_view content_type) const {
  http_client::Request request{.method = std::move(method), .url = url_ + std::string(path), .body = std::move(body)};
  if (!request.body.empty()) request.headers.emplace_back("Content-Type", content_type);
  if (!authorization.empty()) request.headers.emplace_back("Authorization", authorization);
  request.largest_reply = largest_reply;
  request.repeatable = false;
  request.give_up = give_up_;
  auto reply = client_.call(request);
  if (!reply) return std::unexpected(TrackerFault{.passes = true, .words = reply.error().message});
  if (reply->status >= 200 && reply->status < 300) return std::move(reply->body);
  const bool passes = reply->status >= 500 || reply->status == 429 || reply->status == 408;
  return std::unexpected(
      TrackerFault{.passes = passes,
                   .status = reply->status,
                   .body = reply->body,
                   .words = fmt::format("HTTP {} {}", reply->status, reply->body.substr(0, longest_words))});
}

std::vector<MetricPoint> unsent(std::vector<MetricPoint> points, std::int64_t sent) {
  std::erase_if(points, [&](const MetricPoint& each) { return sent_of(each) <= sent; });
  return points;
}

std::vector<std::pair<std::string_view, double>> metrics_of(const MetricPoint& point) {
  std::vector<std::pair<std::string_view, double>> out;
  for (const auto& [name, value] : std::initializer_list<std::pair<std::string_view, const std::optional<double>*>>{
           {"train_loss", &point.train_loss},
           {"val_loss", &point.val_loss},
           {"learning_rate", &point.learning_rate},
           {"tokens_per_second", &point.tokens_per_second},
           {"epoch", &point.epoch}})
    if (*value) out.emplace_back(name, **value);
  return out;
}

std::vector<std::pair<std::string, std::string>> parameters_of(const Customization& job) {
  const CustomizationRequest request = read_stored(job.request);
  std::vector<std::pair<std::string, std::string>> out{{"model", request.target.name},
                                                       {"base_model", request.target.base_model},
                                                       {"dataset", request.dataset.repository},
                                                       {"dataset_commit", request.dataset.revision},
                                                       {"output_model", output_model_of(job, request).text()}};
  const std::string text =
      json::object_text([&](json::Writer& w) { model::write_hyperparameters(w, request.hyperparameters); });
  json::Document document;
  if (const auto root = json::parse(text, document))
    for (const json::Member& each : root->members())
      out.emplace_back(each.key, each.value.is_string() ? std::string(each.value.string()) : json::to_json(each.value));
  return out;
}

}  // namespace stackgate::customizer
