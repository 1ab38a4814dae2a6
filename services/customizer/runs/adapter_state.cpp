#include "services/customizer/runs/adapter_state.hpp"

#include <fmt/format.h>

#include "services/kit/base/percent.hpp"
#include "services/kit/http_client/client.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::customizer {
namespace adapter_state_detail {

constexpr std::uint64_t largest_list = 4U << 20U;

AdapterState state_of(std::string_view status) {
  if (status == "ready") return AdapterState::ready;
  if (status == "pending") return AdapterState::pending;
  if (status == "failed") return AdapterState::failed;
  return status == "uploading" ? AdapterState::uploading : AdapterState::unknown;
}

}  // namespace adapter_state_detail

using namespace adapter_state_detail;

std::expected<AdapterState, Error> read_adapter_state(std::string_view body, const OutputModel& adapter) {
  json::Document document;
  const auto root = json::parse(body, document, {.max_depth = 32, .max_bytes = largest_list});
  if (!root || json::at(&*root, {"adapters"}) == nullptr)
    return std::unexpected(Error{"the entitystore's answer is no list of adapters"});
  for (const json::Value& each : json::items(&*root, {"adapters"}))
    if (json::text(&each, {"name"}) == adapter.name && json::text(&each, {"version"}) == adapter.version)
      return state_of(json::text(&each, {"status"}));
  return AdapterState::unknown;
}

std::expected<AdapterState, Error> ask_adapter_state(const std::string& entitystore_url, const OutputModel& adapter,
                                                     std::chrono::milliseconds limit) {
  std::string base = entitystore_url;
  while (base.ends_with('/')) base.pop_back();
  http_client::Request request{.url = fmt::format("{}/v1/adapters?namespace={}&name={}", base,
                                                  percent_encode(adapter.name_space), percent_encode(adapter.name)),
                               .headers = {{"Accept", "application/json"}}};
  request.whole = limit;
  request.largest_reply = largest_list;
  static const http_client::Client client({.retries = 0, .user_agent = "stackgate-customizer"});
  const auto reply = client.call(request);
  if (!reply)
    return std::unexpected(Error{fmt::format("the entitystore cannot be reached: {}", reply.error().message)});
  if (reply->status != 200) return std::unexpected(Error{fmt::format("the entitystore answered {}", reply->status)});
  return read_adapter_state(reply->body, adapter);
}

}  // namespace stackgate::customizer
